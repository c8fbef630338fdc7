package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// newForked is a project with a pull request from a fork of mallory, who may not write.
func newForked(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, 1)
	f.Trust.Forks = Forks{Plans: ForksAuto, Label: "seawall-plan", PerHour: 3}
	f.converge("c1", fleetZone(1, core("xss")))
	f.forge.readers = []string{"mallory", "passer-by"}
	f.open(1, "p1", fleetZone(1, core("sqli")))
	f.forge.pulls[0] = reconcile.PullRequest{Number: 1, Head: "p1", Author: "mallory", AuthorID: f.forge.account("mallory").ID, Fork: true}
	return f
}

func (f *fixture) planned(head string) bool {
	return slices.ContainsFunc(f.forge.marks, func(m string) bool { return strings.HasPrefix(m, head+" seawall/plan success") })
}

// A fork of somebody without write access is not even evaluated before somebody with it
// asks; on a private project, and for people with write access, it is planned at once.
func TestForkGate(t *testing.T) {
	say := func(name, text string) func(*fixture) {
		return func(f *fixture) {
			f.forge.remarks[1] = append(f.forge.remarks[1], reconcile.Remark{Author: f.forge.account(name), Body: text})
		}
	}
	for name, c := range map[string]struct {
		change func(*fixture)
		plan   bool
	}{
		"nothing":                    {func(*fixture) {}, false},
		"a label":                    {func(f *fixture) { f.forge.pulls[0].Labels = []string{"bug", "seawall-plan"} }, true},
		"another label":              {func(f *fixture) { f.forge.pulls[0].Labels = []string{"seawall-planned"} }, false},
		"a comment":                  {say("alice", "looks good\n/seawall plan\n"), true},
		"a stranger's comment":       {say("passer-by", "seawall plan"), false},
		"the author's comment":       {say("mallory", "seawall plan"), false},
		"a remark about it":          {say("alice", "do not say seawall plan here"), false},
		"an author with access":      {func(f *fixture) { f.forge.readers = nil }, true},
		"a private project":          {func(f *fixture) { f.forge.private = true }, true},
		"all":                        {func(f *fixture) { f.Trust.Forks.Plans = ForksAll }, true},
		"private, known":             {func(f *fixture) { f.forge.private, f.Trust.Forks.Plans = true, ForksKnown }, false},
		"a forge that does not tell": {func(f *fixture) { f.forge.secretive = true }, false},
		"no fork":                    {func(f *fixture) { f.forge.pulls[0].Fork = false }, true},
		"a deleted author":           {func(f *fixture) { f.forge.pulls[0].AuthorID = 0 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForked(t)
			c.change(f)
			f.round()
			if f.planned("p1") != c.plan || (f.heads.compiled["p1"] > 0) != c.plan {
				t.Errorf("planned %v, compiled %d times, log\n%s", f.planned("p1"), f.heads.compiled["p1"], f.log)
			}
			if !c.plan && (!strings.Contains(f.forge.comments[1], "no plan yet") || !strings.Contains(strings.Join(f.forge.marks, "\n"), "p1 seawall/plan pending: waits for the label seawall-plan or the comment")) {
				t.Errorf("marks %q, comment\n%s", f.forge.marks, f.forge.comments[1])
			}
			sent := f.forge.sent
			f.round()
			if f.forge.sent != sent {
				t.Errorf("%d comments", f.forge.sent)
			}
		})
	}
}

// A comment that is written later opens the gate for good, for later heads too.
func TestForkGateOpensLater(t *testing.T) {
	f := newForked(t)
	f.round()
	f.forge.remarks[1] = []reconcile.Remark{{Author: f.forge.account("alice"), Body: "seawall plan"}}
	f.clock.Advance(remarksEvery)
	f.round()
	if !f.planned("p1") {
		t.Errorf("marks %q", f.forge.marks)
	}
	f.forge.remarks[1] = nil
	f.open(1, "p2", fleetZone(1, core("xss", "sqli")))
	f.round()
	if !f.planned("p2") {
		t.Errorf("marks %q", f.forge.marks)
	}
}

// One author has so many plans in an hour, however many pull requests; others have theirs.
func TestForkRate(t *testing.T) {
	f := newForked(t)
	f.Trust.Forks.Plans = ForksAll
	for n := 2; n <= 6; n++ {
		name := fmt.Sprint("p", n)
		f.open(n, name, fleetZone(1, core("sqli")))
		f.forge.pulls[n-1] = f.forge.pulls[0]
		f.forge.pulls[n-1].Number, f.forge.pulls[n-1].Head = n, name
	}
	f.open(7, "p7", fleetZone(1, core("sqli"))) // of the project
	f.round()
	plans := func() (n int) {
		for i := range 6 {
			if f.planned(fmt.Sprint("p", i+1)) {
				n++
			}
		}
		return n
	}
	if plans() != 3 || !f.planned("p7") || !strings.Contains(f.log.String(), "per_hour") {
		t.Errorf("%d plans, marks %q", plans(), f.forge.marks)
	}
	f.clock.Advance(time.Hour)
	f.round()
	if plans() != 6 {
		t.Errorf("%d plans after an hour", plans())
	}
}

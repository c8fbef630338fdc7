package review

import (
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// A review says what each guard will say after the merge, as far as that is known.
func TestReviewIsGuarded(t *testing.T) {
	gold := guard.Labels{"tier": "gold"}
	for name, test := range map[string]struct {
		prepare func(*fixture)
		says    string
	}{
		"nothing": {func(*fixture) {}, "1 to change, 1 of them weakening"},
		"a limit": {func(f *fixture) { f.Guards.Rules = []guard.Rule{{Name: "few", Changes: &guard.Limit{Count: new(int)}}} }, "guards.few"},
		"a commit that shrinks": {func(f *fixture) {
			f.converge("c2", zones(10, core("xss"))...)
		}, "shrink"},
		"a freeze": {func(f *fixture) { f.Guards.Freezes = []reconcile.Freeze{always("weekend")} }, "weekend"},
		"a hold": {func(f *fixture) {
			f.records.Hold(diff.Hold{Zone: "zone-00001.example", Reason: "we are at it", Until: f.clock.Now().Add(time.Hour)})
		}, "we are at it"},
		"what the platform does not keep": {func(f *fixture) {
			f.round()
			id := diff.ID{Scope: mem.FleetZone(1), Ruleset: mem.CoreRuleset}
			must.Do(f.t, f.records.NonConvergent(f.t.Context(), id, f.fingerprint()))
			f.clock.Advance(planAgain)
		}, "did not keep"},
		"a label that the head takes away": {func(f *fixture) {
			f.Guards.Rules = []guard.Rule{{Name: "gold", Labels: gold, Approve: guard.ApproveAll}}
		}, "guards.gold"},
		"an approval on record": {func(f *fixture) {
			f.Guards.Rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}
			f.approvedBy("alice")
			f.round()
			f.forge.approve(1, "p1", f.clock.Now(), "alice")
			f.round()
			f.clock.Advance(planAgain)
		}, "1 to change, 1 of them weakening"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 10)
			labelled := fleetZone(1, core("xss"))
			labelled.Labels = gold
			f.converge("c1", labelled)
			f.open(1, "p1", fleetZone(1, core("xss", "sqli")))
			test.prepare(f)
			f.round()
			if text := f.forge.comments[1]; !strings.Contains(text, test.says) {
				t.Errorf("%q is not in\n%s", test.says, text)
			}
			if refused := strings.Contains(f.forge.comments[1], "refused") || strings.Contains(f.forge.comments[1], "waiting"); refused == strings.Contains(test.says, "to change") {
				t.Errorf("comment\n%s", f.forge.comments[1])
			}
		})
	}
}

// fingerprint is that of the one change that the pull request would make.
func (f *fixture) fingerprint() string {
	f.t.Helper()
	plan, err := f.plan(f.t.Context(), reconcile.PullRequest{Number: 1}, "p1", f.heads.commits["p1"].state, *f.inForce)
	if err != nil || len(plan.Changes) != 1 {
		f.t.Fatal(plan.Changes, err)
	}
	return plan.Changes[0].Fingerprint()
}

func always(name string) reconcile.Freeze {
	return reconcile.Freeze{Name: name, Schedule: cron.Every(time.Hour), For: 2 * time.Hour, Zone: time.UTC}
}

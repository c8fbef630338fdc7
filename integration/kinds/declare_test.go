package kinds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// written is a repository with toys in a zone and in its account.
func written(zone, account string) fstest.MapFS {
	return fstest.MapFS{"edge.cue": {Data: fmt.Appendf(nil, `package edge

account: prod: {
	id: %q
	ruleset: core: name: "Core Ruleset"
	zone: "zone-00001.example": {
		id:  %q
		waf: core: disable: tags: ["xss"]
		%s
	}
	%s
}
`, mem.Account, mem.FleetZone(1).ID, zone, account)}}
}

// What a repository declares in CUE of another kind the daemon keeps: in a zone, in an account,
// in a phase of its own and in the one of deployments.
func TestADaemonKeepsWhatCUEDeclares(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDaemon(t, reconcile.Guards{}, "")
		commit := func(name, zone, account string) {
			state, problems := compiletest.Tree(written(zone, account), ".", name)
			if len(problems) > 0 {
				t.Fatalf("%s: %v", name, problems)
			}
			d.repo.Push(name, state.Accounts[0].Zones...)
		}
		live := func(expression string) {
			t.Helper()
			for _, scope := range []edge.Scope{mem.FleetZone(1), edge.AccountScope(mem.Account)} {
				if got := rules(t, d.platform.Platform, scope); got != [2]string{expression, expression} {
					t.Errorf("%s has %q, want %q", scope, got, expression)
				}
			}
			if s := d.Status(); s.Zones.Outcomes[inspect.InSync] != 2 {
				t.Errorf("zones %+v", s.Zones)
			}
		}
		const toys = `rules: toy: admins: {expression: %[1]q, prune: true}, guest: admins: {expression: %[1]q, prune: true}`
		one, two := fmt.Sprintf(toys, "ip.src eq 192.0.2.1"), fmt.Sprintf(toys, "ip.src eq 192.0.2.2")
		commit("c1", one, one)
		d.start()
		live("ip.src eq 192.0.2.1")
		d.says(1, "toy admins (edge.cue:9", "guest admins (edge.cue:9")
		commit("c2", two, two)
		d.source.Poke()
		d.pass(sweeps)
		live("ip.src eq 192.0.2.2")
	})
}

// A declaration of another kind has its places, and one form, in whatever order it is written;
// the schema is closed for it as for all else.
func TestADeclarationOfAThirdKind(t *testing.T) {
	read := func(zone string) (desired.Zone, []desired.Problem) {
		state, problems := compiletest.Tree(written(zone, ""), ".", "")
		if len(state.Accounts) == 0 {
			return desired.Zone{}, problems
		}
		return state.Accounts[0].Zones[0], problems
	}
	a, problems := read(`rules: toy: b: {expression: "true", match: {paths: ["/a"], hosts: []}}, guest: a: expression: "true"`)
	b, _ := read(`guest: a: {expression: "true"}, rules: toy: {b: {match: hosts: [], match: paths: ["/a"]}, b: expression: "true"}`)
	if len(problems) > 0 || len(a.Others) != 2 || a.Others[0].Kind != guestName || !a.SameAs(b) || a.Fingerprint(desired.Account{}) != b.Fingerprint(desired.Account{}) {
		t.Fatalf("%v\n%+v\n%+v", problems, a.Others, b.Others)
	}
	var said []string
	for m := range a.Others[1].Members() {
		said = append(said, fmt.Sprintf("%s %v %s", m.Path, m.Value, m.Origin))
	}
	if want := []string{"expression true edge.cue:9:19", "match.hosts [] edge.cue:9:62", "match.paths [/a] edge.cue:9:47"}; !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
	c, _ := read(`guest: a: expression: "false"`)
	if b.SameAs(c) || b.Fingerprint(desired.Account{}) == c.Fingerprint(desired.Account{}) {
		t.Error("two declarations are one")
	}
	if _, problems := read(`rules: toy: b: {expression: "true", expresion: "x"}`); len(problems) != 1 || !strings.Contains(problems[0].String(), "edge.cue:9:") {
		t.Errorf("problems %v", problems)
	}
	if _, problems := read(`rules: toy: b: match: hosts: ["a"]`); len(problems) != 1 {
		t.Errorf("problems %v", problems)
	}
}

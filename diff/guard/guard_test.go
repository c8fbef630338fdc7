package guard

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

func TestShrunk(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after Size
		want          bool
	}{
		{"no earlier commit", Size{}, Size{}, false},
		{"growth", Size{4, 4, 0, 0}, Size{8, 8, 0, 0}, false},
		{"the same", Size{4, 4, 0, 0}, Size{4, 4, 0, 0}, false},
		{"below the floor", Size{3, 3, 0, 0}, Size{1, 1, 0, 0}, false},
		{"at the floor, halved", Size{4, 4, 0, 0}, Size{2, 4, 0, 0}, true},
		{"at the floor, not quite halved", Size{5, 5, 0, 0}, Size{3, 3, 0, 0}, false},
		{"odd, halved", Size{5, 9, 0, 0}, Size{5, 4, 0, 0}, true},
		{"only deployments halved", Size{1, 10, 0, 0}, Size{1, 5, 0, 0}, true},
		{"emptied", Size{10, 10, 0, 0}, Size{}, true},
		{"emptied below the floor", Size{1, 1, 0, 0}, Size{}, true},
		{"zones without deployments", Size{1, 1, 0, 0}, Size{1, 0, 0, 0}, true},
		{"the last token of few", Size{9, 9, 3, 0}, Size{9, 9, 0, 0}, false},
		{"tokens vanished", Size{9, 9, 4, 0}, Size{9, 9, 0, 0}, true},
		{"tokens halved", Size{9, 9, 4, 0}, Size{9, 9, 2, 0}, true},
		{"tokens not quite halved", Size{9, 9, 5, 0}, Size{9, 9, 3, 0}, false},
		{"tokens below the floor", Size{9, 9, 3, 0}, Size{9, 9, 1, 0}, false},
		{"tokens not known before", Size{9, 9, 0, 0}, Size{9, 9, 7, 0}, false},
	} {
		f := Facts{Before: test.before, After: test.after}
		if got := f.Shrunk(); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
		if f.AllowShrink = true; f.Shrunk() {
			t.Errorf("%s: not allowed", test.name)
		}
	}
}

func TestSizeInWords(t *testing.T) {
	for want, size := range map[string]Size{
		"3 zones with 4 deployments":              {3, 4, 0, 0},
		"1 zone with 1 deployment and 1 token":    {1, 1, 1, 0},
		"3 zones with 4 deployments and 2 tokens": {3, 4, 2, 0},
	} {
		if got := size.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestGuardShrunk(t *testing.T) {
	plan := planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(2)), difftest.Execute(nil)))
	facts := Facts{Before: Size{10, 12, 0, 0}, After: Size{1, 1, 0, 0}}
	want := &diff.Refusal{
		Guard: diff.GuardShrink, Reason: "this commit declares 1 zone with 1 deployment, but the last accepted commit declared 10 zones with 12 deployments",
		Release: "seawall apply --allow-shrink, or a commit that declares them again",
	}
	guarded := Check(plan, facts)
	if got := guarded.Changes[0]; !reflect.DeepEqual(got.Refused, want) || got.Applies() {
		t.Errorf("got %+v", got.Refused)
	}
	if plan.Changes[0].Refused != nil {
		t.Error("the plan that was passed in has changed")
	}
	if guarded.Requests.ToApply != 0 || guarded.Summary.Refused != 1 || guarded.Summary.Changed != 0 || !guarded.Attention() {
		t.Errorf("got %+v %+v", guarded.Requests, guarded.Summary)
	}
	facts.AllowShrink = true
	if got := Check(plan, facts).Changes[0]; got.Refused != nil {
		t.Errorf("got %+v", got.Refused)
	}
}

func TestGuardFirstRefusalCounts(t *testing.T) {
	plan := planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(2)), difftest.Execute(difftest.ParseOverrides(t, `{"rules":[{"id":"R0","enabled":false}]}`))))
	facts := Facts{Before: Size{10, 10, 0, 0}, After: Size{1, 1, 0, 0}, NonConvergent: map[diff.ID]string{plan.Changes[0].ID(): plan.Changes[0].Fingerprint()}}
	for _, want := range []diff.Guard{diff.GuardShrink, diff.GuardNonConvergent} {
		if got := Check(plan, facts).Changes[0].Refused; got.Guard != want {
			t.Errorf("got %s, want %s", got.Guard, want)
		}
		facts.AllowShrink = true
	}
}

func TestGuardNonConvergent(t *testing.T) {
	live := difftest.Execute(difftest.ParseOverrides(t, `{"rules":[{"id":"R1","action":"log"},{"id":"R2","action":"log"}]}`))
	written := difftest.MustChange(t, planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(2), difftest.Keep), live)))
	facts := Facts{NonConvergent: map[diff.ID]string{written.ID(): written.Fingerprint()}}
	refusal := func(d desired.Deployment, live edge.Rule) *diff.Refusal {
		return Check(planner.Make(difftest.One(d, live)), facts).Changes[0].Refused
	}
	want := &diff.Refusal{
		Guard: diff.GuardNonConvergent,
		Reason: "the platform accepted this change before, but did not keep it: " +
			"tag paranoia-level-3 enabled is still not set, tag paranoia-level-4 enabled is still not set",
		Release: "a change of the declaration or the live state, or seawall apply, which tries once more",
	}
	if got := refusal(difftest.Deployment(difftest.Paranoia(2), difftest.Keep), live); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}

	moved := difftest.Deployment(difftest.Keep)
	moved.Paranoia = &desired.Declared[int]{Value: 2, Origin: desired.Origin{Commit: "another", File: "b.cue", Line: 1}}
	if refusal(moved, live) == nil {
		t.Error("a declaration that only moved is tried again")
	}
	shuffled := difftest.Execute(difftest.ParseOverrides(t, `{"rules":[{"id":"R2","action":"log"},{"id":"R1","action":"log"}]}`))
	if refusal(difftest.Deployment(difftest.Paranoia(2), difftest.Keep), shuffled) == nil {
		t.Error("a server that shuffles rules has it tried again")
	}

	if refusal(difftest.Deployment(difftest.Paranoia(1), difftest.Keep), live) != nil {
		t.Error("another declaration is refused")
	}
	if refusal(difftest.Deployment(difftest.Paranoia(2), difftest.Keep), difftest.Execute(nil)) != nil {
		t.Error("another live state is refused")
	}
	at := time.Date(2026, 3, 1, 2, 22, 0, 0, time.UTC)
	facts.Tries = map[diff.ID]diff.Try{written.ID(): {At: at, Next: at.Add(15 * time.Minute)}}
	if got := refusal(difftest.Deployment(difftest.Paranoia(2), difftest.Keep), live).Reason; !strings.HasPrefix(got, "the platform accepted this change at 2026-03-01T02:22:00Z, but did not keep it: ") || !strings.HasSuffix(got, "; next try at 2026-03-01T02:37:00Z") {
		t.Errorf("reason %q", got)
	}
	facts.NonConvergent = map[diff.ID]string{{Scope: difftest.Zone, Ruleset: "another"}: written.Fingerprint()}
	if refusal(difftest.Deployment(difftest.Paranoia(2), difftest.Keep), live) != nil {
		t.Error("another deployment's history is held against this one")
	}
}

func TestDigest(t *testing.T) {
	facts := Facts{}
	plan := func() diff.Plan {
		p := planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(2)), difftest.Execute(difftest.ParseOverrides(t, `{"rules":[{"id":"R1","enabled":false}]}`))))
		facts.NonConvergent = map[diff.ID]string{p.Changes[0].ID(): p.Changes[0].Fingerprint()}
		return Check(p, facts)
	}
	first := plan()
	if len(first.Digest) != len("sha256:")+64 || !strings.HasPrefix(first.Digest, "sha256:") {
		t.Fatalf("digest is %q", first.Digest)
	}
	for name, change := range map[string]func(*diff.Plan){
		"nothing":       func(*diff.Plan) {},
		"generated_at":  func(p *diff.Plan) { p.GeneratedAt = time.Unix(1, 0) },
		"requests.used": func(p *diff.Plan) { p.Requests.Used = 9 },
		"the digest":    func(p *diff.Plan) { p.Digest = "other" },
	} {
		p := plan()
		change(&p)
		if p.Sealed().Digest != first.Digest {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, change := range map[string]func(*diff.Plan){
		"version":       func(p *diff.Plan) { p.Version = 2 },
		"commit":        func(p *diff.Plan) { p.Commit = "other" },
		"zones":         func(p *diff.Plan) { p.Summary.Zones++ },
		"account":       func(p *diff.Plan) { p.Changes[0].Account = "other" },
		"zone":          func(p *diff.Plan) { p.Changes[0].Zone = "other" },
		"zone id":       func(p *diff.Plan) { p.Changes[0].Scope = edge.ZoneScope("other") },
		"deployment":    func(p *diff.Plan) { p.Changes[0].Deployment = "other" },
		"direction":     func(p *diff.Plan) { p.Changes[0].Direction = diff.Neutral },
		"origin":        func(p *diff.Plan) { p.Changes[0].Origin.Line++ },
		"field":         func(p *diff.Plan) { p.Changes[0].Fields[0].New = true },
		"field, absent": func(p *diff.Plan) { p.Changes[0].Fields[0].New = nil },
		"field origin":  func(p *diff.Plan) { p.Changes[0].Fields[0].Origin = nil },
		"unmanaged":     func(p *diff.Plan) { p.Problems[0].Unmanaged = nil },
		"body": func(p *diff.Plan) {
			difftest.AlterUpdate(&p.Changes[0], func(u *diff.RuleOperation) { u.Body.Expression = "false" })
		},
		"refusal":  func(p *diff.Plan) { p.Changes[0].Refused.Reason = "other" },
		"problem":  func(p *diff.Plan) { p.Problems = append(p.Problems, diff.Problem{}) },
		"a change": func(p *diff.Plan) { p.Changes = p.Changes[:0] },
	} {
		p := plan()
		change(&p)
		if p.Sealed().Digest == first.Digest {
			t.Errorf("%s does not change the digest", name)
		}
	}
	unguarded := planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(2)), difftest.Execute(difftest.ParseOverrides(t, `{"rules":[{"id":"R1","enabled":false}]}`))))
	if unguarded.Digest == first.Digest {
		t.Error("a guard does not change the digest")
	}
}

// A commit that declares next to nothing has no change that could be refused:
// the plan says so all the same, once, and needs a person.
func TestShrunkCommitIsRefusedWithoutChanges(t *testing.T) {
	facts := Facts{Before: Size{Zones: 9, Deployments: 9}}
	plan := Check(Check(planner.Make(planner.Input{State: desired.State{}}), facts), facts)
	if len(plan.Problems) != 1 || plan.Problems[0].State != diff.Refused || !plan.Attention() {
		t.Errorf("got %+v", plan.Problems)
	}
	if plan := Check(planner.Make(planner.Input{State: desired.State{}}), Facts{}); plan.Attention() {
		t.Errorf("an empty repository from the start needs nobody: %+v", plan.Problems)
	}
}

// TestShrinkAsConfigured: floor and share are the configuration's, and a commit
// that declares nothing is held whatever they are.
func TestShrinkAsConfigured(t *testing.T) {
	for _, test := range []struct {
		shrink        Shrink
		before, after int
		want          bool
	}{
		{Shrink{Floor: 10}, 9, 1, false},
		{Shrink{Floor: 10}, 10, 5, true},
		{Shrink{Floor: 2}, 2, 1, true},
		{Shrink{Percent: 30}, 10, 7, true},
		{Shrink{Percent: 30}, 10, 8, false},
		{Shrink{Percent: 90}, 10, 2, false},
		{Shrink{Percent: 90}, 10, 1, true},
		{Shrink{Floor: 100, Percent: 90}, 3, 0, true},
	} {
		f := Facts{Shrink: test.shrink, Before: Size{Zones: test.before}, After: Size{Zones: test.after}}
		if got := f.Shrunk(); got != test.want {
			t.Errorf("%+v, from %d to %d: got %v", test.shrink, test.before, test.after, got)
		}
	}
}

// What an account deploys itself runs in zones with any labels: guards with labels apply
// to it, and it counts as one zone with all of them.
func TestGuardsWithLabelsApplyToAccounts(t *testing.T) {
	plan := planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(2)), difftest.Execute(nil)))
	account, gold, none := edge.AccountScope(difftest.Account), Labels{"tier": "gold"}, 0
	plan.Changes[0].Scope = account
	for name, facts := range map[string]Facts{
		"freeze":   {Freezes: []Freeze{{Name: "sale", Labels: gold}}},
		"observe":  {Observe: []Observe{{Labels: gold}}},
		"limit":    {Rules: []Rule{{Name: "gold", Labels: gold, Changes: &Limit{Count: &none}}}},
		"approval": {Rules: []Rule{{Name: "gold", Labels: gold, Approve: ApproveAll}}},
		"hold":     {Holds: []diff.Hold{{Zone: plan.Changes[0].Zone}}},
	} {
		facts.Zones = map[edge.Scope]Labels{account: nil}
		if got := Check(plan, facts).Changes[0].Refused; got == nil || string(got.Guard) != name {
			t.Errorf("%s: refused %+v", name, got)
		}
	}
	facts := Facts{Zones: map[edge.Scope]Labels{account: nil, edge.ZoneScope("z"): gold, edge.ZoneScope("y"): nil}}
	if n := facts.selected(gold); n != 2 {
		t.Errorf("%d zones are gold, want 2", n)
	}
	tally := NewTally("this commit", Facts{Zones: facts.Zones, Rules: []Rule{{Name: "gold", Labels: gold}}})
	tally.Count(account, true)
	if before, declared := tally.beside(Rule{Name: "gold", Labels: gold}, nil, true); before != 1 || declared != 2 {
		t.Errorf("%d of %d count", before, declared)
	}
}

// TestSelects: a label that is not there is not an empty one.
func TestSelects(t *testing.T) {
	zone := Labels{"tier": "gold", "note": ""}
	for _, test := range []struct {
		labels Labels
		want   bool
	}{
		{nil, true},
		{Labels{"tier": "gold"}, true},
		{Labels{"tier": "gold", "note": ""}, true},
		{Labels{"tier": "free"}, false},
		{Labels{"absent": ""}, false},
	} {
		if got := test.labels.Selects(zone); got != test.want {
			t.Errorf("%v: got %v", test.labels, got)
		}
	}
}

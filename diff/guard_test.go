package diff

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

func TestShrunk(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after Size
		want          bool
	}{
		{"no earlier commit", Size{}, Size{}, false},
		{"growth", Size{4, 4, 0}, Size{8, 8, 0}, false},
		{"the same", Size{4, 4, 0}, Size{4, 4, 0}, false},
		{"below the floor", Size{3, 3, 0}, Size{1, 1, 0}, false},
		{"at the floor, halved", Size{4, 4, 0}, Size{2, 4, 0}, true},
		{"at the floor, not quite halved", Size{5, 5, 0}, Size{3, 3, 0}, false},
		{"odd, halved", Size{5, 9, 0}, Size{5, 4, 0}, true},
		{"only deployments halved", Size{1, 10, 0}, Size{1, 5, 0}, true},
		{"emptied", Size{10, 10, 0}, Size{}, true},
		{"emptied below the floor", Size{1, 1, 0}, Size{}, true},
		{"zones without deployments", Size{1, 1, 0}, Size{1, 0, 0}, true},
		{"the last token of few", Size{9, 9, 3}, Size{9, 9, 0}, false},
		{"tokens vanished", Size{9, 9, 4}, Size{9, 9, 0}, true},
		{"tokens halved", Size{9, 9, 4}, Size{9, 9, 2}, true},
		{"tokens not quite halved", Size{9, 9, 5}, Size{9, 9, 3}, false},
		{"tokens below the floor", Size{9, 9, 3}, Size{9, 9, 1}, false},
		{"tokens not known before", Size{9, 9, 0}, Size{9, 9, 7}, false},
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
		"3 zones with 4 deployments":              {3, 4, 0},
		"1 zone with 1 deployment and 1 token":    {1, 1, 1},
		"3 zones with 4 deployments and 2 tokens": {3, 4, 2},
	} {
		if got := size.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestGuardShrunk(t *testing.T) {
	plan := makeOne(deployment(paranoia(2)), testExecute(nil))
	facts := Facts{Before: Size{10, 12, 0}, After: Size{1, 1, 0}}
	want := &Refusal{
		Guard: "shrink", Reason: "this commit declares 1 zone with 1 deployment, but the last accepted commit declared 10 zones with 12 deployments",
		Release: "seawall apply --allow-shrink, or a commit that declares them again",
	}
	guarded := Guard(plan, facts)
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
	if got := Guard(plan, facts).Changes[0]; got.Refused != nil {
		t.Errorf("got %+v", got.Refused)
	}
}

func TestGuardFirstRefusalCounts(t *testing.T) {
	plan := makeOne(deployment(paranoia(2)), testExecute(parseOverrides(t, `{"rules":[{"id":"R0","enabled":false}]}`)))
	facts := Facts{Before: Size{10, 10, 0}, After: Size{1, 1, 0}, NonConvergent: map[DeploymentID]string{plan.Changes[0].ID(): plan.Changes[0].Fingerprint()}}
	for _, want := range []string{"shrink", "unmanaged"} {
		if got := Guard(plan, facts).Changes[0].Refused; got.Guard != want {
			t.Errorf("got %s, want %s", got.Guard, want)
		}
		facts.AllowShrink = true
	}
}

func TestGuardNonConvergent(t *testing.T) {
	live := testExecute(parseOverrides(t, `{"rules":[{"id":"R1","action":"log"},{"id":"R2","action":"log"}]}`))
	written := mustChange(t, makeOne(deployment(paranoia(2), keep), live))
	facts := Facts{NonConvergent: map[DeploymentID]string{written.ID(): written.Fingerprint()}}
	refusal := func(d desired.Deployment, live edge.Rule) *Refusal {
		return Guard(makeOne(d, live), facts).Changes[0].Refused
	}
	want := &Refusal{
		Guard: "non_convergent",
		Reason: "this same change was written before, and the platform did not keep it: " +
			`overrides.categories["paranoia-level-3"].enabled, overrides.categories["paranoia-level-4"].enabled`,
		Release: "a change of the declaration or the live state, or seawall apply, which tries once more",
	}
	if got := refusal(deployment(paranoia(2), keep), live); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}

	moved := deployment(keep)
	moved.Paranoia = &desired.Declared[int]{Value: 2, Origin: desired.Origin{Commit: "another", File: "b.cue", Line: 1}}
	if refusal(moved, live) == nil {
		t.Error("a declaration that only moved is tried again")
	}
	shuffled := testExecute(parseOverrides(t, `{"rules":[{"id":"R2","action":"log"},{"id":"R1","action":"log"}]}`))
	if refusal(deployment(paranoia(2), keep), shuffled) == nil {
		t.Error("a server that shuffles rules has it tried again")
	}

	if refusal(deployment(paranoia(1), keep), live) != nil {
		t.Error("another declaration is refused")
	}
	if refusal(deployment(paranoia(2), keep), testExecute(nil)) != nil {
		t.Error("another live state is refused")
	}
	facts.NonConvergent = map[DeploymentID]string{{testZone, "another"}: written.Fingerprint()}
	if refusal(deployment(paranoia(2), keep), live) != nil {
		t.Error("another deployment's history is held against this one")
	}
}

func TestDigest(t *testing.T) {
	facts := Facts{}
	plan := func() Plan {
		return Guard(makeOne(deployment(paranoia(2)), testExecute(parseOverrides(t, `{"rules":[{"id":"R1","enabled":false}]}`))), facts)
	}
	first := plan()
	if len(first.Digest) != len("sha256:")+64 || !strings.HasPrefix(first.Digest, "sha256:") {
		t.Fatalf("digest is %q", first.Digest)
	}
	for name, change := range map[string]func(*Plan){
		"nothing":       func(*Plan) {},
		"generated_at":  func(p *Plan) { p.GeneratedAt = time.Unix(1, 0) },
		"requests.used": func(p *Plan) { p.Requests.Used = 9 },
		"the digest":    func(p *Plan) { p.Digest = "other" },
	} {
		p := plan()
		change(&p)
		if p.seal().Digest != first.Digest {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, change := range map[string]func(*Plan){
		"version":       func(p *Plan) { p.Version = 2 },
		"commit":        func(p *Plan) { p.Commit = "other" },
		"zones":         func(p *Plan) { p.Summary.Zones++ },
		"account":       func(p *Plan) { p.Changes[0].Account = "other" },
		"zone":          func(p *Plan) { p.Changes[0].Zone = "other" },
		"zone id":       func(p *Plan) { p.Changes[0].ZoneID = "other" },
		"deployment":    func(p *Plan) { p.Changes[0].Deployment = "other" },
		"direction":     func(p *Plan) { p.Changes[0].Direction = Neutral },
		"origin":        func(p *Plan) { p.Changes[0].Origin.Line++ },
		"field":         func(p *Plan) { p.Changes[0].Fields[0].New = true },
		"field, absent": func(p *Plan) { p.Changes[0].Fields[0].New = nil },
		"field origin":  func(p *Plan) { p.Changes[0].Fields[0].Origin = nil },
		"unmanaged":     func(p *Plan) { p.Changes[0].Unmanaged = nil },
		"body":          func(p *Plan) { p.Changes[0].Request.Body.Expression = "false" },
		"refusal":       func(p *Plan) { p.Changes[0].Refused.Reason = "other" },
		"problem":       func(p *Plan) { p.Problems = append(p.Problems, Problem{}) },
		"a change":      func(p *Plan) { p.Changes = p.Changes[:0] },
	} {
		p := plan()
		change(&p)
		if p.seal().Digest == first.Digest {
			t.Errorf("%s does not change the digest", name)
		}
	}
	unguarded := makeOne(deployment(paranoia(2)), testExecute(parseOverrides(t, `{"rules":[{"id":"R1","enabled":false}]}`)))
	if unguarded.Digest == first.Digest {
		t.Error("a guard does not change the digest")
	}
}

// A commit that declares next to nothing has no change that could be refused:
// the plan says so all the same, once, and needs a person.
func TestShrunkCommitIsRefusedWithoutChanges(t *testing.T) {
	facts := Facts{Before: Size{Zones: 9, Deployments: 9}}
	plan := Guard(Guard(Make(Input{State: desired.State{}}), facts), facts)
	if len(plan.Problems) != 1 || plan.Problems[0].State != Refused || !plan.Attention() {
		t.Errorf("got %+v", plan.Problems)
	}
	if plan := Guard(Make(Input{State: desired.State{}}), Facts{}); plan.Attention() {
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

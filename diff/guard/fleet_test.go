package guard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// labelled declares n zones, of which every other is gold: the odd ones.
func labelled(n int) map[edge.Scope]Labels {
	zones := map[edge.Scope]Labels{}
	for i := 1; i <= n; i++ {
		zones[difftest.FleetZone(i)] = Labels{"tier": []string{"free", "gold"}[i%2]}
	}
	return zones
}

var gold = Labels{"tier": "gold"}

// refusedIn are the refusals in short: "z1 limit".
func refusedIn(p diff.Plan) []string {
	var list []string
	for _, c := range p.Changes {
		if c.Refused != nil {
			list = append(list, c.Zone+c.Token+" "+string(c.Refused.Guard))
		}
	}
	return list
}

func wantRefused(t *testing.T, p diff.Plan, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, refusedIn(p)); d != "" {
		t.Errorf("refused (-want +got):\n%s", d)
	}
}

func refusalOf(p diff.Plan, zone string) diff.Refusal {
	for _, c := range p.Changes {
		if c.Zone+c.Token == zone && c.Refused != nil {
			return *c.Refused
		}
	}
	return diff.Refusal{}
}

func limited(l Limit) []Rule { return []Rule{{Name: "fleet", Changes: &l}} }

// A sweep is judged as one, in however many parts it comes.
func TestLimitCountsWhatTheSweepHasTouched(t *testing.T) {
	touched := map[edge.Scope]bool{difftest.FleetZone(11): false, difftest.FleetZone(12): true, difftest.FleetZone(13): true}
	weakening := []Rule{{Name: "calm", Weakening: &Limit{Count: new(2)}}}
	goldOnly := []Rule{{Name: "best", Labels: gold, Changes: &Limit{Count: new(2)}}}
	for _, test := range []struct {
		name    string
		rules   []Rule
		changes []diff.Change
		reason  string // empty: nothing is refused
	}{
		{"room for one", limited(Limit{Count: new(4)}), difftest.ChangesTo(1, 0), ""},
		{"one too many", limited(Limit{Count: new(4)}), difftest.ChangesTo(2, 0), "this sweep changes 5 zones, and guards.fleet allows at most 4"},
		{"a zone counts once", limited(Limit{Count: new(3)}), []diff.Change{difftest.FleetChange(11, diff.Strengthens)}, ""},
		{"what strengthened does not weaken", weakening, difftest.ChangesTo(1, 0), ""},
		{"what weakened does", weakening, difftest.ChangesTo(1, 1), "this sweep weakens 3 zones, and guards.calm allows at most 2"},
		{"of the labels", goldOnly, difftest.ChangesTo(1, 0), "this sweep changes 3 zones, and guards.best allows at most 2"},
		{"not of the labels", goldOnly, []diff.Change{difftest.FleetChange(2, diff.Strengthens)}, ""},
		{"nothing more", limited(Limit{Count: new(1)}), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			facts := Facts{Zones: labelled(40), Rules: test.rules}
			facts.Tally = NewTally("this sweep", facts)
			for zone, weakens := range touched {
				facts.Tally.Count(zone, weakens)
			}
			p := Check(difftest.PlanOf(test.changes...), facts)
			for _, c := range p.Changes {
				if reason := refusalOf(p, c.Zone).Reason; reason != test.reason {
					t.Errorf("%s: %q, want %q", c.Zone, reason, test.reason)
				}
			}
		})
	}
}

func TestGatherCountsWhatItsPartsHave(t *testing.T) {
	changes := difftest.ChangesTo(5, 2)
	changes[4].Refused = &diff.Refusal{Guard: diff.GuardHold}
	problems := []diff.Problem{{Scope: difftest.FleetZone(6), State: diff.Unknown}, {Scope: difftest.FleetZone(6), State: diff.Unknown}, {Token: "k", State: diff.Quarantined}}
	got := diff.Gather("c0ffee", 10, 1, []diff.Change{changes[4], changes[1], changes[0], changes[3], changes[2]}, problems)
	want := diff.Summary{Zones: 10, InSync: 4, Changed: 4, Weakening: 2, Refused: 1, Unknown: 1, Tokens: 1}
	if got.Summary != want {
		t.Errorf("summary %+v, want %+v", got.Summary, want)
	}
	whole := diff.Plan{Version: diff.PlanVersion, Commit: "c0ffee", Summary: diff.Summary{Zones: 10, Tokens: 1}, Changes: changes, Problems: problems}.Sealed()
	if got.Digest != whole.Digest || got.Requests.ToApply != 8 {
		t.Errorf("digest %s, want %s; %d requests", got.Digest, whole.Digest, got.Requests.ToApply)
	}
}

func TestLimit(t *testing.T) {
	for _, test := range []struct {
		name    string
		limit   Limit
		changes int
		of      int
		most    string
	}{
		{"none set", Limit{Floor: 5}, 40, 40, ""},
		{"as many as may", Limit{Count: new(3)}, 3, 40, ""},
		{"one more", Limit{Count: new(3)}, 4, 40, "at most 3"},
		{"none at all may", Limit{Count: new(0)}, 1, 40, "at most 0"},
		{"share kept", Limit{Percent: new(10)}, 4, 40, ""},
		{"share exceeded", Limit{Percent: new(10)}, 5, 40, "at most 10% of 40"},
		{"share exceeded by a fraction", Limit{Percent: new(10)}, 5, 49, "at most 10% of 49"},
		{"share exceeded below the floor", Limit{Percent: new(10), Floor: 5}, 5, 5, ""},
		{"share exceeded above the floor", Limit{Percent: new(10), Floor: 5}, 6, 6, "at most 10% of 6"},
		{"the floor is no count", Limit{Count: new(3), Floor: 5}, 4, 40, "at most 3"},
		{"either of two", Limit{Count: new(3), Percent: new(50)}, 4, 40, "at most 3"},
		{"the other of two", Limit{Count: new(30), Percent: new(10)}, 5, 40, "at most 10% of 40"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Check(difftest.PlanOf(difftest.ChangesTo(test.changes, 0)...), Facts{Zones: labelled(test.of), Rules: limited(test.limit)})
			if test.most == "" {
				wantRefused(t, p)
				return
			}
			zones := words.Count(test.changes, "zone", "zones")
			for i := 1; i <= test.changes; i++ {
				got := refusalOf(p, fmt.Sprintf("z%d", i))
				want := diff.Refusal{
					Guard: diff.GuardLimit, Reason: "this plan changes " + zones + ", and guards.fleet allows " + test.most,
					Release: "a smaller commit, or seawall apply --approve " + got.Digest, Digest: diff.ApprovalDigest(difftest.ChangesTo(test.changes, 0)),
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("z%d (-want +got):\n%s", i, d)
				}
			}
		})
	}
}

// TestLimitCountsZones: two deployments of one zone are one zone, tokens none,
// and a change that is refused anyway is no change.
func TestLimitCountsZones(t *testing.T) {
	second := difftest.FleetChange(1, diff.Weakens)
	second.Deployment = "credentials"
	difftest.AlterUpdate(&second, func(u *diff.RuleOperation) { u.Target.Rule = "other" })
	unkept := difftest.FleetChange(3, diff.Weakens)
	not := map[diff.ID]string{unkept.ID(): unkept.Fingerprint()}
	orphan := diff.Change{Scope: edge.CredentialScope(""), Token: "old", Operation: diff.Orphan{}, Direction: diff.Neutral, Fields: []diff.Field{}}
	p := difftest.PlanOf(difftest.FleetChange(1, diff.Weakens), second, difftest.FleetChange(2, diff.Weakens), unkept, orphan, difftest.TokenChange("t", diff.ActionCreate, diff.Weakens))
	wantRefused(t, Check(p, Facts{Zones: labelled(9), NonConvergent: not, Rules: limited(Limit{Count: new(2)})}), "z3 non_convergent")
	wantRefused(t, Check(p, Facts{Zones: labelled(9), NonConvergent: not, Rules: limited(Limit{Count: new(1)})}), "z1 limit", "z1 limit", "z2 limit", "z3 non_convergent")
}

func TestLimitsByLabel(t *testing.T) {
	p := difftest.PlanOf(difftest.ChangesTo(6, 3)...) // 1, 3, 5 are gold; 1, 2, 3 weaken
	for _, test := range []struct {
		name  string
		rules []Rule
		want  []string
	}{
		{"of a label", []Rule{{Name: "g", Labels: gold, Changes: &Limit{Count: new(2)}}}, []string{"z1 limit", "z3 limit", "z5 limit"}},
		{"share of a label", []Rule{{Name: "g", Labels: gold, Changes: &Limit{Percent: new(30)}}}, []string{"z1 limit", "z3 limit", "z5 limit"}},
		{"share of a label that holds", []Rule{{Name: "g", Labels: gold, Changes: &Limit{Percent: new(60)}}}, nil},
		{"of a label nobody has", []Rule{{Name: "g", Labels: Labels{"tier": ""}, Changes: &Limit{Count: new(0)}}}, nil},
		{"of two labels", []Rule{{Name: "g", Labels: Labels{"tier": "gold", "x": "y"}, Changes: &Limit{Count: new(0)}}}, nil},
		{"weakening alone", []Rule{{Name: "g", Weakening: &Limit{Count: new(2)}}}, []string{"z1 limit", "z2 limit", "z3 limit"}},
		{"weakening of a label", []Rule{{Name: "g", Labels: gold, Weakening: &Limit{Count: new(1)}}}, []string{"z1 limit", "z3 limit"}},
		{
			"a stricter one makes no room for another",
			[]Rule{{Name: "a", Labels: gold, Changes: &Limit{Count: new(0)}}, {Name: "b", Changes: &Limit{Count: new(5)}}},
			[]string{"z1 limit", "z2 limit", "z3 limit", "z4 limit", "z5 limit", "z6 limit"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantRefused(t, Check(p, Facts{Zones: labelled(10), Rules: test.rules}), test.want...)
		})
	}
	both := Facts{Zones: labelled(10), Rules: []Rule{{Name: "g", Changes: &Limit{Count: new(5)}, Weakening: &Limit{Count: new(0)}}}}
	if got := refusalOf(Check(p, both), "z1").Reason; !strings.HasPrefix(got, "this plan changes 6 zones") {
		t.Errorf("the limit of all comes first, got %q", got)
	}
}

func TestApproval(t *testing.T) {
	tokens := []diff.Change{difftest.TokenChange("wider", diff.ActionUpdate, diff.Weakens), difftest.TokenChange("next", diff.ActionRotate, diff.Neutral), difftest.TokenChange("named", diff.ActionUpdate, diff.Neutral)}
	p := difftest.PlanOf(append(difftest.ChangesTo(3, 2), tokens...)...)
	for name, test := range map[string]struct {
		rule Rule
		want []string
	}{
		"weakening":         {Rule{Approve: ApproveWeakening}, []string{"z1 approval", "z2 approval", "wider approval"}},
		"all":               {Rule{Approve: ApproveAll}, []string{"z1 approval", "z2 approval", "z3 approval", "wider approval", "named approval"}},
		"weakening, gold":   {Rule{Approve: ApproveWeakening, Labels: gold}, []string{"z1 approval"}},
		"all, gold":         {Rule{Approve: ApproveAll, Labels: gold}, []string{"z1 approval", "z3 approval"}},
		"nothing":           {Rule{}, nil},
		"beside a limit":    {Rule{Approve: ApproveWeakening, Changes: &Limit{Count: new(2)}}, []string{"z1 limit", "z2 limit", "z3 limit", "wider approval"}},
		"a limit that fits": {Rule{Approve: ApproveWeakening, Changes: &Limit{Count: new(3)}}, []string{"z1 approval", "z2 approval", "wider approval"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.rule.Name = "calm"
			f := Facts{Zones: labelled(9), Rules: []Rule{test.rule}}
			refused := Check(p, f)
			wantRefused(t, refused, test.want...)
			f.Approved = map[string]bool{p.ApprovalDigest(): true, "sha256:other": true}
			approved := Check(p, f)
			wantRefused(t, approved)
			if d := cmp.Diff([]string{p.ApprovalDigest()}, approved.Granted); d != "" {
				t.Errorf("approved by (-want +got):\n%s", d)
			}
			f.Approved = map[string]bool{}
			for _, c := range refused.Changes {
				if c.Refused != nil {
					f.Approved[c.Refused.Digest] = true
				}
			}
			wantRefused(t, Check(p, f))
		})
	}
}

func TestApprovalReason(t *testing.T) {
	digest := diff.ApprovalDigest(difftest.ChangesTo(1, 1))
	want := diff.Refusal{
		Guard: diff.GuardApproval, Reason: "guards.calm requires approval of changes that weaken, and this change is not approved",
		Release: "seawall apply --approve " + digest, Digest: digest,
	}
	f := Facts{Zones: labelled(1), Rules: []Rule{{Name: "calm", Approve: ApproveWeakening}}}
	if d := cmp.Diff(want, refusalOf(Check(difftest.PlanOf(difftest.ChangesTo(1, 1)...), f), "z1")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	f.Rules[0].Approve = ApproveAll
	if got := refusalOf(Check(difftest.PlanOf(difftest.ChangesTo(1, 1)...), f), "z1").Reason; got != "guards.calm requires approval of every change, and this change is not approved" {
		t.Errorf("got %q", got)
	}
}

// TestApprovalOfPart: what was agreed to one by one stays agreed to once the
// others are applied, and does not count for a limit.
func TestApprovalOfPart(t *testing.T) {
	all := difftest.ChangesTo(5, 5)
	f := Facts{Zones: labelled(40), Rules: []Rule{{Name: "a", Changes: &Limit{Count: new(2)}, Approve: ApproveWeakening}}, Approved: map[string]bool{}}
	for _, c := range all[:3] {
		f.Approved[c.ApprovalDigest()] = true
	}
	p := Check(difftest.PlanOf(all...), f)
	wantRefused(t, p, "z4 approval", "z5 approval")
	for i, c := range p.Changes {
		if c.Approved != (i < 3) {
			t.Errorf("%s approved: %v", c.Zone, c.Approved)
		}
	}
	wantRefused(t, Check(difftest.PlanOf(all[1:3]...), f))
	other := difftest.FleetChange(2, diff.Weakens)
	other.Fields[0].Old = true
	wantRefused(t, Check(difftest.PlanOf(other), f), "z2 approval")
}

// TestApprovalDigest: it stands for what would be done and what was seen, and for
// nothing else.
func TestApprovalDigest(t *testing.T) {
	fresh := func() diff.Plan { return difftest.PlanOf(difftest.ChangesTo(3, 1)...) }
	base := fresh().ApprovalDigest()
	for name, test := range map[string]struct {
		alter func(*diff.Plan)
		same  bool
	}{
		"nothing": {func(*diff.Plan) {}, true},
		"refusals": {func(p *diff.Plan) {
			*p = Check(*p, Facts{Zones: labelled(3), Rules: []Rule{{Name: "x", Approve: ApproveAll}}, Holds: []diff.Hold{{Zone: "z3", Until: difftest.Noon}}})
		}, true},
		"commit and line":   {func(p *diff.Plan) { p.Commit = "other"; p.Changes[0].Origin.Line = 7 }, true},
		"line of a field":   {func(p *diff.Plan) { p.Changes[0].Fields[0].Origin = new(difftest.At(9)) }, true},
		"when":              {func(p *diff.Plan) { p.GeneratedAt = difftest.Noon }, true},
		"order":             {func(p *diff.Plan) { p.Changes[0], p.Changes[2] = p.Changes[2], p.Changes[0] }, true},
		"problems":          {func(p *diff.Plan) { p.Problems = []diff.Problem{{Zone: "z9", State: diff.Unknown}} }, true},
		"one change less":   {func(p *diff.Plan) { p.Changes = p.Changes[1:] }, false},
		"another zone":      {func(p *diff.Plan) { p.Changes[0].Scope = difftest.FleetZone(9) }, false},
		"another old value": {func(p *diff.Plan) { p.Changes[0].Fields[0].Old = nil }, false},
		"another new value": {func(p *diff.Plan) { p.Changes[0].Fields[0].New = 3 }, false},
		"another request": {func(p *diff.Plan) {
			difftest.AlterUpdate(&p.Changes[0], func(u *diff.RuleOperation) { u.Body.Expression = "x" })
		}, false},
		"another direction": {func(p *diff.Plan) { p.Changes[0].Fields[0].Direction = diff.Neutral }, false},
		"a version seen": {func(p *diff.Plan) {
			difftest.AlterUpdate(&p.Changes[2], func(u *diff.RuleOperation) { u.Target.Version = "8" })
		}, false},
		"another deployment": {func(p *diff.Plan) { p.Changes[0].Deployment = "x" }, false},
	} {
		p := fresh()
		test.alter(&p)
		if got := p.ApprovalDigest() == base; got != test.same {
			t.Errorf("%s: the digest is the same: %v", name, got)
		}
	}
	if !strings.HasPrefix(base, "sha256:") || len(base) != len("sha256:")+64 {
		t.Errorf("got %q", base)
	}
}

func TestWorsened(t *testing.T) {
	planned, now := difftest.FleetChange(1, diff.Strengthens), difftest.FleetChange(1, diff.Weakens)
	for name, test := range map[string]struct {
		rules []Rule
		want  bool
	}{
		"no rule":           {nil, false},
		"a rule of all":     {[]Rule{{Changes: &Limit{}}}, false},
		"approval":          {[]Rule{{Approve: ApproveWeakening}}, true},
		"limit":             {[]Rule{{Weakening: &Limit{}}}, true},
		"of other zones":    {[]Rule{{Approve: ApproveWeakening, Labels: Labels{"tier": "free"}}}, false},
		"the second of two": {[]Rule{{}, {Approve: ApproveAll, Labels: gold}}, true},
	} {
		f := Facts{Zones: labelled(1), Rules: test.rules}
		if got := f.Worsened(planned, now) != nil; got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
		if f.Worsened(now, now) != nil || f.Worsened(planned, planned) != nil || f.Worsened(now, planned) != nil {
			t.Errorf("%s: nothing has become worse", name)
		}
	}
}

func TestHold(t *testing.T) {
	until := difftest.Noon.Add(time.Hour)
	holds := []diff.Hold{{Zone: "z2", Until: until, Reason: "INC-1"}, {Zone: "elsewhere", Until: until, Reason: "x"}}
	p := Check(difftest.PlanOf(append(difftest.ChangesTo(3, 0), difftest.TokenChange("z2", diff.ActionCreate, diff.Weakens))...), Facts{Holds: holds})
	wantRefused(t, p, "z2 hold")
	want := diff.Refusal{Guard: diff.GuardHold, Reason: "the zone is held until 2026-03-02T13:00:00Z: INC-1", Release: "seawall hold release zone z2", Until: until}
	if d := cmp.Diff(want, refusalOf(p, "z2")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(holds, p.Holds); d != "" {
		t.Errorf("all holds are told (-want +got):\n%s", d)
	}
	if got := diff.Active(holds, until, nil); len(got) != 0 {
		t.Errorf("at its end a hold is over: %v", got)
	}
	if got := diff.Active(holds, until.Add(-1), nil); len(got) != 2 {
		t.Errorf("before its end it is not: %v", got)
	}
}

// A hold that a revert set lasts while its zone is declared as it was, and is about that
// zone alone.
func TestHoldOfARevert(t *testing.T) {
	hold := diff.Hold{Zone: "z2", Scope: difftest.ChangesTo(3, 0)[1].Scope, Declaration: "d1", Commit: "0123456789abcdef", Reason: "revert of commit 01 (lee)"}
	p := Check(difftest.PlanOf(difftest.ChangesTo(3, 0)...), Facts{Holds: []diff.Hold{hold}})
	wantRefused(t, p, "z2 reverted")
	want := diff.Refusal{
		Guard: diff.GuardReverted, Reason: "the zone is put back by revert of commit 01 (lee), until a new commit changes the zone",
		Release: "a commit that changes the zone, or seawall hold release zone z2",
	}
	if d := cmp.Diff(want, refusalOf(p, "z2")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	elsewhere := hold
	elsewhere.Scope = edge.ZoneScope("another")
	wantRefused(t, Check(difftest.PlanOf(difftest.ChangesTo(3, 0)...), Facts{Holds: []diff.Hold{elsewhere}}))
	for declaration, lasts := range map[string]bool{"d1": true, "d2": false, "": false} {
		got := diff.Active([]diff.Hold{hold}, difftest.Noon, func(edge.Scope) string { return declaration })
		if (len(got) == 1) != lasts {
			t.Errorf("declared as %q: %v", declaration, got)
		}
	}
}

func TestFreeze(t *testing.T) {
	until := difftest.Noon.Add(time.Hour)
	p := difftest.PlanOf(append(difftest.ChangesTo(4, 2), difftest.TokenChange("t", diff.ActionUpdate, diff.Strengthens), difftest.TokenChange("r", diff.ActionRotate, diff.Neutral))...)
	for name, test := range map[string]struct {
		freeze Freeze
		want   []string
	}{
		"all":               {Freeze{}, []string{"z1 freeze", "z2 freeze", "z3 freeze", "z4 freeze", "t freeze"}},
		"gold":              {Freeze{Labels: gold}, []string{"z1 freeze", "z3 freeze"}},
		"all that weakens":  {Freeze{Strengthening: true}, []string{"z1 freeze", "z2 freeze"}},
		"gold that weakens": {Freeze{Strengthening: true, Labels: gold}, []string{"z1 freeze"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.freeze.Name, test.freeze.Until = "weekend", until
			frozen := Check(p, Facts{Zones: labelled(4), Freezes: []Freeze{{Name: "nobody", Labels: Labels{"x": "y"}}, test.freeze}})
			wantRefused(t, frozen, test.want...)
			want := diff.Refusal{Guard: diff.GuardFreeze, Reason: "freezes.weekend allows no change until 2026-03-02T13:00:00Z", Release: "the end of the window", Until: until}
			if d := cmp.Diff(want, refusalOf(frozen, "z1")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	open := Check(p, Facts{Zones: labelled(4), Freezes: []Freeze{{Override: true}}})
	if got := refusalOf(open, "z1").Release; got != "the end of the window, or seawall apply --during-freeze REASON" {
		t.Errorf("got %q", got)
	}
}

func TestWaves(t *testing.T) {
	next := difftest.Noon.Add(time.Hour)
	p := difftest.PlanOf(append(difftest.ChangesTo(5, 0), difftest.TokenChange("t", diff.ActionUpdate, diff.Weakens))...)
	wave := map[edge.Scope]int{difftest.FleetZone(1): 1, difftest.FleetZone(2): 2, difftest.FleetZone(3): 3, difftest.FleetZone(4): 4}
	r := &Rollout{Wave: wave, Waves: 4, Open: 2, Next: next}
	guarded := Check(p, Facts{Rollout: r})
	wantRefused(t, guarded, "z3 wave", "z4 wave")
	for zone, want := range map[string]diff.Refusal{
		"z3": {Guard: diff.GuardWave, Reason: "wave 3 of 4 may start at 2026-03-02T13:00:00Z", Release: "that time", Until: next},
		"z4": {Guard: diff.GuardWave, Reason: "wave 4 of 4 waits until wave 3 is applied and its soak time is over", Release: "the end of the earlier waves and their soak time"},
	} {
		if d := cmp.Diff(want, refusalOf(guarded, zone)); d != "" {
			t.Errorf("%s (-want +got):\n%s", zone, d)
		}
	}
	r.Next = time.Time{}
	if got := refusalOf(Check(p, Facts{Rollout: r}), "z3").Reason; got != "wave 3 of 4 waits until wave 2 is applied and its soak time is over" {
		t.Errorf("got %q", got)
	}
	r.Halted = "1 change was not kept"
	halted := Check(p, Facts{Rollout: r})
	wantRefused(t, halted, "z1 wave", "z2 wave", "z3 wave", "z4 wave")
	want := diff.Refusal{Guard: diff.GuardWave, Reason: "wave 1 of 4 is halted: 1 change was not kept", Release: "seawall waves resume"}
	if d := cmp.Diff(want, refusalOf(halted, "z1")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestOrderOfGuards: the first refusal counts, and which that is is documented.
func TestOrderOfGuards(t *testing.T) {
	c := difftest.FleetChange(1, diff.Weakens)
	f := Facts{
		Before: Size{10, 10, 0, 0}, After: Size{1, 1, 0, 0}, Zones: labelled(1),
		NonConvergent: map[diff.ID]string{c.ID(): c.Fingerprint()},
		Holds:         []diff.Hold{{Zone: "z1", Until: difftest.Noon}},
		Rules:         []Rule{{Name: "a", Approve: ApproveWeakening}, {Name: "b", Changes: &Limit{Count: new(0)}}},
		Freezes:       []Freeze{{Name: "f"}},
		Rollout:       &Rollout{Wave: map[edge.Scope]int{difftest.FleetZone(1): 2}, Open: 1},
	}
	for _, step := range []struct {
		guard  string
		remove func()
	}{
		{"shrink", func() { f.AllowShrink = true }},
		{"non_convergent", func() { f.NonConvergent = nil }},
		{"hold", func() { f.Holds = nil }},
		{"limit", func() { f.Rules = f.Rules[:1] }},
		{"approval", func() { f.Rules = nil }},
		{"freeze", func() { f.Freezes = nil }},
		{"wave", func() { f.Rollout = nil }},
	} {
		wantRefused(t, Check(difftest.PlanOf(c), f), "z1 "+step.guard)
		step.remove()
	}
	wantRefused(t, Check(difftest.PlanOf(c), f))
}

func genFacts(t *rapid.T, zones int) Facts {
	number := rapid.Ptr(rapid.IntRange(0, zones), true)
	genLabels := rapid.SampledFrom([]Labels{nil, gold, {"tier": "free"}, {"tier": "none"}})
	genLimit := rapid.Ptr(rapid.Custom(func(t *rapid.T) Limit {
		return Limit{number.Draw(t, "count"), rapid.Ptr(rapid.IntRange(0, 100), true).Draw(t, "percent"), rapid.IntRange(0, 5).Draw(t, "floor")}
	}), true)
	f := Facts{Zones: labelled(zones), Now: difftest.Noon, Approved: map[string]bool{}}
	for i := range rapid.IntRange(0, 3).Draw(t, "rules") {
		f.Rules = append(f.Rules, Rule{
			Name: fmt.Sprint("r", i), Labels: genLabels.Draw(t, "labels"), Changes: genLimit.Draw(t, "changes"), Weakening: genLimit.Draw(t, "weakening"),
			Approve: rapid.SampledFrom([]Approve{"", ApproveWeakening, ApproveAll}).Draw(t, "approve"),
		})
	}
	for _, i := range rapid.SliceOfN(rapid.IntRange(1, zones), 0, 2).Draw(t, "holds") {
		f.Holds = append(f.Holds, diff.Hold{Zone: fmt.Sprint("z", i), Until: difftest.Noon.Add(time.Hour)})
	}
	for range rapid.IntRange(0, 2).Draw(t, "freezes") {
		f.Freezes = append(f.Freezes, Freeze{Name: "f", Labels: genLabels.Draw(t, "labels"), Until: difftest.Noon.Add(time.Hour), Strengthening: rapid.Bool().Draw(t, "strengthening")})
	}
	if rapid.Bool().Draw(t, "rolls out") {
		f.Rollout = &Rollout{Wave: map[edge.Scope]int{}, Waves: 3, Open: rapid.IntRange(1, 3).Draw(t, "open")}
		for i := 1; i <= zones; i++ {
			if wave := rapid.IntRange(0, 3).Draw(t, "wave"); wave > 0 {
				f.Rollout.Wave[difftest.FleetZone(i)] = wave
			}
		}
	}
	return f
}

func genPlan(t *rapid.T, zones int) diff.Plan {
	direction := rapid.SampledFrom([]diff.Direction{diff.Strengthens, diff.Weakens, diff.Neutral})
	var changes []diff.Change
	for i := 1; i <= zones; i++ {
		if rapid.Bool().Draw(t, "changes") {
			changes = append(changes, difftest.FleetChange(i, direction.Draw(t, "direction")))
		}
	}
	for _, action := range []diff.Action{diff.ActionUpdate, diff.ActionRotate} {
		if rapid.Bool().Draw(t, "token") {
			changes = append(changes, difftest.TokenChange(string(action), action, direction.Draw(t, "direction")))
		}
	}
	return difftest.PlanOf(changes...)
}

// What is called a rotation and is none waits like any other change, and a rotation that a
// plan has ready comes only where something of its token is held back.
func TestGuardsDoNotGoByTheWordRotation(t *testing.T) {
	rotation := difftest.TokenChange("t", diff.ActionRotate, diff.Neutral)
	creation := rotation.Operation.(diff.Creation)
	named := creation
	named.Follows = nil
	wider := creation
	wider.Hash = "another"
	for _, o := range []diff.Creation{named, wider} {
		c := rotation
		c.Operation = o
		for _, f := range []Facts{{Rules: []Rule{{Approve: ApproveAll}}}, {Freezes: []Freeze{{Name: "weekend"}}}} {
			if Check(difftest.PlanOf(c), f).Changes[0].Refused == nil {
				t.Errorf("passes: %+v", o)
			}
		}
	}
	creation.Meanwhile = true
	rotation.Operation = creation
	plan := difftest.PlanOf(difftest.TokenChange("t", diff.ActionReplace, diff.Weakens))
	plan.Meanwhile = []diff.Change{rotation}
	if got := Check(plan, Facts{}); len(got.Changes) != 1 || got.Meanwhile != nil {
		t.Errorf("nothing is held back, and the plan has %+v", got.Changes)
	}
	held := Check(plan, Facts{Rules: []Rule{{Approve: ApproveWeakening}}})
	if len(held.Changes) != 2 || !held.Changes[1].Applies() || held.Changes[1].Action() != diff.ActionRotate || held.Digest == plan.Digest {
		t.Errorf("held back, and the plan has %+v", held.Changes)
	}
	if held.ApprovalDigest() != plan.ApprovalDigest() {
		t.Error("an approval of the plan depends on the rotation beside it")
	}
	if observed := Check(plan, Facts{Observe: []Observe{{}}}); len(observed.Changes) != 2 || observed.Changes[1].Applies() {
		t.Errorf("observed, and the plan has %+v", observed.Changes)
	}
}

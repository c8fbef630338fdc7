package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func fleetZone(i int) edge.ZoneID { return edge.ZoneID(fmt.Sprintf("%032d", i)) }

// fleetChange is a change to the one deployment of a zone of a fleet.
func fleetChange(i int, d Direction) Change {
	return Change{
		Kind: KindDeployment, Account: "prod", Zone: fmt.Sprintf("z%d", i), ZoneID: fleetZone(i), Deployment: "core",
		Action: ActionUpdate, Direction: d, Fields: []Field{{Path: "enabled", Old: false, New: true, Direction: d}},
		Target:  Target{Version: "7"},
		Request: &Request{Method: "PATCH", Path: fmt.Sprintf("/zones/%d", i)},
	}
}

func tokenChange(key string, action Action, d Direction) Change {
	return Change{
		Kind: KindToken, Token: key, Action: action, Direction: d, Fields: []Field{},
		Request: &Request{Method: "POST", Path: "/user/tokens", Token: &edge.TokenSpec{Name: key}},
	}
}

func planOf(changes ...Change) Plan {
	return Plan{Version: PlanVersion, Commit: "c0ffee", Changes: changes, Problems: []Problem{}}.seal()
}

// changesTo returns changes to zones 1 to n, of which the first few weaken.
func changesTo(n, weakening int) []Change {
	var changes []Change
	for i := 1; i <= n; i++ {
		d := Strengthens
		if i <= weakening {
			d = Weakens
		}
		changes = append(changes, fleetChange(i, d))
	}
	return changes
}

// labelled declares n zones, of which every other is gold: the odd ones.
func labelled(n int) map[edge.ZoneID]Labels {
	zones := map[edge.ZoneID]Labels{}
	for i := 1; i <= n; i++ {
		zones[fleetZone(i)] = Labels{"tier": []string{"free", "gold"}[i%2]}
	}
	return zones
}

var gold = Labels{"tier": "gold"}

// refusedIn are the refusals in short: "z1 limit".
func refusedIn(p Plan) []string {
	var list []string
	for _, c := range p.Changes {
		if c.Refused != nil {
			list = append(list, c.Zone+c.Token+" "+c.Refused.Guard)
		}
	}
	return list
}

func wantRefused(t *testing.T, p Plan, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, refusedIn(p)); d != "" {
		t.Errorf("refused (-want +got):\n%s", d)
	}
}

func refusalOf(p Plan, zone string) Refusal {
	for _, c := range p.Changes {
		if c.Zone+c.Token == zone && c.Refused != nil {
			return *c.Refused
		}
	}
	return Refusal{}
}

func limited(l Limit) []Rule { return []Rule{{Name: "fleet", Changes: &l}} }

// A sweep is judged as one, in however many parts it comes.
func TestLimitCountsWhatTheSweepHasTouched(t *testing.T) {
	touched := map[edge.ZoneID]bool{fleetZone(11): false, fleetZone(12): true, fleetZone(13): true}
	weakening := []Rule{{Name: "calm", Weakening: &Limit{Count: ptr(2)}}}
	goldOnly := []Rule{{Name: "best", Labels: gold, Changes: &Limit{Count: ptr(2)}}}
	for _, test := range []struct {
		name    string
		rules   []Rule
		changes []Change
		reason  string // empty: nothing is refused
	}{
		{"room for one", limited(Limit{Count: ptr(4)}), changesTo(1, 0), ""},
		{"one too many", limited(Limit{Count: ptr(4)}), changesTo(2, 0), "this sweep changes 5 zones, and guards.fleet allows at most 4"},
		{"a zone counts once", limited(Limit{Count: ptr(3)}), []Change{fleetChange(11, Strengthens)}, ""},
		{"what strengthened does not weaken", weakening, changesTo(1, 0), ""},
		{"what weakened does", weakening, changesTo(1, 1), "this sweep weakens 3 zones, and guards.calm allows at most 2"},
		{"of the labels", goldOnly, changesTo(1, 0), "this sweep changes 3 zones, and guards.best allows at most 2"},
		{"not of the labels", goldOnly, []Change{fleetChange(2, Strengthens)}, ""},
		{"nothing more", limited(Limit{Count: ptr(1)}), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Guard(planOf(test.changes...), Facts{Zones: labelled(40), Rules: test.rules, Touched: touched})
			for _, c := range p.Changes {
				if reason := refusalOf(p, c.Zone).Reason; reason != test.reason {
					t.Errorf("%s: %q, want %q", c.Zone, reason, test.reason)
				}
			}
		})
	}
}

func TestGatherCountsWhatItsPartsHave(t *testing.T) {
	changes := changesTo(5, 2)
	changes[4].Refused = &Refusal{Guard: "hold"}
	problems := []Problem{{ZoneID: fleetZone(6), State: Unknown}, {ZoneID: fleetZone(6), State: Unknown}, {Token: "k", State: Quarantined}}
	got := Gather("c0ffee", 10, 1, []Change{changes[4], changes[1], changes[0], changes[3], changes[2]}, problems)
	want := Summary{Zones: 10, InSync: 4, Changed: 4, Weakening: 2, Refused: 1, Unknown: 1, Tokens: 1}
	if got.Summary != want {
		t.Errorf("summary %+v, want %+v", got.Summary, want)
	}
	whole := Plan{Version: PlanVersion, Commit: "c0ffee", Summary: Summary{Zones: 10, Tokens: 1}, Changes: changes, Problems: problems}.seal()
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
		{"as many as may", Limit{Count: ptr(3)}, 3, 40, ""},
		{"one more", Limit{Count: ptr(3)}, 4, 40, "at most 3"},
		{"none at all may", Limit{Count: ptr(0)}, 1, 40, "at most 0"},
		{"share kept", Limit{Percent: ptr(10)}, 4, 40, ""},
		{"share exceeded", Limit{Percent: ptr(10)}, 5, 40, "at most 10% of 40"},
		{"share exceeded by a fraction", Limit{Percent: ptr(10)}, 5, 49, "at most 10% of 49"},
		{"share exceeded below the floor", Limit{Percent: ptr(10), Floor: 5}, 5, 5, ""},
		{"share exceeded above the floor", Limit{Percent: ptr(10), Floor: 5}, 6, 6, "at most 10% of 6"},
		{"the floor is no count", Limit{Count: ptr(3), Floor: 5}, 4, 40, "at most 3"},
		{"either of two", Limit{Count: ptr(3), Percent: ptr(50)}, 4, 40, "at most 3"},
		{"the other of two", Limit{Count: ptr(30), Percent: ptr(10)}, 5, 40, "at most 10% of 40"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Guard(planOf(changesTo(test.changes, 0)...), Facts{Zones: labelled(test.of), Rules: limited(test.limit)})
			if test.most == "" {
				wantRefused(t, p)
				return
			}
			zones := plural(test.changes, "zone", "zones")
			for i := 1; i <= test.changes; i++ {
				got := refusalOf(p, fmt.Sprintf("z%d", i))
				want := Refusal{
					Guard: "limit", Reason: "this plan changes " + zones + ", and guards.fleet allows " + test.most,
					Release: "a smaller commit, or seawall apply --approve " + got.Digest, Digest: approvalDigest(changesTo(test.changes, 0)),
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
	second := fleetChange(1, Weakens)
	second.Deployment, second.Request = "credentials", &Request{Method: "PATCH", Path: "/zones/1/other"}
	undecided := fleetChange(3, Weakens)
	undecided.Unmanaged = []Leftover{{Path: "x"}}
	orphan := tokenChange("old", ActionOrphan, Neutral)
	orphan.Request = nil
	p := planOf(fleetChange(1, Weakens), second, fleetChange(2, Weakens), undecided, orphan, tokenChange("t", ActionCreate, Weakens))
	wantRefused(t, Guard(p, Facts{Zones: labelled(9), Rules: limited(Limit{Count: ptr(2)})}), "z3 unmanaged")
	wantRefused(t, Guard(p, Facts{Zones: labelled(9), Rules: limited(Limit{Count: ptr(1)})}), "z1 limit", "z1 limit", "z2 limit", "z3 unmanaged")
}

func TestLimitsByLabel(t *testing.T) {
	p := planOf(changesTo(6, 3)...) // 1, 3, 5 are gold; 1, 2, 3 weaken
	for _, test := range []struct {
		name  string
		rules []Rule
		want  []string
	}{
		{"of a label", []Rule{{Name: "g", Labels: gold, Changes: &Limit{Count: ptr(2)}}}, []string{"z1 limit", "z3 limit", "z5 limit"}},
		{"share of a label", []Rule{{Name: "g", Labels: gold, Changes: &Limit{Percent: ptr(30)}}}, []string{"z1 limit", "z3 limit", "z5 limit"}},
		{"share of a label that holds", []Rule{{Name: "g", Labels: gold, Changes: &Limit{Percent: ptr(60)}}}, nil},
		{"of a label nobody has", []Rule{{Name: "g", Labels: Labels{"tier": ""}, Changes: &Limit{Count: ptr(0)}}}, nil},
		{"of two labels", []Rule{{Name: "g", Labels: Labels{"tier": "gold", "x": "y"}, Changes: &Limit{Count: ptr(0)}}}, nil},
		{"weakening alone", []Rule{{Name: "g", Weakening: &Limit{Count: ptr(2)}}}, []string{"z1 limit", "z2 limit", "z3 limit"}},
		{"weakening of a label", []Rule{{Name: "g", Labels: gold, Weakening: &Limit{Count: ptr(1)}}}, []string{"z1 limit", "z3 limit"}},
		{
			"a stricter one makes no room for another",
			[]Rule{{Name: "a", Labels: gold, Changes: &Limit{Count: ptr(0)}}, {Name: "b", Changes: &Limit{Count: ptr(5)}}},
			[]string{"z1 limit", "z2 limit", "z3 limit", "z4 limit", "z5 limit", "z6 limit"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantRefused(t, Guard(p, Facts{Zones: labelled(10), Rules: test.rules}), test.want...)
		})
	}
	both := Facts{Zones: labelled(10), Rules: []Rule{{Name: "g", Changes: &Limit{Count: ptr(5)}, Weakening: &Limit{Count: ptr(0)}}}}
	if got := refusalOf(Guard(p, both), "z1").Reason; !strings.HasPrefix(got, "this plan changes 6 zones") {
		t.Errorf("the limit of all comes first, got %q", got)
	}
}

func TestApproval(t *testing.T) {
	tokens := []Change{tokenChange("wider", ActionUpdate, Weakens), tokenChange("next", ActionRotate, Neutral), tokenChange("named", ActionUpdate, Neutral)}
	p := planOf(append(changesTo(3, 2), tokens...)...)
	for name, test := range map[string]struct {
		rule Rule
		want []string
	}{
		"weakening":         {Rule{Approve: ApproveWeakening}, []string{"z1 approval", "z2 approval", "wider approval"}},
		"all":               {Rule{Approve: ApproveAll}, []string{"z1 approval", "z2 approval", "z3 approval", "wider approval", "named approval"}},
		"weakening, gold":   {Rule{Approve: ApproveWeakening, Labels: gold}, []string{"z1 approval"}},
		"all, gold":         {Rule{Approve: ApproveAll, Labels: gold}, []string{"z1 approval", "z3 approval"}},
		"nothing":           {Rule{}, nil},
		"beside a limit":    {Rule{Approve: ApproveWeakening, Changes: &Limit{Count: ptr(2)}}, []string{"z1 limit", "z2 limit", "z3 limit", "wider approval"}},
		"a limit that fits": {Rule{Approve: ApproveWeakening, Changes: &Limit{Count: ptr(3)}}, []string{"z1 approval", "z2 approval", "wider approval"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.rule.Name = "calm"
			f := Facts{Zones: labelled(9), Rules: []Rule{test.rule}}
			refused := Guard(p, f)
			wantRefused(t, refused, test.want...)
			f.Approved = map[string]bool{p.ApprovalDigest(): true, "sha256:other": true}
			approved := Guard(p, f)
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
			wantRefused(t, Guard(p, f))
		})
	}
}

func TestApprovalReason(t *testing.T) {
	digest := approvalDigest(changesTo(1, 1))
	want := Refusal{
		Guard: "approval", Reason: "guards.calm requires approval of changes that weaken, and this change is not approved",
		Release: "seawall apply --approve " + digest, Digest: digest,
	}
	f := Facts{Zones: labelled(1), Rules: []Rule{{Name: "calm", Approve: ApproveWeakening}}}
	if d := cmp.Diff(want, refusalOf(Guard(planOf(changesTo(1, 1)...), f), "z1")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	f.Rules[0].Approve = ApproveAll
	if got := refusalOf(Guard(planOf(changesTo(1, 1)...), f), "z1").Reason; got != "guards.calm requires approval of every change, and this change is not approved" {
		t.Errorf("got %q", got)
	}
}

// TestApprovalOfPart: what was agreed to one by one stays agreed to once the
// others are applied, and does not count for a limit.
func TestApprovalOfPart(t *testing.T) {
	all := changesTo(5, 5)
	f := Facts{Zones: labelled(40), Rules: []Rule{{Name: "a", Changes: &Limit{Count: ptr(2)}, Approve: ApproveWeakening}}, Approved: map[string]bool{}}
	for _, c := range all[:3] {
		f.Approved[c.ApprovalDigest()] = true
	}
	p := Guard(planOf(all...), f)
	wantRefused(t, p, "z4 approval", "z5 approval")
	for i, c := range p.Changes {
		if c.Approved != (i < 3) {
			t.Errorf("%s approved: %v", c.Zone, c.Approved)
		}
	}
	wantRefused(t, Guard(planOf(all[1:3]...), f))
	other := fleetChange(2, Weakens)
	other.Fields[0].Old = true
	wantRefused(t, Guard(planOf(other), f), "z2 approval")
}

// TestApprovalDigest: it stands for what would be done and what was seen, and for
// nothing else.
func TestApprovalDigest(t *testing.T) {
	fresh := func() Plan { return planOf(changesTo(3, 1)...) }
	base := fresh().ApprovalDigest()
	for name, test := range map[string]struct {
		alter func(*Plan)
		same  bool
	}{
		"nothing": {func(*Plan) {}, true},
		"refusals": {func(p *Plan) {
			*p = Guard(*p, Facts{Zones: labelled(3), Rules: []Rule{{Name: "x", Approve: ApproveAll}}, Holds: []Hold{{Zone: "z3", Until: noon}}})
		}, true},
		"commit and line":    {func(p *Plan) { p.Commit = "other"; p.Changes[0].Origin.Line = 7 }, true},
		"line of a field":    {func(p *Plan) { p.Changes[0].Fields[0].Origin = ptr(at(9)) }, true},
		"when":               {func(p *Plan) { p.GeneratedAt = noon }, true},
		"order":              {func(p *Plan) { p.Changes[0], p.Changes[2] = p.Changes[2], p.Changes[0] }, true},
		"problems":           {func(p *Plan) { p.Problems = []Problem{{Zone: "z9", State: Unknown}} }, true},
		"one change less":    {func(p *Plan) { p.Changes = p.Changes[1:] }, false},
		"another zone":       {func(p *Plan) { p.Changes[0].ZoneID = fleetZone(9) }, false},
		"another old value":  {func(p *Plan) { p.Changes[0].Fields[0].Old = nil }, false},
		"another new value":  {func(p *Plan) { p.Changes[0].Fields[0].New = 3 }, false},
		"another request":    {func(p *Plan) { p.Changes[0].Request.Body.Expression = "x" }, false},
		"another direction":  {func(p *Plan) { p.Changes[0].Fields[0].Direction = Neutral }, false},
		"a version seen":     {func(p *Plan) { p.Changes[2].Target.Version = "8" }, false},
		"another deployment": {func(p *Plan) { p.Changes[0].Deployment = "x" }, false},
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
	planned, now := fleetChange(1, Strengthens), fleetChange(1, Weakens)
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
	until := noon.Add(time.Hour)
	holds := []Hold{{Zone: "z2", Until: until, Reason: "INC-1"}, {Zone: "elsewhere", Until: until, Reason: "x"}}
	p := Guard(planOf(append(changesTo(3, 0), tokenChange("z2", ActionCreate, Weakens))...), Facts{Holds: holds})
	wantRefused(t, p, "z2 hold")
	want := Refusal{Guard: "hold", Reason: "the zone is held until 2026-03-02T13:00:00Z: INC-1", Release: "seawall hold release zone z2", Until: until}
	if d := cmp.Diff(want, refusalOf(p, "z2")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(holds, p.Holds); d != "" {
		t.Errorf("all holds are told (-want +got):\n%s", d)
	}
	if got := Active(holds, until, nil); len(got) != 0 {
		t.Errorf("at its end a hold is over: %v", got)
	}
	if got := Active(holds, until.Add(-1), nil); len(got) != 2 {
		t.Errorf("before its end it is not: %v", got)
	}
}

// A hold that a revert set lasts while its zone is declared as it was, and is about that
// zone alone.
func TestHoldOfARevert(t *testing.T) {
	hold := Hold{Zone: "z2", ZoneID: changesTo(3, 0)[1].ZoneID, Declaration: "d1", Commit: "0123456789abcdef", Reason: "bad"}
	p := Guard(planOf(changesTo(3, 0)...), Facts{Holds: []Hold{hold}})
	wantRefused(t, p, "z2 hold")
	want := Refusal{
		Guard: "hold", Reason: "the zone is held until git differs from commit 0123456789ab: bad",
		Release: "a commit that changes the zone, or seawall hold release zone z2",
	}
	if d := cmp.Diff(want, refusalOf(p, "z2")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	elsewhere := hold
	elsewhere.ZoneID = "another"
	wantRefused(t, Guard(planOf(changesTo(3, 0)...), Facts{Holds: []Hold{elsewhere}}))
	for declaration, lasts := range map[string]bool{"d1": true, "d2": false, "": false} {
		got := Active([]Hold{hold}, noon, func(edge.ZoneID) string { return declaration })
		if (len(got) == 1) != lasts {
			t.Errorf("declared as %q: %v", declaration, got)
		}
	}
}

func TestFreeze(t *testing.T) {
	until := noon.Add(time.Hour)
	p := planOf(append(changesTo(4, 2), tokenChange("t", ActionUpdate, Strengthens), tokenChange("r", ActionRotate, Neutral))...)
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
			frozen := Guard(p, Facts{Zones: labelled(4), Freezes: []Freeze{{Name: "nobody", Labels: Labels{"x": "y"}}, test.freeze}})
			wantRefused(t, frozen, test.want...)
			want := Refusal{Guard: "freeze", Reason: "freezes.weekend allows no change until 2026-03-02T13:00:00Z", Release: "the end of the window", Until: until}
			if d := cmp.Diff(want, refusalOf(frozen, "z1")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	open := Guard(p, Facts{Zones: labelled(4), Freezes: []Freeze{{Override: true}}})
	if got := refusalOf(open, "z1").Release; got != "the end of the window, or seawall apply --during-freeze REASON" {
		t.Errorf("got %q", got)
	}
}

func TestWaves(t *testing.T) {
	next := noon.Add(time.Hour)
	p := planOf(append(changesTo(5, 0), tokenChange("t", ActionUpdate, Weakens))...)
	wave := map[edge.ZoneID]int{fleetZone(1): 1, fleetZone(2): 2, fleetZone(3): 3, fleetZone(4): 4}
	r := &Rollout{Wave: wave, Waves: 4, Open: 2, Next: next}
	guarded := Guard(p, Facts{Rollout: r})
	wantRefused(t, guarded, "z3 wave", "z4 wave")
	for zone, want := range map[string]Refusal{
		"z3": {Guard: "wave", Reason: "wave 3 of 4 may start at 2026-03-02T13:00:00Z", Release: "that time", Until: next},
		"z4": {Guard: "wave", Reason: "wave 4 of 4 waits until wave 3 is applied and its soak time is over", Release: "the end of the earlier waves and their soak time"},
	} {
		if d := cmp.Diff(want, refusalOf(guarded, zone)); d != "" {
			t.Errorf("%s (-want +got):\n%s", zone, d)
		}
	}
	r.Next = time.Time{}
	if got := refusalOf(Guard(p, Facts{Rollout: r}), "z3").Reason; got != "wave 3 of 4 waits until wave 2 is applied and its soak time is over" {
		t.Errorf("got %q", got)
	}
	r.Halted = "1 change was not kept"
	halted := Guard(p, Facts{Rollout: r})
	wantRefused(t, halted, "z1 wave", "z2 wave", "z3 wave", "z4 wave")
	want := Refusal{Guard: "wave", Reason: "wave 1 of 4 is halted: 1 change was not kept", Release: "seawall waves resume"}
	if d := cmp.Diff(want, refusalOf(halted, "z1")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestOrderOfGuards: the first refusal counts, and which that is is documented.
func TestOrderOfGuards(t *testing.T) {
	c := fleetChange(1, Weakens)
	c.Unmanaged = []Leftover{{Path: "x"}}
	f := Facts{
		Before: Size{10, 10, 0}, After: Size{1, 1, 0}, Zones: labelled(1),
		NonConvergent: map[DeploymentID]string{c.ID(): c.Fingerprint()},
		Holds:         []Hold{{Zone: "z1", Until: noon}},
		Rules:         []Rule{{Name: "a", Approve: ApproveWeakening}, {Name: "b", Changes: &Limit{Count: ptr(0)}}},
		Freezes:       []Freeze{{Name: "f"}},
		Rollout:       &Rollout{Wave: map[edge.ZoneID]int{fleetZone(1): 2}, Open: 1},
	}
	for _, step := range []struct {
		guard  string
		remove func()
	}{
		{"shrink", func() { f.AllowShrink = true }},
		{"unmanaged", func() { c.Unmanaged = nil }},
		{"non_convergent", func() { f.NonConvergent = nil }},
		{"hold", func() { f.Holds = nil }},
		{"limit", func() { f.Rules = f.Rules[:1] }},
		{"approval", func() { f.Rules = nil }},
		{"freeze", func() { f.Freezes = nil }},
		{"wave", func() { f.Rollout = nil }},
	} {
		wantRefused(t, Guard(planOf(c), f), "z1 "+step.guard)
		step.remove()
	}
	wantRefused(t, Guard(planOf(c), f))
}

func genFacts(t *rapid.T, zones int) Facts {
	number := rapid.Ptr(rapid.IntRange(0, zones), true)
	genLabels := rapid.SampledFrom([]Labels{nil, gold, {"tier": "free"}, {"tier": "none"}})
	genLimit := rapid.Ptr(rapid.Custom(func(t *rapid.T) Limit {
		return Limit{number.Draw(t, "count"), rapid.Ptr(rapid.IntRange(0, 100), true).Draw(t, "percent"), rapid.IntRange(0, 5).Draw(t, "floor")}
	}), true)
	f := Facts{Zones: labelled(zones), Now: noon, Approved: map[string]bool{}}
	for i := range rapid.IntRange(0, 3).Draw(t, "rules") {
		f.Rules = append(f.Rules, Rule{
			Name: fmt.Sprint("r", i), Labels: genLabels.Draw(t, "labels"), Changes: genLimit.Draw(t, "changes"), Weakening: genLimit.Draw(t, "weakening"),
			Approve: rapid.SampledFrom([]Approve{"", ApproveWeakening, ApproveAll}).Draw(t, "approve"),
		})
	}
	for _, i := range rapid.SliceOfN(rapid.IntRange(1, zones), 0, 2).Draw(t, "holds") {
		f.Holds = append(f.Holds, Hold{Zone: fmt.Sprint("z", i), Until: noon.Add(time.Hour)})
	}
	for range rapid.IntRange(0, 2).Draw(t, "freezes") {
		f.Freezes = append(f.Freezes, Freeze{Name: "f", Labels: genLabels.Draw(t, "labels"), Until: noon.Add(time.Hour), Strengthening: rapid.Bool().Draw(t, "strengthening")})
	}
	if rapid.Bool().Draw(t, "rolls out") {
		f.Rollout = &Rollout{Wave: map[edge.ZoneID]int{}, Waves: 3, Open: rapid.IntRange(1, 3).Draw(t, "open")}
		for i := 1; i <= zones; i++ {
			if wave := rapid.IntRange(0, 3).Draw(t, "wave"); wave > 0 {
				f.Rollout.Wave[fleetZone(i)] = wave
			}
		}
	}
	return f
}

func genPlan(t *rapid.T, zones int) Plan {
	direction := rapid.SampledFrom([]Direction{Strengthens, Weakens, Neutral})
	var changes []Change
	for i := 1; i <= zones; i++ {
		if rapid.Bool().Draw(t, "changes") {
			changes = append(changes, fleetChange(i, direction.Draw(t, "direction")))
		}
	}
	for _, action := range []Action{ActionUpdate, ActionRotate} {
		if rapid.Bool().Draw(t, "token") {
			changes = append(changes, tokenChange(string(action), action, direction.Draw(t, "direction")))
		}
	}
	return planOf(changes...)
}

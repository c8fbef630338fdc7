package token

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

const otherZone = "000000000000000000000000000000bb"

// approveAll holds back all that nobody approved, and a freeze what is left.
var approveAll = guard.Facts{
	Rules:   []guard.Rule{{Name: "all", Approve: guard.ApproveAll}},
	Freezes: []guard.Freeze{{Name: "weekend", Until: difftest.January.AddDate(1, 0, 0)}},
}

// also gives a token another policy.
func also(t desired.Token, zone string) desired.Token {
	t.Policies = append(slices.Clone(t.Policies), difftest.Token("", zone).Policies...)
	return t
}

// from gives a token a condition.
func from(t desired.Token, ranges ...string) desired.Token {
	t.Condition = &desired.Condition{In: ranges}
	return t
}

// sent are the changes that a plan would send without an approval, and what it holds back.
func sent(p diff.Plan) (all []string) {
	for _, c := range p.Changes {
		switch {
		case c.Refused != nil:
			all = append(all, string(c.Action())+" "+string(c.Refused.Guard))
		case c.Sends():
			all = append(all, string(c.Action()))
		}
	}
	slices.Sort(all)
	return all
}

// What a declaration changes beside a rotation that is due, or that a person asks for before
// that, waits for its approval, and the token on record rotates meanwhile.
func TestRotationIsFreeOnlyWhereItRenews(t *testing.T) {
	const day = 24 * time.Hour
	plain := from(difftest.Token("ci-dns", difftest.RotatedZone), "192.0.2.0/24")
	token := difftest.Rotating(plain, 30*day, 2*day)
	first := difftest.Generation(1, token, difftest.January)
	endless := difftest.RecordOf(1, plain, diff.TokenConfirmed)
	endless.At = difftest.January
	ends := difftest.Ending(plain, "2026-02-02")
	ending := difftest.RecordOf(1, ends, diff.TokenConfirmed)
	ending.At = difftest.January
	moved := token
	moved.Account, moved.Owner = "prod", "0123456789abcdef0123456789abcdef"
	named := token
	named.Name = "other"
	for name, c := range map[string]struct {
		record          diff.TokenRecord
		declared        desired.Token
		documented, ext string // what is sent and held back in either profile
	}{
		"as it was":                {first, token, "rotate", "rotate"},
		"wider":                    {first, also(token, otherZone), "replace approval, rotate", "rotate, update approval"},
		"narrower":                 {first, from(token, "192.0.2.1/32"), "replace approval, rotate", "rotate, update approval"},
		"from anywhere":            {first, difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), 30*day, 2*day), "replace approval, rotate", "rotate, update approval"},
		"another name":             {first, named, "replace approval, rotate", "rotate, update approval"},
		"another sink":             {first, difftest.Elsewhere(token), "replace approval, rotate", "replace approval, rotate"},
		"longer":                   {first, difftest.Rotating(plain, 30*day, 20*day), "replace approval, rotate", "replace approval, rotate"},
		"more often":               {first, difftest.Rotating(plain, day, 31*day), "replace approval, rotate", "replace approval, rotate"},
		"it rotates no more":       {first, plain, "replace approval, rotate", "rotate, update approval"},
		"it did not rotate":        {endless, token, "replace approval", "replace approval"},
		"it had an end":            {ending, token, "replace approval", "replace approval"},
		"it did not, and is wider": {ending, also(token, otherZone), "replace approval", "update approval"},
		"of another owner":         {first, moved, "replace approval, rotate", "replace approval, rotate"},
	} {
		t.Run(name, func(t *testing.T) {
			lives := []diff.TokensLive{{Records: []diff.TokenRecord{c.record}}, difftest.ListedAs([]diff.TokenRecord{c.record}, difftest.LiveToken(c.record))}
			lives[0].Owners = map[edge.AccountID]diff.OwnerLive{"": {}}
			for i, live := range slices.Concat(lives, lives) {
				planned := func() diff.Plan { return planAt(difftest.January.Add(31*day), live, c.declared) }
				if i >= len(lives) { // long before it is due
					planned = func() diff.Plan { return planAsked(difftest.January.Add(day/24), live, c.record.ID, c.declared) }
				}
				i %= len(lives)
				plan := guard.Check(planned(), approveAll)
				if got := strings.Join(sent(plan), ", "); got != []string{c.documented, c.ext}[i] {
					t.Errorf("listed %v: plans %q, want %q", i == 1, got, []string{c.documented, c.ext}[i])
				}
				if again := guard.Check(plan, approveAll); !slices.Equal(sent(again), sent(plan)) {
					t.Errorf("checked twice: %v", sent(again))
				}
				approved := approveAll
				approved.Freezes, approved.Approved = nil, map[string]bool{plan.ApprovalDigest(): true}
				after := guard.Check(planned(), approved)
				if n := len(sent(after)); n != 1 || !after.Changes[0].Applies() {
					t.Errorf("approved: %v", sent(after))
				}
			}
		})
	}
}

// A token that somebody disabled or restricted on the platform gets nothing back by a
// rotation.
func TestRotationGivesNothingBack(t *testing.T) {
	token := difftest.Rotating(also(difftest.Token("ci-dns", difftest.RotatedZone), otherZone), 720*time.Hour, 48*time.Hour)
	first := difftest.Generation(1, token, difftest.January)
	disabled, narrow, cut := difftest.LiveToken(first), difftest.LiveToken(first), difftest.LiveToken(first)
	disabled.Status = "disabled"
	narrow.Policies = narrow.Policies[:1]
	cut.ExpiresOn = "2026-01-02T00:00:00Z"
	for name, c := range map[string]struct {
		live edge.Token
		want string
	}{
		"disabled": {disabled, "replace approval"}, "restricted": {narrow, "rotate, update approval"}, "ended": {cut, "update approval"},
	} {
		plan := guard.Check(planAt(difftest.January.Add(721*time.Hour), difftest.ListedAs([]diff.TokenRecord{first}, c.live), token), approveAll)
		if got := strings.Join(sent(plan), ", "); got != c.want {
			t.Errorf("%s: plans %q, want %q", name, got, c.want)
		}
		for _, change := range plan.Changes {
			if creation, ok := change.Operation.(diff.Creation); ok && change.Applies() && len(creation.Spec.Policies) != 1 {
				t.Errorf("%s: sends %+v", name, creation.Spec)
			}
		}
	}
}

// A token of a rotation that has ended is replaced, whatever somebody did to it meanwhile: an
// update of it would be refused for ever.
func TestAnEndedTokenIsReplaced(t *testing.T) {
	token := difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), 720*time.Hour, 48*time.Hour)
	first := difftest.Generation(1, token, difftest.January)
	live := difftest.LiveToken(first)
	live.Status = "disabled"
	live.Policies = also(token, otherZone).Spec().Policies
	plan := guard.Check(planAt(difftest.January.Add(2400*time.Hour), difftest.ListedAs([]diff.TokenRecord{first}, live), token), approveAll)
	if got := sent(plan); !slices.Equal(got, []string{"replace approval"}) {
		t.Errorf("plans %v", got)
	}
}

// A longer life than that of the token before weakens, whoever computed the ends.
func TestLongerRotationWeakens(t *testing.T) {
	plain := difftest.Token("ci-dns", difftest.RotatedZone)
	first := difftest.Generation(1, difftest.Rotating(plain, 720*time.Hour, 48*time.Hour), difftest.January)
	ends := difftest.RecordOf(1, difftest.Ending(plain, "2026-02-01"), diff.TokenConfirmed)
	ends.At = difftest.January
	for name, record := range map[string]diff.TokenRecord{"longer": first, "renewed": ends} {
		plan := planAt(difftest.January.Add(721*time.Hour), diff.TokensLive{Records: []diff.TokenRecord{record}}, difftest.Rotating(plain, 1440*time.Hour, 48*time.Hour))
		if c := plan.Changes[0]; c.Direction != diff.Weakens || c.Field("expires_on").Direction != diff.Weakens || !strings.HasPrefix(c.Rights[len(c.Rights)-1].Text, "ends 1488h after its creation, and the next one follows") {
			t.Errorf("%s: %s %+v", name, c.Direction, c.Rights)
		}
	}
}

// Records of earlier versions do not have the rotation: where tokens are never updated, the
// hash tells it.
func TestRotationThatIsNotOnRecord(t *testing.T) {
	token := difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), 720*time.Hour, 48*time.Hour)
	first := difftest.Generation(1, token, difftest.January)
	first.Lifetime, first.Every, first.At = 0, 0, first.At.Add(time.Minute)
	live := diff.TokensLive{Records: []diff.TokenRecord{first}}
	for want, declared := range map[string]desired.Token{
		"rotate":           token,
		"replace approval": difftest.Rotating(difftest.Token("ci-dns", difftest.RotatedZone), 750*time.Hour, 48*time.Hour),
	} {
		if got := sent(guard.Check(planAt(difftest.January.Add(760*time.Hour), live, declared), approveAll)); !slices.Equal(got, []string{want}) {
			t.Errorf("plans %v, want %s", got, want)
		}
	}
}

// Whatever a rotation does without an approval gives no right that the token before had
// not, and nobody else the secret; and a token that rotates by its record does not run out
// because something else of it waits.
func TestRotationWithoutApprovalGivesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, declared := genRotating(t, "before"), genRotating(t, "declared")
		record := difftest.RecordOf(1, before, diff.TokenConfirmed)
		if record.At = difftest.January; before.Rotate != nil {
			record = difftest.Generation(1, before, difftest.January)
		}
		now := difftest.January.Add(time.Duration(rapid.IntRange(0, 800).Draw(t, "hours")) * time.Hour)
		live, had, works := diff.TokensLive{Records: []diff.TokenRecord{record}}, record.Spec, true
		if rapid.Bool().Draw(t, "listed") {
			listed := difftest.LiveToken(record)
			if rapid.Bool().Draw(t, "changed by hand") {
				listed.Policies = genRotating(t, "by hand").Spec().Policies
			}
			if works = rapid.Bool().Draw(t, "works"); !works {
				listed.Status = "disabled"
			}
			had, live = listed.TokenSpec, difftest.ListedAs([]diff.TokenRecord{record}, listed)
		}
		had.ExpiresOn = ""
		plan := guard.Check(planAt(now, live, declared), approveAll)
		followed := false
		for _, c := range plan.Changes {
			if !c.Applies() {
				continue
			}
			creation, creates := c.Operation.(diff.Creation)
			if !creates || !works || before.Rotate == nil || creation.Lifetime != before.Rotate.Lifetime() || *creation.Sink != *before.Sink {
				t.Fatalf("sends %s %+v without an approval", c.Action(), c.Operation)
			}
			for _, change := range access.Diff(had, creation.Spec) {
				if change.Direction == access.Weakens {
					t.Fatalf("%s without an approval", change)
				}
			}
			followed = true
		}
		heldBack := slices.ContainsFunc(plan.Changes, func(c diff.Change) bool { return c.Refused != nil })
		dueNow := before.Rotate != nil && due(live, before.Rotate, record, now)
		if same := len(access.Diff(had, before.Spec())) == 0; heldBack && works && same && dueNow && !followed {
			t.Fatalf("the token runs out while something of it waits: %v", sent(plan))
		}
	})
}

func genRotating(t *rapid.T, label string) desired.Token {
	token := difftest.Token("ci-dns", difftest.RotatedZone)
	if rapid.Bool().Draw(t, label+": another zone") {
		token = also(token, otherZone)
	}
	if rapid.Bool().Draw(t, label+": condition") {
		token = from(token, rapid.SampledFrom([]string{"192.0.2.0/24", "192.0.2.7/32"}).Draw(t, label+": addresses"))
	}
	if rapid.IntRange(0, 3).Draw(t, label+": sink") == 0 {
		token = difftest.Elsewhere(token)
	}
	if rapid.IntRange(0, 4).Draw(t, label+": rotates") > 0 {
		every := time.Duration(rapid.SampledFrom([]int{300, 720}).Draw(t, label+": every")) * time.Hour
		token = difftest.Rotating(token, every, time.Duration(rapid.SampledFrom([]int{10, 48}).Draw(t, label+": overlap"))*time.Hour)
	}
	return token
}

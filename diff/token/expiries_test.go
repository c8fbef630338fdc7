package token

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func day(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateOnly, text)
	must.Do(t, err)
	return at
}

func told(expiries []diff.Expiry) (got []string) {
	for _, e := range expiries {
		text := fmt.Sprint(e.Token, " ", e.ID, " ", e.At.Format(time.DateOnly))
		if e.Current {
			text += " current"
		}
		if e.Rotates {
			text += " rotates"
		}
		got = append(got, text)
	}
	return got
}

func TestExpiries(t *testing.T) {
	a, b := difftest.Token("a", "000000000000000000000000000000aa"), difftest.Token("b", "000000000000000000000000000000bb")
	july, june := difftest.Ending(a, "2026-07-01"), difftest.Ending(a, "2026-06-01")
	odd := difftest.RecordOf(1, a, diff.TokenConfirmed)
	odd.Spec.ExpiresOn = "soon"
	offset := difftest.RecordOf(1, july, diff.TokenConfirmed)
	offset.Spec.ExpiresOn = "2026-07-01T01:00:00+02:00"
	rotating := a
	rotating.Rotate = &desired.Rotate{Every: 30 * 24 * time.Hour, Overlap: 48 * time.Hour}
	first, second := difftest.RecordOf(1, a, diff.TokenConfirmed), difftest.RecordOf(2, a, diff.TokenConfirmed)
	first.Spec.ExpiresOn, second.Spec.ExpiresOn = june.ExpiresOn, july.ExpiresOn
	for name, c := range map[string]struct {
		live     diff.TokensLive
		declared []desired.Token
		want     []string
	}{
		"nothing on record": {diff.TokensLive{}, []desired.Token{july}, nil},
		"without end":       {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed)}}, []desired.Token{a}, nil},
		"in use":            {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, july, diff.TokenConfirmed)}}, []desired.Token{july}, []string{"a t1 2026-07-01 current"}},
		"unreadable":        {diff.TokensLive{Records: []diff.TokenRecord{odd}}, []desired.Token{a}, nil},
		"with an offset":    {diff.TokensLive{Records: []diff.TokenRecord{offset}}, []desired.Token{july}, []string{"a t1 2026-06-30 current"}},
		"perhaps created": {
			diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, july, diff.TokenQuarantined), difftest.RecordOf(2, july, diff.TokenIntended)}},
			[]desired.Token{july},
			nil,
		},
		"not known for sure": {diff.TokensLive{Unknown: "put back", Records: []diff.TokenRecord{difftest.RecordOf(1, july, diff.TokenConfirmed)}}, []desired.Token{july}, nil},
		"of another part":    {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, july, diff.TokenConfirmed)}}, []desired.Token{b}, nil},
		"superseded": {
			diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, june, diff.TokenConfirmed), difftest.RecordOf(2, july, diff.TokenConfirmed)}},
			[]desired.Token{july},
			[]string{"a t1 2026-06-01", "a t2 2026-07-01 current"},
		},
		"declared anew, not created yet": {
			diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, june, diff.TokenConfirmed), difftest.RecordOf(2, july, diff.TokenConfirmed)}},
			[]desired.Token{difftest.Ending(a, "2027-01-01")},
			[]string{"a t1 2026-06-01", "a t2 2026-07-01 current"},
		},
		"declared as before": {
			diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, june, diff.TokenConfirmed), difftest.RecordOf(2, difftest.Elsewhere(july), diff.TokenConfirmed)}},
			[]desired.Token{june},
			[]string{"a t1 2026-06-01 current", "a t2 2026-07-01"},
		},
		"as the platform has it": {
			diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, june, diff.TokenConfirmed), difftest.RecordOf(2, july, diff.TokenConfirmed), difftest.RecordOf(3, july, diff.TokenConfirmed)}, Owners: difftest.OfUser(&diff.TokensListed{
				Tokens: map[edge.TokenID]edge.Token{"t1": {}, "t2": {TokenSpec: edge.TokenSpec{ExpiresOn: "2026-08-01T00:00:00Z"}}},
			})},
			[]desired.Token{july},
			[]string{"a t2 2026-08-01 current"},
		},
		"soonest first": {
			diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, july, diff.TokenConfirmed), difftest.RecordOf(2, difftest.Ending(b, "2026-06-15"), diff.TokenConfirmed)}},
			[]desired.Token{july, difftest.Ending(b, "2026-06-15")},
			[]string{"b t2 2026-06-15 current", "a t1 2026-07-01 current"},
		},
		"generations of a rotation": {
			diff.TokensLive{Records: []diff.TokenRecord{first, second}},
			[]desired.Token{rotating},
			[]string{"a t1 2026-06-01 rotates", "a t2 2026-07-01 current rotates"},
		},
	} {
		if got := told(Expiries(c.live, c.declared)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestPlansTellExpiries(t *testing.T) {
	token := difftest.Ending(difftest.Token("a", "000000000000000000000000000000aa"), "2026-07-01")
	live := diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, token, diff.TokenConfirmed)}}
	plan := guard.Check(tokenPlan(live, token), guard.Facts{Now: day(t, "2030-01-01")})
	if got := told(plan.Expiries); !slices.Equal(got, []string{"a t1 2026-07-01 current"}) || !plan.IsEmpty() || plan.Attention() {
		t.Errorf("got %v in %+v", got, plan)
	}
	without := plan
	without.Expiries = nil
	if without.Sealed().Digest != plan.Digest {
		t.Error("expiries change the digest: who approved it would have to do so again whenever a token rotates")
	}
}

func TestExpiring(t *testing.T) {
	now, week := day(t, "2026-06-01"), 7*24*time.Hour
	p := diff.Plan{Expiries: []diff.Expiry{
		{Token: "ended", At: now.Add(-time.Hour), Current: true},
		{Token: "rotation failed", At: now, Current: true, Rotates: true},
		{Token: "superseded", At: now.Add(time.Hour)},
		{Token: "rotates", At: now.Add(time.Hour), Current: true, Rotates: true},
		{Token: "at the limit", At: now.Add(week), Current: true},
		{Token: "later", At: now.Add(week + 1), Current: true},
	}}
	var got []string
	for _, e := range p.Expiring(now, week) {
		got = append(got, e.Token)
	}
	if want := []string{"ended", "rotation failed", "at the limit"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExpiryInWords(t *testing.T) {
	now := day(t, "2026-06-01")
	for want, left := range map[string]time.Duration{
		"expires in 12 days":            12*24*time.Hour + 23*time.Hour,
		"expires in 2 days":             48 * time.Hour,
		"expires in 47 hours":           48*time.Hour - 1,
		"expires in 1 hour":             time.Hour,
		"expires in less than an hour":  1,
		"expired less than an hour ago": 0,
		"expired 1 hour ago":            -time.Hour,
		"expired 3 days ago":            -3 * 24 * time.Hour,
		"expires in 59 days":            60*24*time.Hour - 1,
		"expired 40 hours ago":          -40 * time.Hour,
		"expires in 100 days":           100 * 24 * time.Hour,
	} {
		if got := (diff.Expiry{At: now.Add(left)}).When(now); got != want {
			t.Errorf("%s: %q, want %q", left, got, want)
		}
	}
}

package diff

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// ending is a token of that form with an end.
func ending(t desired.Token, day string) desired.Token {
	t.ExpiresOn = day + "T00:00:00Z"
	return t
}

func day(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func told(expiries []Expiry) (got []string) {
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
	a, b := testToken("a", "000000000000000000000000000000aa"), testToken("b", "000000000000000000000000000000bb")
	july, june := ending(a, "2026-07-01"), ending(a, "2026-06-01")
	odd := recordOf(1, a, TokenConfirmed)
	odd.Spec.ExpiresOn = "soon"
	offset := recordOf(1, july, TokenConfirmed)
	offset.Spec.ExpiresOn = "2026-07-01T01:00:00+02:00"
	rotating := a
	rotating.Rotate = &desired.Rotate{Every: 30 * 24 * time.Hour, Overlap: 48 * time.Hour}
	first, second := recordOf(1, a, TokenConfirmed), recordOf(2, a, TokenConfirmed)
	first.Spec.ExpiresOn, second.Spec.ExpiresOn = june.ExpiresOn, july.ExpiresOn
	for name, c := range map[string]struct {
		live     TokensLive
		declared []desired.Token
		want     []string
	}{
		"nothing on record": {TokensLive{}, []desired.Token{july}, nil},
		"without end":       {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed)}}, []desired.Token{a}, nil},
		"in use":            {TokensLive{Records: []TokenRecord{recordOf(1, july, TokenConfirmed)}}, []desired.Token{july}, []string{"a t1 2026-07-01 current"}},
		"unreadable":        {TokensLive{Records: []TokenRecord{odd}}, []desired.Token{a}, nil},
		"with an offset":    {TokensLive{Records: []TokenRecord{offset}}, []desired.Token{july}, []string{"a t1 2026-06-30 current"}},
		"perhaps created": {
			TokensLive{Records: []TokenRecord{recordOf(1, july, TokenQuarantined), recordOf(2, july, TokenIntended)}},
			[]desired.Token{july},
			nil,
		},
		"not known for sure": {TokensLive{Unknown: "put back", Records: []TokenRecord{recordOf(1, july, TokenConfirmed)}}, []desired.Token{july}, nil},
		"of another part":    {TokensLive{Records: []TokenRecord{recordOf(1, july, TokenConfirmed)}}, []desired.Token{b}, nil},
		"superseded": {
			TokensLive{Records: []TokenRecord{recordOf(1, june, TokenConfirmed), recordOf(2, july, TokenConfirmed)}},
			[]desired.Token{july},
			[]string{"a t1 2026-06-01", "a t2 2026-07-01 current"},
		},
		"declared anew, not created yet": {
			TokensLive{Records: []TokenRecord{recordOf(1, june, TokenConfirmed), recordOf(2, july, TokenConfirmed)}},
			[]desired.Token{ending(a, "2027-01-01")},
			[]string{"a t1 2026-06-01", "a t2 2026-07-01 current"},
		},
		"declared as before": {
			TokensLive{Records: []TokenRecord{recordOf(1, june, TokenConfirmed), recordOf(2, elsewhere(july), TokenConfirmed)}},
			[]desired.Token{june},
			[]string{"a t1 2026-06-01 current", "a t2 2026-07-01"},
		},
		"as the platform has it": {
			TokensLive{Records: []TokenRecord{recordOf(1, june, TokenConfirmed), recordOf(2, july, TokenConfirmed), recordOf(3, july, TokenConfirmed)}, Platform: &TokensListed{
				Tokens: map[edge.TokenID]edge.Token{"t1": {}, "t2": {TokenSpec: edge.TokenSpec{ExpiresOn: "2026-08-01T00:00:00Z"}}},
			}},
			[]desired.Token{july},
			[]string{"a t2 2026-08-01 current"},
		},
		"soonest first": {
			TokensLive{Records: []TokenRecord{recordOf(1, july, TokenConfirmed), recordOf(2, ending(b, "2026-06-15"), TokenConfirmed)}},
			[]desired.Token{july, ending(b, "2026-06-15")},
			[]string{"b t2 2026-06-15 current", "a t1 2026-07-01 current"},
		},
		"generations of a rotation": {
			TokensLive{Records: []TokenRecord{first, second}},
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
	token := ending(testToken("a", "000000000000000000000000000000aa"), "2026-07-01")
	live := TokensLive{Records: []TokenRecord{recordOf(1, token, TokenConfirmed)}}
	plan := Guard(tokenPlan(live, token), Facts{Now: day(t, "2030-01-01")})
	if got := told(plan.Expiries); !slices.Equal(got, []string{"a t1 2026-07-01 current"}) || !plan.IsEmpty() || plan.Attention() {
		t.Errorf("got %v in %+v", got, plan)
	}
	without := plan
	without.Expiries = nil
	if without.seal().Digest != plan.Digest {
		t.Error("expiries change the digest: who approved it would have to do so again whenever a token rotates")
	}
}

func TestExpiring(t *testing.T) {
	now, week := day(t, "2026-06-01"), 7*24*time.Hour
	p := Plan{Expiries: []Expiry{
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
		if got := (Expiry{At: now.Add(left)}).When(now); got != want {
			t.Errorf("%s: %q, want %q", left, got, want)
		}
	}
}

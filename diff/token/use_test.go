package token

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// The token that counts for a declaration is due for a successor from the moment that is told,
// and not before.
func TestSuccessorIsDueWhenTold(t *testing.T) {
	began := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		hours := func(name string, from, to int) time.Duration {
			return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Hour
		}
		token := difftest.Token("a", "000000000000000000000000000000aa")
		r := difftest.RecordOf(1, token, diff.TokenConfirmed)
		r.At = began
		if rapid.Bool().Draw(t, "ends") {
			r.Spec.ExpiresOn = began.Add(hours("end", 1, 1000)).Format(time.RFC3339)
		}
		if rapid.Bool().Draw(t, "made by a rotation") {
			r.Every = hours("every of the record", 2, 500)
			r.Lifetime = r.Every + hours("overlap of the record", 1, 100)
		}
		if rapid.Bool().Draw(t, "rotates") {
			token = difftest.Rotating(token, hours("every", 2, 500), hours("overlap", 1, 100))
		}
		live, tokens := diff.TokensLive{Records: []diff.TokenRecord{r}}, []desired.Token{token}
		use := Kind{}.InUse(tokens, live)["a"]
		due := func(now time.Time) bool {
			return Kind{}.Due(tokens, live, func(edge.AccountID) bool { return false }, now)["a"]
		}
		switch {
		case use.ID != "t1":
			t.Fatalf("the token in use is %q", use.ID)
		case use.Due.IsZero() && due(began.AddDate(10, 0, 0)):
			t.Fatal("a successor is due, and none is told")
		case !use.Due.IsZero() && (!due(use.Due) || due(use.Due.Add(-time.Second))):
			t.Fatalf("a successor is told for %v, and is not due from then on", use.Due)
		}
	})
}

// An attempt without a certain outcome stands for its declaration; else the newest token does
// that is as declared.
func TestTokenInUse(t *testing.T) {
	a := difftest.Token("a", "000000000000000000000000000000aa")
	july := difftest.Ending(a, "2026-07-01")
	of := func(records ...diff.TokenRecord) diff.TokensLive { return diff.TokensLive{Records: records} }
	for name, c := range map[string]struct {
		live diff.TokensLive
		want edge.TokenID
	}{
		"nothing on record": {of(), ""},
		"of another":        {of(difftest.RecordOf(1, difftest.Token("b", "000000000000000000000000000000bb"), diff.TokenConfirmed)), ""},
		"two":               {of(difftest.RecordOf(1, july, diff.TokenConfirmed), difftest.RecordOf(2, july, diff.TokenConfirmed)), "t2"},
		"open":              {of(difftest.RecordOf(1, july, diff.TokenConfirmed), difftest.RecordOf(2, july, diff.TokenQuarantined)), "t2"},
	} {
		use := Kind{}.InUse([]desired.Token{july}, c.live)["a"]
		if use.ID != c.want || (c.want != "" && use.Ends.IsZero()) || !use.Due.IsZero() {
			t.Errorf("%s: %+v, want %q", name, use, c.want)
		}
	}
}

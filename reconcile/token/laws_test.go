package token

import (
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// broken lists the laws that do not hold; they hold at any time:
//
//	of one declaration, confirmed ≤ existing ≤ confirmed + those whose outcome is unknown
//	one creation at most, for each declaration, whose outcome is unknown
//	a confirmed secret is delivered, or sealed, and is the platform's own
//	the newest secret that was delivered to a place is there
func (f *fixture) broken() (laws []string) {
	living, confirmed, open := map[string]int{}, map[string]int{}, map[string]int{}
	for _, token := range f.platform.living() {
		if !f.over(token) {
			living[f.platform.key[edge.TokenID(token.ID)]]++
		}
	}
	for i, r := range f.records() {
		token, exists := f.platform.token(r.ID)
		switch {
		case r.State != diff.TokenConfirmed:
			if open[r.Key]++; open[r.Key] > 1 {
				laws = append(laws, fmt.Sprintf("%s: two creations have an unknown outcome", r.Key))
			}
		case exists:
			if !f.over(token) {
				confirmed[r.Key]++
			}
			laws = append(laws, f.misplaced(r, token, f.records()[i+1:])...)
		case !f.platform.ended[r.ID]:
			laws = append(laws, fmt.Sprintf("%s: token %s is confirmed and does not exist", r.Key, r.ID))
		}
	}
	for key, n := range living {
		if n < confirmed[key] || n > confirmed[key]+open[key] {
			laws = append(laws, fmt.Sprintf("%s: %d exist, %d are confirmed, of %d the outcome is unknown", key, n, confirmed[key], open[key]))
		}
	}
	return laws
}

// misplaced looks for the secret of a confirmed token; later are the records after
// its own.
func (f *fixture) misplaced(r diff.TokenRecord, token mem.SeedToken, later []diff.TokenRecord) (laws []string) {
	if !r.Delivered {
		if f.memory.sealed[r.Intent].Reveal() != token.Value {
			laws = append(laws, fmt.Sprintf("%s: what is sealed for token %s is not its secret", r.Key, r.ID))
		}
		return laws
	}
	replaced := r.Sink == nil || slices.ContainsFunc(later, func(other diff.TokenRecord) bool {
		return other.Sink != nil && *other.Sink == *r.Sink && other.State == diff.TokenConfirmed // delivered, or on its way
	})
	if !replaced && f.sinks.sunk[*r.Sink] != token.Value {
		laws = append(laws, fmt.Sprintf("%s: the sink does not have the secret of token %s", r.Key, r.ID))
	}
	return laws
}

func (f *fixture) over(token mem.SeedToken) bool {
	end, err := time.Parse(time.RFC3339, token.ExpiresOn)
	return err == nil && !f.now.Before(end)
}

func (f *fixture) holds() {
	f.t.Helper()
	for _, law := range f.broken() {
		f.t.Errorf("%s", law)
	}
}

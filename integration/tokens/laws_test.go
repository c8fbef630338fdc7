package tokens

import (
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// tokenTruth is all there is to know of tokens at one moment.
type tokenTruth struct {
	Now      time.Time
	Existing []mem.SeedToken // those that Seawall made or was brought
	Records  []diff.TokenRecord
	Sealed   func(intent string) (edge.Secret, error)
	Sunk     func(desired.Sink) string // empty: nothing
	Key      map[edge.TokenID]string   // the declaration that a token was made for
	Revoked  map[edge.TokenID]bool     // tokens that somebody ended, by hand
	Adopted  map[edge.TokenID]bool     // a person has their secrets
	Pruning  func(key string) bool     // tokens of the declaration may be deleted, and not yet recorded as such
}

// broken lists the laws that do not hold:
//
//	of one declaration, confirmed ≤ existing ≤ confirmed + those whose outcome is unknown
//	one creation at most, for each declaration, whose outcome is unknown
//	a confirmed secret is delivered, or sealed, and is the platform's own
//	the newest secret that was delivered to a place is there, and is of a token that lives
func (t tokenTruth) broken() (laws []string) {
	existing, living := map[edge.TokenID]mem.SeedToken{}, map[string]int{}
	for _, token := range t.Existing {
		existing[edge.TokenID(token.ID)] = token
		if !t.ended(token) {
			living[t.Key[edge.TokenID(token.ID)]]++
		}
	}
	confirmed, open := map[string]int{}, map[string]int{}
	for i, r := range t.Records {
		token, exists := existing[r.ID]
		switch {
		case r.State != diff.TokenConfirmed:
			if open[r.Key]++; open[r.Key] > 1 {
				laws = append(laws, fmt.Sprintf("%s: two creations have an unknown outcome", r.Key))
			}
		case exists:
			if !t.ended(token) {
				confirmed[r.Key]++
			}
			laws = append(laws, t.secret(r, token, t.Records[i+1:])...)
		case !t.Revoked[r.ID] && (t.Pruning == nil || !t.Pruning(r.Key)):
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

// secret looks for the secret of a confirmed token; later are the records after
// its own.
func (t tokenTruth) secret(r diff.TokenRecord, token mem.SeedToken, later []diff.TokenRecord) (laws []string) {
	switch {
	case !r.Delivered:
		if secret, err := t.Sealed(r.Intent); err != nil || secret.Reveal() != token.Value {
			laws = append(laws, fmt.Sprintf("%s: what is sealed for token %s does not open, or is not its secret: %v", r.Key, r.ID, err))
		}
	case r.Sink == nil || t.Adopted[r.ID]:
	case !t.replaced(r, later) && t.Sunk(*r.Sink) != token.Value:
		laws = append(laws, fmt.Sprintf("%s: the sink does not have the secret of token %s", r.Key, r.ID))
	}
	return laws
}

// replaced reports whether a later secret may be in the place of a record's.
func (t tokenTruth) replaced(r diff.TokenRecord, later []diff.TokenRecord) bool {
	for _, other := range later {
		if other.Sink != nil && *other.Sink == *r.Sink && other.State == diff.TokenConfirmed {
			return true // delivered, or on its way: the sink may have it already
		}
	}
	return false
}

func (t tokenTruth) ended(token mem.SeedToken) bool {
	end, err := time.Parse(time.RFC3339, token.ExpiresOn)
	return err == nil && !t.Now.Before(end)
}

// declaration is the name of a token without the attempt that made it.
func declaration(name string) string {
	before, _, _ := strings.Cut(name, " [")
	return before
}

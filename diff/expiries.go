package diff

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Expiry is when a token on record ends by itself.
type Expiry struct {
	Token string       `json:"token"` // the key of the declaration
	ID    edge.TokenID `json:"id"`
	At    time.Time    `json:"at"` // UTC; from then on it may do nothing
	// Current tells the token in use from one that another has superseded.
	Current bool `json:"current"`
	// Rotates says that the declaration asks for a successor in time.
	Rotates bool `json:"rotates"`
}

// Expiries are the ends of the tokens on record that are created for sure, have
// an end and are of a declaration among tokens; soonest first. The superseded
// are among them, and those that have ended: there is no clock here. Where
// nothing may be concluded from the records there are none.
func Expiries(live TokensLive, tokens []desired.Token) []Expiry {
	if live.Unknown != "" {
		return nil
	}
	byKey := map[string][]TokenRecord{}
	for _, r := range live.Records {
		if r.State == TokenConfirmed && live.Has(r) {
			byKey[r.Key] = append(byKey[r.Key], r)
		}
	}
	takers := live.takers()
	var expiries []Expiry
	for _, token := range tokens {
		records := byKey[token.Key]
		current := live.inUse(token, records, takers)
		for _, r := range records {
			if at, ends := live.end(r); ends {
				expiries = append(expiries, Expiry{r.Key, r.ID, at.UTC(), r.Intent == current, token.Rotate != nil})
			}
		}
	}
	if c := live.credential(); c.ExpiresOn != "" {
		if at, ends := expiry(TokenRecord{Spec: c.TokenSpec}); ends {
			expiries = append(expiries, Expiry{credentialKey, c.ID, at.UTC(), true, false})
		}
	}
	slices.SortFunc(expiries, func(a, b Expiry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Token, b.Token), cmp.Compare(a.ID, b.ID))
	})
	return expiries
}

// credentialKey stands for the key of a declaration where the token is Seawall's
// own: with its end, that of all others is near.
const credentialKey = "credentials.tokens"

func (l TokensLive) credential() edge.Token {
	if l.Platform == nil {
		return edge.Token{}
	}
	return l.Platform.Credential
}

// inUse returns the attempt whose token is in use: the one the declaration
// counts on, or else the newest, whose secret is where people take it from.
func (l TokensLive) inUse(token desired.Token, confirmed []TokenRecord, takers map[desired.Sink]string) (intent string) {
	if r := l.current(confirmed, creationOf(token, token.Spec(), ""), takers); r != nil {
		return r.Intent
	}
	if len(confirmed) == 0 {
		return ""
	}
	return confirmed[len(confirmed)-1].Intent
}

// Expiring returns the tokens in use that end within a time from now, or have
// ended, and that nothing follows by itself: one that rotates is among them only
// when it has ended, because then its successor is missing. Soonest first.
func (p Plan) Expiring(now time.Time, within time.Duration) []Expiry {
	var soon []Expiry
	for _, e := range p.Expiries {
		limit := now.Add(within)
		if e.Rotates {
			limit = now
		}
		if e.Current && !e.At.After(limit) {
			soon = append(soon, e)
		}
	}
	return soon
}

// Renews reports whether a change, once made, leaves its token with another end
// than the one on record: a new token, or the same one changed. Deleting one that
// is superseded does not.
func (c Change) Renews() bool {
	return c.Kind == KindToken && c.Request != nil && c.Request.Method != "DELETE"
}

// When says how long a token still lives, or since when it does not: "expires in
// 12 days".
func (e Expiry) When(now time.Time) string {
	if left := e.At.Sub(now); left > 0 {
		return "expires in " + span(left)
	}
	return "expired " + span(now.Sub(e.At)) + " ago"
}

// span is a time as people say it, rounded down.
func span(d time.Duration) string {
	switch hours := int(d / time.Hour); {
	case hours < 1:
		return "less than an hour"
	case hours < 48:
		return plural(hours, "hour", "hours")
	default:
		return fmt.Sprintf("%d days", hours/24)
	}
}

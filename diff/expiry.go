package diff

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff/internal/words"
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
		return words.Count(hours, "hour", "hours")
	default:
		return fmt.Sprintf("%d days", hours/24)
	}
}

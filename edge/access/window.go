package access

import (
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// outsideWindow answers where a token is not valid at a moment. A timestamp
// that cannot be read keeps the token from being valid at all.
func outsideWindow(spec edge.TokenSpec, at time.Time) (Answer, bool) {
	if at.IsZero() {
		return Answer{}, false
	}
	if spec.NotBefore != "" {
		if begin, err := parseTime(spec.NotBefore); err != nil || at.Before(begin) {
			return denied(NotYet, "the token is active from %s", spec.NotBefore), true
		}
	}
	if spec.ExpiresOn != "" {
		if end, err := parseTime(spec.ExpiresOn); err != nil || !at.Before(end) {
			return denied(Expired, "the token expires on %s", spec.ExpiresOn), true
		}
	}
	return Answer{}, false
}

// parseTime reads a timestamp of the reference (section "Limits").
func parseTime(text string) (time.Time, error) {
	return time.Parse("2006-01-02T15:04:05Z", text)
}

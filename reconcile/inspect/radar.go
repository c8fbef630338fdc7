package inspect

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff/radar"
)

// RadarQuery selects new versions of managed rulesets, and a page of them. The zero value
// selects all.
type RadarQuery struct {
	Account string    // its key
	Since   time.Time // seen then or later
	// May reports whether whoever asks may see a zone; nil: all. A zone that they may not see
	// is in no count, and no version of an account is listed of which they may see no zone.
	May func(ZoneLabels) bool
	// After is Next of the page before; empty: the first page.
	After string
}

// RadarList is a page of new versions of managed rulesets, the one that was seen last first.
type RadarList struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Kept    bool      `json:"kept"` // false: the daemon keeps no versions, since it follows a folder
	// Rulesets counts the managed rulesets on record, in each account; KeptSince is when the
	// first version of any was seen.
	Rulesets  int        `json:"rulesets"`
	KeptSince time.Time  `json:"kept_since,omitzero"`
	Versions  []RadarRow `json:"versions"`
	Next      string     `json:"next,omitempty"`
}

// RadarRow is a new version of a managed ruleset in a list.
type RadarRow struct {
	Number int64 `json:"number"` // of this row
	radar.News
}

// RadarPage is what a new version of a managed ruleset changed when it was seen.
type RadarPage struct {
	Version int         `json:"version"`
	At      time.Time   `json:"at"`
	News    RadarRow    `json:"news"`
	Rules   radar.Rules `json:"rules"` // what differs in the ruleset itself
	// Groups are zones for which it means the same, by what they declared then: those that it
	// weakens first. Zones for which it means nothing are left out.
	Groups []radar.Extract `json:"groups"`
	Next   string          `json:"next,omitempty"` // of the zones
}

// Since reads a time, a day or a length of time before now, which may be in days.
func Since(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		if n, err := strconv.Atoi(days); err == nil && n > 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", text)
}

// SinceHint says what [Since] reads.
const SinceHint = "write it as 2026-03-01T12:00:00Z, 2026-03-01, 24h or 7d"

package inspect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
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

// Weakening is a new version of a managed ruleset that weakens zones, or blocks their declaration,
// by what was declared when it was seen.
type Weakening struct {
	Number    int64     `json:"number"` // in the list of the radar
	Account   string    `json:"account"`
	Ruleset   string    `json:"ruleset"`
	Version   string    `json:"version"`
	FirstSeen time.Time `json:"first_seen"`
	Weakens   int       `json:"weakens"`           // zones
	Blocked   int       `json:"blocked"`           // zones whose declaration cannot be applied any more
	Meanwhile int       `json:"weakens_meanwhile"` // zones that are weaker until Seawall has written
}

// NewsFor is how long a status tells of a version that weakens zones.
const NewsFor = 7 * 24 * time.Hour

// Weakening is what a status tells of a version; false where that is nothing.
func (r RadarRow) Weakening() (w Weakening, tells bool) {
	if r.Zones == nil {
		return w, false
	}
	w = Weakening{r.Number, r.Account, r.Name, r.News.Version, r.FirstSeen, r.Zones.Weakens, r.Zones.Blocked, r.Zones.Meanwhile}
	return w, w.Weakens+w.Blocked+w.Meanwhile > 0
}

func (t *textWriter) weakened(s Status) {
	entries := []entry{}
	for _, w := range s.Weakened {
		var said []string
		for _, c := range (radar.Counts{Weakens: w.Weakens, Blocked: w.Blocked, Meanwhile: w.Meanwhile}).Words() {
			said = append(said, c.Text)
		}
		entries = append(entries, entry{text: fmt.Sprintf("%q of account %s has version %s since %s: %s", w.Ruleset, w.Account, w.Version, instant(w.FirstSeen), strings.Join(said, "; "))})
	}
	t.list("radar", entries)
}

// Since reads a time, a day or a length of time before now, which may be in days.
func Since(text string, now time.Time) (time.Time, error) {
	if d, err := Length(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", text)
}

var lengthForm = lazyregexp.New(`^([0-9]{1,5})([dw])(.*)$`)

// Length reads a length of time as Go writes it, to which days or weeks may come first: 45m, 7d, 1d12h, 2w.
func Length(text string) (time.Duration, error) {
	days := time.Duration(0)
	if found := lengthForm().FindStringSubmatch(text); found != nil {
		const day = 24 * time.Hour
		n, _ := strconv.Atoi(found[1]) // of five digits
		if found[2] == "w" {
			n *= 7
		}
		if n > int(math.MaxInt64/day) {
			return 0, fmt.Errorf("%q is longer than 292 years", text)
		}
		days = time.Duration(n) * day
		if text = found[3]; text == "" {
			return days, nil
		}
	}
	rest, err := time.ParseDuration(text)
	if err != nil || days > 0 && (rest < 0 || days+rest < days) {
		return 0, fmt.Errorf("%q is not a length of time", text)
	}
	return days + rest, nil
}

// SinceHint says what [Since] reads.
const SinceHint = "write it as 2026-03-01T12:00:00Z, 2026-03-01, 24h or 7d"

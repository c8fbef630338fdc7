package diff

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff/internal/words"
)

// Budget is how many requests may be sent in any span of a length. The zero value
// is a budget that nobody knows.
type Budget struct {
	Requests int
	Per      time.Duration
}

func (b Budget) known() bool { return b.Requests > 0 && b.Per > 0 }

// String is the budget as people write it: "1200 in 5m".
func (b Budget) String() string { return fmt.Sprintf("%d in %s", b.Requests, brief(b.Per)) }

// Urgent is the part of the budget that a sweep leaves to what cannot wait, a tenth:
// somebody who pushes while a large fleet is looked at must not wait for the rest.
func (b Budget) Urgent() int { return b.Requests / 10 }

// forSweeps is the budget without that.
func (b Budget) forSweeps() Budget { return Budget{b.Requests - b.Urgent(), b.Per} }

// Interval returns how often, at the most, n requests can be sent again and
// again: the length of time in which the budget lets n through, rounded up to
// seconds, or to minutes where it is longer than one.
func (b Budget) Interval(n int64) time.Duration {
	if !b.known() || n <= 0 {
		return 0
	}
	whole, rest, all := n/int64(b.Requests), n%int64(b.Requests), int64(b.Requests)
	// Divided first: n times Per could overflow.
	span := time.Duration(whole)*b.Per + time.Duration(float64(b.Per)*float64(rest)/float64(all))
	unit := time.Second
	if span > time.Minute {
		unit = time.Minute
	}
	return (span + unit - 1) / unit * unit
}

// Overload is a schedule that asks for more than the budget has: sweeps would
// follow each other without a pause and each would still come late.
type Overload struct {
	Zones    int     `json:"zones"`
	Requests int64   `json:"requests"`         // of one sweep
	Interval Seconds `json:"interval_seconds"` // the shortest between two sweeps
	Holds    Seconds `json:"holds_seconds"`    // the shortest interval that would hold
	Budget   Budget  `json:"-"`
}

// Overload holds a schedule against the budget; nil is one that can hold, and so
// is one of which something is not known. An interval of zero is not known.
func (b Budget) Overload(zones int, requests int64, interval time.Duration) *Overload {
	if !b.known() || interval <= 0 || requests <= 0 {
		return nil
	}
	sweeps := b.forSweeps()
	// requests/interval > Requests/Per, in a form that cannot overflow.
	if float64(requests)*float64(sweeps.Per) <= float64(sweeps.Requests)*float64(interval) {
		return nil
	}
	return &Overload{zones, requests, Seconds(interval), Seconds(sweeps.Interval(requests)), b}
}

// String says it for a person, with the interval that would hold.
func (o Overload) String() string {
	return fmt.Sprintf("the sweep schedule is too short: a sweep of %s needs %s, and one starts every %s; the budget of %s, less a tenth for new commits, allows a sweep every %s",
		words.Count(o.Zones, "zone", "zones"), words.Count(int(o.Requests), "request", "requests"), brief(time.Duration(o.Interval)), o.Budget, brief(time.Duration(o.Holds)))
}

// Hint is what to do about it.
func (o Overload) Hint() string {
	return "sweep every " + brief(time.Duration(o.Holds)) + " or less often, or split the zones among several Seawall instances with separate credentials"
}

// Seconds is a length of time that is a number of seconds in JSON.
type Seconds time.Duration

// MarshalJSON writes a number.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// brief is a length of time without the parts that are zero: 5m, not 5m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Requests counts HTTP requests: those used so far, and those applying would need.
type Requests struct {
	Used    int64 `json:"used"`
	ToApply int64 `json:"to_apply"`
	// Looks are those of Used that looked for skip rules in earlier phases.
	Looks int64 `json:"looks,omitempty"`
	// Cost is what ToApply takes of the budget; nil where that is nothing or not
	// known.
	Cost *Cost `json:"cost,omitempty"`
	// Overload is set where the sweep schedule asks for more than the budget has.
	Overload *Overload `json:"overload,omitempty"`
}

// String is the line of all renderers.
func (r Requests) String() string {
	text := words.Count(int(r.Used), "request", "requests") + " used"
	if r.Looks > 0 {
		text += fmt.Sprintf(" (%d to look for skip rules in earlier phases)", r.Looks)
	}
	if r.ToApply > 0 {
		text += fmt.Sprintf(", %d to apply", r.ToApply)
	}
	if r.Cost != nil {
		text += ": " + r.Cost.String()
	}
	return text
}

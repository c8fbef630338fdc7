package control

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// waiting is what zones and tokens wait for that a guard holds back.
type waiting struct {
	zones   map[edge.Scope]waitReasons
	timely  int  // how many of zones wait for a time
	tokens  bool // a guard holds something about tokens back
	delayed bool // as in releaseTokens, at the last tick
}

// waitReason is a guard that a zone waits for.
type waitReason struct {
	guard diff.Guard
	until time.Time // when it ends by itself; zero where it does not, or that is not known
}

// person reports whether a person has to decide; else it ends with time.
func (w waitReason) person() bool { return w.guard == diff.GuardLimit || w.guard == diff.GuardApproval }

func (w waitReason) timely() bool { return !w.person() }

// waitReasons are all that a zone waits for.
type waitReasons []waitReason

func (w waitReasons) timely() bool    { return slices.ContainsFunc(w, waitReason.timely) }
func (w waitReasons) forPerson() bool { return slices.ContainsFunc(w, waitReason.person) }

// until is when the first of them ends by itself; zero where none does.
func (w waitReasons) until() (at time.Time) {
	for _, reason := range w {
		if !reason.until.IsZero() && (at.IsZero() || reason.until.Before(at)) {
			at = reason.until
		}
	}
	return at
}

// set notes what a zone waits for; nothing where it does not.
func (w *waiting) set(id edge.Scope, reasons waitReasons) {
	if w.zones[id].timely() {
		w.timely--
	}
	delete(w.zones, id)
	if len(reasons) > 0 {
		w.zones[id] = reasons
	}
	if reasons.timely() {
		w.timely++
	}
}

// forget forgets zones.
func (w *waiting) forget(ids []edge.Scope) {
	for _, id := range ids {
		w.set(id, nil)
	}
}

// keep forgets zones that are not declared.
func (w *waiting) keep(declared func(edge.Scope) bool) {
	for id := range w.zones {
		if !declared(id) {
			w.set(id, nil)
		}
	}
}

// release returns the zones for which one reason at least is over, and forgets them.
func (w *waiting) release(over func(edge.Scope, waitReason) bool) (ids []edge.Scope) {
	for id, reasons := range w.zones {
		if slices.ContainsFunc(reasons, func(reason waitReason) bool { return over(id, reason) }) {
			ids = append(ids, id)
			w.set(id, nil)
		}
	}
	return ids
}

// releaseTokens reports whether tokens need not wait any longer. They are delayed while a
// freeze is in force, or the records are of an earlier time.
func (w *waiting) releaseTokens(approved, delayed bool) bool {
	over := w.delayed && !delayed
	w.delayed = delayed
	return w.tokens && (approved || over)
}

// Waiting counts the zones that a guard holds back, and those of them that wait for a
// time, and not for a person.
func (c *Control) Waiting() (all, timely int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.state.waiting.zones), c.state.waiting.timely
}

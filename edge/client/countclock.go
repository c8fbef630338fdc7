package client

import "time"

const (
	// mostDrift is by how much clocks may run apart between two visits.
	mostDrift = 2 * time.Second
	// comparedFor is for how long after a visit clocks are compared by it: nothing counts for longer.
	comparedFor = time.Hour
)

// tableClock is what a process knows of the clock of a table by its own, which is never set: with the
// next visit it sees by how much the one of the table was set forward meanwhile.
type tableClock struct {
	row         string // of the credential
	asked, told time.Time
	table       time.Time // read after it was asked and before it was told
	jumped      int64     // what the window said then
}

// forward is by how much the clock of the table was set forward at most between two visits; 0 where it
// may have run on.
func (c tableClock) forward(next tableClock) time.Duration {
	passed := next.table.Sub(c.table)
	if c.row != next.row || next.told.Sub(c.asked) > comparedFor || passed-next.told.Sub(c.asked) < mostDrift {
		return 0
	}
	return passed - next.asked.Sub(c.told)
}

// follow has what counts count for as long as it would have, by a clock that was set forward since a
// process has visited the window before: it would be forgotten too early, and a budget be exceeded.
// Another one may have seen to that since.
func (w *Window) follow(before, now tableClock) {
	by := before.forward(now).Milliseconds() - max(0, w.Jumped-before.jumped)
	if by < mostDrift.Milliseconds() || w.Jumped < before.jumped {
		return
	}
	w.Jumped += by
	for i := range w.Ended {
		w.Ended[i].Until += by
	}
	for holder, c := range w.Held {
		c.Until += by
		w.Held[holder] = c
	}
	for class, until := range w.Wanted {
		if until > 0 {
			w.Wanted[class] += by
		}
	}
	if w.Resume > 0 {
		w.Resume += by
	}
}

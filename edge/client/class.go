package client

import (
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// The shares of the classes in a window that processes share. They are of the quota of all
// of them, and what one class leaves is there for the others:
//
//	urgent     finds keptForUrgent, whatever others have taken; beyond it, it takes what is
//	           free, but for the floors of those that wait
//	sweep      finds what it took lately and a quarter more, as what it needs comes evenly;
//	           up to a half of the rest while bulk waits
//	bulk       takes the rest
//	question   has its floor alone while bulk waits
//
// A floor is a twentieth of the quota, which each class gets in every window in which it
// asks, so that none waits for ever.
const (
	// keptForUrgent are three requests for each of 20 zones, and some for the lists of their
	// accounts; of a small quota, a tenth.
	keptForUrgent = 64
	floorPart     = 20
	// leastShared is the quota below which there are no shares: they would be of less than
	// one request.
	leastShared = 20
	// wantedFor is for how long a class that has asked counts as one that waits.
	wantedFor = 5 * time.Second
)

// classCounts is a number for each class.
type classCounts [edge.Classes]int

func (c classCounts) sum() (n int) {
	for _, m := range c {
		n += m
	}
	return n
}

// taken counts what each class has used and holds.
func (w *Window) taken() (used classCounts) {
	for _, c := range w.Ended {
		used[c.class()] += c.N
	}
	for _, c := range w.Held {
		used[c.class()] += c.N
	}
	return used
}

// class is that of a count; what a later program writes counts as bulk.
func (c Count) class() edge.Class {
	if c.Class < edge.Urgent || c.Class >= edge.Classes {
		return edge.Bulk
	}
	return c.Class
}

// rooms are how many requests each class may take now.
func (w *Window) rooms(quota int, now time.Time) (rooms classCounts) {
	s := w.shares(quota, now)
	rooms[edge.Urgent] = s.urgent()
	rooms[edge.Sweep] = s.room(edge.Sweep)
	rooms[edge.Bulk] = s.room(edge.Bulk)
	rooms[edge.Question] = s.room(edge.Question)
	if quota < leastShared {
		for c := range rooms {
			rooms[c] = max(0, s.free)
		}
	}
	return rooms
}

// shares is a window at one moment, as the shares see it.
type shares struct {
	free   int // for anybody
	kept   int // for urgent
	floor  int
	rest   int // of the quota, without kept
	used   classCounts
	wanted [edge.Classes]bool
}

func (w *Window) shares(quota int, now time.Time) shares {
	s := shares{kept: min(keptForUrgent, quota/10), floor: quota / floorPart, used: w.taken()}
	s.free, s.rest = quota-s.used.sum(), quota-s.kept
	for c, until := range w.Wanted {
		s.wanted[c] = now.UnixMilli() < until
	}
	return s
}

// urgent is what pushes may take: what is kept for them, and beyond it what others do not
// wait for.
func (s shares) urgent() int {
	owed := 0
	for c := edge.Sweep; c < edge.Classes; c++ {
		if s.wanted[c] {
			owed += max(0, s.floor-s.used[c])
		}
	}
	return max(0, s.free-owed, min(s.free, s.kept-s.used[edge.Urgent]))
}

// room is what another class may take: its floor, and beyond it what the others leave.
func (s shares) room(c edge.Class) int {
	floor := min(s.floor-s.used[c], s.free-max(0, s.kept-s.used[edge.Urgent]))
	return max(0, floor, min(s.free-s.kept-s.owed(c), s.most(c)-s.used[c]))
}

// owed is what the other classes find free when they ask next.
func (s shares) owed(c edge.Class) (owed int) {
	if c != edge.Sweep && (s.used[edge.Sweep] > 0 || s.wanted[edge.Sweep]) {
		owed += max(0, min(s.rest/2, s.used[edge.Sweep]*5/4+3)-s.used[edge.Sweep])
	}
	if c != edge.Question && s.wanted[edge.Question] {
		owed += max(0, s.floor-s.used[edge.Question])
	}
	return owed
}

// most is what a class may use of a window beside those that wait.
func (s shares) most(c edge.Class) int {
	switch {
	case c == edge.Bulk || !s.wanted[edge.Bulk]:
		return s.rest
	case c == edge.Sweep:
		return s.rest / 2
	}
	return s.floor
}

// want notes that a class asks, and for how long it counts as one that waits.
func (w *Window) want(v visit, next time.Time) {
	until := v.now
	if next.After(until) {
		until = next
	}
	w.Wanted[v.class] = max(w.Wanted[v.class], milli(until.Add(wantedFor)))
}

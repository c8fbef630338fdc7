package queue

import (
	"fmt"
	"time"
)

// Priority says how urgent an item is; the lowest value is the most urgent.
type Priority int

// The priorities, the most urgent first.
const (
	Push     Priority = iota // small pushes and reverts
	Bulk                     // the zones of a large commit
	Released                 // released by a hold, freeze, wave or approval
	Retry                    // failed before
	Sweep                    // read without a reason
)

const priorities = int(Sweep) + 1

var priorityNames = [priorities]string{"push", "bulk", "released", "retry", "sweep"}

func (p Priority) String() string {
	if p < Push || p > Sweep {
		return fmt.Sprintf("Priority(%d)", int(p))
	}
	return priorityNames[p]
}

// check panics if it is none of the constants.
func (p Priority) check() {
	if p < Push || p > Sweep {
		panic("queue: " + p.String() + " is no priority")
	}
}

// Item is what is due, and why.
type Item[K comparable] struct {
	Key      K
	Due      time.Time // not before this time; zero: at once
	Priority Priority
	Reason   string // for people; the queue does not read it

	// Since is when it became due in its priority, or will: Due, or an earlier time
	// if it was due then and was set again before it was handed out. The queue fills
	// it in.
	Since time.Time

	// Slow says that its last try was slow or broken. Slow items have a part of the
	// worker places at most. Set and Sooner can make an item slow, but do not end it,
	// since those who call them often do not know; Done ends it, and so does Remove.
	Slow bool
}

// Work is an item that was handed out and is not done.
type Work[K comparable] struct {
	Item[K]
	Began time.Time // when it was handed out

	// Next is what was set while it was at work, and comes when it is done; nil: nothing.
	Next *Item[K]
}

// entry is what the queue knows of one key: an item that is to come, one that is at
// work, or both.
type entry[K comparable] struct {
	key   K
	next  Item[K] // valid if comes
	comes bool
	seq   uint64 // the order of setting

	heap  *entryHeap[K] // the one that holds it; nil while it is at work
	index int           // its place there

	work   *Work[K] // nil: not at work
	handed uint64   // the order of handing out
	// decided is true if, since it was handed out, it was set or removed: then what
	// comes, if anything, does not depend on how the work ends.
	decided bool
}

func (it Item[K]) due(now time.Time) bool { return !it.Due.After(now) }

// lane is where the item waits once it is due.
func (it Item[K]) lane() int {
	if it.Slow {
		return slow
	}
	return fast
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// shorter returns the shorter of two times to wait; 0 or less is none.
func shorter(a, b time.Duration) time.Duration {
	switch {
	case a <= 0:
		return max(0, b)
	case b <= 0:
		return a
	}
	return min(a, b)
}

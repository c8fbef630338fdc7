package queue

// The shares of the priorities. They hold in each of two lanes: the items that are
// fast, and those that are slow and have few worker places. Each has shares of its
// own, or slow items of one priority could take every place that slow items get.
//
// In a lane an item of another priority than Push is passed over patience times at
// most, wherever the items come from that go first. Among the other priorities the
// one with the lowest turn is next, and its turn then moves by its stride: of 16
// hand-outs 8 go to Bulk, 4 to Released, 2 to Retry and 2 to Sweep while all of them
// have items.
//
// What follows:
//
//   - Of 9 hand-outs at which an item of a lane and of another priority than Push could
//     have begun, one is such an item; of 8, while there is one lane. (Both lanes may be
//     owed one at the same time.)
//   - Of the hand-outs of such items of a lane at which one of the priority could have
//     begun, one in 4 is of Bulk, one in 6 of Released, one in 11 of Retry and one in 11
//     of Sweep: between two of Sweep are at most 8/2+1 + 8/4+1 + 8/8+1 of the others.
//   - So a priority that can always begin has at least one of 9*11 = 99 hand-outs.

const (
	fast = iota
	slow
	lanes
)

// patience is how many hand-outs may pass over the other priorities of a lane.
const patience = 7

// strides are the inverse of the shares 8:4:2:2.
var strides = [priorities]uint64{Bulk: 2, Released: 4, Retry: 8, Sweep: 8}

// open says which priorities may begin an item now.
type open [priorities]bool

// lane holds the items that are due.
type lane[K comparable] struct {
	due    [priorities]entryHeap[K]
	passed int                // how many hand-outs passed over its priorities other than Push
	turns  [priorities]uint64 // when it is the turn of each
	clock  uint64             // the last turn that was taken
}

// push returns the item of priority Push that is next, or nil.
func (l *lane[K]) push(may open) *entry[K] {
	if !may[Push] {
		return nil
	}
	return l.due[Push].first()
}

// other returns the item of another priority that is next, or nil.
func (l *lane[K]) other(may open) *entry[K] {
	best := Push
	for p := Bulk; p <= Sweep; p++ {
		if may[p] && len(l.due[p]) > 0 && (best == Push || l.earlier(p, best)) {
			best = p
		}
	}
	if best == Push {
		return nil
	}
	return l.due[best].first()
}

// turn is when it is the turn of a priority. One that had nothing to do for a while
// does not make up for it.
func (l *lane[K]) turn(p Priority) uint64 { return max(l.turns[p], l.clock) }

func (l *lane[K]) earlier(p, than Priority) bool {
	if a, b := l.turn(p), l.turn(than); a != b {
		return a < b
	}
	return l.turns[p] < l.turns[than]
}

// took counts a hand-out of an item of another priority than Push.
func (l *lane[K]) took(p Priority) {
	l.passed = 0
	l.clock = l.turn(p)
	l.turns[p] = l.clock + strides[p]
}

// owed is how much the lane is due for a hand-out to another priority than Push; 0
// is not before the more urgent.
func (l *lane[K]) owed() int {
	if l.passed < patience {
		return 0
	}
	return l.passed
}

// choose returns the item that is next, of those that may begin, and counts it. It
// returns nil if there is none.
func (q *Queue[K]) choose(may [lanes]open) *entry[K] {
	var push, other *entry[K]
	var others [lanes]*entry[K]
	owed := 0
	for i := range q.lanes {
		l := &q.lanes[i]
		push = first(push, l.push(may[i]))
		others[i] = l.other(may[i])
		if others[i] != nil && (other == nil || l.owed() > owed || l.owed() == owed && others[i].moreUrgent(other)) {
			other, owed = others[i], l.owed()
		}
	}
	chosen := other
	if push != nil && owed == 0 {
		chosen = push
	}
	for i, e := range others {
		switch e {
		case nil:
		case chosen:
			q.lanes[i].took(e.next.Priority)
		default:
			q.lanes[i].passed++
		}
	}
	return chosen
}

func (e *entry[K]) moreUrgent(than *entry[K]) bool {
	if a, b := e.next.Priority, than.next.Priority; a != b {
		return a < b
	}
	return e.before(than)
}

// first returns the one of two entries that is before the other; nil is none.
func first[K comparable](a, b *entry[K]) *entry[K] {
	if a == nil || b != nil && b.before(a) {
		return b
	}
	return a
}

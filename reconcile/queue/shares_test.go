package queue

import (
	"math/rand/v2"
	"testing"
	"time"
)

// full returns a queue with due items of these lanes and priorities.
func full(lane []int, ps ...Priority) *Queue[int] {
	q := New[int](Config[int]{})
	for i, p := range ps {
		q.Set(Item[int]{Key: i, Priority: p, Slow: lane[i] == slow, Due: time.Unix(int64(i), 0)})
	}
	return q
}

// adversary says what may begin. It tries to have the wanted items passed over while
// one of them could begin, and is done when it could not more often than the bound.
type adversary struct {
	q      *Queue[int]
	wanted func(e *entry[int]) bool
	always bool // the wanted may always begin
	rnd    *rand.Rand
}

func (a *adversary) most() (most int) {
	misses := 0
	for range 5_000 {
		may := a.draw()
		for try := 0; try < 10 && a.could(may) == a.would(may); try++ {
			may = a.draw()
		}
		could := a.could(may)
		if e := a.q.choose(may); e != nil && a.wanted(e) {
			misses = 0
		} else if could {
			misses++
		}
		most = max(most, misses)
	}
	return most
}

func (a *adversary) draw() (may [lanes]open) {
	for i := range may {
		for p := range may[i] {
			e := a.q.lanes[i].due[p].first()
			may[i][p] = a.rnd.IntN(2) == 0 || a.always && e != nil && a.wanted(e)
		}
	}
	return may
}

// could says whether a wanted item may begin.
func (a *adversary) could(may [lanes]open) bool {
	for i := range may {
		for p := range may[i] {
			if e := a.q.lanes[i].due[p].first(); e != nil && may[i][p] && a.wanted(e) {
				return true
			}
		}
	}
	return false
}

// would says whether a wanted item would be chosen, and changes nothing.
func (a *adversary) would(may [lanes]open) bool {
	was := a.q.lanes
	e := a.q.choose(may)
	a.q.lanes = was
	return e != nil && a.wanted(e)
}

var everything = []Priority{Push, Bulk, Released, Retry, Sweep, Push, Bulk, Released, Retry, Sweep}

var everyLane = []int{fast, fast, fast, fast, fast, slow, slow, slow, slow, slow}

// Whatever else may begin when, an item that could have begun often enough has.
func TestAdversary(t *testing.T) {
	try := func(law string, always bool, q *Queue[int], bound int, wanted func(e *entry[int]) bool) {
		t.Helper()
		a := &adversary{q, wanted, always, rand.New(rand.NewPCG(1, 2))}
		most := a.most()
		t.Logf("%s: passed over %d times at most, the bound is %d", law, most, bound)
		if most > bound {
			t.Error("the law is broken")
		}
	}
	for i, lane := range [][]int{{fast, fast, fast, fast}, {slow, slow, slow, slow}} {
		try("a lane", false, full(everyLane, everything...), 8, func(e *entry[int]) bool { return e.next.lane() == i && e.next.Priority != Push })
		for p := Bulk; p <= Sweep; p++ {
			wanted := func(e *entry[int]) bool { return e.next.lane() == i && e.next.Priority == p }
			try(p.String()+" in a lane", false, full(lane, everything[Bulk:5]...), atMost[p], wanted)
			try(p.String(), true, full(everyLane, everything...), 9*(atMost[p]+1)-1, wanted)
			try(p.String()+" with one lane", true, full(everyLane[:5], everything[:5]...), 8*(atMost[p]+1)-1, func(e *entry[int]) bool { return e.next.Priority == p })
		}
	}
}

// Between the lanes the more urgent item goes first, and then the one that was due
// first.
func TestBetweenLanes(t *testing.T) {
	for _, c := range []struct {
		lanes []int
		ps    []Priority
		want  int
	}{
		{[]int{fast, slow}, []Priority{Push, Push}, 0},
		{[]int{slow, fast}, []Priority{Push, Push}, 0},
		{[]int{fast, slow}, []Priority{Bulk, Push}, 1},
		{[]int{slow, fast}, []Priority{Bulk, Push}, 1},
		{[]int{fast, slow}, []Priority{Retry, Bulk}, 1},
		{[]int{slow, fast}, []Priority{Retry, Bulk}, 1},
		{[]int{fast, slow}, []Priority{Sweep, Sweep}, 0},
		{[]int{slow, fast}, []Priority{Sweep, Sweep}, 0},
	} {
		q := full(c.lanes, c.ps...)
		all := open{true, true, true, true, true}
		if got := q.choose([lanes]open{all, all}).key; got != c.want {
			t.Errorf("lanes %v, priorities %v: item %d is first", c.lanes, c.ps, got)
		}
	}
}

// If both lanes are owed a hand-out, the one that was passed over more often is first.
func TestOwed(t *testing.T) {
	q := full([]int{fast, fast, slow}, Push, Bulk, Bulk)
	all := open{true, true, true, true, true}
	got := ""
	for i := range 17 {
		may := [lanes]open{all, all}
		if i > 7 && i < 15 {
			may[slow] = open{} // has no place
		}
		got += string("pfs"[q.choose(may).key])
	}
	if want := "pppppppf" + "ppppppp" + "sf"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// model is a queue that looks at everything it has each time. It does not say which
// item is next, but which ones may be: laws say what must hold of each hand-out.
type model struct {
	workers int
	gates   [priorities]gate
	keys    map[int]*modelKey
	seq     int

	passed [lanes]int             // hand-outs since the last of another priority than Push, at which one could have begun
	missed [lanes][priorities]int // of those of the lane to another than Push, since the last of this priority, at which one could have begun
}

type modelKey struct {
	next  *modelItem // what comes
	work  *Work[int]
	soft  bool // next was only said by Sooner, while at work
	ended bool // removed while at work
}

type modelItem struct {
	Item[int]
	seq int
}

// gate is the admission of one priority.
type gate struct {
	until time.Time // shut before this time
	shut  bool      // shut until a Wake
	limit int       // shut while so many are at work; 0: never
}

func (g gate) admits(now time.Time, atWork int) (bool, time.Duration) {
	if g.shut || g.limit > 0 && atWork >= g.limit {
		return false, 0
	}
	return !now.Before(g.until), g.until.Sub(now)
}

func (m *model) key(k int) *modelKey {
	if m.keys[k] == nil {
		m.keys[k] = &modelKey{}
	}
	return m.keys[k]
}

func (m *model) set(it Item[int], now time.Time) {
	k := m.key(it.Key)
	m.replace(k, it, now)
	k.soft = false
}

func (m *model) replace(k *modelKey, it Item[int], now time.Time) {
	if it.Due.IsZero() {
		it.Due = now
	}
	it.Since = it.Due
	m.seq++
	n := &modelItem{it, m.seq}
	if was := k.next; was != nil {
		n.Slow = n.Slow || was.Slow
		if was.Priority == it.Priority && !was.Due.After(now) && !it.Due.After(now) {
			n.seq = was.seq
			if was.Since.Before(it.Since) {
				n.Since = was.Since
			}
		}
	}
	k.next = n
}

func (m *model) sooner(it Item[int], now time.Time) {
	k := m.key(it.Key)
	if k.next == nil {
		k.soft = k.work != nil && !k.ended
		m.replace(k, it, now)
		return
	}
	m.join(k, it, now)
}

// join states the law of Sooner case by case.
func (m *model) join(k *modelKey, it Item[int], now time.Time) {
	if it.Due.IsZero() {
		it.Due = now
	}
	was := k.next.Item
	is := was
	if it.Priority < was.Priority || it.Priority == was.Priority && it.Due.Before(was.Due) {
		is = it
	}
	switch isDue := !is.Due.After(now); {
	case isDue: // stays
	case !was.Due.After(now) || !it.Due.After(now):
		is.Due = now
	case was.Due.Before(it.Due):
		is.Due = was.Due
	default:
		is.Due = it.Due
	}
	is.Slow = was.Slow || it.Slow
	m.replace(k, is, now)
}

func (m *model) remove(key int) {
	k := m.key(key)
	k.next, k.soft, k.ended = nil, false, true
}

func (m *model) done(key int, next *Item[int], now time.Time) {
	k := m.key(key)
	if k.work == nil {
		return
	}
	k.work = nil
	said, soft := k.next, k.soft
	switch {
	case said == nil && k.ended:
	case said != nil && !soft:
		said.Slow = said.Slow || next != nil && next.Slow
	case next != nil:
		it := *next
		it.Key = key
		k.next = nil
		m.replace(k, it, now)
		if said != nil {
			m.join(k, said.Item, now)
		}
	}
	k.soft, k.ended = false, false
}

func (m *model) atWork() (all, others, slows int) {
	for _, k := range m.keys {
		if k.work == nil {
			continue
		}
		all++
		if k.work.Priority != Push {
			others++
		}
		if k.work.Slow {
			slows++
		}
	}
	return all, others, slows
}

// mayBegin returns the items of which one must be next, the first of each lane and
// priority.
func (m *model) mayBegin(now time.Time) (heads [lanes][priorities]*modelItem) {
	all, others, slows := m.atWork()
	quarter := max(1, m.workers/4)
	for _, k := range m.keys {
		n := k.next
		if n == nil || k.work != nil || n.Due.After(now) || all >= m.workers {
			continue
		}
		if n.Slow && slows >= quarter {
			continue
		}
		if n.Priority != Push && m.workers > 1 && others >= m.workers-quarter {
			continue
		}
		if ok, _ := m.gates[n.Priority].admits(now, all); !ok {
			continue
		}
		head := &heads[n.lane()][n.Priority]
		if *head == nil || n.Since.Before((*head).Since) || n.Since.Equal((*head).Since) && n.seq < (*head).seq {
			*head = n
		}
	}
	return heads
}

func some(heads [lanes][priorities]*modelItem) bool {
	return heads != [lanes][priorities]*modelItem{}
}

// atMost is how many hand-outs of its lane a priority may miss.
var atMost = [priorities]int{Bulk: 3, Released: 5, Retry: 10, Sweep: 10}

// handOut checks the laws of one, and follows it.
func (m *model) handOut(it Item[int], now time.Time) error {
	k := m.key(it.Key)
	if k.work != nil {
		return fmt.Errorf("key %d was handed out twice", it.Key)
	}
	heads := m.mayBegin(now)
	head := heads[it.lane()][it.Priority]
	if head == nil || head.Item != it {
		return fmt.Errorf("handed out %+v, the first that may begin is %+v", it, head)
	}
	if err := m.shares(it, heads); err != nil {
		return err
	}
	k.work, k.next, k.soft, k.ended = &Work[int]{Item: it, Began: now}, nil, false, false
	return nil
}

func (m *model) shares(it Item[int], heads [lanes][priorities]*modelItem) error {
	var others [lanes]bool
	for i := range lanes {
		others[i] = slices.ContainsFunc(heads[i][Bulk:], func(n *modelItem) bool { return n != nil })
	}
	if it.Priority == Push {
		for i := range lanes {
			if other := heads[i][Push]; other != nil && (other.Since.Before(it.Since) || other.Since.Equal(it.Since) && other.seq < heads[it.lane()][Push].seq) {
				return fmt.Errorf("push %+v was handed out before %+v", it, *other)
			}
			if others[i] && m.passed[i] >= 7 {
				return fmt.Errorf("push after %d hand-outs that passed over lane %d", m.passed[i], i)
			}
		}
	} else if (heads[fast][Push] != nil || heads[slow][Push] != nil) && m.passed[it.lane()] < 7 {
		return fmt.Errorf("a push waits behind %+v after %d hand-outs that passed over it", it, m.passed[it.lane()])
	}
	for i := range lanes {
		switch {
		case it.Priority != Push && it.lane() == i:
			m.passed[i] = 0
		case others[i]:
			if m.passed[i]++; m.passed[i] > 8 {
				return fmt.Errorf("lane %d was passed over %d times", i, m.passed[i])
			}
		}
		for p := Bulk; p <= Sweep && it.lane() == i && it.Priority != Push; p++ {
			if it.Priority == p {
				m.missed[i][p] = 0
			} else if heads[i][p] != nil {
				if m.missed[i][p]++; m.missed[i][p] > atMost[p] {
					return fmt.Errorf("%v of lane %d starves: missed %d hand-outs", p, i, m.missed[i][p])
				}
			}
		}
	}
	return nil
}

// firstTime returns the first time in (now, until] at which an item may begin.
func (m *model) firstTime(now, until time.Time) (time.Time, bool) {
	var times []time.Time
	for _, k := range m.keys {
		if k.next != nil {
			times = append(times, k.next.Due)
		}
	}
	for _, g := range m.gates {
		times = append(times, g.until)
	}
	slices.SortFunc(times, time.Time.Compare)
	for _, at := range times {
		if at.After(now) && !at.After(until) && some(m.mayBegin(at)) {
			return at, true
		}
	}
	return time.Time{}, false
}

func (m *model) snapshot() (s Snapshot[int]) {
	var waiting []modelItem
	for _, k := range m.keys {
		switch {
		case k.work != nil:
			w := *k.work
			if k.next != nil {
				w.Next = &k.next.Item
			}
			s.AtWork = append(s.AtWork, w)
		case k.next != nil:
			waiting = append(waiting, *k.next)
		}
	}
	slices.SortFunc(waiting, func(a, b modelItem) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.seq, b.seq))
	})
	for _, n := range waiting {
		s.Waiting = append(s.Waiting, n.Item)
	}
	slices.SortFunc(s.AtWork, func(a, b Work[int]) int { return cmp.Compare(a.Key, b.Key) })
	return s
}

func (m *model) stats(now time.Time) (s Stats) {
	snapshot := m.snapshot()
	for _, w := range snapshot.AtWork {
		s[w.Priority].AtWork++
	}
	for _, it := range snapshot.Waiting {
		c := &s[it.Priority]
		c.Waiting++
		if it.Due.After(now) {
			continue
		}
		c.Due++
		if c.Oldest.IsZero() || it.Since.Before(c.Oldest) {
			c.Oldest = it.Since
		}
	}
	return s
}

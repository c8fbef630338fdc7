package queue

import "container/heap"

// entryHeap is a heap of entries, ordered by the time at which they are, or became,
// due, and then by the order in which they were set. Each entry knows its place, so
// any of them can be taken out.
type entryHeap[K comparable] []*entry[K]

func (h entryHeap[K]) Len() int           { return len(h) }
func (h entryHeap[K]) Less(i, j int) bool { return h[i].before(h[j]) }
func (h entryHeap[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *entryHeap[K]) Push(x any) {
	e := x.(*entry[K])
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *entryHeap[K]) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}

func (h entryHeap[K]) first() *entry[K] {
	if len(h) == 0 {
		return nil
	}
	return h[0]
}

func (e *entry[K]) before(other *entry[K]) bool {
	if c := e.next.Since.Compare(other.next.Since); c != 0 {
		return c < 0
	}
	return e.seq < other.seq
}

// enter puts an entry into a heap.
func (e *entry[K]) enter(h *entryHeap[K]) {
	e.heap = h
	heap.Push(h, e)
}

// leave takes it out of the heap that holds it, if any.
func (e *entry[K]) leave() {
	if e.heap != nil {
		heap.Remove(e.heap, e.index)
		e.heap = nil
	}
}

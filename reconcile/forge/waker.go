package forge

import (
	"sync"
	"time"
)

// waker passes on calls, at most one in a gap of time. One that comes too early
// is kept until the gap is over, for what it is about must be seen; more of them
// are one.
type waker struct {
	call func()

	mu      sync.Mutex
	last    time.Time
	waiting bool
}

const wakeGap = time.Second

func newWaker(call func()) *waker { return &waker{call: call} }

func (w *waker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting {
		return
	}
	if rest := wakeGap - time.Since(w.last); rest > 0 {
		w.waiting = true
		time.AfterFunc(rest, w.late)
		return
	}
	w.last = time.Now()
	w.call()
}

func (w *waker) late() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting, w.last = false, time.Now()
	w.call()
}

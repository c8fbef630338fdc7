package client

import (
	"context"
	"slices"
	"sync"

	"github.com/seawall-dev/seawall/edge"
)

// slots bound the requests in flight. More callers than slots are usual: a caller that plans or
// waits for a disk between two requests leaves its slot to another. So a request may find others
// that wait, and an urgent one does not wait behind them: it gets the next slot that is given
// back. And some are kept for it, since what is under way may take until its timeout. Within both
// kinds the order is that in which they came.
type slots struct {
	mu     sync.Mutex
	free   int
	kept   int             // for urgent requests
	urgent []chan struct{} // of those that wait, each closed when it has its slot
	others []chan struct{}
}

// newSlots returns so many; of 16 one is kept for urgent requests.
func newSlots(n int) *slots { return &slots{free: n, kept: n / 16} }

// take waits for a slot, which the caller gives back. It fails where the context ends before.
func (s *slots) take(ctx context.Context, c edge.Class) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	queue, kept := &s.others, s.kept
	if c == edge.Urgent {
		queue, kept = &s.urgent, 0
	}
	if s.free > kept {
		s.free--
		s.mu.Unlock()
		return nil
	}
	got := make(chan struct{})
	*queue = append(*queue, got)
	s.mu.Unlock()
	select {
	case <-got:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(*queue, got)
	if i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 { // it was given one meanwhile
		s.give()
	}
	return ctx.Err()
}

// give gives a slot back.
func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := &s.urgent
	if len(*queue) == 0 && s.free >= s.kept {
		queue = &s.others
	}
	if len(*queue) == 0 {
		s.free++
		return
	}
	close((*queue)[0])
	*queue = slices.Delete(*queue, 0, 1)
}

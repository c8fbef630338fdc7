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
// back. Within both kinds the order is that in which they came.
type slots struct {
	mu     sync.Mutex
	free   int             // 0 while anyone waits
	urgent []chan struct{} // of those that wait, each closed when it has its slot
	others []chan struct{}
}

// take waits for a slot, which the caller gives back. It fails where the context ends before.
func (s *slots) take(ctx context.Context, c edge.Class) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	queue, got := &s.others, make(chan struct{})
	if c == edge.Urgent {
		queue = &s.urgent
	}
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
	for _, queue := range []*[]chan struct{}{&s.urgent, &s.others} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = slices.Delete(*queue, 0, 1)
			return
		}
	}
	s.free++
}

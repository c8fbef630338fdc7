package worker

import (
	"context"
	"math"

	"golang.org/x/sync/semaphore"
)

// Room is the memory that workers side by side may take together. A job waits until there
// is room for all that it may take, so that the machine, or the container, never has too
// little for them. A nil Room has room for any number. It is safe for concurrent use.
type Room struct {
	free *semaphore.Weighted
	most int64
}

// NewRoom makes room for so many bytes. A job that may take more than all of it has it
// for itself.
func NewRoom(bytes int64) *Room {
	bytes = max(bytes, 1)
	return &Room{semaphore.NewWeighted(bytes), bytes}
}

// reservedAtStart is what the Go runtime reserves of the address space without using it.
const reservedAtStart = 1 << 30

// Most is what a worker may take of the machine's memory, in bytes: its address space
// without what is only reserved.
func (l Limits) Most() int64 {
	l = l.withDefaults()
	return max(int64(l.AddressSpace)-reservedAtStart, l.Memory)
}

// enter waits for the room that a worker takes, until leave is called.
func (r *Room) enter(ctx context.Context, l Limits) (leave func(), err error) {
	if r == nil {
		return func() {}, nil
	}
	n := min(l.Most(), r.most)
	if r.free.Acquire(ctx, n) != nil {
		return nil, context.Cause(ctx)
	}
	return func() { r.free.Release(n) }, nil
}

// Workers is how many workers of these limits there is room for at once; at least one.
func (r *Room) Workers(l Limits) int {
	if r == nil {
		return math.MaxInt
	}
	return int(max(r.most/l.Most(), 1))
}

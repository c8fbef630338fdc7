package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// ErrNotBegun: an order was not begun, since the controller does not work yet, or not any
// more.
var ErrNotBegun = errors.New("the daemon takes no orders now")

// ErrElsewhere: an order was not begun, since another process does the work on tokens.
var ErrElsewhere = errors.New("another process does the work on tokens")

// Rotation is an order to make the successor of a token now.
type Rotation struct {
	Key  string       // of the declaration
	From edge.TokenID // the token in use; another one is not rotated
	// Expect is the digest of the change that a person has agreed to; empty is any.
	Expect string
}

// errOther: what would be done is not what a person has agreed to.
var errOther = errors.New("the plan is another one by now")

// rotates reports why a token cannot be rotated by its declaration.
func rotates(tokens []desired.Token, key string) error {
	i := slices.IndexFunc(tokens, func(t desired.Token) bool { return t.Key == key })
	switch {
	case i < 0:
		return fmt.Errorf("the commit in force declares no token %q", key)
	case tokens[i].Rotate == nil:
		return fmt.Errorf("the commit in force declares token %q without rotate", key)
	}
	return nil
}

// Expected reports whether a plan has the change of a rotation that a person has agreed to.
func (r Rotation) Expected(plan diff.Plan) error {
	if r.Expect == "" || slices.ContainsFunc(plan.Changes, func(c diff.Change) bool {
		return c.Token == r.Key && c.ApprovalDigest() == r.Expect
	}) {
		return nil
	}
	return fmt.Errorf("token %s: %w", r.Key, errOther)
}

// orders are what people have asked of the token loop, which carries them out between its own
// work.
type orders struct {
	mu      sync.Mutex
	waiting []*order
	ended   bool
}

type order struct {
	do   func(ctx context.Context) error
	err  error
	done chan struct{} // closed when err is there
}

// wait has the loop do something, and returns when it is done. One that ctx withdraws before
// it was begun is not done; one that was begun goes on.
func (o *orders) wait(ctx context.Context, do func(context.Context) error, wake func()) error {
	mine := &order{do: do, done: make(chan struct{})}
	o.mu.Lock()
	if o.ended {
		o.mu.Unlock()
		return ErrNotBegun
	}
	o.waiting = append(o.waiting, mine)
	o.mu.Unlock()
	wake()
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, func(other *order) bool { return other == mine })
	return context.Cause(ctx)
}

// carryOut does what is waiting, in its order.
func (o *orders) carryOut(ctx context.Context) {
	for {
		o.mu.Lock()
		if len(o.waiting) == 0 {
			o.mu.Unlock()
			return
		}
		next := o.waiting[0]
		o.waiting = o.waiting[1:]
		o.mu.Unlock()
		next.err = next.do(ctx)
		close(next.done)
	}
}

// refuse refuses what is waiting; last says that it refuses all that comes, too.
func (o *orders) refuse(err error, last bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, each := range o.waiting {
		each.err = err
		close(each.done)
	}
	o.waiting, o.ended = nil, o.ended || last
}

// end refuses what is waiting, and all that comes.
func (o *orders) end() { o.refuse(ErrNotBegun, true) }

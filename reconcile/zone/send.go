package zone

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
)

// sending is one write on its way: whether it has left, and the context that decides
// until when it may.
type sending struct {
	mu   sync.Mutex
	left bool
}

// send sends a change. While it waits for its turn or for the request budget, which
// can take minutes, the end of stopped keeps it from being sent; from then on ctx
// alone bounds it. sent is false only where the platform cannot have seen it.
func (v *visit) send(ctx, stopped context.Context, c diff.Change) (answer *edge.Ruleset, sent bool, err error) {
	write, writes := writeOf(c)
	if !writes {
		return nil, false, fmt.Errorf("%s: there is nothing to write", c.Name())
	}
	ctx, span := trace.Start(ctx, trace.Write)
	span.Text(trace.Deployment, c.Deployment)
	defer func() { span.End(err) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, leaves, end := reconcile.Request(ctx)
	defer func() { end(err) }()
	permitted := v.Now()
	var s sending
	defer context.AfterFunc(stopped, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.left {
			cancel(context.Cause(stopped))
		}
	})()
	ctx = edge.BeforeSend(ctx, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := v.recheck(ctx, c, permitted); err != nil {
			return err
		}
		if err := leaves(); err != nil {
			return err
		}
		s.left = true
		return nil
	})
	answer, err = v.Writer.Send(ctx, write)
	s.mu.Lock()
	defer s.mu.Unlock()
	return answer, s.left || err == nil, err
}

// recheckAfter is how long a permit is good for without another question: people and other
// processes decide meanwhile.
const recheckAfter = time.Second

// recheck asks the gate once more about a change that has waited since it was permitted.
func (v *visit) recheck(ctx context.Context, c diff.Change, permitted time.Time) error {
	if v.Now().Sub(permitted) < recheckAfter {
		return nil
	}
	return v.Gate.Recheck(ctx, v.Task, c)
}

// freshEnough is how long a read may stand as the check before a change. What a rule is that is
// deleted is read directly before: a person may have made another one of it, and no id tells.
func freshEnough(c diff.Change) time.Duration {
	if c.Action() == diff.ActionRemove {
		return recheckAfter
	}
	return freshFor
}

// unsent is the result of a change that was kept from being sent. before is the error
// of an earlier try, nil where there was none.
func unsent(c diff.Change, before error) reconcile.Result {
	if before == nil {
		return reconcile.Result{Change: c, Outcome: reconcile.NotStarted}
	}
	result := failed(c, before)
	result.Unproved = true
	return result
}

package zone

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// queued is a platform whose budget is used up: a write waits, and leaves when admit
// is closed.
type queued struct {
	edge.Writer
	admit, left chan struct{}
	answer      chan struct{}
}

func (q queued) Send(ctx context.Context, _ edge.Write) (*edge.Ruleset, error) {
	select {
	case <-q.admit:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := edge.Sending(ctx); err != nil {
		return nil, err
	}
	close(q.left)
	select {
	case <-q.answer:
		return nil, nil
	case <-ctx.Done():
		return nil, edge.ErrOutcomeUnknown
	}
}

func newQueued() queued {
	return queued{admit: make(chan struct{}), left: make(chan struct{}), answer: make(chan struct{})}
}

var aChange = diff.Change{Operation: diff.RuleOperation{Do: diff.ActionUpdate}}

// A write that waits for the budget is given up at once, and is not started.
func TestStoppedWhileWaitingToSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, began := &visit{Worker: &Worker{Writer: newQueued(), Now: time.Now}}, time.Now()
		stopped, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		ctx, cancel := reconcile.Lingering(stopped)
		defer cancel()
		if got := v.write(ctx, stopped, aChange); got.Outcome != notStarted || got.Unproved || got.Err != nil {
			t.Errorf("outcome %s, unproved %v, error %v", got.Outcome, got.Unproved, got.Err)
		}
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("ended after %s", waited)
		}
	})
}

// One that has left is waited for, and no longer than the time of grace.
func TestStoppedAfterSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, answers := range []bool{true, false} {
			q := newQueued()
			v := &visit{Worker: &Worker{Writer: q, Now: time.Now}}
			stopped, stop := context.WithCancel(t.Context())
			ctx, cancel := reconcile.Lingering(stopped)
			close(q.admit)
			go func() {
				<-q.left
				stop()
				time.Sleep(reconcile.Grace / 2)
				if answers {
					close(q.answer)
				}
			}()
			_, sent, err := v.send(ctx, stopped, aChange)
			if !sent || errors.Is(err, edge.ErrOutcomeUnknown) == answers {
				t.Errorf("it answers %v: sent %v, error %v", answers, sent, err)
			}
			cancel()
		}
	})
}

func TestUnsentAfterAnEarlierTry(t *testing.T) {
	if got := unsent(aChange, edge.ErrOutcomeUnknown); got.Outcome != failedNow || !got.Unproved || !errors.Is(got.Err, edge.ErrOutcomeUnknown) {
		t.Errorf("%+v", got)
	}
}

// wary is a gate that is asked once more, and counts that.
type wary struct {
	*gate
	asked int
	says  error
}

func (w *wary) Recheck(context.Context, Task, diff.Change) error {
	w.asked++
	return w.says
}

// A write that has waited is asked about once more before it leaves, and stays where it may
// not be sent any more; one that leaves at once is not.
func TestAskedOnceMoreAfterAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			waits time.Duration
			says  error
			asked int
		}{
			{0, reconcile.ErrSuperseded, 0}, {recheckAfter, nil, 1}, {time.Hour, reconcile.ErrSuperseded, 1},
		} {
			q, w := newQueued(), &wary{gate: &gate{}, says: c.says}
			v := &visit{Worker: &Worker{Writer: q, Gate: w, Now: time.Now}}
			time.AfterFunc(c.waits, func() { close(q.admit) })
			close(q.answer)
			stays := c.asked > 0 && c.says != nil
			if stays {
				got := v.write(t.Context(), t.Context(), aChange)
				if got.Outcome != notStarted || !errors.Is(got.Err, reconcile.ErrSuperseded) {
					t.Errorf("after %s: outcome %s, error %v", c.waits, got.Outcome, got.Err)
				}
			} else if _, sent, err := v.send(t.Context(), t.Context(), aChange); !sent || err != nil {
				t.Errorf("after %s: sent %v, error %v", c.waits, sent, err)
			}
			if w.asked != c.asked {
				t.Errorf("after %s it was asked %d times", c.waits, w.asked)
			}
		}
	})
}

// ending is a platform that ends each write as it is told; mute: it does not say when it sends.
type ending struct {
	edge.Writer
	mute bool
	with error
}

func (e ending) Send(ctx context.Context, _ edge.Write) (*edge.Ruleset, error) {
	if !e.mute {
		if err := edge.Sending(ctx); err != nil {
			return nil, err
		}
	}
	return nil, e.with
}

// A write whose answer is missing may still be at work, also where nobody has ended it but the client's own
// deadline, or a gateway: the lease is kept for that. An answer, and what never left, keep nothing.
func TestAWriteWithoutAnAnswerIsCut(t *testing.T) {
	unknown := fmt.Errorf("%w: no answer within 15s", edge.ErrOutcomeUnknown)
	gateway := fmt.Errorf("%w: %w", edge.ErrOutcomeUnknown, &edge.Error{Status: http.StatusGatewayTimeout})
	for name, test := range map[string]struct {
		writer edge.Writer
		cuts   int
	}{
		"answered":       {ending{}, 0},
		"refused":        {ending{with: fmt.Errorf("writing: %w", &edge.Error{Status: http.StatusForbidden})}, 0},
		"its deadline":   {ending{with: unknown}, 1},
		"a gateway":      {ending{with: gateway}, 1},
		"what that is":   {ending{with: errors.New("odd")}, 1},
		"not told":       {ending{mute: true, with: unknown}, 1},
		"never left":     {ending{mute: true, with: errors.New("no connection")}, 0},
		"called off":     {ending{with: context.Canceled}, 1},
		"never answered": {ending{with: edge.ErrUnreadable}, 1},
	} {
		leases := reconciletest.NewLeases()
		leases.Give("r1", "l")
		ctx, done, _ := reconcile.Begin(t.Context(), leases.Of("r1"), "l")
		v := &visit{Worker: &Worker{Writer: test.writer, Now: time.Now}}
		_, _, err := v.send(ctx, t.Context(), aChange)
		if cuts := leases.Cuts("l"); cuts != test.cuts {
			t.Errorf("%s: %d requests were cut, want %d: %v", name, cuts, test.cuts, err)
		}
		done()
	}
}

package controller

import (
	"context"
	"errors"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// An order waits for the work on tokens that goes on, is done once, and not at all where it
// was withdrawn before; what is ordered after the end is refused.
func TestOrdersBesideTokenWork(t *testing.T) {
	run(t, func(t *testing.T) {
		f, w := withTokens(t, 1)
		begun, answer := make(chan struct{}), make(chan struct{})
		w.set(func(context.Context) error { close(begun); <-answer; return &edge.Error{Status: 429} })
		f.pushTokens("c1", fleet(1, "xss"), "ci-dns")
		f.start()
		<-begun

		done := make(chan error, 2)
		order := func(ctx context.Context, do func(context.Context) error) {
			go func() { done <- f.OrderTokens(ctx, do) }()
			f.pass(soon)
		}
		working := true
		order(t.Context(), func(context.Context) error {
			if working {
				t.Error("the order was begun beside the work")
			}
			w.set(nil)
			return errors.New("its own")
		})
		impatient, leave := context.WithCancel(t.Context())
		order(impatient, func(context.Context) error { t.Error("what was withdrawn was done"); return nil })
		leave()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("withdrawn: %v", err)
		}
		working = false
		close(answer)
		if err := <-done; err == nil || err.Error() != "its own" {
			t.Errorf("the order came to %v", err)
		}
		f.pass(soon)
		if w.count() != 1 {
			t.Errorf("%d tokens after an order, which has them looked at", w.count())
		}
		f.stop()
		if err := f.OrderTokens(t.Context(), nil); !errors.Is(err, ErrNotBegun) {
			t.Errorf("after the end: %v", err)
		}
	})
}

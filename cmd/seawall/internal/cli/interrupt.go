package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is why a command was asked to stop: the signal that it received.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string {
	if i.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// Is has an interruption count as a context that was cancelled.
func (i interrupted) Is(target error) bool { return target == context.Canceled }

// code is the exit code by which shells know a program that a signal has ended.
func (i interrupted) code() int { return 128 + int(i.signal) }

// UntilSignal returns a context that ends with the first SIGINT or SIGTERM, with
// [interrupted] as its cause. The second signal ends the process at once.
func UntilSignal(parent context.Context, t *Terminal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	heard := make(chan os.Signal, 2)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := <-heard
		cancel(interrupted{first.(syscall.Signal)})
		second := <-heard
		if t.screen != nil {
			t.screen.show("")
		}
		os.Exit(interrupted{second.(syscall.Signal)}.code())
	}()
	return ctx, func() { signal.Stop(heard); cancel(nil) }
}

// ExitCodeOf is the exit code of a command that has returned err, where the end of its context
// may have interrupted it. A command that finished its work all the same keeps its code.
func ExitCodeOf(ctx context.Context, t *Terminal, err error) int {
	var by interrupted
	if err == nil || !errors.As(context.Cause(ctx), &by) {
		return t.exitCode(err)
	}
	var status ExitError
	switch {
	case errors.As(err, &status):
	case errors.Is(err, context.Canceled):
		t.ShowError(by)
	default:
		t.ShowError(err)
	}
	return by.code()
}

// ExplainInterrupt tells a person who interrupts a run that writes why it does not end at
// once.
func ExplainInterrupt(ctx context.Context, t *Terminal) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		var by interrupted
		if errors.As(context.Cause(ctx), &by) {
			fmt.Fprintf(t.Err, "%s: sending nothing more; waiting for answers. A second signal ends at once\n", by)
		}
	})
}

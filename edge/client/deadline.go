package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// errOverdue is why a read is given up whose time is over.
var errOverdue = errors.New("the time of the read is over")

// deadline is the time that all attempts of a read have together. It stands
// still while an attempt waits to be admitted, which says nothing of the
// platform's health: a credential that is throttled for five minutes must not
// make a zone unreadable. The nil deadline never ends.
type deadline struct {
	end   func() // of the call
	left  time.Duration
	timer *time.Timer // nil while it stands still
	since time.Time
}

// withDeadline returns the context of a call, which ends with errOverdue as its
// cause when the time of a read is over. A write has no deadline: each attempt
// has Timeout, and is not cut short for the one before. Cancel always.
func (c *Client) withDeadline(ctx context.Context, call call) (context.Context, *deadline, context.CancelFunc) {
	if call.class != read {
		return ctx, nil, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	d := &deadline{left: c.config.ReadTimeout, end: func() { cancel(errOverdue) }}
	return ctx, d, func() { d.pause(); cancel(nil) }
}

// pause stops the time; run lets it go on.
func (d *deadline) pause() {
	if d == nil || d.timer == nil {
		return
	}
	d.timer.Stop()
	d.timer, d.left = nil, d.left-time.Since(d.since)
}

func (d *deadline) run() {
	if d == nil {
		return
	}
	d.since, d.timer = time.Now(), time.AfterFunc(d.left, d.end)
}

// within reports whether the time of a read, which runs, is over after so long.
func (d *deadline) within(long time.Duration) bool { return d != nil && d.left <= long }

// overdue is the error of a read whose time is over, after so many attempts; heard
// is the last of them that ended before.
func (c *Client) overdue(call call, tries int, heard *attempt) error {
	said := ""
	if heard != nil && heard.err != nil {
		said = fmt.Sprintf(" (tried %d times; before: %s)", tries, strings.TrimPrefix(heard.err.Error(), call.String()+": "))
	}
	return fmt.Errorf("%s: %w: no answer from %s within %s%s", call, edge.ErrUnavailable, c.host, c.config.ReadTimeout, said)
}

package notify

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// delivery is one route at work: what it knows, and what waits for it.
type delivery struct {
	Route
	config Config
	part   string // what it knows is of this part; empty: of all
	// Used by learn alone:
	judge    *judge
	digested time.Time
	behind   bool           // what it knows could not be kept
	others   *shared        // send what is kept; nil: it is sent here
	posted   int            // messages that are kept for the others, at most
	news     []radar.Report // that no message was made of yet

	mu      sync.Mutex
	unkept  map[string]bool // ids of messages that wait and could not be kept
	opened  []Open          // as of the last look
	waiting []Message
	more    chan struct{} // has a value when there may be more to send
}

func newDelivery(r Route, c Config, known Known, waiting []Message) *delivery {
	d := &delivery{
		Route: r, config: c, judge: newJudge(r.Name, r.Least, known.Open), digested: known.Digested,
		opened: known.Open, waiting: waiting, unkept: map[string]bool{}, more: make(chan struct{}, 1),
	}
	d.wake()
	return d
}

func (d *delivery) wake() {
	select {
	case d.more <- struct{}{}:
	default:
	}
}

// learn has the route know what is wrong, and keeps the messages that say so before any of
// them is sent. Where they cannot be kept they are sent all the same, as a full disk is one of
// the things to report; and they are kept as soon as that works.
func (d *delivery) learn(ctx context.Context, s inspect.Status, causes []Cause) {
	if d.full(ctx) {
		return
	}
	messages := append(d.judge.next(s, causes), published(d.Name, d.Least, d.news, s.At)...)
	d.news = nil
	first := d.digested.IsZero() && d.Digest != nil
	if m, due := d.digest(ctx, s.At); due {
		messages = append(messages, m)
	}
	for i := range messages {
		messages[i] = redacted(d.Template.apply(messages[i]))
	}
	late := d.late()
	if len(messages)+len(late) == 0 && !first && !d.behind {
		return
	}
	open := d.open()
	err := keep(ctx, d.config.Outbox, d.Name, d.part, Known{open, d.digested}, append(late, messages...))
	if errors.Is(err, reconcile.ErrLeaseLost) {
		return // another process tells it
	}
	if err != nil && !d.behind && ctx.Err() == nil {
		d.config.Log.Warn("notifications cannot be kept before they are sent; a restart may lose them", "route", d.Name, "error", err.Error())
	}
	d.behind = err != nil
	d.enqueue(open, late, messages)
}

// enqueue has messages wait to be sent, here or by the others; late ones wait here already.
func (d *delivery) enqueue(open []Open, late, messages []Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = open
	clear(d.unkept)
	if !d.behind && d.others != nil {
		d.posted += len(late) + len(messages)
		d.waiting = nil
		return
	}
	d.waiting = append(d.waiting, messages...)
	if d.behind {
		for _, m := range append(late, messages...) {
			d.unkept[m.ID] = true
		}
	}
	d.wake()
}

// late are the messages that wait and could not be kept.
func (d *delivery) late() (late []Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.waiting {
		if d.unkept[m.ID] {
			late = append(late, m)
		}
	}
	return late
}

func (d *delivery) full(ctx context.Context) bool {
	if d.posted >= mostWaiting { // many may be sent by now
		d.posted = d.others.waiting(ctx, d.Name, d.posted)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting)+d.posted >= mostWaiting
}

// open are the causes that the route knows of, sorted.
func (d *delivery) open() []Open {
	return slices.SortedFunc(maps.Values(d.judge.open), func(a, b Open) int { return strings.Compare(a.Cause, b.Cause) })
}

// everywhere are the causes that the route knows of from all who tell it of parts.
func (d *delivery) everywhere(ctx context.Context) ([]Open, error) {
	all := d.open()
	if d.others == nil {
		return all, nil
	}
	kept, err := d.config.Outbox.Notified(ctx)
	if err != nil {
		return nil, err
	}
	for part := range kept[d.Name].Parts {
		known, err := knownOf(kept[d.Name], part)
		if err != nil {
			return nil, err
		}
		all = append(all, known.Open...)
	}
	slices.SortFunc(all, func(a, b Open) int { return strings.Compare(a.Cause, b.Cause) })
	return all, nil
}

// digest is the digest that is due, if one is. One whose time passed while no daemon ran is
// due at once.
func (d *delivery) digest(ctx context.Context, now time.Time) (Message, bool) {
	switch {
	case d.Digest == nil:
		return Message{}, false
	case d.digested.IsZero(), d.digested.After(now): // or the clock was ahead
		d.digested = now // the first one begins now
		return Message{}, false
	case d.Digest.Next(d.digested).After(now):
		return Message{}, false
	}
	summary, err := d.config.Summary(ctx, d.digested, now)
	if err != nil {
		d.config.Log.Warn("the history for a digest cannot be read; it is tried again", "route", d.Name, "error", err.Error())
		return Message{}, false
	}
	open, err := d.everywhere(ctx)
	if err != nil {
		d.config.Log.Warn("what is open cannot be read for a digest; it is tried again", "route", d.Name, "error", err.Error())
		return Message{}, false
	}
	m := digest(d.Name, d.digested, now, summary, open)
	d.digested = now
	return m, true
}

// run sends what waits, one message after the other, until ctx ends.
func (d *delivery) run(ctx context.Context) {
	refresh := time.NewTicker(RefreshEvery)
	defer refresh.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.more:
			d.drain(ctx)
		case <-refresh.C:
			d.refresh(ctx)
		}
	}
}

// drain sends until nothing waits. The first message is tried until it is accepted or
// refused: those behind it may be its end.
func (d *delivery) drain(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		m, ok := d.first()
		switch {
		case !ok:
			return
		case d.try(ctx, m):
			failures = 0
		default:
			failures++
			if !wait(ctx, retry.Notification.Spread(failures)) {
				return
			}
		}
	}
}

// try sends a message, and reports whether it is done with.
func (d *delivery) try(ctx context.Context, m Message) bool {
	outcome := d.attempt(ctx, d.config, m)
	if outcome == OutcomeFailed || outcome == outcomeOver {
		return false
	}
	d.done(ctx, m)
	return true
}

// outcomeOver is that of a try that ended with its context.
const outcomeOver = ""

// attempt tries to send a message, and says how that went.
func (r Route) attempt(ctx context.Context, c Config, m Message) (outcome string) {
	err := r.deliver(ctx, m)
	switch {
	case err == nil:
		c.Worked(r.Name)
		outcome = OutcomeSent
		c.Log.Info("a notification was sent", "route", r.Name, "cause", m.Cause, "state", string(m.State), "id", m.ID)
	case ctx.Err() != nil:
		return outcomeOver
	case errors.Is(err, ErrRefused): // this one, or each one, as the key of the route is wrong
		c.Failed(r.Name, err)
		outcome = OutcomeRefused
		c.Log.Error("a notification was refused and is dropped", "route", r.Name, "cause", m.Cause, "state", string(m.State), "error", err.Error())
	default:
		c.Failed(r.Name, err)
		outcome = OutcomeFailed
	}
	c.Count(outcome)
	return outcome
}

func (d *delivery) first() (Message, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) == 0 {
		return Message{}, false
	}
	return d.waiting[0], true
}

func (r Route) deliver(ctx context.Context, m Message) error {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	ctx, span := trace.Start(ctx, trace.Notify)
	span.Text(trace.Route, r.Name)
	err := r.Sender.Send(ctx, m)
	span.End(err)
	return err
}

// done forgets a message. One that cannot be forgotten is sent once more after a restart, with
// the same id.
func (d *delivery) done(ctx context.Context, m Message) {
	if err := d.config.Outbox.Posted(context.WithoutCancel(ctx), m.ID); err != nil {
		d.config.Log.Warn("a notification that was sent could not be forgotten; a restart sends it once more", "route", d.Name, "id", m.ID, "error", err.Error())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = slices.DeleteFunc(d.waiting, func(w Message) bool { return w.ID == m.ID })
}

// refresh repeats what is open to a sender that needs that. What fails is tried again soon.
func (d *delivery) refresh(ctx context.Context) {
	r, ok := d.Sender.(Refresher)
	if !ok {
		return
	}
	d.mu.Lock()
	opened := d.opened
	d.mu.Unlock()
	if len(opened) == 0 {
		return
	}
	open := make([]Message, len(opened))
	for i, o := range opened {
		open[i] = redacted(d.Template.apply(o.begins(d.Name)))
	}
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	switch err := r.Refresh(ctx, open); {
	case err == nil:
		d.config.Worked(d.Name)
	case !errors.Is(err, context.Canceled): // the process does not end
		d.config.Failed(d.Name, err)
	}
}

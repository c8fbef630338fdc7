package lease

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
)

const (
	renewEvery = 4 * time.Second
	lookEvery  = time.Second
	// answerWithin bounds a statement: there is time for another try before a lease is over.
	answerWithin = 3 * time.Second
	// endWithin is for how long a lease that is ending is renewed: longer than what was begun may
	// take.
	endWithin = 30 * time.Second
)

// loop is what [Holder.Run] alone has.
type loop struct {
	command         bool     // one lease is held for a command: this is no replica
	given           []*owned // to be given up, and not used any more
	renewAt, beatAt time.Duration
	seen            bool // on record as a replica
	failures        int  // in a row
}

// Run gets leases and renews them until ctx ends. Then it gives all back, each once nothing is in
// flight under it, and returns. Where the database cannot be reached it goes on asking.
func (h *Holder) Run(ctx context.Context) {
	always := context.WithoutCancel(ctx) // a statement that is cut may have worked
	for ctx.Err() == nil {
		h.note(h.turn(always))
		h.wait(ctx.Done())
	}
	for _, o := range h.all() {
		h.end(o)
	}
	h.tell()
	for h.note(h.leave(always)); len(h.all())+len(h.given) > 0; h.note(h.leave(always)) {
		h.wait(nil)
	}
}

// turn does what is to be done now, and first what cannot wait.
func (h *Holder) turn(ctx context.Context) error {
	if err := h.keep(ctx); err != nil || h.command {
		return err
	}
	if err := h.beat(ctx); err != nil {
		return err
	}
	var v view
	err := h.do(ctx, func(ctx context.Context) (err error) {
		v, err = look(ctx, h.DB, h.Names)
		return err
	})
	if err != nil {
		return err
	}
	for _, o := range h.all() {
		if slices.ContainsFunc(v.rows, func(r Row) bool { return r.Name == o.name && r.Epoch == o.epoch && r.MovesTo != "" }) {
			h.end(o)
		}
	}
	if err := h.giveBack(ctx); err != nil {
		return err
	}
	for _, r := range v.toTake(h.Replica) {
		if err := h.take(ctx, r.Name); err != nil {
			return err
		}
	}
	if r, ok := v.toAsk(h.Replica); ok {
		return h.do(ctx, func(ctx context.Context) error { return ask(ctx, h.DB, r, h.Replica) })
	}
	return nil
}

// leave gives back what nothing is in flight under.
func (h *Holder) leave(ctx context.Context) error {
	if h.seen {
		if err := h.do(ctx, func(ctx context.Context) error { return forget(ctx, h.DB, h.Replica) }); err != nil {
			return err
		}
		h.seen = false
	}
	return h.keep(ctx)
}

// keep gives up what is to be given up, and renews the rest when it is time.
func (h *Holder) keep(ctx context.Context) error {
	if err := h.giveBack(ctx); err != nil {
		return err
	}
	now := h.clock() // before the statement is sent
	if now < h.renewAt {
		return nil
	}
	own := slices.DeleteFunc(h.all(), func(o *owned) bool { return o.ending && now-o.ended > endWithin })
	return h.do(ctx, func(ctx context.Context) error {
		names, err := renew(ctx, h.DB, h.Replica, own)
		if err != nil {
			return err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, o := range own {
			if o.until = now + lasts; !slices.Contains(names, o.name) {
				delete(h.own, o.name) // another has taken it
			}
		}
		h.renewAt = now + renewEvery
		return nil
	})
}

func (h *Holder) giveBack(ctx context.Context) error {
	h.mu.Lock()
	for name, o := range h.own {
		if o.ending && o.begun == 0 {
			delete(h.own, name)
			h.given = append(h.given, o)
		}
	}
	h.mu.Unlock()
	h.tell()
	for ; len(h.given) > 0; h.given = h.given[1:] {
		o := h.given[0]
		if h.clock() >= o.until {
			continue
		}
		if err := h.do(ctx, func(ctx context.Context) error { return giveUp(ctx, h.DB, h.Replica, o) }); err != nil {
			return err
		}
	}
	return nil
}

func (h *Holder) take(ctx context.Context, name reconcile.LeaseName) error {
	return h.do(ctx, func(ctx context.Context) error {
		now := h.clock() // before the statement is sent
		epoch, err := take(ctx, h.DB, name, h.Replica)
		if err != nil || epoch == 0 {
			return err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.own[name] = &owned{name: name, epoch: epoch, until: now + lasts}
		return nil
	})
}

// beat has this process on record as a replica.
func (h *Holder) beat(ctx context.Context) error {
	now := h.clock()
	if now < h.beatAt {
		return nil
	}
	err := h.do(ctx, func(ctx context.Context) error { return beat(ctx, h.DB, h.Replica, h.Version, !h.seen) })
	if err == nil {
		h.seen, h.beatAt = true, now+renewEvery
	}
	return err
}

// do bounds a statement, also by the end of a lease, so that it is told in time.
func (h *Holder) do(ctx context.Context, statement func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, min(answerWithin, h.untilLoss()))
	defer cancel()
	return statement(ctx)
}

func (h *Holder) wait(done <-chan struct{}) {
	pause := lookEvery
	if h.failures > 0 {
		pause = retry.Lease.Spread(h.failures)
	}
	timer := time.NewTimer(min(pause, h.untilLoss()))
	defer timer.Stop()
	select {
	case <-done:
	case <-h.wake:
	case <-timer.C:
	}
}

// note tells what has changed, and whether the database answers.
func (h *Holder) note(err error) {
	h.tell()
	switch {
	case err == nil && h.failures > 0:
		h.Log.Info("the database answers again; leases are renewed", "failures", h.failures)
		h.failures = 0
	case err != nil && h.failures == 0:
		h.Log.Warn("leases cannot be renewed: the database does not answer; it is tried again", "error", err.Error())
		fallthrough
	case err != nil:
		h.failures++
	}
}

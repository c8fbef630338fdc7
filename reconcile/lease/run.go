package lease

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
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
	command  bool          // one lease is held for a command: this is no replica
	renewAt  time.Duration // next
	seen     bool          // on record as a replica
	failures int           // in a row
	said     string        // of the last failure, in the log
	latest   Look
	there    there // with the last look
	forward  time.Duration
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
	if h.seen {
		h.note(h.exec(always, forgetReplicas, h.Replica))
	}
	for h.note(h.keep(always)); len(h.all()) > 0; h.note(h.keep(always)) {
		h.wait(nil)
	}
}

// turn does what is to be done now, and first what cannot wait.
func (h *Holder) turn(ctx context.Context) error {
	due := h.clock() >= h.renewAt || !h.seen
	if err := h.keep(ctx); err != nil || h.command {
		return err
	}
	if due {
		if err := h.exec(ctx, setReplica, h.Replica, h.Version, lasts.Seconds(), !h.seen); err != nil {
			return err
		}
		h.seen = true
	}
	asked := h.clock()
	v, err := h.look(ctx)
	if err != nil {
		return err
	}
	if len(v.rows) > 0 {
		h.compare(there{asked, v.now}, h.clock())
	}
	for _, o := range h.all() {
		if slices.ContainsFunc(v.rows, func(r Row) bool { return r.Name == o.name && r.Epoch == o.epoch && r.MovesTo != "" }) {
			h.end(o)
		}
	}
	if err := h.giveBack(ctx); err != nil {
		return err
	}
	if err := h.takeShare(ctx, v); err != nil {
		return err
	}
	if r, ok := v.toAsk(h.Replica); ok {
		return h.exec(ctx, beginMove, string(r.Name), r.Epoch, h.Replica, moveWithin.Seconds())
	}
	return nil
}

// takeShare takes the free leases that this replica is to have.
func (h *Holder) takeShare(ctx context.Context, v view) error {
	mine := v.count()[h.Replica]
	for _, r := range v.rows {
		if !v.takes(r, h.Replica, mine) {
			continue
		}
		got, err := h.take(ctx, r.Name)
		if err != nil {
			return err
		}
		mine += got
	}
	return nil
}

// keep gives up what is to be given up, and renews the rest when it is time.
func (h *Holder) keep(ctx context.Context) error {
	if err := h.giveBack(ctx); err != nil {
		return err
	}
	sent := h.clock() // before the statement is
	if sent < h.renewAt || h.withheld {
		return nil
	}
	own := slices.DeleteFunc(h.all(), func(o *owned) bool { return o.given || o.ending && sent > o.endBy })
	var names []string
	var epochs []int64
	for _, o := range own {
		names, epochs = append(names, string(o.name)), append(epochs, o.epoch)
	}
	ctx, cancel := context.WithTimeout(ctx, h.within)
	defer cancel()
	renewed, err := query(ctx, h.DB, renewLeases, scan[string], h.Replica, names, epochs, lasts.Seconds())
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range own {
		if o.until = sent + lasts; !slices.Contains(renewed, string(o.name)) {
			delete(h.own, o.name) // another has taken it
		}
	}
	h.renewAt = sent + renewEvery
	return nil
}

// giveBack gives up what is ending, once nothing is in flight under it.
func (h *Holder) giveBack(ctx context.Context) error {
	for _, o := range h.all() {
		h.mu.Lock()
		given := o.give(h.clock())
		h.mu.Unlock()
		if !given {
			continue
		}
		h.tell()
		if err := h.exec(ctx, giveUpLease, string(o.name), h.Replica, o.epoch); err != nil {
			return err
		}
		h.mu.Lock()
		delete(h.own, o.name)
		h.mu.Unlock()
	}
	return nil
}

// take takes a lease if it is free; got is 1 if it was.
func (h *Holder) take(ctx context.Context, name reconcile.LeaseName) (got int, err error) {
	sent := h.clock() // before the statement is
	epochs, err := query(ctx, h.DB, takeLease, scan[int64], string(name), rest.Seconds(), h.Replica, lasts.Seconds())
	if err != nil || len(epochs) == 0 {
		return 0, err // rows may come before the transaction fails
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own[name] = &owned{name: name, epoch: epochs[0], until: sent + lasts}
	return 1, nil
}

func (h *Holder) exec(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	_, err := h.DB.ExecContext(ctx, statement, args...)
	return err
}

func (h *Holder) wait(done <-chan struct{}) {
	pause := lookEvery
	if h.failures > 0 {
		pause = retry.Lease.Spread(h.failures)
	}
	timer := time.NewTimer(pause)
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
	h.Looked(h.latest, err)
	if err != nil {
		h.failures++
		if said := failing(err); said != h.said {
			h.Log.Warn("leases cannot be renewed; it is tried again", "cause", said, "error", postgres.Told(err))
			h.said = said
		}
		return
	}
	if h.failures > 0 {
		h.Log.Info("leases are renewed again", "failures", h.failures)
		h.failures, h.said = 0, ""
	}
}

// failing says what keeps leases from being renewed.
func failing(err error) string {
	switch {
	case errors.As(err, &untoldError{}):
		return "it cannot be put on record that the database was put back"
	case postgres.Answered(err):
		return "the database refuses it"
	}
	return "the database does not answer"
}

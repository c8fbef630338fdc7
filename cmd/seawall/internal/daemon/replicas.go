package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/jobs"
	"github.com/seawall-dev/seawall/reconcile/review"
)

// What replicas ask each other for. What people and who decides about commits have said needs no
// asking: each looks whether something was.
const (
	askCommits = "commits" // look at git, and at pull requests
	askZones   = "zones"   // look at every zone
	askZone    = "zone"    // "zone/ID": read it now
)

// peers are the replicas, this one too, as those that a daemon asks; nil: this process is alone.
type peers struct {
	*jobs.Replicas
	heart func() *controller.Controller // nil while it does not run
	log   *slog.Logger
}

// joinReplicas has the parts of the daemon share their work with other replicas, where its ledger is
// one that others have, too.
func (d *Daemon) joinReplicas() error {
	memory := d.memory()
	if memory == nil || memory.Database() == nil {
		return nil
	}
	all, err := jobs.New(jobs.Config{DB: memory.Database(), Log: d.log, Now: time.Now})
	if err != nil {
		return err
	}
	memory.Deliver(all.InsertDelivery)
	d.reviews.Join(all, d.credentials())
	if d.notices != nil {
		d.notices.Join(all, memory)
		d.divideNotices()
	}
	d.peers = &peers{all, d.heart.Load, d.log}
	return nil
}

// pokes is how a webhook reaches those who look: in this process, or through the record in the one
// that has the lease.
func (p *peers) pokes(poked ...forge.Poker) func(context.Context) error {
	here := forge.Spaced(poked...)
	if p == nil {
		return here
	}
	p.Poked(askCommits, func(string, string) { _ = here(context.Background()) }) // it never fails
	return func(ctx context.Context) error { return p.Poke(ctx, askCommits) }
}

// ask asks all replicas for something; it does nothing in a process that is alone. What cannot
// be asked for is seen by the others with their next turn.
func (p *peers) ask(ctx context.Context, subject string) {
	if p == nil {
		return
	}
	if err := p.Poke(ctx, subject); err != nil {
		p.log.Warn("other replicas could not be asked", "subject", subject, "error", err.Error())
	}
}

// looks are what the controller hears of those to look: of other replicas, too. They are to be
// asked for before the controller is made.
func (p *peers) looks(ctx context.Context, signals <-chan os.Signal) <-chan os.Signal {
	if p == nil {
		return signals
	}
	looks := make(chan os.Signal, 1)
	p.Poked(askZones, func(string, string) {
		select {
		case looks <- os.Interrupt: // whichever
		default: // one is enough
		}
	})
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				p.ask(ctx, askZones)
			}
		}
	}()
	return looks
}

// looked is told of the news that a look at the database has shown; said, that something was said since the
// one before; hinted, that the look was made for a hint; and putBack, that the database was put back.
func (p *peers) looked(news reconcile.News, said, hinted, putBack bool) {
	if p == nil {
		return
	}
	if p.Looked(news.Poked); putBack {
		p.PutBack()
	}
	switch heart := p.heart(); {
	case heart == nil:
	case said:
		heart.Heed()
	case hinted: // declarations may be on record now that are waited for
		heart.Hint()
	}
}

// run passes on what replicas ask of this one, until ctx ends.
func (p *peers) run(ctx context.Context) {
	if p == nil {
		return
	}
	p.Poked(askZone, func(id, _ string) {
		_, err := p.heart().ReadNow([]edge.Scope{edge.ParseScope(id)}, func([]edge.Scope) error { return nil }) // who has asked has recorded it
		if err != nil && !errors.Is(err, controller.ErrNotBegun) {
			p.log.Warn("a zone is not read at once, as another replica has asked", "zone", id, "error", err.Error())
		}
	})
	p.Run(ctx)
}

// runShared runs what one replica does for all, while this is the one; and what replicas ask of
// this one.
func (d *Daemon) runShared(ctx context.Context, beside *sync.WaitGroup, ticks <-chan time.Time) {
	leading := func(lease reconcile.LeaseName, do func(context.Context)) {
		beside.Go(func() { jobs.Leading(ctx, d.leases(), lease, do) })
	}
	leading(reconcile.LeaseCommits, func(ctx context.Context) { d.reviews.Run(ctx, ticks) })
	beside.Go(func() { d.reviews.RunMerges(ctx) })
	if d.notices != nil {
		leading(reconcile.LeaseCommits, d.notices.Run)
		for _, lease := range d.notices.Leases() {
			leading(lease, func(ctx context.Context) { d.notices.RunPart(ctx, lease) })
		}
	}
	beside.Go(func() { d.peers.run(ctx) })
}

// credentials say whose zones this process works on.
func (d *Daemon) credentials() review.Credentials {
	leases := d.leases()
	of := review.Credentials{Leads: func() bool {
		_, held := leases.Held(reconcile.LeaseCommits)
		return held
	}}
	for _, lane := range d.assembly.Lanes.All {
		of.All = append(of.All, reconcile.LeaseOf(lane))
	}
	of.Held = func() (held []reconcile.Lease) {
		for _, name := range of.All {
			if lease, ok := leases.Held(name); ok && d.works(lease) {
				held = append(held, lease)
			}
		}
		return held
	}
	of.Of = d.leaseFor
	return of
}

// works reports whether the controller works on the zones of a lease.
func (d *Daemon) works(lease reconcile.Lease) bool {
	heart := d.heart.Load()
	return heart != nil && heart.Works(lease)
}

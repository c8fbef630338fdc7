package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// watch makes what tells other programs how the daemon is.
func (d *Daemon) watch() (err error) {
	schedule := d.settings.Schedule
	if d.sync, err = reconcile.ParseSchedule(schedule.Sync, schedule.Timezone); err != nil {
		return err
	}
	if d.sweep, err = reconcile.ParseSchedule(schedule.Sweep, schedule.Timezone); err != nil {
		return err
	}
	d.health = status.New(status.Config{
		Now: time.Now, Sweep: d.sweep, Sync: d.sync, Version: cli.ThisVersion().Version, Look: d.lookInside, Bounds: d.bounds(),
	})
	return nil
}

// The longest that work may take, beside the bounds of what it does: by far longer than
// anything was seen to take.
const (
	lookSlack = time.Hour
	gitSlack  = 30 * time.Minute
	// mostWaits is how often the work on one zone can wait for a whole window of the budget.
	mostWaits = 12
)

// bounds say when the daemon is not ready, or stuck.
func (d *Daemon) bounds() status.Bounds {
	return status.Bounds{
		SourceStale: d.settings.Health.SourceStale,
		SourceStuck: 2*evaluate.FetchLimits(d.settings.Source.Timeout).Total + gitSlack,
		WorkStuck:   mostWaits*d.assembly.Lanes.LongestWindow() + lookSlack,
	}
}

// lookInside says how the daemon is; it has no time until the controller runs.
func (d *Daemon) lookInside() inspect.Status {
	heart := d.heart.Load()
	if heart == nil {
		return inspect.Status{Unread: d.waits.started, NotReady: []string{d.waits.why()}}
	}
	s := heart.Status()
	s.Program = cli.ThisVersion().Version
	s.Budget = counted(s.Budget, d.assembly.Quota.Meter.State())
	for i := range s.Work.Credentials {
		c := &s.Work.Credentials[i]
		if c.Budget = counted(c.Budget, d.assembly.BudgetState(i)); c.Replica != "" {
			s.Budget.Used, s.Budget.Left = s.Budget.Used-c.Budget.Used, s.Budget.Left-c.Budget.Left
		}
	}
	s.Mode = d.mode()
	s.Weakened = d.newlyWeakened(s.At)
	return s
}

// counted is a budget with what is used of it.
func counted(b inspect.Budget, window client.BudgetState) inspect.Budget {
	b.Used, b.Left = window.Used, window.Left
	b.PausedSeconds, b.RequestsWaitedSeconds = window.Pause.Seconds(), window.Waited.Seconds()
	return b
}

// mode says whether changes are written.
func (d *Daemon) mode() inspect.Mode {
	switch {
	case d.settings.Observing():
		return inspect.ModeObserve
	case len(d.assembly.Guards.Observe) > 0:
		return inspect.ModeMixed
	}
	return inspect.ModeApply
}

// Status implements [inspect.Daemon].
func (d *Daemon) Status() inspect.Status {
	d.hear()
	s := d.lookInside()
	if s.At.IsZero() {
		return d.waiting()
	}
	d.proved(&s)
	s.NotReady = d.health.NotReady(s)
	return s.Judged()
}

// hearWithin bounds how long an answer waits for what people have put on record.
const hearWithin = time.Second

// hear takes in the holds that commands have just put on record, or ended.
func (d *Daemon) hear() {
	heart := d.heart.Load()
	if heart == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), hearWithin)
	defer cancel()
	if err := heart.Hear(ctx); err != nil { // the next tick tells of it
		d.log.Debug("holds and approvals could not be read for an answer", "error", err.Error())
	}
}

// waiting says how the daemon is before its controller runs.
func (d *Daemon) waiting() inspect.Status {
	s := d.waits.Status()
	s.Outages = d.outages.Outages()
	if r := d.replica.show(); r != nil {
		if waits := s.Replicas; waits != nil && r.Silent.IsZero() { // leases are renewed, and the records could not be read
			r.Silent, r.Error = waits.Silent, waits.Error
		}
		s.Replicas = r
	}
	return s.Judged()
}

// provedFor is for how long it is believed what the records say of the zones of other replicas.
const provedFor = 2 * time.Second

// provedElsewhere is what the records say was proved in each zone, by a while ago.
type provedElsewhere struct {
	mu     sync.Mutex
	at     time.Time
	proofs map[edge.Scope]string // nil: not known
	mark   reconcile.Mark        // of what is in proofs
}

// proved adds to what this replica knows in how many zones of each lease the commit in force is proved.
func (d *Daemon) proved(s *inspect.Status) {
	heart, memory := d.heart.Load(), d.memory()
	if heart == nil || memory == nil || s.Zones.Here == nil || s.Replicas == nil || !s.Replicas.Silent.IsZero() {
		return
	}
	p := &d.elsewhere
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.at) >= provedFor {
		ctx, cancel := context.WithTimeout(context.Background(), recallWithin)
		defer cancel()
		var err error
		if p.proofs, p.mark, err = memory.FingerprintsSince(ctx, p.proofs, p.mark); err != nil {
			d.log.Debug("what was proved in zones of other replicas could not be read", "error", err.Error())
			p.proofs = nil
		}
		p.at = time.Now() // who has waited for a slow answer does not ask again
	}
	if p.proofs != nil {
		heart.Proved(s.Replicas.Leases, p.proofs)
	}
}

// Zones implements [inspect.Daemon].
func (d *Daemon) Zones(word string) (inspect.ZoneList, string) {
	heart := d.heart.Load()
	if heart == nil {
		return d.waits.Zones(word)
	}
	d.hear()
	list, near := heart.Zones(word)
	for i := range list.Zones {
		d.recall(context.Background(), &list.Zones[i], list.At)
	}
	return list, near
}

// recallWithin bounds how long an answer waits for the ledger.
const recallWithin = 3 * time.Second

// recall adds to what is known of a zone what is on record, where this process has not read it.
func (d *Daemon) recall(ctx context.Context, z *inspect.Zone, now time.Time) {
	if z.Outcome != inspect.NotRead || d.memory() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recallWithin)
	defer cancel()
	if err := setup.Recall(ctx, d.memory(), z, now); err != nil {
		d.log.Debug("what is on record of a zone could not be read", "zone", z.Zone, "error", err.Error())
	}
}

package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/notify"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

// newNotifications makes what tells people what is wrong; nil where nothing is configured, nor
// may have been before.
func (d *Daemon) newNotifications() (*notify.Service, error) {
	c := d.settings.Notify
	routes, err := setup.NotifyRoutes(c, d.settings.Schedule.Timezone)
	if err != nil {
		return nil, err
	}
	heartbeat, err := setup.NotifyHeartbeat(c, func() bool { return len(d.health.NotReady(d.lookInside())) == 0 })
	outbox, kept := d.assembly.Records.(reconcile.Outbox)
	if err != nil || len(routes) == 0 && heartbeat == nil && !kept {
		return nil, err
	}
	history, _ := d.assembly.Records.(reconcile.History)
	if !kept { // a folder has no ledger: what was reported is known for as long as the process runs
		outbox = notify.Forgetful{}
	}
	return notify.New(notify.Config{
		Routes: routes, Heartbeat: heartbeat, Outbox: outbox, Look: d.lookForAll, Groups: d.needPerson, Log: d.log, Count: d.health.Notified,
		Summary: func(ctx context.Context, from, to time.Time) (notify.Summary, error) {
			if history == nil {
				return notify.Summary{}, nil
			}
			return notify.Summarize(ctx, history, from, to)
		},
		Failed: func(route string, err error) { d.outages.Failed(reconcile.OutageRoute, route, "send", err) },
		Worked: func(route string) { d.outages.Worked(reconcile.OutageRoute, route, "send") },
	}), nil
}

// needPerson returns the zones with these labels that need a person; none where each replica tells
// of its own.
func (d *Daemon) needPerson(labels map[string]string) []inspect.Group {
	heart := d.heart.Load()
	if heart == nil || d.replica != nil {
		return nil
	}
	return heart.NeedPerson(labels)
}

// published is told of a new version of a managed ruleset.
func (d *Daemon) published(r radar.Report) {
	d.health.Published(r)
	d.readWeakened(context.Background())
	d.changes.Note()
	if d.notices != nil {
		d.notices.Published(d.leaseOf(r), r)
	}
}

// leaseOf is the lease for the account that a report is about.
func (d *Daemon) leaseOf(r radar.Report) reconcile.LeaseName {
	for _, p := range r.Rulesets {
		for _, account := range p.Accounts {
			if lease := d.leaseFor(account.Key); lease != "" {
				return lease
			}
		}
	}
	return ""
}

// leaseFor is the lease for the zones of an account; empty where it has none.
func (d *Daemon) leaseFor(account string) reconcile.LeaseName {
	if i := d.assembly.Lanes.Index(account); i >= 0 {
		return reconcile.LeaseOf(d.assembly.Lanes.All[i])
	}
	return ""
}

// divideNotices has what concerns one credential alone told by the replica that works on its zones,
// and what concerns tokens by the one that works on these. The others do not know it.
func (d *Daemon) divideNotices() {
	lanes := d.assembly.Lanes.All
	parts := []notify.Part{{
		Lease: reconcile.LeaseTokens, Look: d.lookAtTokens, Groups: func(context.Context, map[string]string) []inspect.Group { return nil },
	}}
	for _, lane := range lanes {
		part := notify.Part{Lease: reconcile.LeaseOf(lane), Look: d.lookAtZones, Groups: d.needPersonOf}
		if len(lanes) > 1 {
			part.Name = lane.Name
		}
		parts = append(parts, part)
	}
	d.notices.Divide(d.replica.taken, parts...)
}

// lookForAll says how the daemon is, as far as that is not told of by parts.
func (d *Daemon) lookForAll() inspect.Status {
	s := d.lookInside()
	if d.replica == nil {
		return s
	}
	s.Tokens = inspect.Tokens{}
	s.Zones = inspect.Zones{Declared: s.Zones.Declared, Observed: s.At}
	s.Outages = slices.DeleteFunc(s.Outages, func(o reconcile.Outage) bool { return outage.OfZones(o) || outage.OfTokens(o) })
	return s
}

// lookAtZones says how the zones are that this replica works on by the lease of ctx.
func (d *Daemon) lookAtZones(ctx context.Context) inspect.Status {
	heart, lease, ok := d.under(ctx)
	if !ok {
		return inspect.Status{}
	}
	part, ok := heart.PartOf(lease)
	if !ok {
		return inspect.Status{}
	}
	s := heart.Status()
	return inspect.Status{Version: s.Version, At: s.At, Started: s.Started, Zones: part.Zones, Outages: part.Outages}
}

// lookAtTokens says how tokens are, where this replica works on them by the lease of ctx.
func (d *Daemon) lookAtTokens(ctx context.Context) inspect.Status {
	heart, lease, ok := d.under(ctx)
	if !ok || !heart.HasTokens(lease) {
		return inspect.Status{}
	}
	s := heart.Status()
	return inspect.Status{
		Version: s.Version, At: s.At, Started: s.Started, Tokens: s.Tokens, Zones: inspect.Zones{Observed: s.At},
		Outages: slices.DeleteFunc(s.Outages, func(o reconcile.Outage) bool { return !outage.OfTokens(o) }),
	}
}

// needPersonOf is needPerson for the zones of lookAtZones.
func (d *Daemon) needPersonOf(ctx context.Context, labels map[string]string) []inspect.Group {
	heart, lease, ok := d.under(ctx)
	if !ok {
		return nil
	}
	return heart.NeedPersonOf(lease, labels)
}

// under is the lease of a context; false also while the controller does not run.
func (d *Daemon) under(ctx context.Context) (*controller.Controller, reconcile.Lease, bool) {
	heart := d.heart.Load()
	lease, ok := reconcile.LeaseIn(ctx)
	return heart, lease, ok && heart != nil
}

package daemon

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/notify"
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
		Routes: routes, Heartbeat: heartbeat, Outbox: outbox, Look: d.lookInside, Groups: d.needPerson, Log: d.log, Count: d.health.Notified,
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

// needPerson returns the zones with these labels that need a person.
func (d *Daemon) needPerson(labels map[string]string) []inspect.Group {
	heart := d.heart.Load()
	if heart == nil {
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
		d.notices.Published(r)
	}
}

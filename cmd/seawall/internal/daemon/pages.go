package daemon

import (
	"context"
	"net/http"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// served is what the configured address serves, without webhooks. What other programs ask for
// is never behind the login.
func (d *Daemon) served(ctx context.Context) http.Handler {
	access := status.Access{Hosts: setup.WebHosts(d.settings.Web)}
	if ref := d.settings.Web.MetricsToken; ref != nil {
		access.MetricsToken = func() (edge.Secret, error) { return setup.ReadSecret(*ref) }
	}
	mux := http.NewServeMux()
	health := d.health.Handler()
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		mux.Handle(path, health)
	}
	inside := http.NotFoundHandler()
	if d.settings.Health.Status {
		inside = inspect.Handler(d)
	}
	mux.Handle("/status", inside)
	mux.Handle("/status/", inside)
	mux.Handle(hookPath, http.NotFoundHandler()) // unless there are hooks, which come first
	mux.Handle("/", d.pages(ctx))
	return access.Guard(mux)
}

// pages are what people ask for, behind the login.
func (d *Daemon) pages(ctx context.Context) http.Handler {
	if !d.settings.Web.Pages {
		return http.HandlerFunc(withoutPages)
	}
	config := page.Config{Data: pageData{d}, Program: cli.ThisVersion().Version, Log: d.log, Away: ledger.Away, URL: d.settings.Web.URL, Stopping: ctx.Done()}
	if d.settings.Web.Login != nil {
		begin, end := d.login.Addresses()
		config.Login, config.Actions = &page.Login{Begin: begin, End: end}, d.actions()
	}
	return d.login.Wrap(page.Handler(config))
}

// withoutPages says why there are none.
func withoutPages(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "no pages and no API are served here: web.pages in the configuration is false, or listen is no loopback address and there is no web.login", http.StatusNotFound)
}

// pageData is what pages show of a daemon. While its controller does not run yet, all is empty.
type pageData struct{ *Daemon }

var _ page.Data = pageData{}

// noOutcomes are the outcomes, each counted as none.
func noOutcomes() map[inspect.Outcome]int {
	none := map[inspect.Outcome]int{}
	for _, o := range inspect.Outcomes() {
		none[o] = 0
	}
	return none
}

// Fleet implements [page.Data].
func (d pageData) Fleet(q inspect.FleetQuery) (inspect.Fleet, error) {
	if heart := d.heart.Load(); heart != nil {
		return heart.Fleet(q)
	}
	return inspect.Fleet{Version: inspect.Version, At: time.Now(), Outcomes: noOutcomes(), Zones: []inspect.Row{}}, nil
}

// Grid implements [page.Data].
func (d pageData) Grid(q inspect.FleetQuery) inspect.Grid {
	if heart := d.heart.Load(); heart != nil {
		return heart.Grid(q)
	}
	return inspect.Grid{}
}

// newestOfZone is how many entries of the history the page of a zone has.
const newestOfZone = 20

// Zone implements [page.Data].
func (d pageData) Zone(ctx context.Context, scope edge.Scope) (inspect.ZonePage, error) {
	if _, known := d.inForce(); !known {
		return inspect.ZonePage{}, page.ErrNotYet
	}
	zone, err := d.heart.Load().ZonePage(scope)
	if err != nil {
		return zone, err
	}
	d.recall(ctx, &zone.Zone, time.Now())
	newest, err := d.History(ctx, page.HistoryQuery{Scope: scope, Limit: newestOfZone})
	if zone.History = newest.Entries; ledger.Away(err) {
		zone.History, zone.HistoryUnread, err = []reconcile.Entry{}, true, nil // the rest is known
	}
	return zone, err
}

// Changed implements [page.Data]. The next daemon goes on counting.
func (d pageData) Changed() (count uint64, next <-chan struct{}) { return d.changes.Changed() }

// tellOutages logs outages, and notes that pages show something else.
func (d *Daemon) tellOutages() func(outage.Event) {
	tell := outage.Log(d.log)
	return func(e outage.Event) {
		tell(e)
		d.changes.Note()
	}
}

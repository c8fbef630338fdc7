// Package pagetest has a [page.Data] in memory, for tests of pages: a fleet of any size in
// which everything that a page can show occurs, and which is the same each time.
package pagetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// At is when everything here is asked.
var At = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// Commit is in force, Held is newer and waits, and Before is what Commit followed.
const (
	Commit = "4f6d1c0e9b7a52831d0f4e6c8a9b2d7f5e3c1a08"
	Held   = "b81e7d3c5f20496ea1d8c7b6f5e4d3c2b1a09f8e"
	Before = "07c3a9e1d5b84f62907e8d6c5b4a39281706f5e4"
)

// Data is a [page.Data]. It is safe for concurrent use.
type Data struct {
	empty   bool
	hostile bool

	mu      sync.Mutex
	rows    []inspect.Row // by name
	at      map[edge.Scope]int
	proved  map[edge.Scope]map[string]string // labels; none: as declared
	changed uint64
	next    chan struct{}
}

var _ page.Data = (*Data)(nil)

// New is a fleet of so many zones. The first zones have one outcome each, from the most severe
// to the least; of the others most are in sync.
func New(zones int) *Data { return fill(zones, false) }

// Hostile is the same with strings that try to break out of whatever they are put into.
func Hostile(zones int) *Data { return fill(zones, true) }

// Empty is a daemon that has just been started: no commit is in force, and nothing was read.
func Empty() *Data {
	d := fill(0, false)
	d.empty = true
	return d
}

func fill(zones int, hostile bool) *Data {
	d := &Data{hostile: hostile, at: make(map[edge.Scope]int, zones), proved: map[edge.Scope]map[string]string{}, next: make(chan struct{})}
	for i := range zones {
		d.rows = append(d.rows, d.row(i))
	}
	slices.SortFunc(d.rows, func(a, b inspect.Row) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), a.Scope.Compare(b.Scope))
	})
	for i, r := range d.rows {
		d.at[r.Scope] = i
	}
	return d
}

// Scope is the scope of a zone by its number, as [New] counts.
func Scope(number int) edge.Scope {
	return edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%024x%08x", 0x5ea3a11, number)))
}

var (
	names = []string{"shop", "api", "blog", "cdn", "login", "images", "static", "status", "docs", "media"}
	tiers = []string{"bronze", "silver", "gold"}
	teams = []string{"payments", "search", "web"}
	// Accounts are the keys of the accounts.
	Accounts = []string{"prod", "staging", "partners"}
)

func (d *Data) row(i int) inspect.Row {
	account := Accounts[i%len(Accounts)]
	r := inspect.Row{
		Zone:     d.text("%s-%05d.example", names[i%len(names)], i),
		Scope:    Scope(i),
		Account:  d.text("%s", account),
		Labels:   map[string]string{"tier": d.text("%s", tiers[i%len(tiers)]), "team": d.text("%s", teams[i/3%len(teams)])},
		Origin:   desired.Origin{Commit: Commit, File: d.text("zones/%s.cue", account), Line: 4 + 12*(i%500), Column: 2},
		Outcome:  outcomeOf(i),
		LookedAt: At.Add(-time.Duration(i%1800) * time.Second),
	}
	r.Held = i%100 == 10 || r.Outcome == inspect.Waiting
	d.tell(&r)
	return r
}

// outcomeOf is each outcome once, the most severe first, and then again one time in twenty.
func outcomeOf(i int) inspect.Outcome {
	all := inspect.Outcomes()
	switch {
	case i < len(all):
		return all[len(all)-1-i]
	case i%20 == 7:
		return all[i/20%len(all)]
	}
	return inspect.InSync
}

// tell gives a row what its outcome says.
func (d *Data) tell(r *inspect.Row) {
	r.Reason, r.Approve, r.Since = "", "", time.Time{}
	if r.Outcome == inspect.InSync {
		return
	}
	r.Since = At.Add(-3 * time.Hour)
	r.Reason = d.text("%s", reasons[r.Outcome])
	switch r.Outcome {
	case inspect.Refused:
		r.Approve = digestOf(r.Scope)
	case inspect.NotRead:
		r.LookedAt = time.Time{}
	default: // the others have nothing of their own
	}
}

var reasons = map[inspect.Outcome]string{
	inspect.NotRead:       "not read since the start",
	inspect.Observed:      "the account is only observed",
	inspect.PutBack:       "a revert of commit 07c3a9e1d5b8 has put it back",
	inspect.Pending:       "commit 4f6d1c0e9b7a changes it",
	inspect.Waiting:       "held until 2026-11-26T08:00:00Z: the shop has its sale",
	inspect.Unknown:       "GET /zones/{zone}/rulesets/phases/http_request_firewall_managed/entrypoint: 503 Service Unavailable",
	inspect.Failed:        "PATCH: 500 Internal Server Error",
	inspect.NonConvergent: "core: threshold.score is 40 after 25 was written",
	inspect.Undecided:     "core: a rule is switched off in the dashboard, and nothing declares it",
	inspect.Bypassed:      "core: skip rule \"partner scanner\" skips all of core for each request: \"true\"",
	inspect.NotDeployed:   "core is not deployed",
	inspect.Blocked:       "core is deployed twice",
	inspect.Forbidden:     "the credential may not read it: 403 Forbidden",
	inspect.Refused:       "it weakens the zone: paranoia from 3 to 2",
}

// Fleet implements [page.Data].
func (d *Data) Fleet(q inspect.FleetQuery) (inspect.Fleet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := inspect.Fleet{Version: inspect.Version, At: At, Commit: d.inForce(), Outcomes: map[inspect.Outcome]int{}, Zones: []inspect.Row{}}
	for _, o := range inspect.Outcomes() {
		f.Outcomes[o] = 0
	}
	limit := q.Limit
	if limit <= 0 || limit > inspect.MostRows {
		limit = inspect.MostRows
	}
	first := 0
	if q.After != "" {
		i, ok := d.at[edge.ParseScope(q.After)]
		if !ok {
			return inspect.Fleet{}, inspect.ErrAfter
		}
		first = i + 1
	}
	more := false
	for i, r := range d.rows {
		if !d.may(q, r) {
			continue
		}
		f.Declared++
		f.Outcomes[r.Outcome]++
		if !selects(q, r) {
			continue
		}
		f.Matches++
		switch {
		case i < first:
		case len(f.Zones) < limit:
			r.Labels = maps.Clone(r.Labels)
			f.Zones = append(f.Zones, r)
		default:
			more = true
		}
	}
	if more {
		f.Next = f.Zones[len(f.Zones)-1].Scope.Text()
	}
	return f, nil
}

// Grid implements [page.Data].
func (d *Data) Grid(q inspect.FleetQuery) (g inspect.Grid) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.rows {
		if d.may(q, r) && selects(q, r) {
			g.Outcomes = append(g.Outcomes, r.Outcome)
			g.Scopes = append(g.Scopes, r.Scope)
		}
	}
	return g
}

func (d *Data) may(q inspect.FleetQuery, r inspect.Row) bool {
	return q.May == nil || q.May(d.labels(r))
}

func (d *Data) labels(r inspect.Row) inspect.ZoneLabels {
	proved, ok := d.proved[r.Scope]
	if !ok {
		proved = r.Labels
	}
	return inspect.ZoneLabels{Declared: r.Labels, Proved: proved}
}

func selects(q inspect.FleetQuery, r inspect.Row) bool {
	if q.Account != "" && q.Account != r.Account || len(q.Outcomes) > 0 && !slices.Contains(q.Outcomes, r.Outcome) {
		return false
	}
	for key, value := range q.Labels {
		if got, ok := r.Labels[key]; !ok || got != value {
			return false
		}
	}
	text := strings.ToLower(q.Text)
	return strings.Contains(strings.ToLower(r.Zone), text) || strings.Contains(strings.ToLower(r.Scope.ID), text)
}

func (d *Data) inForce() string {
	if d.empty {
		return ""
	}
	return Commit
}

// Package page serves what a daemon knows to people: pages for a browser, and the same values
// as JSON under /api/v1/.
//
// One table ([resources]) has a row for each thing that can be asked for: its path, its
// parameters, the value, the template of its page. Data reads memory or one indexed query of
// the ledger: no request here asks the platform, git or a forge, and none walks the fleet
// where a count is kept.
package page

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Data is what pages show. A method that has nothing yet returns an empty value with the
// time at which it was asked; [inspect.ErrNoZone] and [ErrNotFound] say that what was asked
// for is not there. It is safe for concurrent use.
type Data interface {
	Status() inspect.Status
	Fleet(inspect.FleetQuery) (inspect.Fleet, error)
	Grid(inspect.FleetQuery) inspect.Grid
	Zone(ctx context.Context, scope edge.Scope) (inspect.ZonePage, error)
	History(ctx context.Context, q HistoryQuery) (inspect.EntryList, error)
	Commits(ctx context.Context, after string, limit int) (inspect.CommitList, error)
	Tokens(ctx context.Context) (inspect.TokenList, error)
	Deprecations(ctx context.Context) (inspect.DeprecationList, error)
	PullRequests() inspect.PullRequestList
	PullRequest(number int) (inspect.PullRequest, error)
	// Radar and RadarVersion read what the ledger has of new versions of managed rulesets. The
	// latter takes of its query only May and After.
	Radar(ctx context.Context, q inspect.RadarQuery) (inspect.RadarList, error)
	RadarVersion(ctx context.Context, number int64, q inspect.RadarQuery) (inspect.RadarPage, error)
	// Changed returns how often anything that a page shows has changed, and a channel that is
	// closed at the next change.
	Changed() (count uint64, next <-chan struct{})
}

// HistoryQuery selects entries of the history, the newest first, and a page of them.
type HistoryQuery struct {
	Scope  edge.Scope // of a zone; zero: all
	Token  string     // its key
	Commit string     // or how one begins
	After  string     // Next of the page before
	Limit  int        // 0, or more than [inspect.MostRows]: MostRows
}

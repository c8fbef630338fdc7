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
	"time"

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

// Actions are what an operator can do. Each is entered into the history with who did it, and
// returns a line that says what was done.
type Actions interface {
	ReadNow(ctx context.Context, who string, zones []edge.Scope) (string, error)
	Hold(ctx context.Context, who string, zone edge.Scope, until time.Time, reason string) (string, error)
	Release(ctx context.Context, who string, zone edge.Scope) (string, error)
	// Approve approves the change of a zone that waits with this digest. A digest with which
	// none waits there is an error.
	Approve(ctx context.Context, who string, zone edge.Scope, digest, reason string) (string, error)
	// PlanRevert shows what a revert of a commit would do, and Revert does that, if it is
	// still what digest names.
	PlanRevert(ctx context.Context, commit string) (RevertPlan, error)
	Revert(ctx context.Context, who, commit, digest string) (string, error)
}

// RevertPlan is what a revert of a commit would do.
type RevertPlan struct {
	Commit string   `json:"commit"`
	Digest string   `json:"digest"`
	Text   string   `json:"text"` // the plan
	Zones  int      `json:"zones"`
	Stops  int      `json:"stops"` // zones that the commit has not reached, and is stopped in
	Left   []string `json:"left"`  // zones that are not put back
}

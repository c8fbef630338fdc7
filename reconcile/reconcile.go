// Package reconcile has what the parts of the daemon hand to each other, and the small
// interfaces through which they see git, CUE, the ledger and the platform:
//
//	Proposal   what a look at git has come to             proposal.go
//	Record     what is on record, and Records keeps it    records.go, tokens.go
//	Guards     freezes, waves, limits and approvals       control.go, freeze.go, waves.go
//	Report     what happened, for logs, metrics, marks    report.go, log.go, render.go
//
// The parts are below: source, control, queue, zone, seen and token. Package controller
// puts them together for the daemon, once for plan and apply, review for pull requests.
package reconcile

import (
	"context"

	"github.com/seawall-dev/seawall/desired"
)

// Source is where commits come from.
type Source interface {
	// Fetch returns the commit the configured ref points at now. A folder that
	// is not git has the empty commit. A commit that must not be acted on, since
	// no one trusted has signed it, is returned beside the error.
	Fetch(ctx context.Context) (commit string, err error)
}

// Compiler turns a commit into desired state. Problems that are not warnings
// make the state invalid; err is for what kept the compiler from looking.
type Compiler interface {
	Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error)
}

// GoodCommit remembers the last commit that was accepted, over restarts.
type GoodCommit interface {
	SetGood(ctx context.Context, commit string) error
}

// Reporter is called with every finished run.
type Reporter interface {
	Report(ctx context.Context, report Report)
}

// Progress is told how far a stage is, for a person who watches. A total of zero
// is a stage of unknown length.
type Progress func(stage string, done, total int)

// Show tells it; nil is told nothing.
func (p Progress) Show(stage string, done, total int) {
	if p != nil {
		p(stage, done, total)
	}
}

// Requests counts the HTTP requests that were sent to the platform so far.
type Requests func() int64

// Sent is how many; nil counts none.
func (r Requests) Sent() int64 {
	if r == nil {
		return 0
	}
	return r()
}

// Trigger says why a run happens.
type Trigger string

// The triggers.
const (
	TriggerManual Trigger = "manual"
	TriggerSync   Trigger = "sync"
	TriggerSweep  Trigger = "sweep"
	TriggerRevert Trigger = "revert"
)

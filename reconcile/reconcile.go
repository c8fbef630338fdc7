// Package reconcile makes the platform agree with a git commit and proves it.
// One run has eight stages, and [Reconciler.Run] reads as the list of them:
//
//	fetch → compile → observe → diff → guard → apply → verify → report
//
// A plan is the first five over a platform that cannot be written to. A failure
// stays in the zone it happened in; an invalid commit stops nothing that was
// good before; what could not be read is unknown and never taken for empty.
//
// The package sees git, CUE, the ledger and HTTP only through small interfaces
// of its own, so its tests need none of them. [Loop] runs it on two cron
// schedules.
package reconcile

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Source is where commits come from.
type Source interface {
	// Fetch returns the commit the configured ref points at now. A folder that
	// is not git has the empty commit. A commit that must not be acted on, since
	// nobody trusted has signed it, is returned beside the error.
	Fetch(ctx context.Context) (commit string, err error)
}

// Compiler turns a commit into desired state. Problems that are not warnings
// make the state invalid; err is for what kept the compiler from looking.
type Compiler interface {
	Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error)
}

// GoodCommit remembers the last commit that was accepted, over restarts.
type GoodCommit interface {
	Good(ctx context.Context) (commit string, ok bool, err error)
	SetGood(ctx context.Context, commit string) error
}

// Memory is what must survive a restart beside commits; reconcile/ledger keeps it.
type Memory interface {
	// Recall returns everything remembered.
	Recall(ctx context.Context) (Recollection, error)
	// Holds returns those that it would recall, at less cost.
	Holds(ctx context.Context) ([]diff.Hold, error)
	// Settle records deployments that agree with their declaration, and forgets
	// that any of them ever failed to converge.
	Settle(ctx context.Context, commit string, settled []diff.Settled) error
	// NonConvergent records the fingerprint of a change the platform did not keep.
	NonConvergent(ctx context.Context, id diff.DeploymentID, fingerprint string) error
	// Accept records how much the accepted commit declares, tokens included.
	Accept(ctx context.Context, commit string, size diff.Size) error
	// Forget drops everything about deployments that left the repository. An id
	// that is not remembered is no error.
	Forget(ctx context.Context, ids []diff.DeploymentID) error
	// Keep records how far the sweep has come.
	Keep(ctx context.Context, cursor Cursor) error
}

// Recollection is what a [Memory] holds.
type Recollection struct {
	Applied       diff.Applied
	NonConvergent map[diff.DeploymentID]string
	// Size is zero when no commit was accepted yet. Its Tokens are zero as well
	// where an earlier version, which did not count them, accepted the commit.
	Size   diff.Size
	Cursor Cursor

	// What a [Control] holds: all holds, those that are over too; the approvals that
	// are not spent; and the rollout on record.
	Holds     []diff.Hold
	Approvals []Approval
	Rollout   Rollout
}

// Reporter is told of every finished run.
type Reporter interface {
	Report(ctx context.Context, report Report)
}

// Reconciler runs the stages. Source, Compiler, Reader and Now are required.
// It is not safe for concurrent runs; [Loop] has one at a time.
type Reconciler struct {
	Source   Source
	Compiler Compiler
	Reader   edge.Reader
	Writer   edge.Writer       // nil: runs end before the apply stage
	Good     GoodCommit        // nil: no fall-back to an earlier commit
	Memory   Memory            // nil: nothing is remembered
	Control  Control           // nil: no waves, and approvals count for one run
	Tokens   TokenMemory       // nil: tokens are unknown
	Creator  edge.TokenCreator // nil: no token is created
	Sinks    Sinks             // nil: no secret can be delivered

	// TokenReader and TokenWriter are what a platform offers beyond the reference;
	// nil: the ledger alone is believed, and tokens are neither updated nor deleted.
	TokenReader edge.TokenReader
	TokenWriter edge.TokenWriter
	// Deprecations says what leans on what goes away; nil says nothing.
	Deprecations Deprecations
	// NameSuffix goes behind the names of tokens that are created.
	NameSuffix diff.NameSuffix
	// CreatesTokens says which permission groups hold the right to create tokens;
	// nil goes by their names.
	CreatesTokens func(desired.PermissionGroup) bool
	// Guards are those of the configuration.
	Guards Guards

	Now      func() time.Time
	Requests func() int64 // HTTP requests sent so far; nil counts none
	Progress Progress     // nil shows none
	Log      *slog.Logger // for who watches closely; results go to a Reporter; nil discards

	// Concurrency bounds how many zones are read or written at once; zero is 16.
	Concurrency int
	// Sweep says how often each zone is to be looked at: once between two ticks, spread
	// over the time; nil never by itself. Room returns how many requests the sweep may
	// send without waiting; nil is as many as it likes.
	Sweep cron.Schedule
	Room  func() int
	// Budget is what the requests of this credential are held to, and Interval the
	// shortest between two sweeps; zero is not known, and nothing is said of it.
	Budget   diff.Budget
	Interval time.Duration

	// Begin is told of each commit that is about to be applied for the first time;
	// nil tells nobody. It must return at once.
	Begin func(commit string)
	// Agreed returns the approvals that a commit itself carries; nil is none. It is
	// asked once for each commit.
	Agreed func(ctx context.Context, commit string) ([]Approval, error)

	rulesets map[managedKey]edge.Ruleset // managed rulesets as last read
	listed   map[edge.AccountID]listing  // and the lists they stand in
	fleet    *fleet                      // of the state that was looked at last
	sweep    sweeping
	settled  *diff.Memory                  // deployments that agreed
	inForce  *desired.State                // the last state that was accepted: what to fall back to
	shown    atomic.Pointer[desired.State] // inForce, for those who look from outside
	actedOn  *desired.State                // the last one that a run was about as a whole: what ChangedOnly compares with
	heard    string                        // the commit whose approvals are on record
	unheard  string                        // the commit that could not be asked for them
	newest   *compiled                     // the newest commit, while it is not in force
	held     *Held                         // what the last look at git reported as held
	pending  pending[edge.ZoneID]
	delayed  delayed

	pendingTokens pending[string]
	unkept        map[edge.TokenID]string // updates that the platform did not keep, as fingerprints
	groups        []edge.PermissionGroup  // as last read
	groupsAt      time.Time
	own           edge.Token // what the platform said of credentials.tokens
	ownAt         time.Time
}

// Progress is told how far a stage is, for a person who watches. A total of zero
// is a stage of unknown length.
type Progress func(stage string, done, total int)

// Trigger says why a run happens.
type Trigger string

// The triggers.
const (
	TriggerManual Trigger = "manual"
	TriggerSync   Trigger = "sync"
	TriggerSweep  Trigger = "sweep"
)

// Order asks for one run.
type Order struct {
	Trigger Trigger
	// Zones limits the run to zones of these keys; none is all.
	Zones []string
	// Tokens limits the run to tokens of these keys; none is all, unless Zones is
	// set.
	Tokens []string
	// ChangedOnly limits the run to zones whose declaration differs from the
	// commit acted on before; all where there was none.
	ChangedOnly bool
	// FallBack keeps reconciling the last good commit when the new one cannot be
	// fetched, is invalid or shrinks too much. Without it such a run fails.
	FallBack bool
	// AllowShrink accepts a commit that declares far less than the last one.
	AllowShrink bool
	// Approve are digests that whoever gives the order agrees to; see
	// [diff.Facts.Approved].
	Approve []string
	// DuringFreeze is why freezes that allow that are overridden; empty keeps them.
	DuringFreeze string
	// Who gives the order, for the record of Approve and DuringFreeze.
	Who string
	// Retry tries changes again that did not converge before.
	Retry bool
	// Expect is shown the plan before anything is sent; with an error nothing is.
	// Nil expects nothing.
	Expect func(diff.Plan) error
	// PlanOnly ends the run before the apply stage.
	PlanOnly bool

	slice *slice // the run is a part of a sweep
}

// InForce returns the state that was accepted last, false before the first. It may
// be called while a run goes on; the state must not be changed.
func (r *Reconciler) InForce() (desired.State, bool) {
	state := r.shown.Load()
	if state == nil {
		return desired.State{}, false
	}
	return *state, true
}

func (r *Reconciler) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}

func (r *Reconciler) requests() int64 {
	if r.Requests == nil {
		return 0
	}
	return r.Requests()
}

func (r *Reconciler) concurrency() int {
	if r.Concurrency <= 0 {
		return 16
	}
	return r.Concurrency
}

func (r *Reconciler) progress(stage string, done, total int) {
	if r.Progress != nil {
		r.Progress(stage, done, total)
	}
}

package reconcile

import (
	"errors"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// Report is everything one run found out and did. Log, JSON, metrics and exit
// codes are all made from it.
type Report struct {
	Scope
	Fleet
	Trigger  Trigger
	Started  time.Time
	Finished time.Time

	// Commit is the commit that was acted on; Held is the newer one that was not,
	// with the reason.
	Commit string
	Held   *Held
	// Problems are what the compiler had to say of Commit: warnings only, unless
	// the run failed.
	Problems []desired.Problem

	Plan    diff.Plan
	Results []Result

	// Rollout is how far the waves had come when the run began; nil where there is none.
	Rollout *guard.Rollout

	// Err is why the run as a whole failed or stopped early. Told says that the log has it
	// already: it is part of an outage (as is what could not be read or written), or it is
	// what the report before said.
	Err      error
	Told     bool
	Requests int64
	// Busy is how long the slices of a Sum took, without the time between them.
	Busy time.Duration
}

// Scope says what kind of report it is, and what it is about. The zero value is a run
// over some of the zones.
type Scope struct {
	// Full says that every declared zone was in scope.
	Full bool
	// Slice says that the run was a part of a sweep, which goes on. Sum says that this
	// is the report of no run: after a whole sweep it says what the latest look at each
	// zone has found, and what came of it; that was reported before.
	Slice, Sum bool
	// Zone is the one that a Slice is about; empty where it is about tokens.
	Zone edge.Scope
	// Begun says that this is the report of no run, but that Commit was accepted and is
	// being applied from now on, in so many zones; Problems are the warnings in it.
	Begun *Begun
}

// Fleet says how much is declared, in scope or not, and how much of it is not done.
type Fleet struct {
	// Declared counts the zones of Commit, those that were not in scope too; Sweep
	// is how many requests a look at all of them takes while nothing changes. Both
	// are zero where the run did not come to know its commit.
	Declared int
	Sweep    int64
	// Overload is a schedule that asks for more than the budget of a credential has; nil
	// where all hold.
	Overload *diff.Overload
	// Acceptances are when those of skip rules end, the soonest first; only where Full.
	Acceptances []time.Time
	// Unfinished counts zones and tokens that a later sync tries again, and those
	// that wait for a time; not those that wait for a person.
	Unfinished int
}

// Begun says what a commit that was accepted is about.
type Begun struct {
	Zones int // that are declared otherwise than was last proved, or that are new
}

// Held is a commit that is not acted on while the last good one stays in force.
type Held struct {
	Commit   string // empty when fetching failed
	Reason   string
	Problems []desired.Problem
	Again    bool // the run before held it for the same reason
}

// Outcome is what became of one change.
type Outcome string

// The outcomes.
const (
	Converged     Outcome = "converged"      // written, read back, nothing left to change
	Failed        Outcome = "failed"         // the write was refused, or could not be proved or remembered
	NonConvergent Outcome = "non_convergent" // written, read back, and not as sent
	NotStarted    Outcome = "not_started"    // the run stopped before; Report.Err says why
	Quarantined   Outcome = "quarantined"    // a token may exist whose secret no one has
)

// Result is the outcome of one change that was to be applied.
type Result struct {
	Change  diff.Change
	Outcome Outcome
	Err     error
	// Left are the fields that still differ after a write that did not converge.
	Left []diff.Field
	// Again says that the very same change was not kept before, and that was told.
	Again bool
	// Next is when a change that was not kept is sent again; zero: not known.
	Next time.Time
	// Calls is how many calls to the platform the change has taken: writes, and the reads
	// that prove them. Version is that of the entry point which proved it; empty where
	// nothing did.
	Calls   int
	Version string
	// Unproved says of a change that failed that it was sent, and that the platform did
	// not refuse it, but that it could not be read back.
	Unproved bool
	// Concurrent says that someone else wrote to the entry point meanwhile.
	Concurrent bool
	// Elsewhere says that another process of Seawall has made the change meanwhile: nothing
	// was sent.
	Elsewhere bool
	// NoEffect says that a change that failed has certainly changed nothing.
	NoEffect bool
}

// ErrInvalid: the commit's declarations contain mistakes; see [Report.Problems].
var ErrInvalid = errors.New("the desired state is invalid")

// Count returns how many results have an outcome.
func (r Report) Count(outcome Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == outcome {
			n++
		}
	}
	return n
}

// Converged reports whether the platform agrees with all that was in scope.
func (r Report) Converged() bool {
	return r.Err == nil && r.Held == nil && !r.Plan.Attention() && !r.Plan.Waits() && !r.Plan.Observed() && r.Count(Converged) == len(r.Results)
}

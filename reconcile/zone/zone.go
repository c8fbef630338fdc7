// Package zone holds the stages of one zone, from what is desired to the proof
// that it is live:
//
//	read → plan → (guards, of whoever asks) → write → prove
//
//	sight, err := worker.Read(ctx, task)      // the account's rulesets, the entry point
//	plan := worker.Plan(task, sight)          // pure
//	plan = guard.Check(plan, facts)            // what may be sent is not decided here
//	results, sight := worker.Apply(ctx, task, sight, plan)
//
// What comes in is a [Task]: one zone as it is declared, and what of it is owned. What
// goes out are a plan and results. A [Gate] is asked before each write and told what
// became of it: it keeps records and knows of other zones, which this package does
// not. It imports neither git nor CUE nor a database.
package zone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Task is one zone as it should be.
type Task struct {
	// State is cut down to the zone: one account with one zone, and no tokens.
	State desired.State
	// Fingerprint is that of the declaration.
	Fingerprint string
	// Applied is what the declarations that were proved before own.
	Applied diff.Applied
	// Reports says that unmanaged members which are new are only reported; see
	// [planner.Input].
	Reports bool
	// Prunable are the deployments that are removed where the zone does not declare them.
	Prunable diff.Pruning
	// Memory spares planning where nothing differs from the last time; nil spares
	// nothing.
	Memory *diff.Memory
	// Planned plans the zone in the place of State; nil plans what State declares.
	Planned func(Sight) diff.Plan
	// Merges says that the platform was seen to keep what an update leaves out; see
	// [planner.Input].
	Merges bool
	// Today decides which acceptances are over; [Worker.Plan] sets it.
	Today time.Time
	// ListedSince is when the account's rulesets must have been listed, or later; a list
	// that changes are worked out from is at most a minute old. Zero lists anew.
	ListedSince time.Time
	// LookedSince is when earlier phases must have been looked at, or later; see [Looks]. Zero
	// takes what was seen, however old.
	LookedSince time.Time
}

// Of cuts a state down to one zone of one of its accounts.
func Of(state desired.State, account, zone int) desired.State {
	a := state.Accounts[account]
	a.Zones = a.Zones[zone : zone+1 : zone+1]
	return desired.State{Commit: state.Commit, Accounts: []desired.Account{a}}
}

// Account is the zone's account, with this zone alone.
func (t Task) Account() desired.Account { return t.State.Accounts[0] }

// Zone is the zone.
func (t Task) Zone() desired.Zone { return t.State.Accounts[0].Zones[0] }

// Gate decides about single writes, and keeps what must survive them.
type Gate interface {
	// Permit is asked directly before a change is sent: planned is the change that
	// passed the guards, now the one that is about to be sent. What must be on record
	// before the write is durable when it returns. Nothing is sent with a refusal, nor
	// with an error; [reconcile.ErrSuperseded] is a newer declaration, and a
	// [reconcile.ElsewhereError] another process that writes to the zone or has done so.
	Permit(ctx context.Context, t Task, planned, now diff.Change) (*diff.Refusal, error)
	// Proved records deployments that agree with their declaration.
	Proved(ctx context.Context, t Task, settled []diff.Settled) error
	// NotKept records a change that the platform took and did not keep, and reports
	// whether that is news: the very same change was not told of before.
	NotKept(ctx context.Context, t Task, left diff.Change) (news bool, err error)
	// Recheck is asked once more, directly before a permitted change leaves, where it has
	// waited for its turn or for the request budget meanwhile. With an error it is not sent;
	// [reconcile.ErrSuperseded] is that it may not be any more.
	Recheck(ctx context.Context, t Task, c diff.Change) error
	// Ended says that nothing more is sent to the zone on the grounds of what Permit has let
	// pass. version is that of the entry point as it was read last; empty where it was not
	// read since.
	Ended(ctx context.Context, t Task, version string) error
}

// Worker runs the stages. All fields but Names and Looks are required; Writer is not used by Read and
// Plan. It is safe for concurrent use by tasks about different zones.
type Worker struct {
	Reader   edge.Reader
	Writer   edge.Writer
	Accounts *Accounts
	Gate     Gate
	Indexes  *diff.Indexes
	Names    Names  // nil: [Declared]
	Looks    *Looks // nil: no earlier phase of zones is looked at
	Now      func() time.Time
	// Patient says that a person waits: what another process of Seawall writes to is waited
	// for. Else it is for the caller to come again.
	Patient bool
}

// freshFor is how long a read may stand as the check before a write.
const freshFor = 60 * time.Second

// Sight is what a read has found.
type Sight struct {
	Account  diff.AccountLive
	ListedAt time.Time // when the account's list was asked for; zero where it failed just before
	// Unnamed says that the id of the zone is not known or not used, so that nothing was
	// read. The places have the reason.
	Unnamed bool
	Places  Places
	Plan    string // of the zone, as [diff.Live] has it
	// Ahead are earlier phases of the zone and of its account, as they were seen last: it may
	// be long ago, and is the ground for no write. Looked is how many requests that took now.
	Ahead  map[edge.Place]diff.Ahead
	Looked int
}

// Read reads the zone: the account's rulesets, from memory where they are young
// enough, and its entry points. What could not be read is in the sight, as the error
// it was; an error is only what says nothing about the zone: the context has ended,
// or [ErrBusy].
func (w *Worker) Read(ctx context.Context, t Task) (Sight, error) {
	var s Sight
	phases := planner.Phases(t.Zone(), t.Prunable)
	err := w.named().Check(t.Account(), t.Zone())
	if err != nil {
		s.Unnamed, s.Places = true, unread(phases, err)
		return s, nil
	}
	s.Account, s.ListedAt, err = w.Accounts.Live(ctx, t.Account(), cmp.Or(t.ListedSince, w.Now()))
	if err != nil {
		return s, err
	}
	if s.Account.Listed.Err != nil {
		s.Places = unread(phases, s.Account.Listed.Err)
		return s, nil //nolint:nilerr // it is what was seen of this zone
	}
	s.Plan = w.named().Plan(t.Account().ID, t.Zone().Scope)
	if s.Places, err = readPlaces(ctx, w.Reader, t.Zone().Scope, phases, w.Now); err != nil {
		return s, err
	}
	if vanished(s.Err()) {
		w.named().Doubt(t.Account(), t.Zone())
	}
	if err := w.versions(ctx, t, &s); err != nil {
		return s, err
	}
	return s, w.look(ctx, t, &s)
}

// look adds the earlier phases to what was seen of a zone, and looks at them where that is due.
func (w *Worker) look(ctx context.Context, t Task, s *Sight) (err error) {
	if !t.LookedSince.IsZero() && s.Err() == nil {
		if s.Looked, err = w.Accounts.Look(ctx, t.Account().ID); err != nil {
			return err
		}
		asked, err := w.Looks.look(ctx, w.Reader, t.Zone(), t.LookedSince)
		if s.Looked += asked; err != nil {
			return err
		}
	}
	s.Ahead = w.Accounts.WithAhead(t.Account().ID, w.Looks.Of(t.Zone()))
	return nil
}

// versions reads the versions of managed rulesets that a zone runs.
func (w *Worker) versions(ctx context.Context, t Task, s *Sight) error {
	managed, _ := s.Places.Of(edge.PhaseFirewallManaged)
	if !Answered(managed.Err) {
		return nil
	}
	return w.Accounts.Versions(ctx, t.Account(), t.Zone(), &s.Account, managed.Value)
}

// Refresh lists the account's rulesets once more where a plan would change something
// that it has worked out from an old list, and reports whether it has.
func (w *Worker) Refresh(ctx context.Context, t Task, s *Sight, plan diff.Plan) (bool, error) {
	changes := false
	for _, c := range plan.Changes {
		changes = changes || c.Applies()
	}
	fresh := w.Now().Add(-freshFor)
	if !changes || !s.ListedAt.Before(fresh) {
		return false, nil
	}
	var err error
	s.Account, s.ListedAt, err = w.Accounts.Live(ctx, t.Account(), fresh)
	if err == nil {
		err = w.versions(ctx, t, s)
	}
	return err == nil, err
}

// Plan plans the zone, through no guard yet.
func (w *Worker) Plan(t Task, s Sight) diff.Plan {
	t.Today = w.Now()
	return Plan(t, s, w.Indexes)
}

// Plan is the plan of one zone from what was seen of it; nil indexes anew.
func Plan(t Task, s Sight, indexes *diff.Indexes) diff.Plan {
	if t.Planned != nil {
		return t.Planned(s)
	}
	live := lives.Get().(*diff.Live) //nolint:forcetypeassert // it has no others
	defer spare(live)                // a plan holds nothing of it
	s.into(live, t.Account().ID, t.Zone().Scope)
	plan := planner.Make(planner.Input{
		State: t.State, Applied: t.Applied, Reports: t.Reports, Prunable: t.Prunable, Merges: t.Merges, Memory: t.Memory, Indexes: indexes,
		Part: true, Undigested: true, Now: t.Today, Live: *live,
	})
	plan.NotLookedAt = s.notLookedAt(t)
	return plan
}

// Apply sends the changes of a guarded plan that nothing refuses, one at a time, and
// proves each by reading it back. The plan is that of [Worker.Plan] for the same task and
// sight. A change that the context's end has kept from being
// sent is not started, nor is any after the platform has not taken the credential; one
// that was sent is finished all the same. It returns what was read last, too; the At of
// a place is zero where that failed after a write.
func (w *Worker) Apply(ctx context.Context, t Task, s Sight, plan diff.Plan) (results []reconcile.Result, _ Sight) {
	v := &visit{Worker: w, Task: t, sight: s}
	rejected := false
	for _, c := range plan.Changes {
		if !c.Applies() || !diff.Counts(c.Level()) {
			continue
		}
		result := reconcile.Result{Change: c, Outcome: reconcile.NotStarted}
		if ctx.Err() == nil && !rejected {
			v.calls, v.Merges = 0, t.Merges
			result = v.change(ctx, c)
			result.Calls = v.calls
		}
		rejected = rejected || errors.Is(result.Err, edge.ErrUnauthenticated)
		results = append(results, result)
	}
	return results, v.sight
}

// errInterfered: what was written was written over before it could be proved. That
// says nothing about whether the platform keeps the change.
var errInterfered = errors.New("another client wrote to the entry point before the change could be proved")

// failed is the result of a change that could not be made, or not be proved.
func failed(c diff.Change, err error) reconcile.Result {
	return reconcile.Result{Change: c, Outcome: reconcile.Failed, Err: err}
}

func reading(err error) error { return fmt.Errorf("reading the zone again: %w", err) }

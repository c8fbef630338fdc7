// Package token does all that is to be done about tokens, those of the user and those
// that accounts own, as one item of work. [Worker.Work] is the whole of it, in this order:
//
//	quarantine   attempts that an earlier process did not finish     quarantine.go
//	look         the ledger and, where it lists them, the platform   look.go, owner.go
//	settle       forget what is gone, find creations that were lost  forget.go, lost.go
//	plan, guard  package diff; the caller says which guards
//	deliver      secrets that still wait for their sink              deliver.go
//	create       a token, from intent to delivery                    create.go
//	amend        a token in place, and prove it                      amend.go
//	delete       what nothing declares any more                      delete.go
//	record       what agrees with its declaration                    record.go
//
// New secrets come before deletions so that a token is ended only after the one
// that takes its place has filled its sink.
//
// Creating a token is the one act that cannot be repeated or undone. So every step
// is on record before the next one begins (create.go). What is on record is in the
// ledger, behind [reconcile.TokenMemory]; beyond the reference a platform may list
// its tokens, and then the ledger need not be believed alone.
//
// A plan stops half-way: [Worker.Look], which only reads, and [Worker.Plan].
package token

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
)

// Config is what a [Worker] works with. Only Now is required.
type Config struct {
	// Memory remembers tokens. Without one all tokens are unknown.
	Memory reconcile.TokenMemory
	Calls  // on the tokens of the user
	// Accounts returns the calls on the tokens that an account owns. An error says why
	// there are none; then the tokens of this account are unknown. Nil: nothing is asked
	// about tokens of accounts, and none is written.
	Accounts func(desired.Account) (Calls, error)
	// Sinks take the secrets. Without them a secret stays sealed.
	Sinks reconcile.Sinks

	// NameSuffix goes behind the names of tokens that are created.
	NameSuffix diff.NameSuffix
	// CreatingGroups is as in [diff.Input].
	CreatingGroups []string

	Now func() time.Time
	Log *slog.Logger // nil discards
}

// Worker does the work. It is not safe for concurrent use, but for [Worker.Due]:
// the tokens are one item, done by one goroutine at a time.
type Worker struct {
	Config

	quarantined bool                     // nothing unfinished is on record
	epoch       int64                    // of the lease under which that was so
	unkept      map[diff.ID]string       // updates that the platform did not keep, as fingerprints
	accounts    map[edge.AccountID]Calls // of the accounts whose tokens were looked at last
	caches      map[edge.AccountID]*ownerCache
}

// New returns a worker that has done nothing yet.
func New(c Config) *Worker {
	if c.Memory == nil {
		c.Memory = NoLedger{
			Why:  "with --dir, tokens are not compared: there is no ledger that says which exist",
			Hint: "name the configuration of the daemon with --config, or push and run seawall plan",
		}
	}
	if c.Sinks == nil {
		c.Sinks = noSinks{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Worker{
		Config: c, unkept: map[diff.ID]string{},
		accounts: map[edge.AccountID]Calls{}, caches: map[edge.AccountID]*ownerCache{},
	}
}

// Scope says which declarations the work is about.
type Scope struct {
	Commit string
	Tokens []desired.Token
	// Accounts are all that Commit declares, but for those that are left out.
	Accounts []desired.Account
	// Part says that Tokens are not all that Commit declares: nothing is concluded
	// of a token for not being among them.
	Part bool
	// Rotate is a token whose successor a person asks for now; see [planner.Input].
	Rotate edge.TokenID
}

// has reports whether a declaration, or one that left the repository, is in scope.
func (s Scope) has(key string) bool {
	if !s.Part {
		return true
	}
	for _, token := range s.Tokens {
		if token.Key == key {
			return true
		}
	}
	return false
}

// Guard decides which changes of a plan may be sent. With an error nothing is.
type Guard func(ctx context.Context, plan diff.Plan) (diff.Plan, error)

// Outcome is what became of the item.
type Outcome struct {
	// Plan has passed the guard. Problems that were solved are not in it any more.
	Plan    diff.Plan
	Results []reconcile.Result
	// Err is why the work as a whole failed or stopped early. A credential that the
	// platform does not accept is [edge.ErrUnauthenticated]: it says nothing about
	// zones.
	Err error
}

// Unfinished returns the keys of the tokens that another try may help.
func (o Outcome) Unfinished() map[string]bool {
	keys := map[string]bool{}
	for _, problem := range o.Plan.Problems {
		if problem.State == diff.Unknown || problem.State == diff.Undelivered {
			keys[problem.Token] = true
		}
	}
	for _, result := range o.Results {
		if result.Outcome == reconcile.Failed || result.Outcome == reconcile.NotStarted {
			keys[result.Change.Token] = true
		}
	}
	return keys
}

// About is what became of one token, by the key of its declaration.
func (o Outcome) About(key string) reconcile.Report {
	plan, report := diff.NewPlan(o.Plan.Commit), reconcile.Report{Trigger: reconcile.TriggerManual, Commit: o.Plan.Commit, Err: o.Err}
	for _, c := range o.Plan.Changes {
		if c.Token == key {
			plan.Changes = append(plan.Changes, c)
		}
	}
	for _, p := range o.Plan.Problems {
		if p.Token == key {
			plan.Problems = append(plan.Problems, p)
		}
	}
	for _, r := range o.Results {
		if r.Change.Token == key {
			report.Results = append(report.Results, r)
		}
	}
	plan.Summary.Tokens = 1
	report.Plan = plan.Sealed()
	return report
}

// Work does the whole item. A guard that agrees to everything is nil.
func (w *Worker) Work(ctx context.Context, scope Scope, guard Guard) Outcome {
	within, reading := trace.Start(ctx, trace.ReadTokens)
	live, lookErr := w.Prepare(within, scope)
	reading.End(lookErr)
	if lookErr != nil && !rejected(lookErr) {
		return Outcome{Plan: diff.Gather(scope.Commit, 0, 0, nil, nil), Err: fmt.Errorf("recalling tokens: %w", lookErr)}
	}
	_, planning := trace.Start(ctx, trace.PlanTokens)
	plan := w.Plan(scope, live)
	planning.Count(trace.Changes, len(plan.Changes))
	planning.End(nil)
	if guard != nil {
		var err error
		within, guarding := trace.Start(ctx, trace.GuardTokens)
		plan, err = guard(within, plan)
		if guarding.End(err); err != nil {
			return Outcome{Plan: plan, Err: errors.Join(lookErr, err)}
		}
	}
	within, writing := trace.Start(ctx, trace.WriteTokens)
	outcome := w.Apply(within, live, plan)
	writing.End(outcome.Err)
	outcome.Err = errors.Join(lookErr, outcome.Err)
	return outcome
}

// Plan compares what is declared with what is known of tokens. It has passed no
// guard yet.
func (w *Worker) Plan(scope Scope, live diff.TokensLive) diff.Plan {
	return planner.Make(planner.Input{
		State: desired.State{Commit: scope.Commit, Tokens: scope.Tokens}, Live: diff.Live{Tokens: live}, Part: scope.Part, Rotate: scope.Rotate,
		Now: w.Now(), NameSuffix: w.NameSuffix, CreatingGroups: w.CreatingGroups,
	})
}

// Unkept returns the updates that the platform did not keep, as fingerprints: the
// NonConvergent of [guard.Facts]. Whoever wants them tried again leaves them out there.
func (w *Worker) Unkept() map[diff.ID]string { return maps.Clone(w.unkept) }

// CheckSink reports why a sink could not take a secret.
func (w *Worker) CheckSink(s desired.Sink) error { return w.Sinks.Check(s) }

// rejected reports whether the platform does not accept the credential: then
// nothing else about tokens can work either.
func rejected(err error) bool { return errors.Is(err, edge.ErrUnauthenticated) }

// rejection is the one message for that.
func (o owner) rejection(err error) error {
	if unread := (*edge.CredentialError)(nil); errors.As(err, &unread) {
		return fmt.Errorf("%s: %w", o.Credential, err)
	}
	return fmt.Errorf("%w; check %s: %w", edge.ErrUnauthenticated, o.Credential, err)
}

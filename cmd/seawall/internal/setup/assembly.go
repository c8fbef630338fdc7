package setup

import (
	"context"
	"log/slog"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/token"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Assembly is what plan, apply and the daemon stand on.
type Assembly struct {
	Declared StateSource

	Lanes    reconcile.Lanes // one for each credential for rulesets
	Names    *directory.Names
	Requests func() int64
	Quota    cli.Quota // of all credentials
	meters   meters    // of each lane

	Records     control.Records
	TokenMemory reconcile.TokenMemory // for reading, beside whoever creates; nil without a ledger
	Tokens      token.Config

	observesTokens bool // nothing is created or delivered

	Guards       reconcile.Guards
	Interval     time.Duration
	Deprecations reconcile.Deprecations
	Log          *slog.Logger

	Close func()
}

// StateSource is where desired state comes from: a folder, or commits in git.
type StateSource struct {
	source    reconcile.Source
	Compiler  reconcile.Compiler
	Good      reconcile.GoodCommit // nil for a folder
	approvals func(ctx context.Context, commit string) ([]reconcile.Approval, error)
	author    func(ctx context.Context, commit string) (author, message string, err error)
	moved     func(ctx context.Context, from, to string) (source.Move, error)
	forward   bool               // a commit that does not contain the one in force is held
	Evaluator evaluate.Evaluator // of commits
}

// Look is the source of desired state, which looks on a schedule; nil only when asked.
func (a *Assembly) Look(schedule cron.Schedule) *source.Source {
	return source.New(source.Config{
		Source: a.Declared.source, Compiler: a.Declared.Compiler, Agreed: a.Declared.approvals, Author: a.Declared.author,
		Moved: a.Declared.moved, FastForward: a.Declared.forward, Schedule: schedule, Now: time.Now, Log: a.Log,
	})
}

// BudgetState is what the budget of a lane has to tell.
func (a *Assembly) BudgetState(lane int) client.BudgetState { return a.meters[lane].State() }

// tokenWorker does the work on tokens, nil where there is no ledger.
func (a *Assembly) tokenWorker() *token.Worker {
	if a.Tokens.Memory == nil {
		return nil
	}
	return token.New(a.Tokens)
}

// LockTokens lets this process alone write tokens until it is closed; [ledger.ErrHeld] where
// another one does.
func (a *Assembly) LockTokens() error {
	if memory, ok := a.TokenMemory.(*ledger.Ledger); ok {
		return Explain(memory.LockTokens())
	}
	return nil
}

// TokenWork is the token work of a daemon; nil where there is none.
func (a *Assembly) TokenWork() controller.TokenWork {
	worker := a.tokenWorker()
	switch {
	case worker == nil:
		return nil
	case a.observesTokens:
		return token.Observer{Worker: worker}
	}
	return worker
}

// Once is one plan or apply.
func (a *Assembly) Once(show reconcile.Progress) *once.Run {
	rulesets, _ := a.Records.(reconcile.RulesetMemory)
	return &once.Run{
		Source: a.Look(nil), Good: a.Declared.Good, Records: a.Records, Guards: a.Guards, Lanes: a.Lanes,
		Tokens: a.tokenWorker(), Names: a.Names, DryRuns: zone.DryRuns{Lanes: a.Lanes}, Deprecations: a.Deprecations, Interval: a.Interval,
		Requests: a.Requests, Progress: show, Now: time.Now, Log: a.Log, Rulesets: rulesets,
	}
}

// Assemble puts it together.
func Assemble(ctx context.Context, s Settings, why Purpose, log *slog.Logger) (*Assembly, error) {
	s.TotalRequests, s.keepsState = s.Budget.Requests, why != ToPlan && s.Dir == ""
	sunset, err := newSunset()
	if err != nil {
		return nil, err
	}
	s.observe = sunset.observe
	a := &Assembly{Records: &reconcile.Forgetful{}, Interval: s.interval(time.Now()), Deprecations: sunset.notices, Log: log}
	if a.Lanes, a.Requests, a.meters, err = s.connect(why, log); err != nil {
		return nil, err
	}
	a.Quota, a.Close = cli.Quota{Budget: quotaOf(a.Lanes), Meter: a.meters}, a.meters.close
	a.Guards, err = guards(s.Config)
	if a.Guards.Accounts = s.accountSettings(); err != nil {
		return nil, err
	}
	a.Guards.Documented, a.Names = !s.Platform.Extended(), NewNames(s, a.Lanes, log)
	if s.Dir != "" {
		folder := NewFolder(s.Dir)
		a.Declared.source, a.Declared.Compiler = folder, withAccounts{folder, s.Config, a.Lanes}
		return a, a.tokensOfFolder(s, why)
	}
	return a, a.onGit(ctx, s, why)
}

// NewNames finds the ids of zones and accounts, each account by its own credential. A
// platform of which nothing is said but its address is asked only for what has no declared
// id.
func NewNames(s Settings, lanes reconcile.Lanes, log *slog.Logger) *directory.Names {
	config := directory.Config{Now: time.Now, Log: log, OnlyUndeclared: s.Platform.Profile == ""}
	if s.Platform.Profile == "" || s.Platform.Extended() {
		config.Of = func(account string) edge.Directory {
			i := lanes.Index(account)
			if i < 0 {
				return nil
			}
			return lanes.All[i].Reader
		}
	}
	return directory.New(config)
}

// onGit adds the repository, the ledger, and what creating tokens takes.
func (a *Assembly) onGit(ctx context.Context, s Settings, why Purpose) error {
	repository, err := OpenRepository(s.Config, a.Log)
	if err != nil {
		return err
	}
	a.Declared = StateSource{
		repository,
		withAccounts{repository, s.Config, a.Lanes},
		repository, approvals(repository), repository.Author, moved(repository),
		s.Source.FastForward == fastForwardRequired, repository.Evaluator,
	}
	open := ledger.Open
	if why == ToPlan {
		open = ledger.OpenReadOnly
	} else if !why.serves() {
		if err := s.besideDaemon(); err != nil {
			return err
		}
	}
	memory, err := s.OpenLedger(open)
	if err != nil {
		return err
	}
	if why == ToServe {
		memory.User = "" // no one gives the order: a commit does
	}
	a.Records, a.TokenMemory = memory, memory
	a.Names.Memory, a.Names.ReadOnly = memory, why == ToPlan
	giveBack := a.Close
	a.Close = func() { giveBack(); _ = memory.Close(); repository.Close() }
	if err := announce(ctx, memory, s, why.serves(), a.Log); err != nil {
		return err
	}
	if err := a.withTokens(s, memory, why); err != nil || !why.serves() {
		return err // one run has nothing to be ahead of
	}
	closeSpares, closeRest := repository.KeepSpares(), a.Close
	a.Close = func() { closeSpares(); closeRest() }
	return nil
}

// fastForwardRequired is the value of source.fast_forward that holds other commits.
const fastForwardRequired = "require"

// moved says how the followed ref came from one commit to another.
func moved(r *evaluate.Repository) func(context.Context, string, string) (source.Move, error) {
	return func(_ context.Context, from, to string) (source.Move, error) {
		move, err := r.Moved(from, to)
		return source.Move(move), err
	}
}

// approvals reads the approvals in the trailers of a signed commit.
func approvals(r *evaluate.Repository) func(ctx context.Context, commit string) ([]reconcile.Approval, error) {
	return func(ctx context.Context, commit string) (list []reconcile.Approval, err error) {
		who, digests, err := r.Trailers(ctx, commit)
		for _, digest := range digests {
			list = append(list, reconcile.Approval{
				Digest: digest, Kind: reconcile.Approved, Who: who, Reason: "trailer of commit " + commit, At: time.Now(),
			})
		}
		return list, err
	}
}

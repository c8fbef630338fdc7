package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/token"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Assembly is what plan, apply and the daemon stand on.
type Assembly struct {
	Declared source.Config        // where desired state comes from: a folder, or commits in git
	Good     reconcile.GoodCommit // nil for a folder
	// First says whether a push is under way, for who starts processes.
	First     *controller.PushFirst
	Evaluator evaluate.Evaluator // of commits

	Reading  // of the platform; lanes for a purpose that writes have writers
	Requests func() int64

	Records     control.Records
	TokenMemory reconcile.TokenMemory // for reading, beside whoever creates; nil without a ledger
	Tokens      token.Config

	observesTokens bool // nothing is created or delivered

	Guards       reconcile.Guards
	Interval     time.Duration
	Deprecations reconcile.Deprecations
	// Calendar is that of deprecations, with the corrections of a state.
	Calendar func(desired.State) deprecation.Calendar
	Log      *slog.Logger
}

// Look is the source of desired state, which looks on a schedule; nil only when asked.
func (a *Assembly) Look(schedule cron.Schedule) *source.Source {
	config := a.Declared
	config.Schedule, config.Now, config.Log = schedule, time.Now, a.Log
	return source.New(config)
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
func (a *Assembly) LockTokens(ctx context.Context) error {
	if memory, ok := a.TokenMemory.(*ledger.Ledger); ok {
		return memory.LockTokens(ctx)
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
		Source: a.Look(nil), Good: a.Good, Records: a.Records, Guards: a.Guards, Lanes: a.Lanes,
		Tokens: a.tokenWorker(), Names: a.Names, DryRuns: zone.DryRuns{Lanes: a.Lanes}, Deprecations: a.Deprecations, Interval: a.Interval,
		Requests: a.Requests, Progress: show, Now: time.Now, Log: a.Log, Rulesets: rulesets,
	}
}

// Assemble puts it together.
func Assemble(ctx context.Context, s Settings, why Purpose, log *slog.Logger) (*Assembly, error) {
	s.keepsState = why != ToPlan && s.Dir == ""
	sunset, err := newSunset()
	if err != nil {
		return nil, err
	}
	s.observe = sunset.observe
	a := &Assembly{First: &controller.PushFirst{}, Records: &reconcile.Forgetful{}, Interval: sweepInterval(s.Schedule, time.Now()), Deprecations: sunset.notices, Calendar: sunset.calendar, Log: log}
	if a.Reading, err = s.connect(why, log); err != nil {
		return nil, err
	}
	a.Requests = a.meters.requests
	a.Guards, err = guards(s.Config)
	if a.Guards.Accounts = s.accountSettings(); err != nil {
		return nil, err
	}
	a.Guards.Documented = !s.Platform.Extended()
	giveBack := a.Close
	a.Close = func() {}
	if s.Dir != "" {
		folder := Folder{Dir: s.Dir}
		a.Declared.Source, a.Declared.Compiler = folder, withAccounts{folder, s}
		err = a.tokensOfFolder(ctx, s, why)
	} else {
		err = a.onGit(ctx, s, why)
	}
	if err != nil {
		a.Close() // nothing was taken from the budgets
		return nil, err
	}
	a.onClose(giveBack)
	return a, nil
}

// onGit adds the repository, the ledger, and what creating tokens takes.
func (a *Assembly) onGit(ctx context.Context, s Settings, why Purpose) error {
	repository, err := OpenRepository(s.Config, a.Log)
	if err != nil {
		return err
	}
	a.onClose(repository.Close)
	a.Declared = source.Config{
		Source: repository, Compiler: withAccounts{repository, s}, Author: repository.Author,
		Moved: moved(repository), FastForward: s.Source.FastForward == fastForwardRequired,
	}
	a.Good, a.Evaluator = repository, repository.Evaluator
	open := s.OpenLedger
	if why == ToPlan {
		open = s.OpenLedgerReadOnly
	} else if !why.serves() && !s.InPostgres() {
		if err := besideDaemon(s.StateDir); err != nil {
			return err
		}
	}
	memory, err := open(ctx)
	if err != nil {
		return err
	}
	a.onClose(func() { _ = memory.Close() })
	if why == ToServe {
		memory.User = "" // no one gives the order: a commit does
	}
	a.Records, a.TokenMemory = memory, memory
	a.Declared.Agreed = approvals(repository, memory)
	a.Names.Memory, a.Names.ReadOnly = memory, why == ToPlan
	if err := announce(ctx, memory, s, why, a.Log); err != nil {
		return err
	}
	if err := a.withTokens(s, memory, why); err != nil || !why.serves() {
		return err // one run has nothing to be ahead of
	}
	a.onClose(repository.KeepSpares(a.First.UnderWay))
	return nil
}

// fastForwardRequired is the value of source.fast_forward that holds other commits.
const fastForwardRequired = "require"

// moved says how the followed ref came from one commit to another.
func moved(r *evaluate.Repository) func(context.Context, string, string) (source.Move, error) {
	return func(_ context.Context, from, to string) (source.Move, error) {
		move, err := r.Moved(from, to)
		if errors.Is(err, gitrepo.ErrShallow) || errors.Is(err, gitrepo.ErrNoCommit) {
			err = fmt.Errorf("%w: %w", source.ErrNotKnown, err)
		}
		return source.Move(move), err
	}
}

// approvals reads the approvals in the trailers of a signed commit, but for those that are spent: who
// may push can move the branch back to it, and only who signs can approve again.
func approvals(r *evaluate.Repository, memory *ledger.Ledger) func(ctx context.Context, commit string) ([]reconcile.Approval, error) {
	return func(ctx context.Context, commit string) (list []reconcile.Approval, err error) {
		read, err := r.Trailers(ctx, commit)
		if err != nil || len(read.Digests) == 0 {
			return nil, err
		}
		spent, err := memory.SpentTrailers(ctx, commit, read.Text)
		if err != nil {
			return nil, fmt.Errorf("asking which approvals of the commit are spent: %w", err)
		}
		for _, digest := range read.Digests {
			if slices.Contains(spent, digest) {
				continue
			}
			list = append(list, reconcile.Approval{
				Digest: digest, Kind: reconcile.Approved, Who: read.Who, Reason: reconcile.ReasonOfTrailer(commit, read.Text), At: time.Now(),
			})
		}
		return list, nil
	}
}

package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/revert"
)

const (
	// planWait is how long an order to plan a revert waits for the plan.
	planWait = 5 * time.Second
	// planCounts is for how long a person may agree to a plan.
	planCounts = 15 * time.Minute
	// mostPlan and mostResult bound what is shown of a plan, and of what became of it, in bytes.
	mostPlan, mostResult = 64 << 10, 16 << 10
)

// revertNeeds is what a revert needs of the daemon that runs.
type revertNeeds struct {
	// run makes a run with some records; show is told how it goes on.
	run func(records any, show reconcile.Progress) (*revert.Run, error)
	// read are the records of the daemon, and open opens them once more: a revert claims the
	// zones that it writes for itself, as another process does, so that no worker of the daemon
	// writes there at the same time.
	read *ledger.Ledger
	open func() (*ledger.Ledger, error)
	done func() // something was written
	log  *slog.Logger
}

// revertNeeds are those of this daemon.
func (d *Daemon) revertNeeds(heart *controller.Controller) revertNeeds {
	return revertNeeds{
		read: d.memory(), done: heart.Heed, log: d.log,
		run: func(records any, show reconcile.Progress) (*revert.Run, error) {
			if d.settings.Observing() {
				return nil, errors.New("this daemon observes only, and writes nothing")
			}
			return d.assembly.Revert(records, show)
		},
		open: func() (*ledger.Ledger, error) {
			ctx := context.Background()
			if _, err := d.memory().Standing(ctx); err != nil {
				return nil, err // it may be gone, and none is made in its place
			}
			return d.settings.OpenLedger(ctx)
		},
	}
}

// reverts are the reverts that people order on pages: one at a time, for as long as the daemon
// runs. A reload ends one that goes on, as it ends all work; what it has come to is kept.
type reverts struct {
	mu      sync.Mutex
	ctx     context.Context // of the daemon; nil while none runs
	needs   revertNeeds
	jobs    sync.WaitGroup
	state   page.Reverting
	planned *revert.Planned    // in the stage planned
	cancel  context.CancelFunc // of the planning that goes on
	job     chan struct{}      // closed when the last job has ended
}

func newReverts() *reverts { return &reverts{state: page.Reverting{Stage: page.RevertNone}} }

// serve takes orders until ctx ends, and returns when the job that goes on has ended.
func (r *reverts) serve(ctx context.Context, needs revertNeeds) {
	r.mu.Lock()
	r.ctx, r.needs = ctx, needs
	if r.state.Stage == page.RevertPlanned { // by another configuration
		r.state, r.planned = page.Reverting{Stage: page.RevertNone}, nil
	}
	r.mu.Unlock()
	<-ctx.Done()
	r.mu.Lock()
	r.ctx = nil
	r.mu.Unlock()
	r.jobs.Wait()
}

// now is how the revert goes on.
func (r *reverts) now() page.Reverting {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state
	state.Version, state.At = inspect.Version, time.Now()
	return state
}

// enter begins a stage. The caller holds the lock.
func (r *reverts) enter(stage page.RevertStage) {
	r.state.Stage, r.state.Since, r.state.Doing, r.state.Done, r.state.Total = stage, time.Now(), "", 0, 0
}

// show implements [reconcile.Progress].
func (r *reverts) show(stage string, done, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Doing, r.state.Done, r.state.Total = stage, done, total
}

// begin begins a job. The caller holds the lock.
func (r *reverts) begin(ctx context.Context, do func(context.Context)) chan struct{} {
	ended := make(chan struct{})
	r.job = ended
	r.jobs.Go(func() {
		defer close(ended)
		do(edge.WithClass(ctx, edge.Urgent)) // as the command's
	})
	return ended
}

// plan begins to plan, unless that goes on for this commit. Another plan that is being made is
// given up: it has written nothing.
func (r *reverts) plan(who, commit string) (ended chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ctx == nil:
		return nil, errBusy
	case r.state.Stage == page.RevertWriting:
		return nil, &page.RefusedError{Status: http.StatusConflict, Reason: "a revert of commit " + r.state.Commit + " is running", Hint: "wait until it has ended"}
	case r.state.Stage == page.RevertPlanning && r.state.Commit == commit:
		return r.job, nil
	case r.state.Stage == page.RevertPlanning:
		r.cancel()
	}
	r.state, r.planned = page.Reverting{Commit: commit, Who: who}, nil
	r.enter(page.RevertPlanning)
	ctx, cancel := context.WithCancel(r.ctx)
	r.cancel = cancel
	needs := r.needs
	ended = r.begin(ctx, func(ctx context.Context) {
		defer cancel()
		_, planned, shown, err := planRevert(ctx, needs, needs.read, r.progress(ctx), who, commit)
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case r.job != ended: // it was given up
		case err != nil:
			r.end(err.Error(), true)
		default:
			r.planned, r.state.Plan = planned, shown
			r.enter(page.RevertPlanned)
		}
	})
	return ended, nil
}

// progress shows how a job goes on until its context ends.
func (r *reverts) progress(ctx context.Context) reconcile.Progress {
	return func(stage string, done, total int) {
		if ctx.Err() == nil {
			r.show(stage, done, total)
		}
	}
}

// end ends a job with a result. The caller holds the lock.
func (r *reverts) end(result string, failed bool) {
	r.state.Result, r.state.Failed, r.planned = bounded(result, mostResult), failed, nil
	r.enter(page.RevertEnded)
}

// planRevert makes a plan from some records, and what of it is shown.
func planRevert(ctx context.Context, needs revertNeeds, records *ledger.Ledger, show reconcile.Progress, who, commit string) (*revert.Run, *revert.Planned, *page.RevertPlan, error) {
	run, err := needs.run(records, show)
	if err != nil {
		return nil, nil, nil, err
	}
	planned, err := run.Plan(ctx, revert.Order{Filter: reconcile.HistoryFilter{Commit: commit}, Who: who})
	if err != nil {
		return nil, nil, nil, err
	}
	if planned.Writes+planned.Stopped() == 0 {
		return nil, nil, nil, fmt.Errorf("the history has no write of commit %s to a zone", commit)
	}
	var text strings.Builder
	if err := render.Text(&text, planned.Plan, false); err != nil {
		return nil, nil, nil, err
	}
	left := planned.Left()
	return run, planned, &page.RevertPlan{
		Commit: commit, Digest: planned.Digest(), Text: bounded(text.String(), mostPlan), Zones: planned.Zones(), Stops: planned.Stopped(), Left: left[:min(len(left), inspect.MostRows)],
	}, nil
}

// idle reports whether a plan does nothing.
func idle(planned *revert.Planned) bool { return planned.Zones()+planned.Stopped() == 0 }

// errAnother is that of a plan which does not stand any more.
var errAnother = &page.RefusedError{
	Status: http.StatusConflict, Reason: "the plan of this revert has changed, or is older than 15 minutes", Hint: "plan the revert again, and check the plan",
}

// apply begins to do what was planned with this digest. The plan is made once more before; begun
// has what that has come to: nil where writing begins, or has begun before.
func (r *reverts) apply(who, commit, digest string) (said string, begun chan error, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := r.state.Plan != nil && r.state.Plan.Digest == digest && r.state.Commit == commit
	begun = make(chan error, 1)
	switch {
	case r.ctx == nil:
		return "", nil, errBusy
	case shown && r.state.Stage == page.RevertWriting:
		close(begun)
		return "the revert of commit " + commit + " is running", begun, nil
	case shown && r.state.Stage == page.RevertEnded:
		close(begun)
		return "the revert of commit " + commit + " has ended", begun, nil
	case r.state.Stage == page.RevertWriting:
		return "", nil, &page.RefusedError{Status: http.StatusConflict, Reason: "a revert of commit " + r.state.Commit + " is running", Hint: "wait until it has ended"}
	case !shown || r.state.Stage != page.RevertPlanned || time.Since(r.state.Since) > planCounts:
		return "", nil, errAnother
	}
	if idle(r.planned) {
		return "", nil, &page.RefusedError{Status: http.StatusConflict, Reason: "this revert would change nothing", Hint: "the plan says why zones stay as they are"}
	}
	agreed, needs := r.planned, r.needs
	r.state.Who, r.planned = who, nil
	r.enter(page.RevertWriting)
	r.begin(r.ctx, func(ctx context.Context) {
		result, failed := r.write(ctx, needs, agreed, who, commit, begun)
		if result == "" {
			return // another plan waits to be agreed to
		}
		needs.done()
		needs.log.Info("a revert that was ordered on a page has ended", "commit", commit, "by", who, "failed", failed)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.end(result, failed)
	})
	return "the revert of commit " + commit + " has begun", begun, nil
}

// write does what a person has agreed to, unless that is another plan by now: then that one is
// shown, and there is no result. What was sent when ctx ends is finished and proved.
func (r *reverts) write(ctx context.Context, needs revertNeeds, agreed *revert.Planned, who, commit string, begun chan<- error) (result string, failed bool) {
	refused := func(err error) (string, bool) {
		begun <- &page.RefusedError{Status: http.StatusConflict, Reason: "nothing was put back: " + err.Error(), Hint: "plan the revert again"}
		return err.Error(), true
	}
	records, err := needs.open()
	if err != nil {
		return refused(err)
	}
	defer func() { _ = records.Close() }() // what was written is on the disk already
	records.User = who
	run, planned, plan, err := planRevert(ctx, needs, records, r.show, who, commit)
	if err != nil {
		return refused(err)
	}
	if !agreed.Covers(planned) || idle(planned) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.planned, r.state.Plan, r.state.Result = planned, plan, "the plan is another one than the one that was agreed to"
		r.enter(page.RevertPlanned)
		begun <- errAnother
		return "", false
	}
	begun <- nil
	return appliedText(ctx, planned, run.Apply(ctx, planned))
}

// appliedText says what a revert has come to.
func appliedText(ctx context.Context, planned *revert.Planned, report reconcile.Report) (result string, failed bool) {
	var text strings.Builder
	if len(report.Results) > 0 || report.Err != nil {
		_ = report.TextOfResults(&text, false) // a builder takes all
	}
	text.WriteString(setup.Reverted(planned, report))
	switch {
	case ctx.Err() != nil:
		text.WriteString("it ended early, because the daemon was stopped or reloaded; plan it anew to go on\n")
	case report.Err != nil:
		text.WriteString("it ended early: " + cli.OneLine(report.Err.Error()) + "; plan it anew to go on\n")
	}
	return text.String(), report.Err != nil || !report.Converged()
}

// bounded cuts a text at the end of a line.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	return strings.ToValidUTF8(text[:strings.LastIndexByte(text, '\n')+1], "") + "… the rest is not shown; seawall revert shows all of it\n"
}

// Package review tells the reviewers of pull requests what a merge would do.
//
//	list → fetch → evaluate → read → plan → guard → comment, status → record approvals
//
//	reviews := review.New(review.Config{Forge: forge, Heads: heads, Base: control.InForce, …})
//	go reviews.Run(ctx, ticks, poked)
//
// Each open pull request has one comment, updated in place, and a commit status at its head.
// An approving review by one of the configured accounts approves of what the comment
// shows. [Merges] sets the statuses of commits of the followed branch.
//
// Nothing is written to the platform, and nothing of a pull request is run but CUE in
// a bounded worker. Of the platform those zones are read that the commit in force
// declares, and no others: a pull request that names someone else's zone would have
// its state posted.
//
// What fails, takes long or hangs about one pull request costs the others
// [Config.Timeout] at the most, and that once: from then on it comes after them. One
// that needs more reads than the budget has is read in parts, round after round.
package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

// Reviews looks at pull requests. It is not safe for concurrent use. Make it with
// [New].
type Reviews struct {
	Config
	planning
	others    others // nil: this process makes the plans itself, round by round
	told      told   // by the others
	shown     map[int]shown
	gate      gate
	pulls     pulls
	merged    map[int]bool // pull requests with approvals on record that are merged
	approvers approvers
	silent    map[string]string // why the forge did not answer about people, by what was asked
	failing   map[int]string    // why a pull request was not reviewed in the last round
	late      map[int]int       // the round in which a pull request took too long, or was not read through
	rounds    int
}

// shown is what was last shown on a pull request.
type shown struct {
	head, base string
	at         time.Time // from when on it could be read
	approvable []string  // digests of what the comment shows, to be approved
	approved   bool
	waits      bool // something waits for an approval
}

// planAgain is how old a plan may become before it is made anew: the platform changes
// while a pull request waits.
const planAgain = time.Hour

// mostReviewed bounds how many pull requests are planned in one round.
const mostReviewed = 50

// New returns reviews that have read nothing yet.
func New(c Config) *Reviews {
	c = c.withDefaults()
	r := &Reviews{
		Config: c, shown: map[int]shown{}, late: map[int]int{}, failing: map[int]string{}, silent: map[string]string{},
		pulls: pulls{changed: c.Changed}, merged: map[int]bool{}, approvers: newApprovers(c.Trust.Approvers),
	}
	r.planning = planning{Config: &r.Config, parts: map[int]part{}, kept: kept{now: c.Now}}
	r.gate = newGate(&r.Config, &r.approvers)
	return r
}

// Run looks at pull requests at each tick and when poked, until ctx ends.
func (r *Reviews) Run(ctx context.Context, ticks <-chan time.Time, poked <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		case <-poked:
		}
		if err := r.Round(ctx); err != nil && ctx.Err() == nil {
			r.Failed(true)
			r.Log.DebugContext(ctx, "pull requests were not reviewed", "error", err.Error()) // it is an outage
		}
	}
}

// Round reads all open pull requests once. A failure stays in its pull
// request; err is for what kept it from looking at any.
func (r *Reviews) Round(ctx context.Context) (err error) {
	base, ok := r.Base()
	if !ok {
		return nil
	}
	ctx, span := trace.Start(ctx, trace.Round)
	defer func() { span.End(err) }()
	open, err := r.Forge.PullRequests(ctx)
	if err != nil {
		err = fmt.Errorf("listing pull requests: %w", err)
		r.Outages.Failed(reconcile.OutageForge, "", "list", err)
		return err
	}
	r.Outages.Worked(reconcile.OutageForge, "", "list")
	r.people(ctx)
	slices.SortFunc(open, byTrust)
	r.pulls.listed(open, r.Now())
	open = r.pass(ctx, open)
	for _, pull := range open[min(len(open), mostReviewed):] {
		r.pulls.failed(pull.Number, fmt.Sprintf("no more than %d pull requests are reviewed, and others come first", mostReviewed))
	}
	open = open[:min(len(open), mostReviewed)]
	numbers := make([]int, len(open))
	for i, pull := range open {
		numbers[i] = pull.Number
	}
	if r.others != nil {
		r.learn()
	}
	r.forget(ctx, numbers)
	r.pulls.dropPlans(numbers)
	if r.others != nil {
		r.unnote(ctx, numbers)
		return r.order(ctx, open, base)
	}
	return r.reviewAll(ctx, open, numbers, base)
}

// reviewAll makes the plans of pull requests in this process, those last that have taken too long.
func (r *Reviews) reviewAll(ctx context.Context, open []reconcile.PullRequest, numbers []int, base desired.State) error {
	fetching, fetch := trace.Start(ctx, trace.Fetch)
	heads, failed, err := r.Heads.Fetch(fetching, numbers)
	fetch.End(err)
	if err != nil {
		err = fmt.Errorf("fetching pull requests: %w", err)
		r.Outages.Failed(reconcile.OutageGit, "", "pull requests", err)
		return err
	}
	r.Outages.Worked(reconcile.OutageGit, "", "pull requests")
	r.rounds++
	slices.SortStableFunc(open, r.lateLast)
	for _, pull := range open {
		reviewing, span := trace.Start(ctx, trace.Review)
		span.Count(trace.Number, pull.Number)
		span.Text(trace.Commit, heads[pull.Number])
		err := r.bounded(reviewing, func(ctx context.Context) error {
			return r.review(ctx, pull, heads[pull.Number], failed[pull.Number], base)
		})
		span.End(err)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, errInParts) {
			r.Failed(false)
		}
		r.logFailure(reviewing, pull.Number, err)
		if again := r.noteLate(pull.Number, err); again {
			break // the others of them have their turn in the next rounds
		}
	}
	r.dropKept()
	return nil
}

// people finds out who the approvers are, and which approvals were taken back. What fails
// is tried again in the next round: until then the reviews of accounts that are not known
// do not count, and the approvals stay.
func (r *Reviews) people(ctx context.Context) {
	for doing, do := range map[string]func(context.Context) error{
		"looking up approvers": r.bindApprovers, "looking for approvals that were taken back": r.withdraw,
	} {
		err := r.bounded(ctx, do)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			delete(r.silent, doing)
			continue
		}
		level, cause := slog.LevelWarn, outage.Cause(err)
		if r.silent[doing] == cause {
			level = slog.LevelDebug
		}
		r.silent[doing] = cause
		r.Log.Log(ctx, level, "the forge does not say enough about approvals; it is asked again", "doing", doing, "error", err.Error())
	}
}

// logFailure logs why a pull request was not reviewed, once for each cause.
func (r *Reviews) logFailure(ctx context.Context, number int, err error) {
	why := ""
	if err != nil {
		why = err.Error()
	}
	r.pulls.failed(number, why)
	if err == nil || errors.Is(err, errInParts) {
		delete(r.failing, number)
		return
	}
	level, cause := slog.LevelWarn, outage.Cause(err)
	if r.failing[number] == cause {
		level = slog.LevelDebug
	}
	r.failing[number] = cause
	r.Log.Log(ctx, level, "a pull request was not reviewed", "number", number, "error", err.Error())
}

// lateLast puts pull requests whose time was over, or that are read in parts, after
// the others, and of them those first that have waited longest.
func (r *Reviews) lateLast(a, b reconcile.PullRequest) int {
	return r.late[a.Number] - r.late[b.Number]
}

// noteLate notes whether a pull request was done in its time, and reports whether it
// has taken all of its time once more.
func (r *Reviews) noteLate(number int, err error) (again bool) {
	late := errors.Is(err, errTooLong)
	if !late && !errors.Is(err, errInParts) {
		delete(r.late, number)
		return false
	}
	_, before := r.late[number]
	r.late[number] = r.rounds
	return late && before
}

// byTrust puts those that come from the project itself before those of forks, which
// anybody can open by the hundred, and new ones before old ones.
func byTrust(a, b reconcile.PullRequest) int {
	if a.Fork != b.Fork {
		if b.Fork {
			return -1
		}
		return 1
	}
	return b.Number - a.Number
}

// bounded does what concerns one pull request. It has its time and no more, and it
// survives what a stranger may have found to make it panic: neither may keep the
// others from being reviewed, or end the daemon.
func (c *Config) bounded(ctx context.Context, do func(context.Context) error) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("%w than %s", errTooLong, c.Timeout))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reviewing it failed unexpectedly: %v", p)
		}
	}()
	err = do(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// errTooLong says that the time of a pull request is over.
var errTooLong = errors.New("it took longer")

// forget drops what was said of pull requests that are closed, once it is known
// whether someone approved of it: who approves and merges at once is no longer
// seen among the open ones. A forge that does not say is asked again, for a while.
func (r *Reviews) forget(ctx context.Context, open []int) {
	gone := func(number int) bool { return !slices.Contains(open, number) }
	if r.others == nil { // else they are the worker's
		maps.DeleteFunc(r.parts, func(number int, _ part) bool { return gone(number) })
	}
	maps.DeleteFunc(r.failing, func(number int, _ string) bool { return gone(number) })
	maps.DeleteFunc(r.late, func(number, _ int) bool { return gone(number) })
	for number, said := range r.shown {
		if !gone(number) {
			continue
		}
		err := r.bounded(ctx, func(ctx context.Context) error { return r.agree(ctx, number, said) })
		if err != nil {
			if r.Now().Sub(said.at) < planAgain {
				continue
			}
			r.Log.WarnContext(ctx, "it is not known who approved a closed pull request", "number", number, "error", err.Error())
		}
		delete(r.shown, number)
	}
}

// review looks at one pull request: it shows what is new of it, and records who
// approves of what was shown before.
func (r *Reviews) review(ctx context.Context, pull reconcile.PullRequest, head string, failed error, base desired.State) error {
	if head == "" {
		if failed == nil {
			return errors.New("git does not have it yet")
		}
		delete(r.shown, pull.Number) // a head that comes back is shown anew
		return r.unread(ctx, pull, failed)
	}
	if current, err := r.current(ctx, pull.Number, head, base.Commit); err != nil || current {
		return err
	}
	before, known := r.shown[pull.Number]
	if !known || before.head != head { // the same head anew is not the author's doing
		if err := r.gate.mayPlan(ctx, pull); err != nil {
			return err
		}
	}
	said, now, err := r.look(ctx, pull, head, base)
	if err != nil {
		return err
	}
	if now.approvable, err = r.publish(ctx, pull, said); err != nil {
		return err
	}
	now.at, now.waits = r.Now(), said.waits()
	r.shown[pull.Number] = now
	return nil
}

// current reports whether what was shown of a pull request still holds. It records who has
// approved of it: whatever is shown next, they have approved of that.
func (r *Reviews) current(ctx context.Context, number int, head, base string) (bool, error) {
	before, known := r.shown[number]
	if !known || before.head != head {
		return false, nil
	}
	fresh := before.base == base && r.Now().Sub(before.at) < planAgain
	// An approval that something has waited for changes the plan.
	err := r.agree(ctx, number, before)
	released := before.waits && !before.approved && r.shown[number].approved
	return fresh && !released, err
}

// publish comments on a pull request and sets the status of its head. It returns the
// digests of what reviewers can see in full: only that can they approve of.
func (r *Reviews) publish(ctx context.Context, pull reconcile.PullRequest, said verdict) (approvable []string, err error) {
	text, approvable := said.comment(pull)
	if r.Comments {
		if err := r.Forge.Comment(ctx, pull.Number, marker, text); err != nil {
			return nil, fmt.Errorf("commenting: %w", err)
		}
	}
	if err := r.Forge.Status(ctx, said.head, said.status()); err != nil {
		return nil, fmt.Errorf("setting the commit status: %w", err)
	}
	r.pulls.reviewed(pull.Number, said.head, said.status(), text, r.Now())
	if !r.Comments {
		return nil, nil
	}
	return approvable, nil
}

const unreadable = "this pull request cannot be read"

// unread tells that a head cannot be read.
func (r *Reviews) unread(ctx context.Context, pull reconcile.PullRequest, failed error) error {
	status := reconcile.CommitStatus{Context: planContext, State: reconcile.StatusFailure, Description: unreadable}
	r.pulls.reviewed(pull.Number, pull.Head, status, refusedComment(failed), r.Now())
	if pull.Head != "" {
		if err := r.Forge.Status(ctx, pull.Head, status); err != nil {
			return fmt.Errorf("setting the commit status: %w", err)
		}
	}
	if !r.Comments {
		return failed
	}
	return r.Forge.Comment(ctx, pull.Number, marker, refusedComment(failed))
}

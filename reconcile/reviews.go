package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Forge is where pull requests are reviewed; reconcile/forge speaks with one.
type Forge interface {
	// PullRequests lists the open ones against the followed branch.
	PullRequests(ctx context.Context) ([]PullRequest, error)
	// Comment makes the one comment that begins with marker say body.
	Comment(ctx context.Context, number int, marker, body string) error
	// Mark sets a mark at a commit.
	Mark(ctx context.Context, commit string, mark Mark) error
	// Approvals returns who approves of this very head and said so at a time or later.
	Approvals(ctx context.Context, number int, head string, since time.Time) ([]string, error)
}

// PullRequest is an open pull request. All of it is a stranger's word.
type PullRequest struct {
	Number int
	Author string
	Fork   bool
}

// Heads are the heads of pull requests, as git has them: anybody may have made
// them, so they are kept apart from what is acted on.
type Heads interface {
	// Fetch makes these the pull requests that are kept and returns their heads,
	// and why each of the others has none.
	Fetch(ctx context.Context, numbers []int) (heads map[int]string, failed map[int]error, err error)
	Compiler
}

// Reviews tells the reviewers of pull requests what a merge would do: one comment
// for each, updated in place, and a mark at its head. It only reads, with a
// credential and a budget that are no secret to it, and nothing of a pull request
// is run but CUE in a bounded worker. Of the platform it reads the zones that the
// commit in force declares, and no other: a pull request that names somebody
// else's zone would have its state posted.
//
// Forge, Heads, Base, Reader and Now are required. It is not safe for concurrent
// use.
type Reviews struct {
	Forge  Forge
	Heads  Heads
	Base   func() (desired.State, bool) // what is in force; false: nothing yet
	Reader edge.Reader
	Memory Memory      // nil: nothing is remembered of earlier runs
	Tokens TokenMemory // nil: tokens are unknown
	Guards Guards
	// NameSuffix and CreatesTokens are those of what applies; see [Reconciler]. With
	// others a review would promise tokens that are refused.
	NameSuffix    diff.NameSuffix
	CreatesTokens func(desired.PermissionGroup) bool

	// Approvers are the accounts whose approving review counts as approval of what
	// the comment says; Control records it. Without either none does.
	Approvers []string
	Control   Control

	// Comments says whether plans are told in a comment; without, by the mark alone.
	Comments bool
	// Deprecations says what leans on what goes away; nil says nothing.
	Deprecations Deprecations
	Budget       diff.Budget  // of what applies; zero is not known
	Requests     func() int64 // HTTP requests sent so far; nil counts none
	Concurrency  int
	Now          func() time.Time
	Log          *slog.Logger

	told map[int]told
}

// told is what was last said of a pull request.
type told struct {
	head, base string
	at         time.Time // from when on it could be read
	approvable []string  // digests of what the comment shows, to be approved
	approved   bool
}

// tellAgain is how old a plan may become before it is made anew: the platform
// goes on living under a pull request that waits.
const tellAgain = time.Hour

// mostReviewed bounds how many pull requests are planned in one round.
const mostReviewed = 50

// Round looks at all open pull requests once. A failure stays in its pull
// request; err is for what kept it from looking at any.
func (r *Reviews) Round(ctx context.Context) error {
	base, ok := r.Base()
	if !ok {
		return nil
	}
	open, err := r.Forge.PullRequests(ctx)
	if err != nil {
		return fmt.Errorf("listing pull requests: %w", err)
	}
	slices.SortFunc(open, byTrust)
	open = open[:min(len(open), mostReviewed)]
	numbers := make([]int, len(open))
	for i, pull := range open {
		numbers[i] = pull.Number
	}
	r.forget(ctx, numbers)
	heads, failed, err := r.Heads.Fetch(ctx, numbers)
	if err != nil {
		return fmt.Errorf("fetching pull requests: %w", err)
	}
	for _, pull := range open {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.shielded(ctx, pull, heads[pull.Number], failed[pull.Number], base); err != nil {
			r.Log.WarnContext(ctx, "a pull request was not reviewed", "number", pull.Number, "error", err.Error())
		}
	}
	return nil
}

// byTrust puts those that come from the project itself before those of forks, which
// anybody can open by the hundred, and new ones before old ones.
func byTrust(a, b PullRequest) int {
	if a.Fork != b.Fork {
		if b.Fork {
			return -1
		}
		return 1
	}
	return b.Number - a.Number
}

// forget drops what was said of pull requests that are closed, once it is known
// whether somebody approved of it: who approves and merges at once is no longer
// seen among the open ones. A forge that does not say is asked again, for a while.
func (r *Reviews) forget(ctx context.Context, open []int) {
	if r.told == nil {
		r.told = map[int]told{}
	}
	for number, said := range r.told {
		if slices.Contains(open, number) {
			continue
		}
		if err := r.agree(ctx, PullRequest{Number: number}, said); err != nil {
			if r.Now().Sub(said.at) < tellAgain {
				continue
			}
			r.Log.WarnContext(ctx, "nobody knows who approved of a pull request that is closed", "number", number, "error", err.Error())
		}
		delete(r.told, number)
	}
}

// shielded survives what a stranger may have found to make a review panic: that
// must not end the daemon.
func (r *Reviews) shielded(ctx context.Context, pull PullRequest, head string, failed error, base desired.State) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reviewing it makes no sense: %v", p)
		}
	}()
	return r.review(ctx, pull, head, failed, base)
}

func (r *Reviews) review(ctx context.Context, pull PullRequest, head string, failed error, base desired.State) error {
	if head == "" {
		if failed == nil {
			return errors.New("git does not have it yet")
		}
		return r.unread(ctx, pull, failed)
	}
	before, known := r.told[pull.Number]
	if known && before.head == head && before.base == base.Commit && r.Now().Sub(before.at) < tellAgain {
		return r.agree(ctx, pull, before)
	}
	if known && before.head == head { // who has approved of what was told until now has approved of that
		if err := r.agree(ctx, pull, before); err != nil {
			return err
		}
	}
	said, now, err := r.look(ctx, head, base)
	if err != nil {
		return err
	}
	text := said.comment(pull)
	if r.Comments {
		if err := r.Forge.Comment(ctx, pull.Number, reviewMarker, text); err != nil {
			return fmt.Errorf("commenting: %w", err)
		}
	}
	if !r.Comments || len(text) > mostApproved {
		now.approvable = nil // nobody has seen it
	}
	if err := r.Forge.Mark(ctx, head, said.mark()); err != nil {
		return fmt.Errorf("marking the head: %w", err)
	}
	now.at = r.Now()
	r.told[pull.Number] = now
	return nil
}

// unread tells that a head cannot be read. What was told before is over with it: a
// head that comes back is told anew.
func (r *Reviews) unread(ctx context.Context, pull PullRequest, failed error) error {
	delete(r.told, pull.Number)
	if !r.Comments {
		return failed
	}
	return r.Forge.Comment(ctx, pull.Number, reviewMarker, refusedComment(failed))
}

// look compiles and plans a head.
func (r *Reviews) look(ctx context.Context, head string, base desired.State) (review, told, error) {
	now := told{head: head, base: base.Commit}
	state, problems, err := r.Heads.Compile(ctx, head)
	if err != nil {
		return review{}, now, fmt.Errorf("compiling: %w", err)
	}
	if len(desired.Errors(problems)) > 0 {
		return review{head: head, base: base.Commit, problems: problems}, now, nil
	}
	plan, err := r.plan(ctx, state, base)
	if err != nil {
		return review{}, now, err
	}
	now.approvable = approvable(plan)
	return review{head: head, base: base.Commit, zones: state.Zones(), problems: problems, plan: &plan}, now, nil
}

// approvable are the digests of what a reviewer agrees to by approving of a plan:
// of all of it, and of each change that would be sent or is held back.
func approvable(plan diff.Plan) []string {
	digests := []string{plan.ApprovalDigest()}
	for _, c := range plan.Changes {
		if c.Request != nil {
			digests = append(digests, c.ApprovalDigest())
		}
	}
	return digests
}

// agree records the approving reviews of what was told. Only those count that were
// given after it was told: an earlier one is of another plan, and would renew
// itself whenever the plan is made anew.
func (r *Reviews) agree(ctx context.Context, pull PullRequest, said told) error {
	if said.approved || len(r.Approvers) == 0 || r.Control == nil || len(said.approvable) == 0 {
		return nil
	}
	names, err := r.Forge.Approvals(ctx, pull.Number, said.head, said.at)
	if err != nil {
		return fmt.Errorf("asking who approves: %w", err)
	}
	i := slices.IndexFunc(names, func(name string) bool {
		return slices.ContainsFunc(r.Approvers, func(approver string) bool { return strings.EqualFold(name, approver) })
	})
	if i < 0 {
		return nil
	}
	approvals := make([]Approval, len(said.approvable))
	for n, digest := range said.approvable {
		approvals[n] = Approval{Digest: digest, Kind: Approved, Who: names[i], Reason: fmt.Sprintf("review of pull request %d", pull.Number), At: r.Now()}
	}
	if err := r.Control.Approve(ctx, approvals); err != nil {
		return fmt.Errorf("recording the approval: %w", err)
	}
	said.approved = true
	r.told[pull.Number] = said
	r.Log.InfoContext(ctx, "a plan was approved by a review", "number", pull.Number, "who", names[i], "head", said.head)
	return nil
}

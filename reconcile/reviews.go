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
	// Approvals returns who approves of this very head.
	Approvals(ctx context.Context, number int, head string) ([]string, error)
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
	Sinks  Sinks
	Guards Guards

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
	at         time.Time
	approvable []string // digests of what the comment shows, to be approved
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
	slices.SortFunc(open, func(a, b PullRequest) int { return b.Number - a.Number })
	open = open[:min(len(open), mostReviewed)]
	numbers := make([]int, len(open))
	for i, pull := range open {
		numbers[i] = pull.Number
	}
	heads, failed, err := r.Heads.Fetch(ctx, numbers)
	if err != nil {
		return fmt.Errorf("fetching pull requests: %w", err)
	}
	r.forget(numbers)
	for _, pull := range open {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.review(ctx, pull, heads[pull.Number], failed[pull.Number], base); err != nil {
			r.Log.WarnContext(ctx, "a pull request was not reviewed", "number", pull.Number, "error", err.Error())
		}
	}
	return nil
}

// forget drops what was said of pull requests that are closed.
func (r *Reviews) forget(open []int) {
	if r.told == nil {
		r.told = map[int]told{}
	}
	for number := range r.told {
		if !slices.Contains(open, number) {
			delete(r.told, number)
		}
	}
}

func (r *Reviews) review(ctx context.Context, pull PullRequest, head string, failed error, base desired.State) error {
	if head == "" {
		if failed == nil {
			return errors.New("git does not have it yet")
		}
		return r.Forge.Comment(ctx, pull.Number, reviewMarker, refusedComment(failed))
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
	if r.Comments {
		if err := r.Forge.Comment(ctx, pull.Number, reviewMarker, said.comment(pull)); err != nil {
			return fmt.Errorf("commenting: %w", err)
		}
	}
	if err := r.Forge.Mark(ctx, head, said.mark()); err != nil {
		return fmt.Errorf("marking the head: %w", err)
	}
	r.told[pull.Number] = now
	return nil
}

// look compiles and plans a head.
func (r *Reviews) look(ctx context.Context, head string, base desired.State) (review, told, error) {
	now := told{head: head, base: base.Commit, at: r.Now()}
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
	return review{head: head, base: base.Commit, problems: problems, plan: &plan}, now, nil
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

// agree records the approving reviews of what was told. What was told and not
// seen by the reviewer cannot be told apart from what was; but it was told before
// the approval was looked for, never after.
func (r *Reviews) agree(ctx context.Context, pull PullRequest, said told) error {
	if said.approved || len(r.Approvers) == 0 || r.Control == nil || len(said.approvable) == 0 {
		return nil
	}
	names, err := r.Forge.Approvals(ctx, pull.Number, said.head)
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

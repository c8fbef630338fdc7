package review

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Forge is where pull requests are reviewed; reconcile/forge speaks with one.
type Forge interface {
	// PullRequests lists the open ones against the followed branch.
	PullRequests(ctx context.Context) ([]reconcile.PullRequest, error)
	// Comment makes the one comment that begins with marker say body.
	Comment(ctx context.Context, number int, marker, body string) error
	// Status sets a status of a commit.
	Status(ctx context.Context, commit string, s reconcile.CommitStatus) error
	// Approvals returns who approves of this very head and said so at a time or later.
	Approvals(ctx context.Context, number int, head string, since time.Time) ([]reconcile.Account, error)
	// Standing returns what became of a pull request, and who approves of it by now.
	Standing(ctx context.Context, number int) (reconcile.PullStanding, error)
	// Remarks returns what people have written on a pull request.
	Remarks(ctx context.Context, number int) ([]reconcile.Remark, error)

	// Account looks up an account; one that there is not is [reconcile.ErrNoAccount].
	Account(ctx context.Context, name string) (reconcile.Account, error)
	// Access returns what an account may do in the project.
	Access(ctx context.Context, account reconcile.Account) (reconcile.Access, error)
	// Private reports whether only members see the project.
	Private(ctx context.Context) (bool, error)
}

// Heads are the heads of pull requests, as git has them: anybody may have made
// them, so they are kept apart from what is acted on.
type Heads interface {
	// Fetch makes these the pull requests that are kept and returns their heads,
	// and why each of the others has none.
	Fetch(ctx context.Context, numbers []int) (heads map[int]string, failed map[int]error, err error)
	reconcile.Compiler
}

// Records is what a review needs of what is on record; see [reconcile.Records] and
// [reconcile.Control].
type Records interface {
	Restore(ctx context.Context) (reconcile.Record, error)
	Standing(ctx context.Context) (reconcile.Standing, error)
	Approve(ctx context.Context, approvals []reconcile.Approval) error
	Withdraw(ctx context.Context, digests []string, reason string) error
}

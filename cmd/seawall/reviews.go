package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/review"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// reviewShare is the part of the budget that reviews of pull requests may take,
// one in so many requests: anybody can open a pull request, and it must not keep
// a fleet from being looked after.
const reviewShare = 10

// reviewBudget is the lane of reviews, and what is left for everything else.
func reviewBudget(b schema.Budget) (reviews, rest schema.Budget) {
	reviews, rest = b, b
	reviews.Requests = max(1, b.Requests/reviewShare)
	rest.Requests = max(1, b.Requests-reviews.Requests)
	return reviews, rest
}

// board is a forge as reviews see one.
type board struct{ *forge.Forge }

func newBoard(f schema.Forge, ref string) (board, error) {
	at, err := forge.New(forge.Config{
		Kind: forge.Kind(f.Kind), URL: f.URL, Project: f.Project, Branch: ref, CAFile: f.CAFile,
		Token: func() (edge.Secret, error) { return readSecret(f.Token) },
	})
	if err != nil {
		return board{}, fail(fmt.Errorf("forge: %w", err), "see forge in the configuration")
	}
	return board{at}, nil
}

// PullRequests implements [review.Forge].
func (b board) PullRequests(ctx context.Context) ([]review.PullRequest, error) {
	list, err := b.Forge.PullRequests(ctx)
	pulls := make([]review.PullRequest, len(list))
	for i, p := range list {
		pulls[i] = review.PullRequest{Number: p.Number, Author: p.Author, Fork: p.Fork}
	}
	return pulls, err
}

// Mark implements [review.Forge].
func (b board) Mark(ctx context.Context, commit string, m review.Mark) error {
	return b.Status(ctx, commit, forge.Status{Context: m.Context, State: forge.State(m.State), Description: m.Description})
}

// reviewBounds leave less time than the followed branch has: what somebody pushes
// to a pull request must not keep all others from being reviewed. It is ten times what
// a fleet of 50,000 zones takes.
var reviewBounds = worker.Limits{Output: evaluationBounds.Output, AddressSpace: evaluationBounds.AddressSpace, Total: time.Minute}

// compileHead takes it for a mistake of the head where evaluating it trips a bound
// as a whole: as an error it would be tried again with every round, and told to
// nobody.
func compileHead(ctx context.Context, t tree, e evaluator) (desired.State, []desired.Problem, error) {
	state, problems, err := e.compile(ctx, t)
	var bound *worker.BoundError
	if !errors.As(err, &bound) {
		return state, problems, err
	}
	return desired.State{}, []desired.Problem{{
		Origin: desired.Origin{Commit: t.Commit}, Message: "evaluating the whole tree " + trippedOver(bound),
		Hint: "seawall validate shows which folders take long",
	}}, nil
}

// desk is what the daemon does for reviewers.
type desk struct {
	reviews *review.Reviews
	merges  *review.Merges
	wake    chan struct{}
}

// newDesk puts together what reviews take, nil where no forge is configured.
func (d *daemon) newDesk() (*desk, error) {
	if d.Forge == nil {
		return nil, nil
	}
	at, err := newBoard(*d.Forge, d.settings.Source.Ref)
	if err != nil {
		return nil, err
	}
	lane := d.settings
	lane.Budget, _ = reviewBudget(d.settings.Budget)
	lane.quota = d.settings.Budget.Requests
	config := lane.client(d.Credentials.Rulesets, d.log)
	platform, err := client.New(config)
	if err != nil {
		return nil, err
	}
	reviews := review.New(review.Config{
		Forge: at, Heads: newHeads(d.settings, d.evaluator.besides(), d.log, d.failures.heads), Base: d.inForce, Reader: platform, Records: d.records,
		Tokens: d.tokensOnRecord(), Guards: d.guards, Approvers: d.Forge.Approvers, Comments: d.Forge.Comment,
		Deprecations: d.deprecations, Budget: d.settings.budget(), Requests: platform.Requests,
		Room:        func() int { return config.Budget.Room(lane.Budget.Requests / forOtherReviews) },
		Concurrency: d.settings.Budget.Concurrency, Now: time.Now,
		Diagnostics: review.Diagnostics{Failed: d.failures.review, Log: d.log, Outages: d.outages},
	})
	merges := review.NewMerges(at.Mark, d.log, d.outages)
	d.begin = merges.Begin
	return &desk{reviews, merges, make(chan struct{}, 1)}, nil
}

// forOtherReviews is the part of the reviews' budget, one in so many requests, that a
// pull request of many zones leaves to the others.
const forOtherReviews = 4

// tokensOnRecord looks at tokens in the ledger, which whoever creates them has open
// beside. It asks the platform nothing: a pull request must not have credentials.tokens
// used.
func (d *daemon) tokensOnRecord() *token.Worker {
	return token.New(token.Config{
		Memory: d.tokenMemory, NameSuffix: d.tokens.NameSuffix, CreatesTokens: d.tokens.CreatesTokens, Now: time.Now, Log: d.log,
	})
}

// poke asks for a look at pull requests; without a desk nobody does.
func (d *desk) poke() {
	if d != nil {
		poke(d.wake)
	}
}

// run looks at pull requests at each tick and when woken, and settles the marks of
// merges, until ctx ends.
func (d *desk) run(ctx context.Context, ticks <-chan time.Time) {
	var marks sync.WaitGroup
	marks.Go(func() { d.merges.Run(ctx) })
	defer marks.Wait()
	d.reviews.Run(ctx, ticks, d.wake)
}

// poke wakes without waiting.
func poke(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// withHooks puts the webhooks of forges beside the health pages.
func withHooks(pages http.Handler, configured map[string]schema.Hook, wake func(), log *slog.Logger) (http.Handler, error) {
	if len(configured) == 0 {
		return pages, nil
	}
	var hooks []forge.Hook
	for _, h := range configured {
		hooks = append(hooks, forge.Hook{Kind: forge.Kind(h.Kind), Secret: func() (edge.Secret, error) { return readSecret(h.Secret) }})
	}
	if err := forge.CheckHooks(hooks); err != nil {
		return nil, fail(fmt.Errorf("hooks: %w", err), "see hooks in the configuration")
	}
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.Handle("/hook/git", forge.Handler(hooks, wake, func(o forge.Outcome) {
		log.Debug("webhook", "outcome", string(o))
	}))
	return mux, nil
}

// agreed reads the approvals in a commit's trailers, where its signature is by a
// key that source.verify trusts; without that anybody could write them.
func (r *repository) agreed(ctx context.Context, commit string) ([]reconcile.Approval, error) {
	if r.source.Verify == nil {
		return nil, nil
	}
	var answer trailersRead
	order := readingTrailers{r.store, commit, policyOf(r.source).Trust}
	runner := worker.Runner{Env: fetchEnv, Sandbox: r.evaluator.confine.trailers(order), Room: r.evaluator.rooms.branch}
	err := runner.Run(ctx, jobTrailers, order, func(_ string, out json.RawMessage) error { return json.Unmarshal(out, &answer) })
	if err != nil {
		return nil, err
	}
	if answer.Git != nil {
		return nil, answer.Git
	}
	var approvals []reconcile.Approval
	for _, digest := range slices.Compact(answer.Digests) {
		approvals = append(approvals, reconcile.Approval{
			Digest: digest, Kind: reconcile.Approved, Who: answer.Who, Reason: "trailer of commit " + commit, At: time.Now(),
		})
	}
	return approvals, nil
}

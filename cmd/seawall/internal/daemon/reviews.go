package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/time/rate"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/review"
	"github.com/seawall-dev/seawall/reconcile/token"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// newReviews makes the reviews of pull requests. Without a forge they do nothing.
func (d *Daemon) newReviews() (*review.Service, error) {
	if d.settings.Forge == nil {
		return &review.Service{}, nil
	}
	forgeClient, err := setup.NewForge(*d.settings.Forge, d.settings.Source.Ref)
	if err != nil {
		return nil, err
	}
	lanes, requests, err := d.assembly.ReviewLanes(d.settings, d.log)
	if err != nil {
		return nil, err
	}
	heads := evaluate.NewHeads(d.settings.StateDir, setup.RemoteOf(d.settings.Config), evaluate.HeadsConfig{
		Refs: forge.Kind(d.settings.Forge.Kind).HeadRefs(), Limits: setup.FetchLimits(d.settings.Forge.Limits, "forge.limits"),
		Timeout: d.settings.Forge.Timeout, Log: d.log, Observed: d.health.HeadsRefused,
	}, d.assembly.Evaluator)
	return review.NewService(review.Config{
		DryRuns: zone.DryRuns{Lanes: lanes, Concurrency: 1, Limit: mostDryRuns, Careful: true},
		Forge:   forgeClient, Heads: heads, Base: d.inForce, Names: d.assembly.Names, Lanes: lanes, Records: d.assembly.Records,
		Tokens: d.tokensOnRecord(), Guards: d.assembly.Guards, Trust: d.trust(), Comments: d.settings.Forge.Comment,
		Deprecations: d.assembly.Deprecations, Cost: d.assembly.Lanes.Cost, Requests: requests, Now: time.Now,
		Diagnostics: review.Diagnostics{Failed: d.health.ReviewFailed, Log: d.log, Outages: d.outages, Changed: d.changes.Note},
	}), nil
}

// trust says whose word counts on the forge.
func (d *Daemon) trust() review.Trust {
	f := d.settings.Forge
	trust := review.Trust{
		Accounts: review.AccountFile(filepath.Join(d.settings.StateDir, "approvers.json")),
		Forks:    review.Forks{Plans: review.ForkPlans(f.Forks.Plans), Label: f.Forks.Label, PerHour: f.Forks.PerHour},
	}
	for _, approver := range f.Approvers {
		trust.Approvers = append(trust.Approvers, reconcile.Account{ID: approver.ID, Name: approver.Name})
	}
	return trust
}

// hookPath is where webhooks arrive.
const hookPath = "/hook/git"

// mostDryRuns bounds the changes of one pull request that the platform is asked about.
const mostDryRuns = 20

// tokensOnRecord reads tokens from the ledger, which whoever creates them has open
// beside. It asks the platform nothing: a pull request must not have credentials.tokens
// used.
func (d *Daemon) tokensOnRecord() *token.Worker {
	return token.New(token.Config{
		Memory: d.assembly.TokenMemory, NameSuffix: d.assembly.Tokens.NameSuffix, CreatingGroups: d.assembly.Tokens.CreatingGroups, Now: time.Now, Log: d.log,
	})
}

// withHooks puts the webhooks of forges, which poke, beside the health pages. Each request
// goes to count.
func withHooks(pages http.Handler, configured map[string]schema.Hook, count func(outcome string), log *slog.Logger, poke func(context.Context) error) (http.Handler, error) {
	if len(configured) == 0 {
		return pages, nil
	}
	var hooks []forge.Hook
	for _, h := range configured {
		hooks = append(hooks, forge.Hook{Kind: forge.Kind(h.Kind), Secret: func() (edge.Secret, error) { return setup.ReadSecret(h.Secret) }})
	}
	if err := forge.CheckHooks(hooks); err != nil {
		return nil, cli.Fail(fmt.Errorf("hooks: %w", err), "see hooks in the configuration")
	}
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	refusals := newRefusedHooks()
	mux.Handle(hookPath, forge.Handler(hooks, func(o forge.Outcome) {
		log.Debug("webhook", "outcome", string(o))
		count(string(o))
		refusals.note(log, o)
	}, poke))
	return mux, nil
}

// refusedEvery is how often one outcome is logged at most.
const refusedEvery = 10 * time.Minute

// refusedHooks logs that webhooks are refused, each outcome once in a while: who sends them
// sees an answer without text, and its answer is often not read.
type refusedHooks map[forge.Outcome]*rate.Sometimes

func newRefusedHooks() refusedHooks {
	r := refusedHooks{}
	for _, o := range []forge.Outcome{forge.Unverified, forge.Unreadable, forge.Throttled, forge.NoPost, forge.Unready} {
		r[o] = &rate.Sometimes{Interval: refusedEvery}
	}
	return r
}

func (r refusedHooks) note(log *slog.Logger, o forge.Outcome) {
	if refused := r[o]; refused != nil {
		refused.Do(func() { log.Warn("a webhook was refused", "outcome", string(o)) })
	}
}

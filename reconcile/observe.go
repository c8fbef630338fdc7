package reconcile

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// observation is what a run saw, and when it saw each entry point.
type observation struct {
	live diff.Live
	at   map[edge.ZoneID]time.Time
}

// observe reads each account's rulesets once, but for lists that were read since a
// time, and each zone's entry point once. The zero time reads all of them. It fails
// only where nothing else could work; any other failure is the observation of its
// zone.
func (r *Reconciler) observe(ctx context.Context, state desired.State, since time.Time) (observation, error) {
	seen := observation{
		live: diff.Live{
			Accounts:    make(map[edge.AccountID]diff.AccountLive, len(state.Accounts)),
			EntryPoints: make(map[edge.ZoneID]diff.Observed[edge.Ruleset], state.Zones()),
		},
		at: make(map[edge.ZoneID]time.Time, state.Zones()),
	}
	for _, account := range state.Accounts {
		if len(account.Zones) == 0 {
			continue
		}
		live, err := r.observeAccount(ctx, account, since)
		if err != nil {
			return seen, err
		}
		if ctx.Err() != nil {
			return seen, context.Cause(ctx) // what could not be read says nothing now
		}
		seen.live.Accounts[account.ID] = live
	}
	return seen, r.observeZones(ctx, state, &seen)
}

// listing is a list of an account's rulesets, and when it was asked for.
type listing struct {
	rulesets []edge.Ruleset
	at       time.Time
}

// list returns the rulesets of an account: as listed since a time, where they were.
func (r *Reconciler) list(ctx context.Context, account edge.AccountID, since time.Time) ([]edge.Ruleset, error) {
	if known, ok := r.listed[account]; ok && !since.IsZero() && !known.at.Before(since) {
		return known.rulesets, nil
	}
	at := r.Now()
	rulesets, err := r.Reader.AccountRulesets(ctx, account)
	if err != nil {
		return nil, err
	}
	if r.listed == nil {
		r.listed = map[edge.AccountID]listing{}
	}
	r.listed[account] = listing{rulesets, at}
	return rulesets, nil
}

// refresh lists the rulesets once more of those accounts in which a plan would
// change something that it has worked out from an old list, and reports whether
// there were any.
func (r *Reconciler) refresh(ctx context.Context, state desired.State, live diff.Live, plan diff.Plan) (bool, error) {
	fresh := r.Now().Add(-freshFor)
	wanted := map[string]bool{}
	for _, c := range plan.Changes {
		wanted[c.Account] = wanted[c.Account] || c.Kind == diff.KindDeployment && c.Applies()
	}
	any := false
	for _, account := range state.Accounts {
		if !wanted[account.Key] || !r.listed[account.ID].at.Before(fresh) {
			continue
		}
		again, err := r.observeAccount(ctx, account, fresh)
		if err != nil {
			return any, err
		}
		if ctx.Err() != nil {
			return any, context.Cause(ctx)
		}
		any, live.Accounts[account.ID] = true, again
	}
	return any, nil
}

// observeAccount lists an account's rulesets and reads in full those that its
// zones deploy, from memory where the version listed is one already read.
func (r *Reconciler) observeAccount(ctx context.Context, account desired.Account, since time.Time) (diff.AccountLive, error) {
	listed, err := r.list(ctx, account.ID, since)
	if stops(err) {
		return diff.AccountLive{}, rejected(err)
	}
	live := diff.AccountLive{
		Listed:  diff.Observed[[]edge.Ruleset]{Value: listed, Err: err},
		Managed: map[edge.RulesetID]diff.Observed[edge.Ruleset]{},
	}
	if err != nil {
		return live, nil
	}
	for _, ref := range deployed(account) {
		found, err := diff.FindRuleset(ref, listed)
		if err != nil {
			continue // the plan says so for each zone
		}
		full, err := r.managedRuleset(ctx, account.ID, found)
		if stops(err) {
			return live, rejected(err)
		}
		live.Managed[found.ID] = diff.Observed[edge.Ruleset]{Value: full, Err: err}
	}
	return live, nil
}

// deployed returns the managed rulesets that at least one zone deploys.
func deployed(account desired.Account) []desired.RulesetRef {
	used := map[string]bool{}
	for _, zone := range account.Zones {
		for _, d := range zone.Deployments {
			used[d.Ruleset] = true
		}
	}
	var refs []desired.RulesetRef
	for _, ref := range account.Rulesets {
		if used[ref.Key] {
			refs = append(refs, ref)
		}
	}
	return refs
}

func (r *Reconciler) managedRuleset(ctx context.Context, account edge.AccountID, listed edge.Ruleset) (edge.Ruleset, error) {
	key := managedKey{account, listed.ID}
	if known, ok := r.rulesets[key]; ok && known.Version == listed.Version && listed.Version != "" {
		return known, nil
	}
	full, err := r.Reader.AccountRuleset(ctx, account, listed.ID)
	if err != nil {
		return edge.Ruleset{}, err
	}
	if r.rulesets == nil {
		r.rulesets = map[managedKey]edge.Ruleset{}
	}
	r.rulesets[key] = full
	return full, nil
}

// managedKey names a managed ruleset that is kept between runs.
type managedKey struct {
	account edge.AccountID
	ruleset edge.RulesetID
}

// forgetRulesets drops managed rulesets that no zone of the state in force deploys
// any more, and the lists of accounts that it does not have.
func (r *Reconciler) forgetRulesets() {
	if r.inForce == nil {
		return
	}
	accounts, used := map[edge.AccountID]bool{}, map[managedKey]bool{}
	for _, account := range r.inForce.Accounts {
		accounts[account.ID] = true
		for _, ref := range deployed(account) {
			if found, err := diff.FindRuleset(ref, r.listed[account.ID].rulesets); err == nil {
				used[managedKey{account.ID, found.ID}] = true
			}
		}
	}
	maps.DeleteFunc(r.rulesets, func(key managedKey, _ edge.Ruleset) bool { return !used[key] })
	maps.DeleteFunc(r.listed, func(id edge.AccountID, _ listing) bool { return !accounts[id] })
}

// observeZones reads entry points side by side. Zones of an account whose
// rulesets could not be listed are unknown without being read.
func (r *Reconciler) observeZones(ctx context.Context, state desired.State, seen *observation) error {
	var zones []edge.ZoneID
	for _, account := range state.Accounts {
		listErr := seen.live.Accounts[account.ID].Listed.Err
		for _, zone := range account.Zones {
			if listErr == nil {
				zones = append(zones, zone.ID)
				continue
			}
			seen.live.EntryPoints[zone.ID] = diff.Observed[edge.Ruleset]{Err: listErr}
		}
	}
	var mu sync.Mutex
	done := 0
	down := outage{limit: 2 * r.concurrency()}
	group, ctx := errgroup.WithContext(ctx)
	// As many goroutines as there are requests at a time, not as zones: each new one
	// would first grow its stack to what HTTP and JSON need.
	var next atomic.Int64
	for range min(r.concurrency(), len(zones)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(zones)); i = next.Add(1) - 1 {
				at, observed, err := r.observeZone(ctx, zones[i], &down)
				if err != nil {
					return err
				}
				mu.Lock()
				seen.live.EntryPoints[zones[i]], seen.at[zones[i]] = observed, at
				done++
				r.progress("observing zones", done, len(zones))
				mu.Unlock()
			}
			return nil
		})
	}
	return group.Wait()
}

// observeZone reads one entry point. It fails where the run cannot go on.
func (r *Reconciler) observeZone(ctx context.Context, zone edge.ZoneID, down *outage) (time.Time, diff.Observed[edge.Ruleset], error) {
	none := diff.Observed[edge.Ruleset]{}
	if ctx.Err() != nil {
		return time.Time{}, none, context.Cause(ctx)
	}
	at := r.Now()
	if err := down.err(); err != nil {
		return at, diff.Observed[edge.Ruleset]{Err: err}, nil
	}
	ruleset, err := r.Reader.EntryPoint(ctx, zone)
	down.note(err)
	switch {
	case stops(err):
		return at, none, rejected(err)
	case err != nil && ctx.Err() != nil:
		return at, none, context.Cause(ctx)
	}
	return at, diff.Observed[edge.Ruleset]{Value: ruleset, Err: err}, nil
}

package reconcile

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// applier carries one apply stage.
type applier struct {
	*Reconciler
	commit  string
	seen    observation
	applied diff.Applied
	facts   diff.Facts // what a change planned anew is guarded with
	rules   diff.Facts // and, where it weakens by then, with the rules about that
	late    *late
	stop    context.CancelCauseFunc
}

// apply writes the changes that no guard refused, those that strengthen first,
// one at a time within a zone, and proves each by reading it back.
func (r *Reconciler) apply(ctx context.Context, state desired.State, seen observation, report *Report, memory Recollection, facts diff.Facts, order Order) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a := &applier{
		Reconciler: r, commit: state.Commit, seen: seen, applied: memory.Applied, stop: stop,
		facts: diff.Facts{NonConvergent: facts.NonConvergent}, rules: facts, late: &late{order: order},
	}
	zones := byZone(report.Plan)
	alone := apart(state, zones)
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(r.concurrency())
	total := 0
	for _, changes := range zones {
		total += len(changes)
	}
	for _, changes := range zones {
		group.Go(func() error {
			a.zone(ctx, alone[changes[0].ZoneID], changes, func(result Result) {
				mu.Lock()
				defer mu.Unlock()
				report.Results = append(report.Results, result)
				r.progress("applying changes", len(report.Results), total)
			})
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails: results carry the errors
	slices.SortStableFunc(report.Results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Change.Account, b.Change.Account), cmp.Compare(a.Change.Zone, b.Change.Zone),
			cmp.Compare(a.Change.Deployment, b.Change.Deployment))
	})
	return context.Cause(ctx)
}

// byZone groups the changes to apply by zone. Zones that were weakened, whose
// changes strengthen, come first.
func byZone(p diff.Plan) [][]diff.Change {
	index := map[edge.ZoneID]int{}
	var zones [][]diff.Change
	for _, c := range p.Changes {
		if !c.Applies() || c.Kind != diff.KindDeployment {
			continue
		}
		i, ok := index[c.ZoneID]
		if !ok {
			i = len(zones)
			index[c.ZoneID] = i
			zones = append(zones, nil)
		}
		zones[i] = append(zones[i], c)
	}
	slices.SortStableFunc(zones, func(a, b []diff.Change) int { return cmp.Compare(order(a), order(b)) })
	return zones
}

func order(changes []diff.Change) int {
	if slices.ContainsFunc(changes, func(c diff.Change) bool { return c.Direction == diff.Strengthens }) {
		return 0
	}
	return 1
}

// apart returns, for each zone with changes, the part of the state that is about
// it alone: a fleet must not be planned anew for the sake of one zone.
func apart(state desired.State, zones [][]diff.Change) map[edge.ZoneID]desired.State {
	alone := make(map[edge.ZoneID]desired.State, len(zones))
	wanted := make(map[edge.ZoneID]bool, len(zones))
	for _, changes := range zones {
		wanted[changes[0].ZoneID] = true
	}
	for _, account := range state.Accounts {
		for _, zone := range account.Zones {
			if wanted[zone.ID] {
				account := account
				account.Zones = []desired.Zone{zone}
				alone[zone.ID] = desired.State{Commit: state.Commit, Accounts: []desired.Account{account}}
			}
		}
	}
	return alone
}

// zone applies the changes of one zone in turn.
func (a *applier) zone(ctx context.Context, alone desired.State, changes []diff.Change, emit func(Result)) {
	id := changes[0].ZoneID
	v := &visit{applier: a, alone: alone, entryPoint: a.seen.live.EntryPoints[id].Value, at: a.seen.at[id]}
	for _, c := range changes {
		result := Result{Change: c, Outcome: NotStarted}
		if ctx.Err() == nil {
			result = v.change(ctx, c)
		}
		if stops(result.Err) {
			a.stop(rejected(result.Err))
		}
		emit(result)
	}
}

package control

import (
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What follows is for who plans a whole state at once, and not zone by zone: packages
// once and review.

// Whole is a whole state at a time, and what it is judged by.
type Whole struct {
	Record reconcile.Record
	Guards reconcile.Guards
	// Before is what the accepted commit declares; nil where that is not at hand.
	Before *desired.State
	State  desired.State
	Live   diff.Live // what was read for it
	Now    time.Time
}

// WholeFacts are what guards need to know of a whole state at a time, as it is on
// record. The caller adds what it alone knows: what a person has said to it, where
// secrets go, and how far the waves have come.
func WholeFacts(w Whole) guard.Facts {
	record := w.Record
	f := guard.Facts{
		Before: record.Accepted.Size, After: sizeOf(w.State), Loss: w.loss(), Shrink: w.Guards.Shrink,
		Now: w.Now, Holds: diff.Active(record.Holds, w.Now, Declarations(w.State)), Rules: w.Guards.Rules, Observe: w.Guards.Observe,
		Approved: digests(w.Guards.Current(record.Approvals, w.Now)),
		Zones:    map[edge.Scope]guard.Labels{},
	}
	m := wholeMemory(record, w.Guards, w.State)
	f.LabelsBefore, f.Accounts = m.under, m.accounts
	for _, z := range w.State.EachZone() {
		f.Zones[z.Scope] = z.Labels
	}
	f.Base = w.base(f)
	f.Freezes, _ = reconcile.FreezesAt(w.Guards.Freezes, w.Now, false)
	return f
}

// Departures are what leaves settings of the configuration with a state, of all that it
// declares, and what is to be put on record with it.
func Departures(record reconcile.Record, guards reconcile.Guards, state desired.State) ([]diff.Leaving, reconcile.Memory) {
	m := wholeMemory(record, guards, state)
	return m.leaving, m.record
}

// Departed is what is to be put on record of what people have let leave settings, in a plan
// of a state; and the digests of that.
func Departed(record reconcile.Record, guards reconcile.Guards, state desired.State, plan diff.Plan) (reconcile.Memory, []string) {
	m := wholeMemory(record, guards, state)
	return m.departures(plan.Leaving)
}

// wholeMemory is the memory of a state after what is on record. Accounts of which nothing is
// on record yet are bound as the accepted commit declares them.
func wholeMemory(record reconcile.Record, guards reconcile.Guards, state desired.State) memory {
	have := record.Memory
	if len(have.Bound) == 0 && len(guards.Accounts.Settings) > 0 {
		if accepted, err := DecodeState(record.Accepted.State); err == nil {
			have.Bound = guards.Accounts.Declaring(idsOf(accepted), nil).Bindings(guards.Selectors())
		}
	}
	return remembered(guards, have, state, slices.Collect(maps.Keys(record.Proofs)), record.Proved)
}

// Declarations returns the fingerprint of each zone's declaration in a state, empty for one
// that it does not declare.
func Declarations(state desired.State) func(edge.Scope) string {
	at := map[edge.Scope]place{}
	for i, account := range state.Accounts {
		for j, z := range account.Zones {
			at[z.Scope] = place{i, j}
		}
	}
	return func(id edge.Scope) string {
		p, declared := at[id]
		if !declared {
			return ""
		}
		account := state.Accounts[p.account]
		return account.Zones[p.zone].Fingerprint(account)
	}
}

// RolloutOf is the rollout that a state is in: the one on record, or a new one for a
// commit that is not on record yet.
func RolloutOf(record reconcile.Record, waves []reconcile.Wave, state desired.State) reconcile.Rollout {
	have := record.Rollout
	if len(waves) == 0 || have.Commit == state.Commit {
		return have
	}
	stopped := map[edge.Scope]string{} // by a revert
	for _, h := range record.Holds {
		if h.Reverted() {
			stopped[h.Scope] = h.Declaration
		}
	}
	var zones []desired.Zone
	for account, z := range state.EachZone() {
		proof, fingerprint := record.Proofs[z.Scope], z.Fingerprint(account)
		if proof.Fingerprint != fingerprint && !proof.Earlier.Has(fingerprint) && stopped[z.Scope] != fingerprint {
			zones = append(zones, z)
		}
	}
	return newRollout(waves, have, state.Commit, zones, record.Proved)
}

// Given are the zones that a state declares otherwise than the one on record; all that are
// not proved where that is not at hand.
func Given(record reconcile.Record, state desired.State) (ids []edge.Scope) {
	before, err := DecodeState(record.Accepted.State)
	known := err == nil && len(record.Accepted.State) > 0
	changed := map[edge.Scope]bool{}
	if known {
		changed = diff.ChangedZones(before, state)
	}
	for account, z := range state.EachZone() {
		if changed[z.Scope] || !known && record.Proofs[z.Scope].Fingerprint != z.Fingerprint(account) {
			ids = append(ids, z.Scope)
		}
	}
	return ids
}

// RolloutFacts tells guards how far a rollout is at a time; nil where there is none.
func RolloutFacts(o reconcile.Rollout, waves []reconcile.Wave, now time.Time) *guard.Rollout {
	if len(waves) == 0 || len(o.Zones) == 0 {
		return nil
	}
	f := &guard.Rollout{Wave: map[edge.Scope]int{}, Waves: len(waves) + 1, Halted: o.Halted}
	for id, z := range o.Zones {
		if waits(o, id) {
			f.Wave[id] = z.Wave
		}
	}
	f.Open, f.Next = open(o, waves, now)
	return f
}

// ZoneOutcomes is what a run over zones has made of each of them.
func ZoneOutcomes(zones []edge.Scope, plan diff.Plan, results []reconcile.Result) map[edge.Scope]reconcile.ZoneOutcome {
	apart := make(map[edge.Scope]*Outcome, len(zones))
	for _, id := range zones {
		apart[id] = &Outcome{Scope: id}
	}
	for _, problem := range plan.Problems {
		if o := apart[problem.Scope]; o != nil {
			o.Plan.Problems = append(o.Plan.Problems, problem)
		}
	}
	for _, change := range plan.Changes {
		if o := apart[change.Scope]; o != nil {
			o.Plan.Changes = append(o.Plan.Changes, change)
		}
	}
	for _, result := range results {
		if o := apart[result.Change.Scope]; o != nil {
			o.Results = append(o.Results, result)
		}
	}
	outcomes := make(map[edge.Scope]reconcile.ZoneOutcome, len(zones))
	for id, o := range apart {
		outcomes[id] = zoneOutcome(*o)
	}
	return outcomes
}

// GoneFrom are the zones on record that a state does not declare; none while the id of a
// zone is not known.
func GoneFrom(record reconcile.Record, state desired.State) (ids []edge.Scope) {
	if unfound(state) {
		return nil
	}
	known := map[edge.Scope]bool{}
	for id := range record.Proofs {
		known[id] = true
	}
	for id := range record.Applied {
		known[id.Scope] = true
	}
	for id := range record.NonConvergent {
		known[id.Scope] = true
	}
	for _, z := range state.EachZone() {
		delete(known, z.Scope)
	}
	return slices.SortedFunc(maps.Keys(known), edge.Scope.Compare)
}

// Obsolete returns the deployments on record that a state does not declare, of zones
// that it does, sorted. Where a zone's rulesets cannot be told, all of the zone stays.
func Obsolete(record reconcile.Record, state desired.State, live diff.Live) []diff.DeploymentID {
	declared, unsure := declarations(state, live)
	gone := map[diff.DeploymentID]bool{}
	note := func(id diff.DeploymentID) {
		if !declared[id] && !unsure[id.Scope] {
			gone[id] = true
		}
	}
	for id := range record.Applied {
		note(id)
	}
	for id := range record.NonConvergent {
		note(id)
	}
	return slices.SortedFunc(maps.Keys(gone), diff.DeploymentID.Compare)
}

// declarations names all that a state declares the way the platform does. A zone is unsure
// when one of its rulesets was not found, or not looked for.
func declarations(state desired.State, live diff.Live) (declared map[diff.DeploymentID]bool, unsure map[edge.Scope]bool) {
	declared, unsure = map[diff.DeploymentID]bool{}, map[edge.Scope]bool{}
	for _, account := range state.Accounts {
		for _, kind := range planner.Kinds {
			for id, sure := range kind.Declared(account, live.Accounts[account.ID]) {
				declared[id] = true
				unsure[id.Scope] = unsure[id.Scope] || !sure
			}
		}
	}
	return declared, unsure
}

package control

import (
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/rulesets"
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

// Judged is what follows of that, by the decisions of the daemon.
type Judged struct {
	// Facts are what guards need to know. The caller adds what it alone knows: what a person
	// has said to it, where secrets go, and how far the waves have come.
	Facts guard.Facts
	// Acceptance is what is to be on record if the state is accepted, but for the state itself,
	// the waves, and who is behind it.
	Acceptance reconcile.Acceptance
	Leaving    []diff.Leaving // what leaves settings of the configuration with the state
	// Generation is the state, zone by zone.
	Generation *Generation

	memory memory
}

// Departed is what is to be put on record of what people have let leave settings, in a plan of
// the state; and the digests of that.
func (j Judged) Departed(plan diff.Plan) (reconcile.Memory, []string) {
	return j.memory.departures(plan.Leaving)
}

// Beside is what counts for limits beside a plan of some zones of a state: what was written for the
// same commit before, by whichever process; nil where none of these zones is to be changed for it.
func (j Judged) Beside(record reconcile.Record, scope desired.State) *guard.Tally {
	commit := j.Generation.State.Commit
	if len(record.Written) == 0 || commit != record.Accepted.Commit {
		return nil
	}
	for _, z := range scope.EachZone() {
		if record.Proofs[z.Scope].Fingerprint != j.Generation.declaration(z.Scope) {
			tally := guard.NewTally("this commit", j.Facts)
			tally.Planned = true
			for id, weakens := range record.Written {
				tally.Count(id, weakens)
			}
			return tally
		}
	}
	return nil
}

// Judge decides about a whole state as the daemon does about a commit, and puts nothing on
// record.
func (w Whole) Judge() Judged {
	s := &state{}
	s.init(Config{Guards: w.Guards, Now: func() time.Time { return w.Now }, Ruleset: w.ruleset})
	record := w.Record
	record.Memory = rememberedBefore(record, w.Guards)
	s.restore(record)
	var before *Generation
	if w.Before != nil {
		before = newGeneration(*w.Before, nil)
		s.current.Store(before)
	}
	next := newGeneration(w.State, before)
	next.earlier = s.earlier(before, next)
	judged := Judged{Generation: next, Acceptance: s.acceptance(next, s.zones.between(before, next))}
	judged.Acceptance.Rollout = nil
	for id := range w.Live.Existing() { // after that: what a commit adds, and is read for it, was not there before
		s.zones.of(id).read = true
	}
	var loss guard.Loss
	if before != nil || s.accepted.Commit != w.State.Commit {
		loss = s.loss(next)
	}
	if w.State.Commit == s.accepted.Commit && (len(s.accepted.Earlier) == 0 || len(s.zones.commitWork(next)) == 0) {
		next.earlier = nil // all of its commit is done: what differs has drifted
	}
	s.publish(next)
	judged.Facts, judged.memory, judged.Leaving = s.facts(next), s.zones.memory, s.zones.memory.leaving
	judged.Facts.Before, judged.Facts.Loss = s.accepted.Size, loss
	return judged
}

func (w Whole) ruleset(of desired.Account, ref desired.RulesetRef) edge.RulesetID {
	found, err := rulesets.Find(ref, w.Live.Accounts[of.ID].Listed.Value)
	if err != nil {
		return ""
	}
	return found.ID
}

// rememberedBefore is what zones and accounts are under by what is on record. Accounts of
// which nothing is on record yet are bound as the accepted commit declares them.
func rememberedBefore(record reconcile.Record, guards reconcile.Guards) reconcile.Memory {
	have := record.Memory
	if len(have.Bound) == 0 && len(guards.Accounts.Settings) > 0 {
		if accepted, err := DecodeState(record.Accepted.State); err == nil {
			have.Bound = guards.Accounts.Declaring(idsOf(accepted), nil).Bindings(guards.Selectors())
		}
	}
	return have
}

// Departures are what leaves settings of the configuration with a state, of all that it
// declares, and what is to be put on record with it.
func Departures(record reconcile.Record, guards reconcile.Guards, state desired.State) ([]diff.Leaving, reconcile.Memory) {
	m := remembered(guards, rememberedBefore(record, guards), state, declaring(state), slices.Collect(maps.Keys(record.Proofs)), record.Proved)
	return m.leaving, m.record
}

// Declarations returns the fingerprint of each zone's declaration in a state, empty for one
// that it does not declare.
func Declarations(state desired.State) func(edge.Scope) string {
	return newGeneration(state, nil).declaration
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

// RolloutFacts tells guards how far a rollout is at a time; nil where there is none.
func RolloutFacts(o reconcile.Rollout, waves []reconcile.Wave, now time.Time) *guard.Rollout {
	f := factsOf(o, waves, now)
	if f == nil {
		return nil
	}
	for id, z := range o.Zones {
		if waits(o, id) {
			f.Wave[id] = z.Wave
		}
	}
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

// Obsolete returns the deployments on record that a state does not declare, of zones
// that it does, sorted. Where a zone's rulesets cannot be told, all of the zone stays.
func Obsolete(record reconcile.Record, state desired.State, live diff.Live) []diff.ID {
	declared, unsure := declarations(state, live)
	gone := map[diff.ID]bool{}
	note := func(id diff.ID) {
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
	return slices.SortedFunc(maps.Keys(gone), diff.ID.Compare)
}

// declarations names all that a state declares the way the platform does. A zone is unsure
// when one of its rulesets was not found, or not looked for.
func declarations(state desired.State, live diff.Live) (declared map[diff.ID]bool, unsure map[edge.Scope]bool) {
	declared, unsure = map[diff.ID]bool{}, map[edge.Scope]bool{}
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

// Accepted is what the accepted commit on record declares, nil where that is not at hand.
func Accepted(record reconcile.Record) *desired.State {
	if len(record.Accepted.State) == 0 {
		return nil
	}
	state, err := DecodeState(record.Accepted.State)
	if err != nil {
		return nil
	}
	return &state
}

package control

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// exists reports whether a zone is known to exist: it is on record, or was read now.
func (w Whole) exists() func(edge.Scope) bool {
	known, seen := onRecord(w.Record), w.Live.Existing()
	return func(id edge.Scope) bool {
		_, ok := known[id]
		return ok || seen[id]
	}
}

// onRecord counts what is on record of each zone that was proved or written.
func onRecord(record reconcile.Record) map[edge.Scope]guard.Size {
	counts := map[edge.Scope]guard.Size{}
	for id := range record.Proofs {
		counts[id] = guard.Size{}
	}
	for id := range record.Applied {
		counts[id.Scope] = withOne(counts[id.Scope], id)
	}
	return counts
}

// withOne counts one thing more.
func withOne(size guard.Size, id diff.ID) guard.Size {
	if id.Kind == "" {
		size.Deployments++
	} else {
		size.Others++
	}
	return size
}

// loss is what of the accepted commit the state no longer declares.
func (w Whole) loss() guard.Loss {
	switch {
	case w.Before != nil:
		return guard.LossOf(*w.Before, w.State, guard.Known{Exists: w.exists(), Ruleset: w.ruleset})
	case w.Record.Accepted.Commit != "" && w.Record.Accepted.Commit != w.State.Commit:
		return guard.LossOnRecord(onRecord(w.Record), w.State)
	}
	return guard.Loss{}
}

func (w Whole) ruleset(of desired.Account, ref desired.RulesetRef) edge.RulesetID {
	found, err := rulesets.Find(ref, w.Live.Accounts[of.ID].Listed.Value)
	if err != nil {
		return ""
	}
	return found.ID
}

// base are the zones that shares are shares of.
func (w Whole) base(f guard.Facts) *guard.Base {
	base, earlier, exists := guard.NewBase(f.Rules), w.Earlier(), w.exists()
	if w.State.Commit == w.Record.Accepted.Commit && w.settled() {
		earlier = nil // all of its commit is done: what differs has drifted
	}
	for id, labels := range f.Zones {
		before, there := earlier.Labels(id, labels)
		if !there || !exists(id) {
			continue
		}
		if proof, ok := w.Record.Proofs[id]; ok {
			base.Add(id, before, proof.Labels)
		} else {
			base.Add(id, before)
		}
	}
	return base
}

// Earlier says what zones were before the commit of the state, for [reconcile.Acceptance].
func (w Whole) Earlier() guard.Earlier {
	accepted := w.Record.Accepted
	switch {
	case w.State.Commit == accepted.Commit:
		return accepted.Earlier
	case w.Before != nil:
		return guard.EarlierOf(*w.Before, w.State)
	case accepted.Commit == "":
		return nil
	}
	known := onRecord(w.Record)
	return notOnRecord(w.State, func(id edge.Scope) bool { _, ok := known[id]; return ok })
}

// settled reports whether each zone was proved as it is declared.
func (w Whole) settled() bool {
	if len(w.Record.Accepted.Earlier) == 0 {
		return true
	}
	for account, z := range w.State.EachZone() {
		if w.Record.Proofs[z.Scope].Fingerprint != z.Fingerprint(account) {
			return false
		}
	}
	return true
}

// notOnRecord has those zones of a state as new that are not on record: what was in force
// before is not at hand.
func notOnRecord(state desired.State, known func(edge.Scope) bool) guard.Earlier {
	earlier := guard.Earlier{}
	for _, z := range state.EachZone() {
		if !known(z.Scope) {
			earlier[z.Scope] = nil
		}
	}
	return earlier
}

// Accepted is what the accepted commit on record declares, nil where that is not at hand.
func Accepted(record reconcile.Record, within func(desired.State) desired.State) *desired.State {
	if len(record.Accepted.State) == 0 {
		return nil
	}
	state, err := DecodeState(record.Accepted.State)
	if err != nil {
		return nil
	}
	state = within(state)
	return &state
}

package once

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
)

// scopeOf cuts a state down to what an order asks for, and reports whether that is all
// tokens, those that left the repository among them.
func scopeOf(state desired.State, order Order) (desired.State, bool, error) {
	if !order.narrow() {
		return state, true, nil
	}
	scoped, err := only(state, order.Zones, order.Tokens)
	return scoped, false, err
}

// only keeps the zones and tokens of the given keys, all of which must exist.
func only(state desired.State, zones, tokens []string) (desired.State, error) {
	found := map[string]bool{}
	scoped := state.Only(func(_ desired.Account, z desired.Zone) bool {
		wanted := slices.Contains(zones, z.Key)
		found[z.Key] = found[z.Key] || wanted
		return wanted
	})
	for _, key := range zones {
		if !found[key] {
			return desired.State{}, missing("zone", key, state.ZoneKeys())
		}
	}
	scoped.Tokens = nil
	for _, key := range tokens {
		i := slices.IndexFunc(state.Tokens, func(t desired.Token) bool { return t.Key == key })
		if i < 0 {
			return desired.State{}, missing("token", key, state.TokenKeys())
		}
		scoped.Tokens = append(scoped.Tokens, state.Tokens[i])
	}
	return scoped, nil
}

// missing is the error for a key that nothing declares, with the key that was probably meant.
func missing(kind, key string, declared []string) error {
	err := fmt.Errorf("--only %s=%s: no such %s is declared", kind, key, kind)
	if near := nearest.Word(key, declared); near != "" {
		err = fmt.Errorf("%w; did you mean %s=%s?", err, kind, near)
	}
	return err
}

// accepted is what the accepted commit declares. For a plan of that commit it is nil, and not decoded:
// it says nothing that the state does not, where that declares as much, and each zone that was proved
// (another folder of the repository may be configured by now), by ids alone (names may stand for other
// zones than before).
func (p *planned) accepted(writes bool) *desired.State {
	commit, size := p.record.Accepted.Commit, p.record.Accepted.Size
	same := commit != "" && p.state.Commit == commit &&
		p.state.Zones() == size.Zones && p.state.Deployments() == size.Deployments && len(p.state.Tokens) == size.Tokens
	if !writes && same && declaresAll(p.state, p.record.Proofs) && !slices.ContainsFunc(p.state.Accounts, anyNamed) {
		return nil
	}
	return control.Accepted(p.record)
}

// declaresAll reports whether a state declares each zone that was proved.
func declaresAll(state desired.State, proofs map[edge.Scope]reconcile.Proof) bool {
	proved := 0
	for _, z := range state.EachZone() {
		if _, ok := proofs[z.Scope]; ok {
			proved++
		}
	}
	return proved == len(proofs)
}

// leavingWithin is what of all departures is about a part of what is declared.
func leavingWithin(all []diff.Leaving, scope desired.State) []diff.Leaving {
	accounts, zones := map[string]bool{}, map[edge.Scope]bool{}
	for _, a := range scope.Accounts {
		accounts[a.Key] = true
		for _, z := range a.Zones {
			zones[z.Scope] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(l diff.Leaving) bool {
		return l.Scope.IsZero() && !accounts[l.Account] || !l.Scope.IsZero() && !zones[l.Scope]
	})
}

// facts are what the guards need to know of the whole, and the freezes that the order
// overrides.
func (r *Run) facts(p *planned) (f guard.Facts, overridden []string) {
	now := r.Now()
	whole := control.Whole{Record: p.record, Guards: r.Guards, State: p.state, Live: p.seen.Live, Now: now}
	if p.before != nil {
		whole.Before = new(r.Lanes.Within(*p.before))
	}
	p.judged = whole.Judge()
	f = p.judged.Facts
	f.Tally = p.judged.Beside(p.record, p.scope)
	f.AllowShrink, f.Rollout = p.order.AllowShrink, control.RolloutFacts(p.rollout, r.Guards.Waves, now)
	for _, a := range p.words {
		f.Approved[a.Digest] = true
	}
	for _, digest := range p.order.Approve {
		f.Approved[digest] = true
	}
	if p.order.narrow() {
		f.Holds = slices.DeleteFunc(f.Holds, func(h diff.Hold) bool { return !holdsAny(h, p.scope) })
	}
	if r.Tokens != nil {
		f.CheckSink = r.Tokens.Sinks.Check
	}
	f.Freezes, overridden = r.freezes(p.order)
	return f, overridden
}

// holdsAny reports whether a hold is about a zone of a state.
func holdsAny(h diff.Hold, state desired.State) bool {
	for _, z := range state.EachZone() {
		if _, held := diff.HoldOn([]diff.Hold{h}, z.Key, z.Scope); held {
			return true
		}
	}
	return false
}

// freezes returns those in force, and the names of those that the order overrides.
func (r *Run) freezes(order Order) (inForce []guard.Freeze, overridden []string) {
	return reconcile.FreezesAt(r.Guards.Freezes, r.Now(), order.DuringFreeze != "")
}

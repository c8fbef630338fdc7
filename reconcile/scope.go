package reconcile

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// narrow reports whether an order names what it wants.
func (o Order) narrow() bool { return len(o.Zones) > 0 || len(o.Tokens) > 0 }

// scoped is the part of a state that a run is about.
type scoped struct {
	desired.State
	zones  bool // all of them
	tokens bool // all of them, and those that left the repository
}

// all reports whether nothing is left out.
func (s scoped) all() bool { return s.zones && s.tokens }

// scope cuts a state down to what an order asks for.
func (r *Reconciler) scope(ctx context.Context, state desired.State, order Order, memory Recollection, facts diff.Facts) (scoped, error) {
	switch {
	case order.narrow():
		part, err := only(state, order.Zones, order.Tokens)
		return scoped{State: part}, err
	case order.slice != nil:
		state.Accounts = order.slice.accounts
		if !order.slice.first {
			state.Tokens = nil
		}
		return scoped{state, false, order.slice.first}, nil
	case order.ChangedOnly && r.actedOn == nil:
		r.actedOn = r.resume(ctx, memory, state)
	}
	if !order.ChangedOnly || r.actedOn == nil {
		return scoped{state, true, true}, nil
	}
	tokens := true
	var changed map[edge.ZoneID]bool
	if state.Commit != "" && state.Commit == r.actedOn.Commit {
		// Nothing changed: there is no need to compare a fleet with itself.
		due, err := r.dueTokens(ctx, state.Tokens, facts)
		if err != nil {
			return scoped{}, fmt.Errorf("recalling tokens: %w", err)
		}
		state.Tokens, tokens = due, false
	} else {
		changed = diff.ChangedZones(*r.actedOn, state)
	}
	due := r.delayed.due(state, facts)
	wanted := func(z desired.Zone) bool { return changed[z.ID] || r.pending.due(z.ID) || due[z.ID] }
	part := withZones(state, wanted)
	if over := r.delayed.overLimit(); len(over) > 0 && part.Zones() > 0 {
		part = withZones(state, func(z desired.Zone) bool {
			_, limited := over[z.ID]
			return limited || wanted(z)
		})
	}
	return scoped{part, false, tokens}, nil
}

// only keeps the zones and tokens of the given keys, all of which must exist.
func only(state desired.State, zones, tokens []string) (desired.State, error) {
	found := map[string]bool{}
	scoped := withZones(state, func(z desired.Zone) bool {
		wanted := slices.Contains(zones, z.Key)
		found[z.Key] = found[z.Key] || wanted
		return wanted
	})
	for _, key := range zones {
		if !found[key] {
			return desired.State{}, fmt.Errorf("--only zone=%s: no such zone is declared", key)
		}
	}
	scoped.Tokens = nil
	for _, key := range tokens {
		i := slices.IndexFunc(state.Tokens, func(t desired.Token) bool { return t.Key == key })
		if i < 0 {
			return desired.State{}, fmt.Errorf("--only token=%s: no such token is declared", key)
		}
		scoped.Tokens = append(scoped.Tokens, state.Tokens[i])
	}
	return scoped, nil
}

// withZones returns the state with only the zones that pass, and only the
// accounts that have some.
func withZones(state desired.State, pass func(desired.Zone) bool) desired.State {
	accounts := make([]desired.Account, 0, len(state.Accounts))
	for _, account := range state.Accounts {
		zones := make([]desired.Zone, 0, len(account.Zones))
		for _, zone := range account.Zones {
			if pass(zone) {
				zones = append(zones, zone)
			}
		}
		if account.Zones = zones; len(zones) > 0 {
			accounts = append(accounts, account)
		}
	}
	state.Accounts = accounts
	return state
}

// tokenKeys are those of the tokens of a state.
func tokenKeys(state desired.State) map[string]bool {
	keys := make(map[string]bool, len(state.Tokens))
	for _, token := range state.Tokens {
		keys[token.Key] = true
	}
	return keys
}

// zoneIDs ranges over the zones of a state.
func zoneIDs(state desired.State) iter.Seq[edge.ZoneID] {
	return func(yield func(edge.ZoneID) bool) {
		for _, account := range state.Accounts {
			for _, zone := range account.Zones {
				if !yield(zone.ID) {
					return
				}
			}
		}
	}
}

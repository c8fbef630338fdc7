// Package rule plans the rules that a zone declares in a phase of its own, in an order: custom
// rules ([Custom]) and rate limits ([RateLimit]). Each is known by its ref, which is the key of
// its declaration, so that it stays the same rule however it is edited or moved:
//
//	members   what a rule can declare, and where the platform has it   (members.go)
//	arrange   which rules move, so that each stands where it says      (order.go)
//	Plan      one write a rule; rules of others stay as they are       (plan.go)
//	direct    what a change does to protection                         (direction.go)
//	Restore   a rule as it was before a write                          (restore.go)
//	Declare   the inverse, for import and absorb                       (declare.go)
//
// The laws: after a plan is done each declared rule is as declared and in its order, the rules of
// others have kept their content and their own order, and a second plan is empty.
package rule

import (
	"iter"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Kind is that of the rules of one phase; see [diff.Kind].
type Kind struct {
	name    desired.KindName
	phase   edge.Phase
	members []member
}

// The kinds.
var (
	Custom    = Kind{desired.CustomRule, edge.PhaseFirewallCustom, customMembers}
	RateLimit = Kind{desired.RateLimit, edge.PhaseRateLimit, limitMembers}
)

// Name implements [diff.Kind].
func (k Kind) Name() desired.KindName { return k.name }

// Phase implements [diff.Declarer].
func (k Kind) Phase() edge.Phase { return k.phase }

// PutsBack implements [diff.Returner].
func (Kind) PutsBack() {}

// Phases implements [diff.Kind].
func (k Kind) Phases(zone desired.Zone, removable diff.Pruning) []edge.Phase {
	if _, decided := k.decided(zone); decided || removable.Of(k.name) || slices.ContainsFunc(zone.Others, k.is) {
		return []edge.Phase{k.phase}
	}
	return nil
}

func (k Kind) is(o desired.Other) bool { return o.Kind == k.name }

// decided is what a zone says of rules of others in the phase; false where it says nothing.
func (k Kind) decided(zone desired.Zone) (desired.OfOthers, bool) {
	for _, u := range zone.Unmanaged {
		if u.Kind == k.name {
			return u, true
		}
	}
	return desired.OfOthers{}, false
}

// Declared implements [diff.Kind].
func (k Kind) Declared(account desired.Account, _ diff.AccountLive) iter.Seq2[diff.ID, bool] {
	return func(yield func(diff.ID, bool) bool) {
		for _, zone := range account.Zones {
			for _, o := range zone.Others {
				if k.is(o) && !yield(k.id(zone.Scope, o.Key), true) {
					return
				}
			}
			if _, decided := k.decided(zone); decided && !yield(k.id(zone.Scope, ""), true) {
				return
			}
		}
	}
}

func (k Kind) id(scope edge.Scope, key string) diff.ID {
	return diff.ID{Kind: k.name, Scope: scope, Ref: key}
}

// of are the declarations of the kind in a zone.
func (k Kind) of(zone desired.Zone) (all []desired.Other) {
	for _, o := range zone.Others {
		if k.is(o) {
			all = append(all, o)
		}
	}
	return all
}

func byRef(rules []edge.Rule, ref string) int {
	return slices.IndexFunc(rules, func(r edge.Rule) bool { return r.Ref == ref })
}

func byID(rules []edge.Rule, id edge.RuleID) int {
	return slices.IndexFunc(rules, func(r edge.Rule) bool { return r.ID == id })
}

package guard

import (
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Loss is what of the last accepted commit a commit no longer declares, by what that is on
// the platform: keys, names of rulesets in the repository and whatever is added do not count.
type Loss struct {
	// All is of all that was declared; Real is of that alone which is known to exist, so
	// that zones which were never there make no loss look small.
	All, Real Lost
	Names     []string // the first few of what is gone
	More      int      // how many are not among Names
}

// Lost is how much there was, and how much of that is gone.
type Lost struct{ Of, Gone Size }

// Known is what is known of the platform. The zero value knows nothing.
type Known struct {
	// Exists reports whether the entry point of a zone was read, or found not to be there,
	// at least once; nil: of none.
	Exists func(edge.Scope) bool
	// Ruleset returns the id of a managed ruleset that goes by its name, empty where that is
	// not known; nil knows none.
	Ruleset func(desired.Account, desired.RulesetRef) edge.RulesetID
}

func (k Known) exists(id edge.Scope) bool { return k.Exists != nil && k.Exists(id) }

// mostNames is how much of what is gone is named.
const mostNames = 3

// LossOf compares two states, the second of which is to take the place of the first.
func LossOf(before, after desired.State, known Known) Loss {
	var l Loss
	have := declarationsOf(after)
	for _, account := range before.Accounts {
		for _, z := range account.Zones {
			l.zone(declaredZone{account, z}, have, known)
		}
	}
	tokens := map[string][]desired.Token{}
	for _, t := range after.Tokens {
		tokens[t.Key] = append(tokens[t.Key], t)
	}
	for _, t := range before.Tokens {
		gone := !hasToken(tokens[t.Key], t)
		l.count(true, gone, func(s *Size) { s.Tokens++ })
		if gone {
			l.name(diff.NameOf("", "", "", t.Key))
		}
	}
	return l
}

// Loses reports whether a state may declare less than the one before, where it is known which
// zones were replaced; see [desired.Replaced]. Where it does not, [LossOf] finds nothing gone.
func Loses(before, after desired.State, replaced []desired.Index) bool {
	if !desired.SameTokens(before.Tokens, after.Tokens) {
		return true
	}
	for _, at := range replaced {
		was, is := before.Accounts[at.Account].Zones[at.Zone], after.Accounts[at.Account].Zones[at.Zone]
		for _, d := range was.Deployments {
			if !slices.ContainsFunc(is.Deployments, func(o desired.Deployment) bool { return o.Ruleset == d.Ruleset && o.Ref == d.Ref }) {
				return true
			}
		}
		for _, o := range was.Others {
			if !slices.ContainsFunc(is.Others, func(other desired.Other) bool { return other.Kind == o.Kind && other.Key == o.Key }) {
				return true
			}
		}
	}
	return false
}

func (l *Loss) zone(was declaredZone, have declarations, known Known) {
	z, exists := was.zone, known.exists(was.zone.Scope)
	now, declared := have.find(was)
	l.count(exists, !declared, func(s *Size) { s.Zones++ })
	if !declared {
		l.name(diff.NameOf(was.account.Key, z.Key, "", ""))
	}
	for _, d := range z.Deployments {
		gone := !declared || !hasDeployment(was, now, d, known)
		l.count(exists, gone, func(s *Size) { s.Deployments++ })
		if gone && declared {
			l.name(diff.NameOf(was.account.Key, z.Key, d.Name(), ""))
		}
	}
	for _, o := range z.Others {
		gone := !declared || !slices.ContainsFunc(now.zone.Others, func(other desired.Other) bool { return other.Kind == o.Kind && other.Key == o.Key })
		l.count(exists, gone, func(s *Size) { s.Others++ })
		if gone && declared {
			l.name(diff.NameOf(was.account.Key, z.Key, diff.Called(o.Kind, o.Key), ""))
		}
	}
}

func (l *Loss) count(exists, gone bool, add func(*Size)) {
	l.All.count(gone, add)
	if exists {
		l.Real.count(gone, add)
	}
}

func (l *Lost) count(gone bool, add func(*Size)) {
	add(&l.Of)
	if gone {
		add(&l.Gone)
	}
}

func (l *Loss) name(name string) {
	if len(l.Names) == mostNames {
		l.More++
		return
	}
	l.Names = append(l.Names, name)
}

// hasDeployment reports whether a zone still deploys the managed ruleset that a deployment
// of it has deployed, whatever its key is by now.
func hasDeployment(was, now declaredZone, d desired.Deployment, known Known) bool {
	ref := refOf(was.account, d.Ruleset)
	for _, other := range now.zone.Deployments {
		if other.Ref == d.Ref && sameRuleset(was.account, ref, now.account, refOf(now.account, other.Ruleset), known) {
			return true
		}
	}
	return false
}

func refOf(account desired.Account, key string) desired.RulesetRef {
	for _, ref := range account.Rulesets {
		if ref.Key == key {
			return ref
		}
	}
	return desired.RulesetRef{Name: key}
}

// sameRuleset reports whether two references are to one managed ruleset. One that goes by
// name now and by id then is the same only where that is known.
func sameRuleset(of desired.Account, a desired.RulesetRef, in desired.Account, b desired.RulesetRef, known Known) bool {
	if (a.ID == "") == (b.ID == "") {
		return a.ID == b.ID && (a.ID != "" || a.Name == b.Name)
	}
	id := known.ruleset(of, a)
	return id != "" && id == known.ruleset(in, b)
}

func (k Known) ruleset(account desired.Account, ref desired.RulesetRef) edge.RulesetID {
	if ref.ID != "" || k.Ruleset == nil {
		return ref.ID
	}
	return k.Ruleset(account, ref)
}

// hasToken reports whether a token is among those of its key: one whose key or owner is
// another one is a new token, and leaves the old one behind.
func hasToken(all []desired.Token, t desired.Token) bool {
	for _, other := range all {
		if other.Owner == t.Owner && (t.Owner != "" || other.Account == t.Account) ||
			other.Account == t.Account && (desired.Sought(other.Owner) || desired.Sought(t.Owner)) {
			return true
		}
	}
	return false
}

// LossOnRecord is the loss where it is not known any more what the last accepted commit
// declared: record has what is on record of each zone, which all exist. Of a zone that is
// declared still, as many are gone as it declares fewer.
func LossOnRecord(record map[edge.Scope]Size, after desired.State) Loss {
	var l Loss
	have := declarationsOf(after)
	for _, id := range slices.SortedFunc(maps.Keys(record), edge.Scope.Compare) {
		now, declared := have.byID[id]
		l.count(true, !declared, func(s *Size) { s.Zones++ })
		if !declared {
			l.name(id.String())
		}
		for i := range record[id].Deployments {
			l.count(true, i >= len(now.zone.Deployments), func(s *Size) { s.Deployments++ })
		}
		for i := range record[id].Others {
			l.count(true, i >= len(now.zone.Others), func(s *Size) { s.Others++ })
		}
	}
	return l
}

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

// LossOf compares two states of which the difference is known, the second of which is to take the
// place of the first. It is zero where nothing is gone.
func LossOf(before, after desired.State, differ desired.Difference, known Known) Loss {
	var l Loss
	have := declarationsOf(after, differ.Is)
	for _, place := range differ.Was {
		l.zone(declaredAt(before, place), have, known)
	}
	l.tokens(before.Tokens, after.Tokens)
	if l.All.Gone == (Size{}) {
		return Loss{}
	}
	left := differ.Was
	for i, account := range before.Accounts {
		for j := range account.Zones {
			if len(left) > 0 && left[0] == (desired.Index{Account: i, Zone: j}) {
				left = left[1:] // it was counted
				continue
			}
			l.keeps(&account.Zones[j], known)
		}
	}
	return l
}

// keeps counts a zone that is declared as it was.
func (l *Loss) keeps(z *desired.Zone, known Known) {
	of := Size{Zones: 1, Deployments: len(z.Deployments), Others: z.Guarded()}
	l.All.Of = l.All.Of.plus(of)
	if known.exists(z.Scope) {
		l.Real.Of = l.Real.Of.plus(of)
	}
}

func (s Size) plus(o Size) Size {
	return Size{s.Zones + o.Zones, s.Deployments + o.Deployments, s.Tokens + o.Tokens, s.Others + o.Others}
}

func (l *Loss) tokens(before, after []desired.Token) {
	if slices.EqualFunc(before, after, func(a, b desired.Token) bool { return a.Key == b.Key && hasToken([]desired.Token{b}, a) }) {
		l.All.Of.Tokens, l.Real.Of.Tokens = len(before), len(before)
		return
	}
	tokens := map[string][]desired.Token{}
	for _, t := range after {
		tokens[t.Key] = append(tokens[t.Key], t)
	}
	for _, t := range before {
		gone := !hasToken(tokens[t.Key], t)
		l.count(true, gone, func(s *Size) { s.Tokens++ })
		if gone {
			l.name(diff.NameOf("", "", "", t.Key))
		}
	}
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
		if o.Kind.Skips() {
			continue
		}
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
	have := make(map[edge.Scope]desired.Zone, after.Zones())
	for _, z := range after.EachZone() {
		have[z.Scope] = z
	}
	for _, id := range slices.SortedFunc(maps.Keys(record), edge.Scope.Compare) {
		now, declared := have[id]
		l.count(true, !declared, func(s *Size) { s.Zones++ })
		if !declared {
			l.name(id.String())
		}
		for i := range record[id].Deployments {
			l.count(true, i >= len(now.Deployments), func(s *Size) { s.Deployments++ })
		}
		for i := range record[id].Others {
			l.count(true, i >= now.Guarded(), func(s *Size) { s.Others++ })
		}
	}
	return l
}

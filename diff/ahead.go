package diff

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Ahead is the entry point of an earlier phase, with the rulesets that its rules execute. Of all
// of them it has only the rules that may turn off what comes later, and the execute rules of
// rulesets with such rules: without any it was read, and does nothing.
type Ahead struct {
	Observed[edge.Ruleset]
	Executed map[edge.RulesetID]Observed[edge.Ruleset]
	At       time.Time // when it was asked for; zero: it could not be read yet
	// Since is why not all of it could be read again since; nil where it could. What was seen
	// before is in it still: it never becomes empty by that.
	Since error
}

// ErrNotYet is the error of a place that will be looked at, and was not yet.
var ErrNotYet = errors.New("not yet; with the next sweep")

// PhasesAhead are the phases in which a skip rule may turn deployments off, in the order in
// which they run. Of an account only the first is looked at.
var PhasesAhead = [...]edge.Phase{edge.PhaseFirewallCustom, edge.PhaseRateLimit}

// The reasons of places that are not looked at.
const (
	lookingOff  = "off: bypass.phases is not set"
	phaseNotSet = "off: bypass.phases does not have this phase"
)

// Unlooked says in which places nobody has looked that may turn a deployment of a state off:
// one for each account, level, phase and kind of reason, in this order. read says of which
// scopes the entry point of the deployments is known: of others nothing is said. That no one
// looks at [edge.PhaseRateLimit] is not said either: the platform documents no skip rule there.
func Unlooked(state desired.State, read func(edge.Scope) bool, ahead func(edge.Place) (Ahead, bool)) (list []NotLookedAt) {
	for _, account := range state.Accounts {
		of := notLooked{account: account.Key}
		for _, zone := range account.Zones {
			if len(zone.Deployments) == 0 || !read(zone.Scope) {
				continue
			}
			of.note(ahead, edge.AccountScope(account.ID).At(edge.PhaseFirewallCustom), false)
			if zone.Scope.Level == edge.LevelZone {
				_, others := ahead(zone.Scope.At(edge.PhaseRateLimit))
				of.note(ahead, zone.Scope.At(edge.PhaseFirewallCustom), others)
				if others {
					of.note(ahead, zone.Scope.At(edge.PhaseRateLimit), true)
				}
			}
		}
		slices.SortFunc(of.list, func(a, b NotLookedAt) int {
			return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Reason, b.Reason))
		})
		list = append(list, of.list...)
	}
	return list
}

// NotLookedAt is that of what was observed.
func (l Live) NotLookedAt(state desired.State) []NotLookedAt {
	existing := l.Existing()
	return Unlooked(state, func(s edge.Scope) bool { return existing[s] }, func(p edge.Place) (Ahead, bool) {
		a, ok := l.Ahead[p]
		return a, ok
	})
}

// notLooked are the places of one account.
type notLooked struct {
	account string
	list    []NotLookedAt
}

func (n *notLooked) note(ahead func(edge.Place) (Ahead, bool), at edge.Place, others bool) {
	seen, looked := ahead(at)
	one := NotLookedAt{Account: n.account, Level: at.Scope.Level, Phase: at.Phase, Zones: 1, At: seen.At}
	switch {
	case looked && seen.Failed() == nil:
		return
	case looked:
		one.Err, one.Reason = seen.Failed(), WithoutCall(seen.Failed())
	case at.Scope.Level == edge.LevelAccount:
		one.Err, one.Reason = ErrNotYet, ErrNotYet.Error()
	case others:
		one.Reason = phaseNotSet
	default:
		one.Reason = lookingOff
	}
	for i := range n.list {
		if have := &n.list[i]; have.sameAs(one) {
			have.Zones++
			if one.At.Before(have.At) {
				have.At = one.At
			}
			return
		}
	}
	n.list = append(n.list, one)
}

// Failed is why not all of it is known as it is now; nil where it is.
func (a Ahead) Failed() error {
	if err := cmp.Or(a.Err, a.Since); err != nil || len(a.Executed) == 0 {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(a.Executed)) {
		if err := a.Executed[id].Err; err != nil {
			return fmt.Errorf("ruleset %s, which is executed there: %w", id, err)
		}
	}
	return nil
}

// sameAs reports whether two are to be counted as one: the failures of one phase are.
func (n NotLookedAt) sameAs(o NotLookedAt) bool {
	failed := func(n NotLookedAt) bool { return n.Err != nil && !errors.Is(n.Err, ErrNotYet) }
	return n.Level == o.Level && n.Phase == o.Phase && (failed(n) && failed(o) || n.Reason == o.Reason)
}

// WithoutCall is an error without what differs from zone to zone.
func WithoutCall(err error) string {
	answer, ok := errors.AsType[*edge.Error](err)
	if !ok {
		return err.Error()
	}
	without := *answer
	without.Call = ""
	return strings.Replace(err.Error(), answer.Error(), without.Error(), 1)
}

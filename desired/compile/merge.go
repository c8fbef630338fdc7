package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// Merge makes one state of a tree's units. Folders inherit from the folders
// above them, so the same declaration may reach Merge several times: the same
// key with the same value from the same place is one. The same key, zone id or
// token name in any other way is an error that names both places.
//
// The problems are all of the run, warnings too, sorted and told once each.
// With an error among them the state is zero and must not be used.
//
// The origins in zones say nothing of the commit, which [desired.State] does: zones are shared
// with the units, and are the very same after each commit that leaves their folder as it is.
func Merge(units []Unit, commit string) (desired.State, []desired.Problem) {
	_, state, problems := merge(units, commit)
	return state, problems
}

func merge(units []Unit, commit string) (*merger, desired.State, []desired.Problem) {
	if len(units) == 0 {
		return nil, desired.State{}, []desired.Problem{{Message: "no folder was evaluated; this is not an empty desired state"}}
	}
	m := &merger{
		accounts: map[string]*account{},
		tokens:   map[string]desired.Token{},
		zoneIDs:  map[edge.Scope]holder{},
		named:    map[zoneName]holder{},
		names:    map[ownedName]holder{},
		sinks:    map[desired.Sink]holder{},

		integrations: map[string]desired.Integration{},
		calendar:     map[string]desired.CalendarEntry{},
		tests:        map[string]DeclaredTest{},
		ran:          map[string]bool{},
	}
	units = slices.Clone(units)
	slices.SortStableFunc(units, func(a, b Unit) int { return cmp.Compare(a.Dir, b.Dir) })
	for _, u := range units {
		m.unit(u)
	}
	user, problems := oneUser(units)
	m.problems = append(m.problems, problems...)
	if complete(units) {
		m.checkRulesets()
		m.checkOwners()
		m.checkOwn()
		m.checkCalendar()
		m.checkTests()
	}
	told := problemsAt(told(m.problems), commit)
	if len(desired.Errors(told)) > 0 {
		return m, desired.State{}, told
	}
	state := bareZones(m.state(commit, user), func(s desired.State) desired.State { return stamped(s, commit) })
	return m, state, told
}

// complete reports whether every unit declares what it has to. A ruleset may
// be missed only because its folder has mistakes of its own.
func complete(units []Unit) bool {
	return !slices.ContainsFunc(units, func(u Unit) bool { return len(desired.Errors(u.Problems)) > 0 })
}

// merger holds what the units so far declare, by key.
type merger struct {
	accounts map[string]*account
	tokens   map[string]desired.Token
	zoneIDs  map[edge.Scope]holder
	named    map[zoneName]holder
	names    map[ownedName]holder // of tokens
	sinks    map[desired.Sink]holder
	problems []desired.Problem
	several  map[zoneKey]bool // zones that more than one folder declares

	integrations map[string]desired.Integration
	calendar     map[string]desired.CalendarEntry // by rule
	tests        map[string]DeclaredTest          // by name
	ran          map[string]bool                  // tests, by name
}

type account struct {
	desired.Account
	rulesets map[string]desired.RulesetRef
	zones    map[string]desired.Zone
}

// holder is who has an id or a name that only one may have.
type holder struct {
	path   string
	origin desired.Origin
}

func (m *merger) unit(u Unit) {
	m.problems = append(m.problems, u.Problems...)
	for _, a := range u.Accounts {
		m.account(a)
	}
	for _, t := range u.Tokens {
		m.token(t)
	}
	for _, i := range u.Integrations {
		declare(m, m.integrations, i.Name, at("integration", i.Name), i, func(i desired.Integration) desired.Origin { return i.Origin })
	}
	for _, t := range u.Tests {
		m.test(t)
	}
	for _, e := range u.Calendar {
		declare(m, m.calendar, e.Addition.ID, at("calendar", e.Addition.ID), e, func(e desired.CalendarEntry) desired.Origin { return e.Origin })
	}
}

func (m *merger) account(a desired.Account) {
	path := at("account", a.Key)
	have := m.accounts[a.Key]
	if have == nil {
		have = &account{Account: a, rulesets: map[string]desired.RulesetRef{}, zones: map[string]desired.Zone{}}
		m.accounts[a.Key] = have
	} else if !sameAccount(have.Account, a) {
		m.accountTwice(path, a, have.Account)
	}
	for _, r := range a.Rulesets {
		declare(m, have.rulesets, r.Key, at(path, "ruleset", r.Key), r, func(r desired.RulesetRef) desired.Origin { return r.Origin })
	}
	for _, z := range a.Zones {
		m.zone(have, zonePath(path, z), z)
	}
}

func (m *merger) zone(a *account, path string, z desired.Zone) {
	if first, seen := a.zones[z.Key]; seen {
		m.severally(a.Key, z.Key)
		if differs := zoneDifference(first, z); first.Origin != z.Origin || differs != "" {
			m.zoneTwice(path, first, z, differs)
		}
		return
	}
	a.zones[z.Key] = z
	m.zoneName(a.Key, path, z)
	if z.Scope.ID == "" {
		return
	}
	what := "the zone " + z.Scope.String()
	if account, ok := z.Scope.Account(); ok {
		what = "what account " + string(account) + " deploys itself"
	}
	claim(m, m.zoneIDs, z.Scope, holder{path, z.Origin}, at(path, "id"), func(first string) string {
		return fmt.Sprintf("%s is already declared, as %s", what, first)
	})
}

func (m *merger) zoneTwice(path string, first, z desired.Zone, differs string) {
	if first.Origin != z.Origin {
		if z.Scope.Level == edge.LevelAccount {
			path = at(path, "waf")
		}
		m.twice(path, z.Origin, first.Origin, differs == "")
		return
	}
	here, there := firstDifferentPlace(first, z)
	m.problems = append(m.problems, desired.Problem{
		Origin:  z.Origin,
		Path:    at(path) + differs,
		Message: fmt.Sprintf("one declaration has two values, %s and %s", there, here),
		Hint:    "a subfolder changes an inherited declaration; declare the zone in the folder that sets its values",
	})
}

func (m *merger) token(t desired.Token) {
	path := at("token", t.Key)
	if !declare(m, m.tokens, t.Key, path, t, func(t desired.Token) desired.Origin { return t.Origin }) {
		return
	}
	fresh := claim(m, m.names, ownedName{t.Account, t.Name}, holder{path, t.Origin}, at(path, "name"), func(first string) string {
		return fmt.Sprintf("the name %q is already used by %s", t.Name, first)
	})
	if t.Sink == nil || !fresh {
		return
	}
	// The second of two tokens would overwrite the secret of the first.
	claim(m, m.sinks, *t.Sink, holder{path, t.Origin}, at(path, "sink"), func(first string) string {
		return fmt.Sprintf("the secret of %s already goes to this place", first)
	})
}

// declare takes what has no declaration yet under its key, and tells of a second one that is
// not the same from the same place.
func declare[T any](m *merger, all map[string]T, key, path string, v T, origin func(T) desired.Origin) (fresh bool) {
	first, seen := all[key]
	if !seen {
		all[key] = v
		return true
	}
	if same := desired.Alike(first, v); !same || origin(first) != origin(v) {
		m.twice(path, origin(v), origin(first), same)
	}
	return false
}

// claim gives an id or a name to who is the first to have it, and tells of a second one.
func claim[K comparable](m *merger, of map[K]holder, key K, by holder, path string, taken func(first string) string) (fresh bool) {
	if first, seen := of[key]; seen {
		m.problems = append(m.problems, twoPlaces(path, by.origin, taken(first.path), first.origin))
		return false
	}
	of[key] = by
	return true
}

// twice tells of a key that is declared in two places.
func (m *merger) twice(path string, second, first desired.Origin, same bool) {
	message := "is declared twice, with different values"
	if same {
		message = "is declared twice"
	}
	p := twoPlaces(path, second, message, first)
	if second == first {
		p.Hint = "two folders get the declaration with different values; declare it in one of them"
	}
	m.problems = append(m.problems, p)
}

func twoPlaces(path string, second desired.Origin, message string, first desired.Origin) desired.Problem {
	return desired.Problem{Origin: second, Path: path, Message: message, Hint: fmt.Sprintf("see also %s", first)}
}

// checkRulesets holds every deployment to a ruleset of its account. The
// account's rulesets may stand in another folder than the zone.
func (m *merger) checkRulesets() {
	for _, key := range slices.Sorted(maps.Keys(m.accounts)) {
		a := m.accounts[key]
		known := slices.Sorted(maps.Keys(a.rulesets))
		for _, zone := range a.zones {
			for _, d := range zone.Deployments {
				if _, ok := a.rulesets[d.Ruleset]; !ok {
					m.problems = append(m.problems, unknownRuleset(key, zone, d, known))
				}
			}
		}
		m.problems = append(m.problems, oneKeyPerRuleset(a, known)...)
	}
}

func unknownRuleset(account string, zone desired.Zone, d desired.Deployment, known []string) desired.Problem {
	return desired.Problem{
		Origin:  d.Origin,
		Path:    at(zonePath(at("account", account), zone), "waf", d.Name()),
		Message: fmt.Sprintf("%q is not a ruleset of account %q", d.Ruleset, account),
		Hint:    nearest.Hint(d.Ruleset, known, fmt.Sprintf("declare it: account: %s: ruleset: %s: name: …", account, d.Ruleset)),
	}
}

// oneKeyPerRuleset refuses a second key for one managed ruleset: a zone could
// then declare one deployment twice.
func oneKeyPerRuleset(a *account, keys []string) (problems []desired.Problem) {
	first := map[string]string{}
	for _, key := range keys {
		r := a.rulesets[key]
		target := r.Name + string(r.ID)
		if other, taken := first[target]; taken {
			problems = append(problems, twoPlaces(at("account", a.Key, "ruleset", key), r.Origin,
				fmt.Sprintf("names the same ruleset as %q", other), a.rulesets[other].Origin))
			continue
		}
		first[target] = key
	}
	return problems
}

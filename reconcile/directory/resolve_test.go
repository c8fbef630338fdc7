package directory

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// simply resolves a state with nothing of one before, pass by pass: what [facts.resolve] is held to.
func simply(f *facts, state desired.State) desired.State {
	if !byName(state) {
		return state
	}
	r, taken := resolver{facts: f, former: map[*list]map[string]string{}}, map[edge.Scope]bool{}
	state.Accounts = slices.Clone(state.Accounts)
	var sought []*desired.Zone
	account := map[*desired.Zone]desired.Account{}
	for i := range state.Accounts {
		a := &state.Accounts[i]
		if a.Zones = slices.Clone(a.Zones); a.ByName {
			a.ID = r.account(*a)
		}
		for j := range a.Zones {
			switch z := &a.Zones[j]; {
			case z.Scope.Level == edge.LevelAccount:
				z.Scope = desired.AccountScope(*a)
			case z.ByName:
				sought, account[z] = append(sought, z), *a
			default:
				taken[z.Scope] = true
			}
		}
	}
	for _, choose := range []func(*list, *desired.Zone) string{
		func(l *list, z *desired.Zone) string { return l.found(z.Name) },
		func(l *list, z *desired.Zone) string { return r.kept(l, z.Scope.ID, z.Name) },
	} {
		sought = slices.DeleteFunc(sought, func(z *desired.Zone) bool {
			id := edge.Scope{}
			if a := account[z]; !desired.Sought(a.ID) {
				id = edge.ZoneScope(edge.ZoneID(choose(f.zonesOf(a.ID), z)))
			}
			if id.IsZero() || taken[id] {
				return false
			}
			z.Scope, taken[id] = id, true
			return true
		})
	}
	for _, z := range sought {
		z.Scope = edge.ZoneScope(desired.SoughtZone(account[z].Key, z.Key))
	}
	state.Tokens = desired.WithOwners(state.Tokens, state.Accounts)
	return state
}

// world are facts that change, and commits of a repository.
type world struct {
	facts facts
	state desired.State // as it is declared
	at    time.Time
}

var (
	someAccounts = []edge.AccountID{prod, staging}
	someTitles   = []string{"Production", "Staging", "Else"}
)

// commit declares something else.
func (w *world) commit(t *rapid.T) {
	s := &w.state
	s.Commit, s.Accounts = w.at.String(), slices.Clone(s.Accounts)
	for range rapid.IntRange(0, 3).Draw(t, "edits") {
		if len(s.Accounts) == 0 || rapid.IntRange(0, 7).Draw(t, "edit account") == 0 {
			w.editAccount(t)
			continue
		}
		a := &s.Accounts[rapid.IntRange(0, len(s.Accounts)-1).Draw(t, "in account")]
		a.Zones = slices.Clone(a.Zones)
		key := string(rune('a' + rapid.IntRange(0, 5).Draw(t, "key")))
		at := slices.IndexFunc(a.Zones, func(z desired.Zone) bool { return z.Key >= key })
		if at < 0 {
			at = len(a.Zones)
		}
		if at == len(a.Zones) || a.Zones[at].Key != key {
			a.Zones = slices.Insert(a.Zones, at, w.zone(t, key))
			continue
		}
		switch z := &a.Zones[at]; rapid.IntRange(0, 4).Draw(t, "edit") {
		case 0:
			a.Zones = slices.Delete(a.Zones, at, at+1)
		case 1:
			*z = w.zone(t, key)
		case 2:
			z.Name = rapid.SampledFrom(words).Draw(t, "other name")
		default:
			z.Deployments = []desired.Deployment{{Ruleset: fmt.Sprint(w.at)}}
		}
	}
	s.Tokens = []desired.Token{{Key: "t", Account: "p"}}
}

func (w *world) zone(t *rapid.T, key string) desired.Zone {
	switch rapid.IntRange(0, 8).Draw(t, "declared") {
	case 0:
		return desired.Zone{Key: key, Scope: edge.AccountScope("")}
	case 1, 2:
		return desired.Zone{Key: key, Name: rapid.SampledFrom(words).Draw(t, "name"), Scope: edge.ZoneScope(someID(t))}
	}
	return desired.Zone{Key: key, Name: rapid.SampledFrom(words).Draw(t, "name"), ByName: true}
}

func (w *world) editAccount(t *rapid.T) {
	s := &w.state
	key := rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "account")
	at := slices.IndexFunc(s.Accounts, func(a desired.Account) bool { return a.Key >= key })
	if at < 0 {
		at = len(s.Accounts)
	}
	a := desired.Account{Key: key}
	if have := at < len(s.Accounts) && s.Accounts[at].Key == key; have {
		if a.Zones = s.Accounts[at].Zones; rapid.IntRange(0, 3).Draw(t, "leaves") == 0 {
			s.Accounts = slices.Delete(s.Accounts, at, at+1)
			return
		}
	} else {
		s.Accounts = slices.Insert(s.Accounts, at, a)
	}
	if a.ByName = rapid.Bool().Draw(t, "account by name"); a.ByName {
		a.Name = rapid.SampledFrom(someTitles).Draw(t, "title")
	} else {
		a.ID = rapid.SampledFrom(someAccounts).Draw(t, "account id")
	}
	s.Accounts[at] = a
}

func someID(t *rapid.T) edge.ZoneID { return zoneID(rapid.IntRange(0, 5).Draw(t, "id")) }

func someNamed(t *rapid.T) (all []named) {
	for range rapid.IntRange(0, 4).Draw(t, "listed") {
		all = append(all, named{id: string(someID(t)), name: rapid.SampledFrom(words).Draw(t, "called")})
	}
	return all
}

// learn has the platform say something else, or the record.
func (w *world) learn(t *rapid.T) {
	account := rapid.SampledFrom(someAccounts).Draw(t, "of")
	l, name := w.facts.toZones(account), rapid.SampledFrom(words).Draw(t, "asked name")
	switch rapid.IntRange(0, 6).Draw(t, "learn") {
	case 0:
		l.learnAll(someNamed(t), w.at)
	case 1:
		l.learnName(name, slices.DeleteFunc(someNamed(t), func(n named) bool { return desired.FoldName(n.name) != desired.FoldName(name) }), w.at)
	case 2:
		id := string(someID(t))
		l.learnID(id, slices.DeleteFunc(someNamed(t), func(n named) bool { return n.id != id }), w.at)
	case 3:
		w.facts.recall([]reconcile.Name{{Account: account, ID: string(someID(t)), Name: name, At: w.at, Gone: rapid.Bool().Draw(t, "gone")}})
	case 4:
		var all []named
		for _, id := range someAccounts {
			all = append(all, named{id: string(id), name: rapid.SampledFrom(someTitles).Draw(t, "titled")})
		}
		w.facts.toAccounts(rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "with the credential of")).learnAll(all, w.at)
	case 5:
		l.fail(edge.ErrUnavailable, w.at)
	}
}

// A state that is resolved after others comes to what it comes to alone, whatever was declared
// before and became known since: the same ids, and the same is against its zones.
func TestResolvingFollows(t *testing.T) {
	short, steps := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := world{facts: newFacts(), at: time.Unix(1e9, 0)}
		for range 5 {
			w.editAccount(t)
			w.commit(t)
		}
		earlier := []desired.State{w.state}
		for range rapid.IntRange(10, 40).Draw(t, "steps") {
			resolved := earlier[len(earlier)-1]
			w.at = w.at.Add(time.Minute)
			state := w.state
			switch rapid.IntRange(0, 7).Draw(t, "do") {
			case 0, 1:
				w.learn(t)
			case 2:
				w.learn(t)
				w.learn(t)
				state = resolved // as after a look
			case 3:
				state = resolved
			case 4: // another commit meanwhile, and what was known of it
				w.facts.keep(rapid.SampledFrom(earlier).Draw(t, "kept"))
				state = rapid.SampledFrom(earlier).Draw(t, "earlier")
			default:
				w.commit(t)
				state = w.state
			}
			want := simply(&w.facts, state)
			given := desired.MapOrigins(state, func(o desired.Origin) desired.Origin { return o }) // a copy
			if w.facts.last != nil && len(w.facts.last.accounts) > 0 {
				short++
			}
			steps++
			got := w.facts.resolve(state)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("resolved after others\n%+v\nalone\n%+v", got, want)
			}
			if !reflect.DeepEqual(state, given) {
				t.Fatalf("the state that was given is now\n%+v", state)
			}
			for i, a := range got.Accounts {
				for j, z := range a.Zones {
					if now, alone := w.why(a, z), w.why(want.Accounts[i], want.Accounts[i].Zones[j]); now != alone {
						t.Fatalf("against %+v is %q, alone %q", z, now, alone)
					}
				}
			}
			earlier = append(earlier, got)
		}
	})
	if short < steps/2 {
		t.Errorf("%d of %d states were resolved after another one", short, steps)
	}
}

func (w *world) why(a desired.Account, z desired.Zone) string {
	why := w.facts.verdict(a, z, true)
	if why == nil {
		return ""
	}
	return fmt.Sprint(why.State, why.Error(), why.Hint, why.Cause)
}

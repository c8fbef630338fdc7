package directory

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// facts are what the platform has said of names, and what it could not be asked. They are
// not safe for concurrent use.
type facts struct {
	accounts map[string]*list         // of accounts, by the key of the account that was asked for: credentials may differ
	zones    map[edge.AccountID]*list // of the zones of an account

	last *resolved // the last state, until anything known of an account is forgotten

	onlyUndeclared bool
}

// list is what is known of one list of the platform. Names in it are folded
// ([desired.FoldName]).
type list struct {
	ids     map[string]fact
	names   map[string][]string // the ids of facts that are not gone, sorted
	whole   time.Time           // when all of it was listed; zero: not in this process
	changed map[string]bool     // names that have other ids since the last state was resolved
	asked   map[string]asked    // by name or id: when it was asked for last without a usable answer
	failed  failure             // of the last try
	single  int                 // zones asked for one by one before a write, since counted
	since   time.Time
}

// fact is the name of an id.
type fact struct {
	name, shown string // folded, and as the platform writes it
	plan        string // of a zone, in one word; empty: not known
	at          time.Time
	gone        bool // not listed since
}

// asked is a question whose answer was no id that can be used.
type asked struct {
	at      time.Time
	strikes int // how often in a row
}

// failure is why a list could not be read.
type failure struct {
	err     error // nil: it could
	at      time.Time
	strikes int
}

// named is one element of an answer; the plan is that of a zone.
type named struct{ id, name, plan string }

func newFacts() facts {
	return facts{accounts: map[string]*list{}, zones: map[edge.AccountID]*list{}}
}

func newList() *list {
	return &list{ids: map[string]fact{}, names: map[string][]string{}, changed: map[string]bool{}, asked: map[string]asked{}}
}

// settled notes that a state was resolved by all that is known.
func (f *facts) settled() {
	for _, l := range f.accounts {
		clear(l.changed)
	}
	for _, l := range f.zones {
		clear(l.changed)
	}
}

// accountsOf is what is known of the list in which the account with a key is found, for who only
// reads it. It is asked for each zone, most often without anything known.
func (f *facts) accountsOf(key string) *list {
	if l := f.accounts[key]; l != nil {
		return l
	}
	return &list{}
}

// zonesOf is what is known of the zones of an account, for who only reads it.
func (f *facts) zonesOf(id edge.AccountID) *list {
	if l := f.zones[id]; l != nil {
		return l
	}
	return &list{}
}

// toAccounts is accountsOf for who adds to it.
func (f *facts) toAccounts(key string) *list {
	if f.accounts[key] == nil {
		f.accounts[key] = newList()
	}
	return f.accounts[key]
}

// toZones is zonesOf for who adds to it.
func (f *facts) toZones(id edge.AccountID) *list {
	if f.zones[id] == nil {
		f.zones[id] = newList()
	}
	return f.zones[id]
}

// put notes the name of an id.
func (l *list) put(n named, at time.Time) {
	name := desired.FoldName(n.name)
	if known, ok := l.ids[n.id]; ok && !known.gone && known.name == name {
		l.ids[n.id] = fact{name: name, shown: n.name, plan: n.plan, at: at}
		return
	}
	l.drop(n.id)
	l.changed[name] = true
	l.ids[n.id] = fact{name: name, shown: n.name, plan: n.plan, at: at}
	ids := append(slices.Clone(l.names[name]), n.id)
	slices.Sort(ids)
	l.names[name] = ids
}

// gone notes that an id is not listed any more. Its name is kept: where nothing else has
// it, it says which zone was meant.
func (l *list) gone(id string) {
	known, ok := l.ids[id]
	if !ok || known.gone {
		return
	}
	l.drop(id)
	known.gone = true
	l.ids[id] = known
}

// drop forgets an id.
func (l *list) drop(id string) {
	known, ok := l.ids[id]
	if !ok {
		return
	}
	delete(l.ids, id)
	l.changed[known.name] = true
	if rest := slices.DeleteFunc(slices.Clone(l.names[known.name]), func(other string) bool { return other == id }); len(rest) > 0 {
		l.names[known.name] = rest
	} else {
		delete(l.names, known.name)
	}
}

// learnAll takes in the whole list.
func (l *list) learnAll(all []named, at time.Time) {
	listed := make(map[string]bool, len(all))
	for _, n := range all {
		listed[n.id] = true
		l.put(n, at)
	}
	for _, id := range slices.Collect(maps.Keys(l.ids)) {
		if !listed[id] {
			l.gone(id)
		}
	}
	l.whole, l.failed = at, failure{}
}

// learnName takes in all elements of one name.
func (l *list) learnName(name string, all []named, at time.Time) {
	for _, id := range slices.Clone(l.names[desired.FoldName(name)]) {
		l.gone(id)
	}
	for _, n := range all {
		l.put(n, at)
	}
	l.failed = failure{}
}

// note notes what a question came to: one that was answered with exactly one id is
// forgotten.
func (l *list) note(question string, usable bool, at time.Time) {
	if usable {
		delete(l.asked, question)
		return
	}
	l.asked[question] = asked{at, l.asked[question].strikes + 1}
}

// fail notes that the list could not be read.
func (l *list) fail(err error, at time.Time) {
	l.failed = failure{err, at, l.failed.strikes + 1}
}

// formerly are the ids that had a name before the platform listed none of that name, by
// name; empty where there are several.
func (l *list) formerly() map[string]string {
	ids := map[string]string{}
	for id, known := range l.ids {
		if known.gone {
			if _, several := ids[known.name]; several {
				id = ""
			}
			ids[known.name] = id
		}
	}
	return ids
}

// recall takes in what is on record and newer than what is known.
func (f *facts) recall(names []reconcile.Name) {
	for _, n := range names {
		if n.Account == "" {
			f.toAccounts(n.Key).recall(n)
		} else {
			f.toZones(n.Account).recall(n)
		}
	}
}

func (l *list) recall(n reconcile.Name) {
	if known, ok := l.ids[n.ID]; ok && !known.at.Before(n.At) {
		return
	}
	l.put(named{n.ID, n.Name, n.Plan}, n.At)
	if n.Gone {
		l.gone(n.ID)
	}
}

// record is what is known of the accounts and zones that a state declares, sorted.
func (f *facts) record(state desired.State) (names []reconcile.Name) {
	for _, a := range state.Accounts {
		if a.Name != "" {
			names = append(names, f.accountsOf(a.Key).rows(reconcile.Name{Key: a.Key}, accountOf(a))...)
		}
		if !desired.Sought(a.ID) {
			names = append(names, f.zonesOf(a.ID).rows(reconcile.Name{Account: a.ID}, zonesIn(a))...)
		}
	}
	slices.SortFunc(names, func(a, b reconcile.Name) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(names, func(a, b reconcile.Name) bool { return a.Account == b.Account && a.Key == b.Key && a.ID == b.ID })
}

// wants are ids and folded names.
type wants map[string]bool

func accountOf(a desired.Account) wants {
	return wants{string(a.ID): true, desired.FoldName(a.Name): true}
}

func zonesIn(a desired.Account) wants {
	zones := make(wants, 2*len(a.Zones))
	for _, z := range a.Zones {
		if z.Name != "" {
			zones[z.Scope.ID], zones[desired.FoldName(z.Name)] = true, true
		}
	}
	return zones
}

// keep forgets what no state asks for any more.
func (f *facts) keep(state desired.State) {
	keys, ids := map[string]bool{}, map[edge.AccountID]bool{}
	for _, a := range state.Accounts {
		keys[a.Key], ids[a.ID] = true, true
		f.accountsOf(a.Key).keep(accountOf(a))
		if !desired.Sought(a.ID) {
			f.zonesOf(a.ID).keep(zonesIn(a))
		}
	}
	lists := len(f.accounts) + len(f.zones)
	maps.DeleteFunc(f.accounts, func(key string, _ *list) bool { return !keys[key] })
	maps.DeleteFunc(f.zones, func(id edge.AccountID, _ *list) bool { return !ids[id] })
	if len(f.accounts)+len(f.zones) < lists {
		f.last = nil
	}
}

// keep forgets questions, and ids that are gone, that are not wanted.
func (l *list) keep(wanted wants) {
	maps.DeleteFunc(l.asked, func(subject string, _ asked) bool { return !wanted[subject] })
	maps.DeleteFunc(l.ids, func(id string, known fact) bool { return known.gone && !wanted[id] && !wanted[known.name] })
}

// rows are the facts about these, as they are put on record.
func (l *list) rows(as reconcile.Name, of wants) (names []reconcile.Name) {
	for id, known := range l.ids {
		if of[id] || of[known.name] {
			as.ID, as.Name, as.Plan, as.At, as.Gone = id, known.shown, known.plan, known.at, known.gone
			names = append(names, as)
		}
	}
	return names
}

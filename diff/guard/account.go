package guard

import (
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Accounts say which settings of the configuration are those of an account. A configuration
// names an account by its key in the repository, which a commit can change; what counts too
// is the key under which the account, by its id, was known first.
type Accounts struct {
	// Settings are those of single accounts by key; all others have Rest.
	Settings map[string]AccountSettings
	Rest     AccountSettings
	// IDs are the accounts that the commit declares, by key.
	IDs map[string]edge.AccountID
	// Bound are the keys that accounts are bound to.
	Bound map[edge.AccountID]Binding

	declared map[edge.AccountID][]string // the keys of IDs
}

// AccountSettings are what must not become another by a new key. They are compared.
type AccountSettings struct {
	Credential string // for rulesets, with the platform
	Tokens     string // the credential for tokens, with the platform
	Skip       bool   // the account is left out
}

// Binding is the key by which an account has its settings.
type Binding struct {
	Key        string `json:"key"`
	Configured bool   `json:"configured,omitempty"` // the configuration had settings for the key
}

// Declaring are the accounts of a configuration where a commit declares ids by key, and
// others were known before.
func (a Accounts) Declaring(ids map[string]edge.AccountID, bound map[edge.AccountID]Binding) Accounts {
	a.IDs, a.Bound, a.declared = ids, bound, map[edge.AccountID][]string{}
	for _, key := range slices.Sorted(maps.Keys(ids)) {
		a.declared[ids[key]] = append(a.declared[ids[key]], key)
	}
	return a
}

// keys are those by which an account has settings: what it is declared as, and the one that
// it is bound to, empty for one without settings of its own. A person who takes a key out of
// the configuration ends what is bound to it.
func (a Accounts) keys(id edge.AccountID) []string {
	keys := a.declared[id]
	b, bound := a.Bound[id]
	_, configured := a.Settings[b.Key]
	switch {
	case !bound || slices.Contains(keys, b.Key):
		return keys
	case configured:
		return append(slices.Clone(keys), b.Key)
	case !b.Configured:
		return append(slices.Clone(keys), "")
	}
	return keys
}

// of are the settings of a key.
func (a Accounts) of(key string) AccountSettings {
	if s, configured := a.Settings[key]; configured {
		return s
	}
	return a.Rest
}

// selects reports whether a setting selects an account, whatever its labels.
func (a Accounts) selects(o Selector, id edge.AccountID) bool { return o.selectsKeys(a.keys(id)) }

// selectsKeys reports whether it selects an account by one of its keys. An exception must be
// one by all of them.
func (o Selector) selectsKeys(keys []string) bool {
	if o.Account != "" && !slices.Contains(keys, o.Account) {
		return false
	}
	return len(keys) == 0 || slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(o.Except, key) })
}

// conflict reports whether the declared key of an account gives it other settings than one
// that it is bound to.
func (a Accounts) conflict(key string) bool {
	return slices.ContainsFunc(a.keys(a.IDs[key]), func(other string) bool { return a.of(other) != a.of(key) })
}

// leaves are the settings that select an account by the key that it is bound to and not by
// the declared one.
func (a Accounts) leaves(key string, settings []Selector) (left []diff.Left) {
	id := a.IDs[key]
	for _, o := range settings {
		if o.byAccount() && o.selectsKeys(a.keys(id)) && !o.selectsKeys([]string{key}) {
			left = append(left, diff.Left{Setting: o.Setting, Account: id, Labels: o.Labels})
		}
	}
	if a.conflict(key) {
		left = append(left, diff.Left{Setting: a.boundTo(id), Account: id})
	}
	return left
}

// boundTo is the path of the settings that an account is bound to.
func (a Accounts) boundTo(id edge.AccountID) string {
	b := a.Bound[id]
	if _, configured := a.Settings[b.Key]; configured {
		return "accounts." + b.Key
	}
	return "the settings of the top level"
}

// Leaving are the accounts whose new key takes them out of settings, sorted.
func (a Accounts) Leaving(settings []Selector) (all []diff.Leaving) {
	for key, id := range a.IDs {
		if left := a.leaves(key, settings); len(left) > 0 {
			all = append(all, diff.Leaving{Account: key, Left: left}.Sealed(id))
		}
	}
	diff.SortLeaving(all)
	return all
}

// Bindings are those from now on: of the accounts that the commit declares the key that it
// declares, unless that takes an account out of settings.
func (a Accounts) Bindings(settings []Selector) map[edge.AccountID]Binding {
	next := maps.Clone(a.Bound)
	if next == nil {
		next = map[edge.AccountID]Binding{}
	}
	for key, id := range a.IDs {
		if len(a.declared[id]) == 1 && len(a.leaves(key, settings)) == 0 {
			next[id] = a.Binding(key)
		}
	}
	return next
}

// Binding binds to a key.
func (a Accounts) Binding(key string) Binding {
	_, configured := a.Settings[key]
	return Binding{key, configured}
}

// rebound are the accounts after one of them was allowed to leave what it was bound to.
func (a Accounts) rebound(key string) Accounts {
	a.Bound = maps.Clone(a.Bound)
	a.Bound[a.IDs[key]] = a.Binding(key)
	return a
}

// refuseAccount refuses every change of an account whose declared key gives it another
// credential than it has had, or leaves it out no longer.
func refuseAccount(c diff.Change, f Facts) *diff.Refusal {
	id := f.Accounts.IDs[c.Account]
	if c.Account == "" || id == "" || !f.Accounts.conflict(c.Account) {
		return nil
	}
	return &diff.Refusal{
		Guard:   diff.GuardAccount,
		Reason:  "account " + string(id) + " has " + f.Accounts.boundTo(id) + ", and its new key " + c.Account + " would give it other ones",
		Release: "accounts." + c.Account + " in the configuration in the place of the earlier key, or the approval of what account " + c.Account + " leaves",
	}
}

package guard

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// byAccount reports whether it depends on the account of a zone.
func (o Selector) byAccount() bool { return o.Account != "" || len(o.Except) > 0 }

// Selection is what a setting has selected a zone by. A commit that takes the zone out of it
// does not end it: a person does.
type Selection struct {
	Account edge.AccountID `json:"account,omitempty"` // empty where the account does not matter
	Labels  Labels         `json:"labels,omitempty"`
}

func (s Selection) equal(other Selection) bool {
	return s.Account == other.Account && maps.Equal(s.Labels, other.Labels)
}

// key orders selections.
func (s Selection) key() string {
	text, _ := json.Marshal(s) // an account and labels: it cannot fail
	return string(text)
}

// narrow reports whether it does not select every zone.
func (o Selector) narrow() bool { return o.byAccount() || len(o.Labels) > 0 }

// covers reports whether a setting selects by what a zone was selected by. One that selects
// every zone selects by nothing: no zone can leave it.
func (a Accounts) covers(o Selector, s Selection) bool {
	return o.narrow() && o.Labels.Selects(s.Labels) && (!o.byAccount() || s.Account != "" && a.selects(o, s.Account))
}

// Selections are what settings select a zone by, sorted: one that is in this account, empty
// for not known, and has these labels.
func Selections(settings []Selector, accounts Accounts, account edge.AccountID, labels Labels) (all []Selection) {
	for _, o := range settings {
		s := Selection{Labels: o.Labels}
		if o.byAccount() {
			s.Account = account
		}
		if o.Labels.Selects(labels) && accounts.covers(o, s) {
			all = append(all, s)
		}
	}
	return sorted(all)
}

// Remembered are the selections that a zone is under, sorted: those that it is declared in,
// and those of before that a setting still selects by.
func Remembered(settings []Selector, accounts Accounts, before, declared []Selection) []Selection {
	all := slices.Clone(declared)
	for _, s := range before {
		if slices.ContainsFunc(settings, func(o Selector) bool { return accounts.covers(o, s) }) {
			all = append(all, s)
		}
	}
	return sorted(all)
}

// LeftBy are the settings that select by something that a zone is under, and by nothing of
// what it is declared in.
func LeftBy(settings []Selector, accounts Accounts, under, declared []Selection) (left []diff.Left) {
	for _, o := range settings {
		in := func(s Selection) bool { return accounts.covers(o, s) }
		i := slices.IndexFunc(under, in)
		if i < 0 || slices.ContainsFunc(declared, in) {
			continue
		}
		left = append(left, diff.Left{Setting: o.Setting, Account: under[i].Account, Labels: o.Labels})
	}
	return left
}

// SameSelections compares two sorted lists.
func SameSelections(a, b []Selection) bool { return slices.EqualFunc(a, b, Selection.equal) }

func sorted(all []Selection) []Selection {
	slices.SortFunc(all, func(a, b Selection) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(all, Selection.equal)
}

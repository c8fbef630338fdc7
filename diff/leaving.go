package diff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// Leaving is a zone, or an account, that its declaration takes out of what settings of the
// configuration select. It stays under them until a person agrees. Nothing else waits for
// that.
type Leaving struct {
	Account string     `json:"account,omitempty"`
	Zone    string     `json:"zone,omitempty"` // empty for the whole account
	Scope   edge.Scope `json:"zone_id,omitzero"`
	Left    []Left     `json:"leaves"`
	// Digest is what a person approves to let it leave.
	Digest string `json:"approve"`

	// Approved says that a person has agreed; see diff/guard.
	Approved bool `json:"-"`
}

// Left is one setting that a declaration leaves.
type Left struct {
	Setting string            `json:"setting"`           // its path in the configuration
	Account edge.AccountID    `json:"account,omitempty"` // by which it selects; empty for none
	Labels  map[string]string `json:"labels,omitempty"`
}

// String is the path of the setting, with what it selects by.
func (l Left) String() string {
	var by []string
	if l.Account != "" {
		by = append(by, "account "+string(l.Account))
	}
	for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
		by = append(by, key+"="+l.Labels[key])
	}
	if len(by) == 0 {
		return l.Setting
	}
	return l.Setting + " (" + strings.Join(by, ", ") + ")"
}

// Sealed is a departure with its digest. It stands for the zone or the account, by its id,
// and for the settings as they are; account is that of a departure without a zone.
func (l Leaving) Sealed(account edge.AccountID) Leaving {
	l.Digest = "sha256:" + words.Digest(struct {
		Leaves  edge.Scope
		Account edge.AccountID `json:",omitempty"`
		Key     string         `json:",omitempty"`
		Left    []Left
	}{l.Scope, account, keyOf(l), l.Left})
	return l
}

// keyOf is the key that decides about an account from then on; a zone has none.
func keyOf(l Leaving) string {
	if !l.Scope.IsZero() {
		return ""
	}
	return l.Account
}

// About names the zone, with its id beside the key that the commit has for it, or the account.
func (l Leaving) About() string {
	if l.Zone == "" {
		return "account " + l.Account
	}
	return NameOf(l.Account, l.Zone+" ("+l.Scope.String()+")", "", "")
}

// what says what is left.
func (l Leaving) what() string {
	var left []string
	for _, setting := range l.Left {
		left = append(left, setting.String())
	}
	return "leaves " + strings.Join(left, ", ")
}

// Text says what is left, and what becomes of it.
func (l Leaving) Text() string {
	if l.Approved {
		return l.what() + "; that is approved"
	}
	return l.what() + "; it stays there until that is approved"
}

// String says who leaves what.
func (l Leaving) String() string { return l.About() + " " + l.what() }

// Release says how to approve a departure.
func (l Leaving) Release() string { return "seawall apply --approve " + l.Digest }

// SortLeaving sorts by account and zone.
func SortLeaving(all []Leaving) {
	slices.SortFunc(all, func(a, b Leaving) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Zone, b.Zone), a.Scope.Compare(b.Scope))
	})
}

package diff

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Live is what one observation of the platform found. Zones and accounts that
// are not in it were not read.
type Live struct {
	Accounts    map[edge.AccountID]AccountLive
	EntryPoints map[edge.Place]Observed[edge.Ruleset]
	Tokens      TokensLive
	// Ahead has the entry points of phases that run before the declared ones, of zones and of
	// accounts: only their skip rules count. A place that is not in it is not looked at.
	Ahead map[edge.Place]Ahead
}

// Scopes are those of which an entry point was observed, if only that it cannot be read.
func (l Live) Scopes() map[edge.Scope]bool {
	scopes := make(map[edge.Scope]bool, len(l.EntryPoints))
	for place := range l.EntryPoints {
		scopes[place.Scope] = true
	}
	return scopes
}

// Existing are the scopes of which the platform has answered for an entry point, if only that
// it is not there.
func (l Live) Existing() map[edge.Scope]bool {
	scopes := make(map[edge.Scope]bool, len(l.EntryPoints))
	for place, observed := range l.EntryPoints {
		if observed.Err == nil || errors.Is(observed.Err, edge.ErrEntryPointNotFound) {
			scopes[place.Scope] = true
		}
	}
	return scopes
}

// AccountLive is an account's list of rulesets, and those its zones deploy in full.
type AccountLive struct {
	Listed  Observed[[]edge.Ruleset]
	Managed map[edge.RulesetID]Observed[edge.Ruleset]
	// Versions are other versions of managed rulesets than the latest, which execute rules
	// run or are declared to run. Those that were not read are not in it.
	Versions map[RulesetVersion]Observed[edge.Ruleset]
	// Documented says that of the platform no more is known than its reference: a
	// declaration has only the members of overrides that the reference shows.
	Documented bool
}

// RulesetVersion names a version of a managed ruleset.
type RulesetVersion struct {
	Ruleset edge.RulesetID
	Version string
}

// Observed is a value that was read, or the reason why it could not be. A
// value that could not be read is unknown, never empty.
type Observed[T any] struct {
	Value T
	Err   error
}

// ID names on the platform what a declaration, a change and what is remembered of both are
// about: a rule of a zone, or a token.
//
// A deployment is known by its managed ruleset. An account may deploy one several times:
// there Ref, which is empty in a zone, is that of the execute rule. Kind is empty: that is how
// everything on record names deployments. Any other rule is known by its kind and its ref.
type ID struct {
	Kind    desired.KindName
	Scope   edge.Scope
	Ruleset edge.RulesetID
	Ref     string
	Token   edge.TokenID
}

// OfOthers reports whether it names no single rule, but all those of a kind in a zone that
// nothing declares, on which the zone decides ([desired.OfOthers]).
func (d ID) OfOthers() bool { return d.Kind != "" && d.Ref == "" && d.Token == "" }

// Compare orders them.
func (d ID) Compare(o ID) int {
	return cmp.Or(
		d.Scope.Compare(o.Scope), cmp.Compare(d.Kind, o.Kind), cmp.Compare(d.Ruleset, o.Ruleset), cmp.Compare(d.Ref, o.Ref),
		cmp.Compare(d.Token, o.Token),
	)
}

// Applied has, for each deployment, the members that the last applied commit
// declared, and the entries Seawall left in the place of some it removed
// ([Target.Owned]). It tells what was ours and is no longer declared from what
// others put there.
type Applied map[ID][]Member

// Member is the path of one member of a deployment, such as
// `overrides.categories["paranoia-level-3"].enabled`, or of a whole override
// entry, `overrides.rules["…"]`. Keys are quoted as Go quotes strings.
type Member string

// Subject says a path in fewer words: `tag sqli enabled`, `rule 1f… action`.
func (m Member) Subject() string {
	list, key, member := m.Override()
	switch list {
	case "categories":
		return fmt.Sprintf("tag %s %s", key, member)
	case "rules":
		return fmt.Sprintf("rule %s %s", key, member)
	}
	return string(m)
}

// Override splits `overrides.rules["id"].action` into "rules", "id" and
// "action"; a ruleset-wide member has neither list nor key.
func (m Member) Override() (list, key, member string) {
	rest, ok := strings.CutPrefix(string(m), "overrides.")
	if !ok {
		return "", "", rest
	}
	list, quoted, ok := strings.Cut(rest, "[")
	if !ok {
		return "", "", rest
	}
	prefix, err := strconv.QuotedPrefix(quoted)
	if err != nil {
		return "", "", rest
	}
	key, _ = strconv.Unquote(prefix) // what QuotedPrefix accepts, Unquote does too
	return list, key, strings.TrimPrefix(strings.TrimPrefix(quoted[len(prefix):], "]"), ".")
}

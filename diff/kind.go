package diff

import (
	"encoding/json"
	"iter"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Kind is something that Seawall keeps as git says. Each is a package of its own, which says
// what is special about it; diff/planner has the table of them. Nothing else knows one by name.
type Kind interface {
	Name() desired.KindName
	// Phases are those of the entry points of a zone in which it declares something, or has
	// something that may be removed; none for what is in no entry point.
	Phases(zone desired.Zone, removable Pruning) []edge.Phase
	// Declared yields what it declares in the zones of an account, as the platform names it;
	// false where that cannot be told for sure.
	Declared(account desired.Account, live AccountLive) iter.Seq2[ID, bool]
	// Plan compares what is declared with what is live. It is pure.
	Plan(in Input) Part
	// Restore plans the other way: what was live before a write. Nothing is left to do where
	// it returns neither a change nor a problem; it fills in of both what only it knows.
	Restore(r Restoration, in Input) (*Change, *Problem)
}

// Declarer is a kind of rules of one phase that are declared as [desired.Other]. It is the
// inverse of a plan, for who writes declarations of what is live or shows both.
type Declarer interface {
	Kind
	Phase() edge.Phase
	// Declare declares what an entry point has of the kind, as far as that can be declared.
	Declare(entryPoint edge.Ruleset) []desired.Other
	// Redeclare is a declaration with which what is live agrees: o where nothing differs, else
	// one that changes as little of it as possible. It is false for what is not live.
	Redeclare(o desired.Other, entryPoint edge.Ruleset) (desired.Other, bool)
}

// DeclarerAt is a [Declarer] of what is declared at deployments ([desired.Other.Of]).
type DeclarerAt interface {
	Declarer
	// At is the kind with what is known of the deployments of one zone: by their names, and
	// in Declare by the ids of their managed rulesets.
	At(deployed func(name string) Deployed, now time.Time) Declarer
}

// Returner is a kind whose Restore puts back what was removed, too. Of any other one git decides
// what there is.
type Returner interface {
	Kind
	PutsBack()
}

// Secrets is the kind whose operations the driver of secrets sends.
type Secrets interface {
	Kind
	// Due returns the keys of declared tokens that need a run although nothing changed: a
	// successor has to be made, a secret still waits for its sink, or a lost creation can be
	// looked for, which is so where the platform lists the tokens of its owner.
	Due(tokens []desired.Token, live TokensLive, listed func(owner edge.AccountID) bool, now time.Time) map[string]bool
	// InUse returns the token on record that counts for each of these declarations, by key. One
	// of which an attempt has no certain outcome has that.
	InUse(tokens []desired.Token, live TokensLive) map[string]TokenInUse
	// Remaining lists the members in which a token that was written is still not what was
	// asked for.
	Remaining(a Amendment, live edge.Token) []Field
}

// Input is all a plan is made from.
type Input struct {
	State desired.State
	// Live has the rulesets of the accounts, the entry points of their zones, and the tokens.
	// A zone without an entry point in it is left out.
	Live    Live
	Applied Applied
	// Reports says that members which are live and not declared, and which came after the
	// first proof, are only reported where the declaration does not decide on them. They are
	// removed otherwise.
	Reports bool
	// Prunable is what is removed where nothing declares it.
	Prunable Pruning
	// Merges says that the platform was seen to keep what an update leaves out: what goes
	// is overwritten with a value that changes nothing, where there is one.
	Merges bool
	// Memory spares what was planned before and has not changed since; nil spares none.
	Memory *Memory
	// Indexes spares the indexing of managed rulesets that were planned with before;
	// nil indexes them anew.
	Indexes *Indexes

	// Part says that State has only part of the tokens that are declared: none is an
	// orphan for not being in it.
	Part bool
	// Now decides which tokens are due for a successor, and which are over. With
	// the zero time none is.
	Now time.Time
	// Rotate is a token in use whose successor a person asks for now; empty is none.
	Rotate edge.TokenID
	// NameSuffix goes behind the names of tokens that are created.
	NameSuffix NameSuffix
	// CreatingGroups are the ids of permission groups that have the right to create tokens,
	// beside those that have it by their names.
	CreatingGroups []string

	// Bypasses and Deployed are what the kinds before this one have found, in the order of the
	// table.
	Bypasses []Bypass
	Deployed []Deployed
	// Skips asks all kinds whether a live skip rule is declared; nil for one that nothing
	// declares.
	Skips func(SkipAsked) DeclaredSkip

	// Undigested leaves out [Plan.Digest], which takes longer than the rest of a plan of
	// one zone that is not shown.
	Undigested bool
}

// Part is what one kind found, in the order of its declarations.
type Part struct {
	Changes   []Change
	Meanwhile []Change // as in [Plan]
	Problems  []Problem
	Settled   []Settled
	Kept      []Kept
	Bypasses  []Bypass
	Deployed  []Deployed
	Findings  []Finding
	Expiries  []Expiry
	Remarks   []Remark
}

// Restoration says to what a rule is to be put back.
type Restoration struct {
	ID         ID
	Account    string // its key
	AccountID  edge.AccountID
	Zone       string // its key
	Deployment string // as that of [Change]
	Members    []Restored
}

// Restored is one member that was written: what was there before, and what was written. Nil
// is a member that is not there.
type Restored struct {
	Path            Member
	Before, Written json.RawMessage
	Owned           bool // what was there before was Seawall's own
}

// Package diff turns what should be ([desired.State]) and what is ([Live])
// into a [Plan]: the changes that would make the second agree with the first,
// each with the line that asked for it, what it would send, and whether it
// strengthens or weakens protection.
//
// Everything here is pure: no clock, no network, no logger. One deployment
// travels through it like this:
//
//	find        declared name → managed ruleset       (find.go)
//	resolve     intent → claims on override entries   (resolve.go)
//	merge       live rule + claims → wanted rule      (merge.go, slot.go, neutral.go)
//	compare     live and wanted, canonically → fields (canonical.go, compare.go)
//	direction   effective values before and after     (effective.go, direction.go)
//	guard       plan → plan with refusals             (guard.go)
//	render      text, JSON, Markdown                  (render_*.go)
//
// Tokens are compared with what is on record of them (tokens_make.go); what is
// unwise about them is told beside (findings.go, expiries.go).
//
// The law that holds it together: applying a plan and planning again yields
// an empty plan, and nothing that was not declared has changed unless a
// person said "remove".
package diff

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Live is what one observation of the platform found. Zones and accounts that
// are not in it were not looked at.
type Live struct {
	Accounts    map[edge.AccountID]AccountLive
	EntryPoints map[edge.ZoneID]Observed[edge.Ruleset]
	Tokens      TokensLive
}

// AccountLive is an account's list of rulesets, and those its zones deploy in full.
type AccountLive struct {
	Listed  Observed[[]edge.Ruleset]
	Managed map[edge.RulesetID]Observed[edge.Ruleset]
}

// Observed is a value that was read, or the reason why it could not be. A
// value that could not be read is unknown, never empty.
type Observed[T any] struct {
	Value T
	Err   error
}

// DeploymentID names a deployment on the platform: a managed ruleset in a zone.
type DeploymentID struct {
	Zone    edge.ZoneID
	Ruleset edge.RulesetID
}

// Applied remembers, for each deployment, the members that the last applied
// commit declared, and the entries Seawall left in the place of some it removed
// ([Target.Owned]). It tells what was ours and is no longer declared from what
// somebody else put there.
type Applied map[DeploymentID][]Member

// Member is the path of one member of a deployment, such as
// `overrides.categories["paranoia-level-3"].enabled`, or of a whole override
// entry, `overrides.rules["…"]`. Keys are quoted as Go quotes strings.
type Member string

// Input is all a plan is made from.
type Input struct {
	State   desired.State
	Live    Live
	Applied Applied
	// Memory spares what was worked out before, and is told of what is; nil is
	// none.
	Memory *Memory
	// Indexes spares the indexing of managed rulesets that were planned with before;
	// nil indexes them anew.
	Indexes *Indexes
	// Part says that State has only part of the tokens that are declared: none is an
	// orphan for not being in it.
	Part bool
	// Undigested leaves out [Plan.Digest], which takes longer than the rest of a plan of
	// one zone that nobody gets to see.
	Undigested bool
	// Now decides which tokens are due for a successor, and which are over. With
	// the zero time none is.
	Now time.Time
	// NameSuffix goes behind the names of tokens that are created.
	NameSuffix NameSuffix
	// Creates says which permission groups hold the right to create tokens; nil is
	// CreatesTokens(nil).
	Creates func(desired.PermissionGroup) bool
}

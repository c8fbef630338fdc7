package diff

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Operation is what a change does, and all that doing it needs. There are two families,
// one for each driver that sends them, and none for each kind: [RuleOperation] on the rules
// of an entry point, and those on secrets: [Creation], [Amendment], [Deletion], [Orphan] and
// [Delivery]. Whoever stands between a kind and its driver asks these methods and does not
// look at the type.
//
// What guards decide by has no default: an operation that does not say it does not compile.
// The rest is in [Plain], which an operation embeds.
type Operation interface {
	Action() Action
	// Sends reports whether it makes a call; Request is that call.
	Sends() bool
	Request(zone edge.Scope) Request
	// Agreed is what people agree to, of an operation that makes a call.
	Agreed(zone edge.Scope) Agreement
	// About names what it is about; the zero value where that does not exist yet.
	About(zone edge.Scope) ID
	// Senseless refuses what could do no good whoever agrees to it; nil for nothing.
	Senseless(c Conditions) *Refusal
	// Timely reports whether it comes with time alone, and not with a decision: it was
	// agreed to before.
	Timely() bool

	// Standby reports whether it is done only while another change of the same subject is
	// held back: to agree to the other one must not depend on it.
	Standby() bool
	// Renews reports whether its token, once it is made, has another end than the one on
	// record: a new token, or the same one changed.
	Renews() bool
	// Seen is the version of the entry point when it was read; empty where there is none.
	Seen() string
	// Owned are the members that the declaration owns, to remember once it is made.
	Owned() []Member
	// Requests is how many requests it takes: the write, and the read that proves it where
	// something can be read back.
	Requests() int64
	// Achieved says what was done once it is made.
	Achieved(c Change) Achievement
	// Remarks are lines to show beside what differs.
	Remarks() []string
}

// Plain has the answers of an operation that is nothing special.
type Plain struct{}

// Standby implements [Operation].
func (Plain) Standby() bool { return false }

// Renews implements [Operation].
func (Plain) Renews() bool { return false }

// Seen implements [Operation].
func (Plain) Seen() string { return "" }

// Owned implements [Operation].
func (Plain) Owned() []Member { return nil }

// Requests implements [Operation].
func (Plain) Requests() int64 { return 2 }

// Achieved implements [Operation].
func (Plain) Achieved(Change) Achievement {
	return Achievement{Counts: AchievedProof, Text: string(AchievedProof)}
}

// Remarks implements [Operation].
func (Plain) Remarks() []string { return nil }

// Action is what a change does, as users read it.
type Action string

// The actions. The reference shows no call that changes or deletes a token: there
// one whose declaration changed is replaced by a new one, and an orphan is only
// named, for a person to revoke. Where a platform has these calls a token is
// updated in place, and deleted where its declaration allowed that.
const (
	ActionUpdate  Action = "update"
	ActionCreate  Action = "create"
	ActionReplace Action = "replace"
	ActionRotate  Action = "rotate"
	ActionDelete  Action = "delete"
	ActionOrphan  Action = "orphan"

	// Those of the rules of an entry point, beside ActionUpdate.
	ActionDeploy Action = "deploy"
	ActionRemove Action = "remove"
)

// Request is one call: "Update a zone ruleset rule" or "Create token" of the
// reference, or a call on a token or a rule that is known beyond it.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   any    `json:"body"` // an edge.Rule, edge.Ruleset, edge.TokenSpec or edge.Token; nil for none
}

// Agreement is what people agree to when they approve a change.
type Agreement struct {
	Request Request // without what may differ when it is sent
	// Sink is where the secret of a token to be created goes; nil for none.
	Sink *desired.Sink
}

// Conditions are what an operation needs to know to say that it is senseless.
type Conditions struct {
	Now time.Time // decides what is expired
	// CheckSink reports why a sink could not take a secret; nil takes any.
	CheckSink func(desired.Sink) error
}

// Achievement is what was done once a change is made.
type Achievement struct {
	Counts Achieved // as what a run counts it
	Text   string
}

// Achieved is as what a run counts what it has done. What was created or deleted is not read
// back, so it is told what was done.
type Achieved string

// What runs count, in this order.
const (
	AchievedProof    Achieved = "applied and proved"
	AchievedCreation Achieved = "created"
	AchievedDelivery Achieved = "delivered"
	AchievedDeletion Achieved = "deleted"
)

// AllAchieved are those that there are, in the order in which they are counted.
func AllAchieved() []Achieved {
	return []Achieved{AchievedProof, AchievedCreation, AchievedDelivery, AchievedDeletion}
}

package diff

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Remark is something to know of what a zone declares. Nothing of it stops a change, or shows in
// an exit code.
type Remark struct {
	Account    string           `json:"account"`
	Zone       string           `json:"zone"`
	Scope      edge.Scope       `json:"zone_id"`
	Kind       desired.KindName `json:"kind,omitempty"` // as in [ID]
	Deployment string           `json:"deployment"`
	What       RemarkKind       `json:"what"`
	Text       string           `json:"text"` // follows the name: "ends in 12 days"
	Hint       string           `json:"hint"` // the same for a kind of remark
	At         time.Time        `json:"at,omitzero"`
	Origin     desired.Origin   `json:"origin"`
}

// RemarkKind is what a remark is about.
type RemarkKind string

// The kinds of remarks.
const (
	EndsSoon RemarkKind = "ends_soon" // it is switched off by itself within [EndsWithin]
	Ended    RemarkKind = "ended"     // its last day is over, and it is off
	RuleGone RemarkKind = "rule_gone" // it names a rule or a tag that its managed ruleset does not have
)

// RemarkKinds returns all kinds, in the order in which they are shown.
func RemarkKinds() []RemarkKind { return []RemarkKind{EndsSoon, Ended, RuleGone} }

// EndsWithin is how long before its end something is told of.
const EndsWithin = 14 * 24 * time.Hour

// About says what it is about.
func (r Remark) About() string {
	return NameOf(r.Account, r.Zone, Called(r.Kind, r.Deployment), "")
}

// EndingIn says how long something still acts: "ends in 12 days".
func EndingIn(left time.Duration) string { return "ends in " + span(left) }

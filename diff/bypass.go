package diff

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Bypass is a skip rule that acts on a declared deployment: requests that it matches do not
// reach the managed ruleset, or some rules of it. One that needs a person is a [Problem]
// besides, of the state [Bypassed].
type Bypass struct {
	Account    string     `json:"account"`
	Zone       string     `json:"zone"`
	Scope      edge.Scope `json:"zone_id"`
	Deployment string     `json:"deployment"`

	// Where the rule is: at which level, and in which phase.
	Level edge.Level `json:"level"`
	Phase edge.Phase `json:"phase"`
	// The rule. The expression is that of the platform; one of a ruleset that is executed
	// there is joined to the expression of the execute rule.
	Rule        edge.RuleID `json:"rule"`
	Ref         string      `json:"ref,omitempty"`
	Description string      `json:"description,omitempty"`
	Expression  string      `json:"expression"`
	Always      bool        `json:"always"` // each request of the zone matches, as far as that can be told from the expression

	All   bool          `json:"all"`             // all of the deployment is skipped
	Rules []SkippedRule `json:"rules,omitempty"` // else these rules, which are on; sorted by id

	State BypassState `json:"state"`
	// Remove says that the plan has a change that removes the rule: that needs no person but
	// where a guard holds it back.
	Remove bool `json:"remove,omitempty"`
	// Heals is the declaration that the plan makes the rule as; zero for none. That needs no
	// person, either.
	Heals ID `json:"-"`
	// Otherwise is the problem where the removal, or the change that heals, is refused; nil for
	// nothing.
	Otherwise *Problem `json:"-"`

	Owner string `json:"owner,omitempty"` // of an acceptance
	Until string `json:"until,omitempty"` // as declared: YYYY-MM-DD
	// Origin is where it is accepted; zero where it is not.
	Origin desired.Origin `json:"origin,omitzero"`
}

// SkippedRule is a rule of the managed ruleset that is skipped.
type SkippedRule struct {
	ID          edge.RuleID `json:"id"`
	Description string      `json:"description,omitempty"`
}

// BypassState is what is known of a skip rule beside what it does.
type BypassState string

// The states.
const (
	BypassFound    BypassState = "found"    // it was there when the deployment was first proved, or first looked at
	BypassNew      BypassState = "new"      // it acts on the deployment since that was last proved
	BypassChanged  BypassState = "changed"  // it was found, and does something else since
	BypassAccepted BypassState = "accepted" // a person accepts it, as it is
	BypassDiffers  BypassState = "differs"  // a person accepts it as something else
	BypassExpired  BypassState = "expired"  // a person accepted it until a day that is over
	// BypassElsewhere: it is for zones of other names. It is listed all the same, as long as
	// only a declaration, and not the platform, says the name of the zone.
	BypassElsewhere BypassState = "elsewhere"
)

// NeedsPerson reports whether it is a problem: nobody has accepted it as it is, it is there for
// each request or was not there when the deployment was proved, and it is not removed. What an
// import has accepted for nobody is a problem where it is there for each request.
func (b Bypass) NeedsPerson() bool {
	switch {
	case b.Remove, b.Corrected(), b.State == BypassElsewhere:
		return false
	case b.State == BypassAccepted:
		return b.Always && !b.Owned()
	case b.State == BypassFound:
		return b.Always
	}
	return true
}

// Corrected reports whether git declares the rule otherwise, and the plan corrects that.
func (b Bypass) Corrected() bool { return b.Heals.Kind != "" }

// Unremoved is the plan in which each skip rule whose removal, or correction, is refused is a
// problem: nobody has accepted it, and it stays for now, however quiet the refusal is.
func (p Plan) Unremoved() Plan {
	stays, wrong := map[ID]bool{}, map[ID]bool{}
	for _, c := range p.Changes {
		if c.Refused == nil {
			continue
		}
		if wrong[c.ID()] = true; c.Action() == ActionRemove {
			stays[ID{Scope: c.Scope, Ref: c.ID().Ref}] = true
		}
	}
	if len(wrong) == 0 {
		return p
	}
	p.Bypasses, p.Problems = slices.Clone(p.Bypasses), slices.Clone(p.Problems)
	for i := range p.Bypasses {
		b := &p.Bypasses[i]
		removes, heals := b.Remove && stays[ID{Scope: b.Scope, Ref: string(b.Rule)}], b.Corrected() && wrong[b.Heals]
		if b.Otherwise != nil && (removes || heals) {
			b.Remove, b.Heals = false, ID{}
			p.Problems = append(p.Problems, *b.Otherwise)
		}
	}
	return p
}

// Owned reports whether its acceptance names a person or a team.
func (b Bypass) Owned() bool { return desired.Accepted{Owner: b.Owner}.Owned() }

// NotLookedAt are places in which nobody has looked for skip rules.
type NotLookedAt struct {
	Account string     `json:"account"`
	Level   edge.Level `json:"level"`
	Phase   edge.Phase `json:"phase"`
	Zones   int        `json:"zones"`       // of which a deployment may be turned off there
	Reason  string     `json:"reason"`      // why: off, not yet, or what the platform answered
	Err     error      `json:"-"`           // nil where it is only off
	At      time.Time  `json:"at,omitzero"` // when it was last looked at, where it was
}

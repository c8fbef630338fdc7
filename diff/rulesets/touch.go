package rulesets

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Seen is a version of a managed ruleset that an account had, and when Seawall saw it first.
type Seen struct {
	Account edge.AccountID
	At      time.Time
	Ruleset edge.Ruleset
}

// Facts are what of a managed ruleset decides how it behaves, and what people know its rules
// by. The rest is left out: it may be large, and changes nothing.
func Facts(r edge.Ruleset) edge.Ruleset {
	facts := edge.Ruleset{ID: r.ID, Name: r.Name, Kind: r.Kind, Phase: r.Phase, Version: r.Version, Rules: make([]edge.Rule, len(r.Rules))}
	for i, rule := range r.Rules {
		facts.Rules[i] = edge.Rule{
			ID: rule.ID, Version: rule.Version, Action: rule.Action, ScoreThreshold: rule.ScoreThreshold, Categories: tagsOf(rule),
			Description: rule.Description, Ref: rule.Ref, Enabled: rule.Enabled,
		}
	}
	return facts
}

// Effect is what a managed rule does in a zone, with the overrides on top of its default.
type Effect struct {
	Enabled     bool        `json:"enabled"`
	Action      edge.Action `json:"action"`
	Score       *int        `json:"score_threshold,omitempty"`
	Sensitivity string      `json:"sensitivity_level,omitempty"`
}

// RuleEffect is a rule that does something else in another version.
type RuleEffect struct {
	Rule          edge.Rule // of the newer version that has it
	Last          bool      // it is, or was, the last rule
	Before, After *Effect   // nil: the version has no such rule
	Direction     diff.Direction
}

// Touch is what another version of its managed ruleset means for a declared deployment. The
// zero value is that it means nothing.
type Touch struct {
	// Direction is that of Rules together.
	Direction diff.Direction
	// Rules are those that do something else, once Seawall has written what is declared: those
	// that are off in both versions are left out.
	Rules []RuleEffect
	// Rewritten says that the overrides of the zone are to be written anew. Meanwhile is the
	// direction until then; empty where it is that of Rules.
	Rewritten bool
	Meanwhile diff.Direction
	// Mistakes are what the declaration cannot mean any more. While it has any, nothing is
	// written to the deployment, and Rules are what they do without that.
	Mistakes []Mistake
	// Mended says that the declaration could not be resolved in the older version, and can be
	// in the newer one.
	Mended bool
	// Pinned is the version that the declaration names: no other one means anything for it.
	Pinned string
	// Off says that the deployment is declared to be off.
	Off bool
}

// Mistake is what a declaration could mean in the older version of its managed ruleset, and
// cannot in the newer one.
type Mistake struct {
	Reason string         `json:"reason"`
	Hint   string         `json:"hint,omitempty"`
	Origin desired.Origin `json:"origin,omitzero"`
}

// IsZero reports whether a version means nothing for a deployment.
func (t Touch) IsZero() bool {
	return len(t.Rules)+len(t.Mistakes) == 0 && !t.Rewritten && !t.Mended && t.Meanwhile == ""
}

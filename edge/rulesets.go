package edge

import (
	"bytes"
	"encoding/json"
)

// Ruleset is an account's managed ruleset or a zone's entry point (reference,
// "Ruleset"). Lists leave Rules nil; a single ruleset without rules may too.
type Ruleset struct {
	ID          RulesetID `json:"id,omitempty"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Source      string    `json:"source,omitempty"`
	Kind        Kind      `json:"kind"`
	Version     string    `json:"version,omitempty"` // a decimal number carried as text; every write adds 1
	LastUpdated string    `json:"last_updated,omitempty"`
	Phase       Phase     `json:"phase"`
	Rules       []Rule    `json:"rules,omitzero"`

	// Extra holds the members this type does not know, by name.
	Extra map[string]json.RawMessage `json:"-"`
}

// Rule is one rule of a ruleset (reference, "Rule"). In an entry point it is
// the execute rule of a deployment; in a managed ruleset it is a detection, and
// the last one carries ScoreThreshold.
type Rule struct {
	ID               RuleID            `json:"id,omitempty"`
	Version          string            `json:"version,omitempty"`
	Action           Action            `json:"action,omitempty"`
	ActionParameters *ActionParameters `json:"action_parameters,omitempty"`
	Expression       string            `json:"expression,omitempty"`
	ScoreThreshold   *int              `json:"score_threshold,omitempty"`
	Categories       []string          `json:"categories,omitempty"` // the tags of a managed rule
	Description      *string           `json:"description,omitempty"`
	LastUpdated      string            `json:"last_updated,omitempty"`
	Ref              string            `json:"ref,omitempty"`     // stable name; survives new versions of a managed ruleset
	Enabled          *bool             `json:"enabled,omitempty"` // nil is "not said", which is never false

	Extra map[string]json.RawMessage `json:"-"`
}

// ActionParameters says which managed ruleset an execute rule runs, and how
// its rules are overridden.
type ActionParameters struct {
	ID        RulesetID  `json:"id,omitempty"`
	Version   string     `json:"version,omitempty"`
	Overrides *Overrides `json:"overrides,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
}

// Overrides change how the rules of a managed ruleset behave in one zone.
// Precedence is rule over category over the ruleset-wide members; where two
// categories hit one rule, the last listed wins.
type Overrides struct {
	Action           *Action            `json:"action,omitempty"`
	Enabled          *bool              `json:"enabled,omitempty"`
	SensitivityLevel *string            `json:"sensitivity_level,omitempty"`
	Categories       []CategoryOverride `json:"categories,omitempty"` // the platform refuses an empty list
	Rules            []RuleOverride     `json:"rules,omitempty"`      // the platform refuses an empty list

	Extra map[string]json.RawMessage `json:"-"`
}

// CategoryOverride overrides every rule that carries a tag.
type CategoryOverride struct {
	Category         string  `json:"category"`
	Action           *Action `json:"action,omitempty"`
	Enabled          *bool   `json:"enabled,omitempty"`
	SensitivityLevel *string `json:"sensitivity_level,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
}

// RuleOverride overrides one rule of the managed ruleset.
type RuleOverride struct {
	ID               RuleID  `json:"id"`
	Action           *Action `json:"action,omitempty"`
	Enabled          *bool   `json:"enabled,omitempty"`
	ScoreThreshold   *int    `json:"score_threshold,omitempty"`
	SensitivityLevel *string `json:"sensitivity_level,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
}

// Last returns the rule that evaluates the accumulated score: the last of a
// managed ruleset. It is false for a ruleset without rules.
func (r Ruleset) Last() (Rule, bool) {
	if len(r.Rules) == 0 {
		return Rule{}, false
	}
	return r.Rules[len(r.Rules)-1], true
}

// Executes reports whether the rule deploys the managed ruleset id.
func (r Rule) Executes(id RulesetID) bool {
	return r.Action == ActionExecute && r.ActionParameters != nil && r.ActionParameters.ID == id
}

// IsEnabled reports whether the rule runs; a rule that does not say so does.
func (r Rule) IsEnabled() bool { return r.Enabled == nil || *r.Enabled }

// Update returns the body that updates this rule: all of it but the members
// that only the platform writes (id, version, last_updated).
func (r Rule) Update() Rule {
	r.ID, r.Version, r.LastUpdated = "", "", ""
	return r
}

// Members are those of [Rule.Update] as a request has them, with numbers as they are written.
func (r Rule) Members() (members map[string]any, err error) {
	data, err := json.Marshal(r.Update())
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&members)
	return members, err
}

// UnmarshalJSON keeps unknown members; see open.go.
func (r *Ruleset) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, r)
}

// MarshalJSON writes unknown members, too.
func (r Ruleset) MarshalJSON() ([]byte, error) {
	return encodeOpen(r)
}

// UnmarshalJSON keeps unknown members; see open.go.
func (r *Rule) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, r)
}

// MarshalJSON writes unknown members, too.
func (r Rule) MarshalJSON() ([]byte, error) {
	return encodeOpen(r)
}

// UnmarshalJSON keeps unknown members; see open.go.
func (p *ActionParameters) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, p)
}

// MarshalJSON writes unknown members, too.
func (p ActionParameters) MarshalJSON() ([]byte, error) {
	return encodeOpen(p)
}

// UnmarshalJSON keeps unknown members; see open.go.
func (o *Overrides) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, o)
}

// MarshalJSON writes unknown members, too.
func (o Overrides) MarshalJSON() ([]byte, error) {
	return encodeOpen(o)
}

// UnmarshalJSON keeps unknown members; see open.go.
func (c *CategoryOverride) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, c)
}

// MarshalJSON writes unknown members, too.
func (c CategoryOverride) MarshalJSON() ([]byte, error) {
	return encodeOpen(c)
}

// UnmarshalJSON keeps unknown members; see open.go.
func (r *RuleOverride) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, r)
}

// MarshalJSON writes unknown members, too.
func (r RuleOverride) MarshalJSON() ([]byte, error) {
	return encodeOpen(r)
}

// EntryPointBody is the body that creates an entry point.
func EntryPointBody(scope Scope, phase Phase, rules []Rule) Ruleset {
	bodies := make([]Rule, len(rules))
	for i, r := range rules {
		bodies[i] = r.Update()
	}
	return Ruleset{Name: "default", Kind: scope.EntryKind(), Phase: phase, Rules: bodies}
}

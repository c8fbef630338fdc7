package inspect

import "github.com/seawall-dev/seawall/desired"

// LiveMember is a declared member of a deployment beside its live value, or a live one that is
// not declared.
type LiveMember struct {
	Kind       desired.KindName `json:"kind,omitempty"` // as in [diff.ID]
	Deployment string           `json:"deployment"`
	Path       string           `json:"path"`
	Declared   any              `json:"declared,omitempty"` // absent: it is not declared
	Live       any              `json:"live,omitempty"`     // absent: it is not live, or not known
	Same       bool             `json:"same"`
	Unknown    string           `json:"unknown,omitempty"` // why it is not known what is live
	Note       string           `json:"note,omitempty"`    // which rule it is about
	Origin     desired.Origin   `json:"origin,omitzero"`   // zero: a default of the schema, or not declared
}

// LiveMembers puts a declaration beside one with which what is live agrees; without one, unknown
// says why. What says what becomes of others, and is never live itself, is left out. note says
// in words what a rule of a managed ruleset is.
func LiveMembers(declared, live desired.Declaring, unknown string, note func(desired.RuleRef) string) (members []LiveMember) {
	for _, p := range desired.Beside(declared, live) {
		m := LiveMember{Path: p.Path, Same: p.Same(), Unknown: unknown}
		if p.Declared != nil {
			if p.Declared.Decides {
				continue
			}
			m.Declared, m.Origin = p.Declared.Plain(), p.Declared.Origin
			m.Origin.Commit = ""
		}
		if p.Live != nil {
			m.Live = p.Live.Plain()
		}
		if rule := p.Member().Rule(); note != nil && rule != (desired.RuleRef{}) {
			m.Note = note(rule)
		}
		members = append(members, m)
	}
	return members
}

package access

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Direction says which way a change goes. Its text is the one plans use.
type Direction string

// More rights, wider addresses, an earlier begin and a later end weaken.
const (
	Strengthens Direction = "strengthens"
	Weakens     Direction = "weakens"
)

// Kind is what a change is about.
type Kind string

// The kinds of changes.
const (
	KindRight     Kind = "right"
	KindNotBefore Kind = "not_before"
	KindExpiresOn Kind = "expires_on"
	KindAddresses Kind = "addresses"
)

// Change is one difference in what a token may do.
type Change struct {
	Kind      Kind
	Direction Direction

	// Of a right: the group that is gained or lost, on what, but for what.
	Group    string
	Resource Resource
	Except   []Resource

	// Of the others: what was and what is, as text; empty is no restriction.
	Old, New string

	// Undecidable tells that only the platform knows what the change does. It
	// then counts as one that weakens.
	Undecidable bool
}

// Resource is one of the forms in which a policy names what it is about.
type Resource struct {
	Key      string
	AllZones bool // all zones in the account that Key names
	// In narrows the one zone that Key names to the case that it is in this
	// account. A policy does not say which account a zone is in, and where that
	// matters the change is told for each case.
	In edge.AccountID
}

// Covers reports whether a target is meant.
func (r Resource) Covers(t Target) bool {
	one := map[string]edge.Breadth{r.Key: {AllZones: r.AllZones}}
	return (r.In == "" || r.In == t.Account) && readResources(one).covers(t) == yes
}

func (r Resource) String() string {
	switch {
	case r.AllZones:
		return fmt.Sprintf("all zones in %s", r.Key)
	case r.In != "":
		return fmt.Sprintf("%s if it is in account %s", r.Key, r.In)
	}
	return r.Key
}

// String tells a change to people: "gains group G on R except S".
func (c Change) String() string {
	var text string
	switch {
	case c.Kind != KindRight:
		text = fmt.Sprintf("%s: %s -> %s", c.Kind, orAny(c.Old), orAny(c.New))
	case c.Undecidable:
		text = fmt.Sprintf("group %s on %s changes", c.Group, c.Resource)
	case c.Direction == Weakens:
		text = fmt.Sprintf("gains group %s on %s", c.Group, c.Resource)
	default:
		text = fmt.Sprintf("loses group %s on %s", c.Group, c.Resource)
	}
	for i, r := range c.Except {
		text += []string{" except ", ", "}[min(i, 1)] + r.String()
	}
	if c.Undecidable {
		text += " (only the platform can tell how)"
	}
	return text
}

// Named is the text with the name of its permission group, where names has one for the id.
func (c Change) Named(names map[string]string) string {
	text := c.String()
	if name := names[c.Group]; name != "" && c.Group != "" {
		text = strings.Replace(text, "group "+c.Group, fmt.Sprintf("group %q (%s)", name, c.Group), 1)
	}
	return text
}

// GroupNames are the names of permission groups, by their ids, that specifications say.
func GroupNames(specs ...edge.TokenSpec) map[string]string {
	names := map[string]string{}
	for _, spec := range specs {
		for _, policy := range spec.Policies {
			for _, g := range policy.PermissionGroups {
				if g.ID != "" && g.Name != "" {
					names[g.ID] = g.Name
				}
			}
		}
	}
	return names
}

func orAny(s string) string {
	if s == "" {
		return "any"
	}
	return s
}

// Diff lists how what a token may do changes with its spec, and nothing that is
// merely written otherwise. Rights come first, by group; each target's rights are
// in at most one of them, so a wide form names what it leaves out. Where a spec
// holds what only the platform can read, a change weakens if it might.
//
// What a group is scoped for is the group's own: known of one spec, it holds for
// both. Window and addresses are left out where one side may do nothing at all.
func Diff(before, after edge.TokenSpec) []Change {
	d := newDiffer(before, after)
	changes := d.rights()
	if !d.anyBefore || !d.anyAfter {
		return changes
	}
	changes = append(changes, timeChanges(before, after)...)
	return append(changes, addressChanges(before.Condition, after.Condition)...)
}

func listed(what string, ranges []string) string {
	if ranges == nil {
		return ""
	}
	return what + " [" + strings.Join(ranges, " ") + "]"
}

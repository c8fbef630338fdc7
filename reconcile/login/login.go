// Package login says who sends a request, and what they may do.
package login

import (
	"context"

	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Role is what a person may do.
type Role string

// The roles. An operator may do what a viewer may.
const (
	Viewer   Role = "viewer"
	Operator Role = "operator"
)

// Grant is a role for the zones that have all these labels; no labels: for everything.
type Grant struct {
	Role   Role
	Labels map[string]string
}

// Person is who sends a request.
type Person struct {
	// Name is how the history names them, with how they were recognized: "oidc:ada@example.com".
	Name   string
	Grants []Grant
}

// MayAll reports whether a person has a role for everything, not only for zones with labels.
func (p Person) MayAll(role Role) bool {
	for _, g := range p.Grants {
		if len(g.Labels) == 0 && g.includes(role) {
			return true
		}
	}
	return false
}

// May reports whether a person has a role for a zone. A grant by labels counts where the zone
// has these labels both in the commit in force and when it was proved last.
func (p Person) May(role Role, zone inspect.ZoneLabels) bool {
	for _, g := range p.Grants {
		if g.includes(role) && (len(g.Labels) == 0 || has(zone.Declared, g.Labels) && has(zone.Proved, g.Labels)) {
			return true
		}
	}
	return false
}

func (g Grant) includes(role Role) bool {
	return g.Role == role || g.Role == Operator && role == Viewer
}

func has(labels, want map[string]string) bool {
	for key, value := range want {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}

type key struct{}

// With returns a context in which requests are from a person.
func With(ctx context.Context, p Person) context.Context { return context.WithValue(ctx, key{}, p) }

// From returns the person of a context; false where none is known, who may do nothing.
func From(ctx context.Context) (Person, bool) {
	p, ok := ctx.Value(key{}).(Person)
	return p, ok
}

package edge

import (
	"context"
	"encoding/json"
)

// Account is an account that the credential can see (profile "extended").
type Account struct {
	ID   AccountID `json:"id"`
	Name string    `json:"name"`

	Extra map[string]json.RawMessage `json:"-"`
}

// Zone is a zone that the credential can see (profile "extended"). Names are
// unique within an account only.
type Zone struct {
	ID      ZoneID  `json:"id"`
	Name    string  `json:"name"`
	Status  string  `json:"status,omitempty"` // active, pending, initializing, moved, and others
	Account Account `json:"account"`
	Plan    *Plan   `json:"plan,omitempty"` // nil: it is not said

	Extra map[string]json.RawMessage `json:"-"`
}

// Plan is what a zone has a subscription of.
type Plan struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"` // "Free Website"
	// LegacyID is the plan in one word, which package tier knows it by: free, pro, business,
	// enterprise, and others.
	LegacyID string `json:"legacy_id,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
}

// Tier is the plan of a zone in one word; empty where it is not said.
func (z Zone) Tier() string {
	if z.Plan == nil {
		return ""
	}
	return z.Plan.LegacyID
}

// ZoneFilter selects zones; empty members select all.
type ZoneFilter struct {
	Name    string // the exact name
	Account AccountID
}

// Directory is the part of [Reader] that finds zones and accounts by name. Lists have what the credential
// may see: an empty one says nothing of what exists.
type Directory interface {
	// Zones lists the zones that pass the filter, all pages of them, in the
	// platform's order.
	Zones(ctx context.Context, filter ZoneFilter) ([]Zone, error)
	// Zone returns one zone. It returns [ErrNotFound] for an unknown one.
	Zone(ctx context.Context, id ZoneID) (Zone, error)
	// Accounts lists the accounts, all pages of them.
	Accounts(ctx context.Context) ([]Account, error)
}

// ZonesPath is the path that lists zones.
func ZonesPath() string { return "/zones" }

// ZonePath is the path of one zone.
func ZonePath(id ZoneID) string { return ZonesPath() + "/" + string(id) }

// AccountsPath is the path that lists accounts.
func AccountsPath() string { return "/accounts" }

// UnmarshalJSON keeps unknown members; see open.go.
func (a *Account) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, a)
}

// MarshalJSON writes unknown members, too.
func (a Account) MarshalJSON() ([]byte, error) {
	return encodeOpen(a)
}

// UnmarshalJSON keeps unknown members; see open.go.
func (z *Zone) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, z)
}

// MarshalJSON writes unknown members, too.
func (z Zone) MarshalJSON() ([]byte, error) {
	return encodeOpen(z)
}

// UnmarshalJSON keeps unknown members; see open.go.
func (p *Plan) UnmarshalJSON(data []byte) error {
	return decodeOpen(data, p)
}

// MarshalJSON writes unknown members, too.
func (p Plan) MarshalJSON() ([]byte, error) {
	return encodeOpen(p)
}

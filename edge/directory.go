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

	Extra map[string]json.RawMessage `json:"-"`
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

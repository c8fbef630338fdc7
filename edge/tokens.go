package edge

import (
	"context"
	"encoding/json"
	"fmt"
)

// TokenID identifies an API token: at most 32 characters.
type TokenID string

// TokenSpec is what a token shall be: the documented body of its creation
// (reference, "API token"). Timestamps are text in the form
// YYYY-MM-DDThh:mm:ssZ; empty is not said.
type TokenSpec struct {
	Name      string     `json:"name"`
	Policies  []Policy   `json:"policies"`
	NotBefore string     `json:"not_before,omitempty"`
	ExpiresOn string     `json:"expires_on,omitempty"`
	Condition *Condition `json:"condition,omitempty"`
}

// Token is a token as the platform has it. Its secret is not part of it: the
// platform shows that once, in the answer that created it.
type Token struct {
	ID TokenID `json:"id"`
	TokenSpec
	Status     string `json:"status,omitempty"` // "active", "disabled", "expired"; the set is open
	IssuedOn   string `json:"issued_on,omitempty"`
	ModifiedOn string `json:"modified_on,omitempty"`
	LastUsedOn string `json:"last_used_on,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
}

// CreatedToken is the answer to a creation: the only place where the secret is.
type CreatedToken struct {
	Token
	Value Secret
}

// Policy allows or denies what its permission groups grant, on its resources
// (reference, "Policy"). ID is the platform's and is never sent on creation.
type Policy struct {
	ID               string             `json:"id,omitempty"`
	Effect           Effect             `json:"effect"`
	Resources        map[string]Breadth `json:"resources"`
	PermissionGroups []PermissionGroup  `json:"permission_groups"`
}

// Effect is what a policy does.
type Effect string

// The two effects. A token's deny policies come before its allow policies, and
// what neither names is denied.
const (
	Allow Effect = "allow"
	Deny  Effect = "deny"
)

// Breadth is the value of a resource: "*", or all zones of an account
// (reference, "Resource identifiers"). Anything else the platform may answer is
// kept in Other and means what only the platform knows.
type Breadth struct {
	AllZones bool
	Other    json.RawMessage
}

// Resource keys, with the segment "vendor"; implementations translate it.
const (
	ResourceAllAccounts = "com.vendor.api.account.*"
	ResourceAllZones    = "com.vendor.api.account.zone.*"
	ResourceAccount     = "com.vendor.api.account."
	ResourceZone        = "com.vendor.api.account.zone."
	ResourceUser        = "com.vendor.api.user."
)

// MarshalJSON writes one of the two documented forms, or what was read.
func (b Breadth) MarshalJSON() ([]byte, error) {
	switch {
	case b.Other != nil:
		return b.Other, nil
	case b.AllZones:
		return json.Marshal(map[string]string{ResourceAllZones: "*"})
	}
	return []byte(`"*"`), nil
}

// UnmarshalJSON reads a breadth.
func (b *Breadth) UnmarshalJSON(data []byte) error {
	var text string
	var nested map[string]string
	switch {
	case json.Unmarshal(data, &text) == nil && text == "*":
		*b = Breadth{}
	case json.Unmarshal(data, &nested) == nil && len(nested) == 1 && nested[ResourceAllZones] == "*":
		*b = Breadth{AllZones: true}
	case json.Valid(data):
		*b = Breadth{Other: append(json.RawMessage(nil), data...)}
	default:
		return fmt.Errorf("a resource's value is not JSON")
	}
	return nil
}

// PermissionGroup is a set of permissions; only ID is needed in a policy. Name
// and Scopes are filled in by the platform. Names are not unique.
type PermissionGroup struct {
	ID     string   `json:"id"`
	Name   string   `json:"name,omitempty"`
	Scopes []string `json:"scopes,omitempty"` // the resource types it is for
}

// Condition restricts the client addresses a token works from. The reference
// writes its key "request.ip"; the vendor's newer one "request_ip" is read too.
type Condition struct {
	RequestIP *AddressFilter `json:"request.ip,omitempty"`
}

// AddressFilter holds ranges in CIDR notation, IPv4 and IPv6.
type AddressFilter struct {
	In    []string `json:"in,omitzero"` // nil is not said; empty admits nobody, and is not the same
	NotIn []string `json:"not_in,omitzero"`
}

// UnmarshalJSON reads either spelling of the key.
func (c *Condition) UnmarshalJSON(data []byte) error {
	var either struct {
		Reference *AddressFilter `json:"request.ip"`
		Newer     *AddressFilter `json:"request_ip"`
	}
	if err := json.Unmarshal(data, &either); err != nil {
		return err
	}
	if c.RequestIP = either.Reference; c.RequestIP == nil {
		c.RequestIP = either.Newer
	}
	return nil
}

// TokenCreator is all the reference shows of tokens.
type TokenCreator interface {
	// CreateToken creates a token (reference, "Create token"). It is the one act
	// that cannot be repeated: there is no idempotency key and names are not
	// unique, so an implementation sends it at most once.
	//
	// Beside the errors of [Reader] it returns [ErrInvalid] when the platform
	// refuses the body, and [ErrOutcomeUnknown] when a token may exist whose
	// secret nobody has: a timeout or cut after sending, a 5xx, or an answer that
	// cannot be read. Any other error means that no token was created.
	CreateToken(ctx context.Context, spec TokenSpec) (CreatedToken, error)
}

// TokensPath is the path of the calling user's tokens.
func TokensPath() string { return "/user/tokens" }

// The JSON form of a token keeps unknown members. TokenSpec is embedded, so the
// known type spells its members out.

type tokenMembers struct {
	ID         TokenID    `json:"id"`
	Name       string     `json:"name"`
	Policies   []Policy   `json:"policies"`
	NotBefore  string     `json:"not_before,omitempty"`
	ExpiresOn  string     `json:"expires_on,omitempty"`
	Condition  *Condition `json:"condition,omitempty"`
	Status     string     `json:"status,omitempty"`
	IssuedOn   string     `json:"issued_on,omitempty"`
	ModifiedOn string     `json:"modified_on,omitempty"`
	LastUsedOn string     `json:"last_used_on,omitempty"`
	Value      *string    `json:"value,omitempty"` // known only so that it is never kept
}

func (t *Token) UnmarshalJSON(data []byte) error {
	var m tokenMembers
	if err := decodeOpen(data, &m, &t.Extra); err != nil {
		return err
	}
	t.ID, t.Status, t.IssuedOn, t.ModifiedOn, t.LastUsedOn = m.ID, m.Status, m.IssuedOn, m.ModifiedOn, m.LastUsedOn
	t.TokenSpec = TokenSpec{m.Name, m.Policies, m.NotBefore, m.ExpiresOn, m.Condition}
	return nil
}

func (t Token) MarshalJSON() ([]byte, error) {
	return encodeOpen(tokenMembers{
		ID: t.ID, Name: t.Name, Policies: t.Policies, NotBefore: t.NotBefore, ExpiresOn: t.ExpiresOn, Condition: t.Condition,
		Status: t.Status, IssuedOn: t.IssuedOn, ModifiedOn: t.ModifiedOn, LastUsedOn: t.LastUsedOn,
	}, t.Extra)
}

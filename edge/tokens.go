package edge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
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
	ID TokenID `json:"id,omitempty"`
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
	ResourceBucket      = "com.vendor.edge.r2.bucket." // known beyond the reference
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

// PermissionGroup is a set of permissions; only ID is needed in a policy. Name,
// Scopes and Meta are filled in by the platform. Names are not unique.
type PermissionGroup struct {
	ID     string          `json:"id"`
	Name   string          `json:"name,omitempty"`
	Scopes []string        `json:"scopes,omitempty"` // the resource types it is for
	Meta   json.RawMessage `json:"meta,omitempty"`   // what it says besides, in policies; its form is the platform's own
}

// Condition restricts the client addresses a token works from. The reference
// writes its key "request.ip"; the vendor's newer one "request_ip" is read too.
type Condition struct {
	RequestIP *AddressFilter `json:"request.ip,omitempty"`
}

// AddressFilter holds ranges in CIDR notation, IPv4 and IPv6.
type AddressFilter struct {
	In    []string `json:"in,omitzero"` // nil is not said; empty admits no one, and is not the same
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

// TokenReader is the part of the contract that looks at tokens. The reference shows none of
// it: every call may return [ErrNotOffered], which says nothing about tokens.
type TokenReader interface {
	// UserTokens lists the calling user's tokens, all pages of them, in the
	// platform's order. An empty list is a user without tokens, and never a
	// failure.
	UserTokens(ctx context.Context) ([]Token, error)
	// UserToken returns one token. It returns [ErrNotFound] for an unknown one.
	UserToken(ctx context.Context, id TokenID) (Token, error)
	// VerifyToken returns what the platform says of the credential that asks: id,
	// status and window.
	VerifyToken(ctx context.Context) (Token, error)
	// PermissionGroups lists every permission group with its name and the resource
	// types it is for. Names are not unique.
	PermissionGroups(ctx context.Context) ([]PermissionGroup, error)
}

// TokenWriter is the part of the contract that changes tokens. All but CreateToken may
// return [ErrNotOffered].
type TokenWriter interface {
	// Offers is that of [Reader], for the level [LevelCredential].
	Offers(call Call, level Level) bool
	// CreateToken creates a token (reference, "Create token"). It is the one act
	// that cannot be repeated: there is no idempotency key and names are not
	// unique, so an implementation sends it at most once. Directly before, it
	// calls what [BeforeSend] put into the context.
	//
	// Beside the errors of [Reader] it returns [ErrInvalid] when the platform
	// refuses the body, and [ErrOutcomeUnknown] when a token may exist whose
	// secret no one has: a timeout or cut after sending, a 5xx, or an answer that
	// cannot be read. Any other error means that no token was created.
	CreateToken(ctx context.Context, spec TokenSpec) (CreatedToken, error)
	// UpdateToken replaces a token by body, as [Token.Update] makes it; its secret
	// stays. What the body leaves out is dropped. The result is the token after
	// the write. Beside the errors of [Reader] it returns [ErrInvalid],
	// [ErrNotFound], and [ErrOutcomeUnknown]: read before trying again.
	UpdateToken(ctx context.Context, id TokenID, body Token) (Token, error)
	// DeleteToken ends a token. [ErrNotFound] means that it is gone already;
	// [ErrOutcomeUnknown] that it may be: a second call does no harm.
	DeleteToken(ctx context.Context, id TokenID) error
	// RollToken gives a token a new secret; the old one is dead at once. After
	// [ErrOutcomeUnknown] no one has the secret that works: roll again.
	RollToken(ctx context.Context, id TokenID) (Secret, error)
}

// Tokens is the whole contract about the tokens of one owner: the calling user, or an
// account, where "user" is to be read as "account".
type Tokens interface {
	TokenReader
	TokenWriter
}

// ReadOnlyTokens returns a view of r that cannot write, not even after a type
// assertion.
func ReadOnlyTokens(r TokenReader) TokenReader { return readOnlyTokens{r} }

type readOnlyTokens struct{ TokenReader }

// Update returns the body that turns the token into what spec says: the whole
// object, with the status and the members that only the platform knows as they
// are, and without what the platform writes itself. That a token has expired is
// such a thing too: its window says it.
func (t Token) Update(spec TokenSpec) Token {
	if t.Status == "expired" {
		t.Status = ""
	}
	t.TokenSpec = spec
	t.ID, t.IssuedOn, t.ModifiedOn, t.LastUsedOn = "", "", "", ""
	return t
}

// The paths of tokens. The first is the reference's; the others are known beyond
// it.

// TokensPath is the path of the calling user's tokens.
func TokensPath() string { return "/user/tokens" }

// AccountTokensPath is the path of the tokens that an account owns.
func AccountTokensPath(account AccountID) string { return "/accounts/" + string(account) + "/tokens" }

// OwnedTokensPath is the path of the tokens of an owner: of an account or, where that is
// empty, of the calling user.
func OwnedTokensPath(owner AccountID) string {
	if owner == "" {
		return TokensPath()
	}
	return AccountTokensPath(owner)
}

// OwnedTokenPath is the path of one token of an owner; see [OwnedTokensPath].
func OwnedTokenPath(owner AccountID, id TokenID) string {
	return OwnedTokensPath(owner) + "/" + url.PathEscape(string(id))
}

// VerifyTokenPath is the path that tells of the calling credential.
func VerifyTokenPath() string { return TokensPath() + "/verify" }

// PermissionGroupsPath is the path that lists the permission groups for the tokens of an
// owner; see [OwnedTokensPath].
func PermissionGroupsPath(owner AccountID) string {
	return OwnedTokensPath(owner) + "/permission_groups"
}

// UnmarshalJSON keeps unknown members, but for the secret; see open.go.
func (t *Token) UnmarshalJSON(data []byte) error {
	*t = Token{}
	err := decodeOpen(data, t)
	if delete(t.Extra, "value"); len(t.Extra) == 0 {
		t.Extra = nil
	}
	return err
}

// MarshalJSON writes unknown members, too.
func (t Token) MarshalJSON() ([]byte, error) {
	return encodeOpen(t)
}

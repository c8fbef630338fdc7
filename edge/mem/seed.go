package mem

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seawall-dev/seawall/edge"
)

// Seed is the state of a platform as data. Its JSON form uses the names of the
// reference:
//
//	{"accounts": [{"id", "name", "rulesets": [ruleset…]}],
//	 "zones": [{"id", "account_id", "name", "status", "plan", "entrypoint": ruleset or null, "rulesets": [those of other phases]}],
//	 "permission_groups": [{"id", "name", "scopes", "meta"}],
//	 "user": "tag of the user whose tokens these are",
//	 "tokens": [{"id", "name", "value", "policies", …}],
//	 "tokens_made": how many there ever were, where some are gone,
//	 "endpoint_permissions": {"METHOD /path/{id}": "group id|group id"},
//	 "ruleset_versions": {"ruleset id": [versions of the past, oldest first]},
//	 "rulesets_made": how many were created by a call}
//
// What a ruleset leaves out of id, kind, phase, version and last_updated the
// platform fills in. Which permission an endpoint
// needs is not in the reference and is the seed's own word; edge/sim goes by it.
// Without a user, policies may name any.
type Seed struct {
	Accounts            []SeedAccount         `json:"accounts"`
	Zones               []SeedZone            `json:"zones"`
	PermissionGroups    []SeedPermissionGroup `json:"permission_groups"`
	User                string                `json:"user,omitempty"`
	Tokens              []SeedToken           `json:"tokens"`
	TokensMade          int                   `json:"tokens_made,omitempty"`
	EndpointPermissions map[string]string     `json:"endpoint_permissions"`

	RulesetVersions map[edge.RulesetID][]edge.Ruleset `json:"ruleset_versions,omitempty"`
	RulesetsMade    int                               `json:"rulesets_made,omitempty"`
}

// SeedAccount is an account with its rulesets, in the order of the list call.
type SeedAccount struct {
	ID       edge.AccountID `json:"id"`
	Name     string         `json:"name,omitempty"`
	Rulesets []edge.Ruleset `json:"rulesets"`
}

// SeedZone is a zone; without an entry point nothing is deployed in it.
type SeedZone struct {
	ID         edge.ZoneID    `json:"id"`
	AccountID  edge.AccountID `json:"account_id"`
	Name       string         `json:"name"`
	Status     string         `json:"status,omitempty"` // empty: active
	Plan       string         `json:"plan,omitempty"`   // of package tier, to which the profile vendor holds rules; empty: enterprise, and nothing is checked
	EntryPoint *edge.Ruleset  `json:"entrypoint"`
	Rulesets   []edge.Ruleset `json:"rulesets,omitempty"` // entry points of other phases
}

// SeedPermissionGroup is a permission group with the resource types it is for.
type SeedPermissionGroup struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Scopes []string        `json:"scopes"`
	Meta   json.RawMessage `json:"meta,omitempty"` // what the platform says of it besides, inside of policies
}

// SeedToken is an API token. Its Value is a made-up secret of a made-up
// platform, so it has a JSON form, which a real secret never has. It may be
// missing: nobody can sign in with such a token, it is only there. One without
// policies is the first token, which is made outside of the API: it may do
// everything. Resource keys have the segment "vendor". An empty status is active,
// and what the clock says of a token is not part of it. Extra are members of
// which only the platform knows the meaning.
type SeedToken struct {
	ID        string          `json:"id"`
	Name      string          `json:"name,omitempty"`
	Value     string          `json:"value,omitempty"`
	Status    string          `json:"status,omitempty"`
	IssuedOn  string          `json:"issued_on,omitempty"`
	NotBefore string          `json:"not_before,omitempty"`
	ExpiresOn string          `json:"expires_on,omitempty"`
	Policies  json.RawMessage `json:"policies,omitempty"`
	Condition json.RawMessage `json:"condition,omitempty"`

	ModifiedOn string `json:"modified_on,omitempty"`
	LastUsedOn string `json:"last_used_on,omitempty"`

	Extra map[string]json.RawMessage `json:"extra,omitempty"`

	Account edge.AccountID `json:"account_id,omitempty"` // that owns it; empty: the user
}

// IsZero reports whether the seed holds nothing at all.
func (s Seed) IsZero() bool {
	return s.Accounts == nil && s.Zones == nil && s.PermissionGroups == nil && s.User == "" && s.Tokens == nil && s.TokensMade == 0 &&
		s.EndpointPermissions == nil && s.RulesetVersions == nil && s.RulesetsMade == 0
}

// ReadSeed reads the JSON form of a seed and checks it. Errors say the line and
// column, or the account or zone, of what is wrong.
func ReadSeed(r io.Reader) (Seed, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Seed{}, err
	}
	var s Seed
	if err := decodeStrict(data, &s); err != nil {
		return Seed{}, placeError(data, err)
	}
	return s, s.Check()
}

// WriteSeed writes the JSON form of a seed, indented for people.
func WriteSeed(w io.Writer, s Seed) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(s)
}

// UnmarshalJSON decodes an account and says in errors which one it was.
func (a *SeedAccount) UnmarshalJSON(data []byte) error {
	type known SeedAccount
	if err := decodeStrict(data, (*known)(a)); err != nil {
		return fmt.Errorf("account %q: %w", a.ID, err)
	}
	return nil
}

// UnmarshalJSON decodes a zone and says in errors which one it was.
func (z *SeedZone) UnmarshalJSON(data []byte) error {
	type known SeedZone
	if err := decodeStrict(data, (*known)(z)); err != nil {
		return fmt.Errorf("zone %q: %w", z.ID, err)
	}
	return nil
}

// decodeStrict refuses members that a seed does not have: a misspelt one would
// otherwise be an empty platform. Rulesets stay open, they are the platform's.
func decodeStrict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

// placeError adds line and column where the decoder knows them.
func placeError(data []byte, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the seed ends too early: %w", err)
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	before := data[:min(int(syntax.Offset), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("line %d column %d: %w", line, max(column, 1), err)
}

// complete fills in what the platform writes itself.
func complete(r *edge.Ruleset, kind edge.Kind, now string) {
	fill(&r.Kind, kind)
	fill(&r.Phase, edge.PhaseFirewallManaged)
	fill(&r.Version, "1")
	fill(&r.LastUpdated, now)
	for i := range r.Rules {
		fill(&r.Rules[i].ID, derivedID[edge.RuleID](string(r.ID), fmt.Sprint("rule ", i)))
		fill(&r.Rules[i].Version, "1")
		fill(&r.Rules[i].LastUpdated, r.LastUpdated)
	}
}

func fill[T ~string](value *T, fallback T) {
	if *value == "" {
		*value = fallback
	}
}

// derivedID makes an id that is the same in every run.
func derivedID[T ~string](parts ...string) T {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = io.WriteString(sum, part+"\n") // a hash takes everything
	}
	return T(hex.EncodeToString(sum.Sum(nil)[:16]))
}

package edge

import (
	"cmp"
	"errors"
	"strings"
)

// Level says what a [Scope] is. The zero value is no level, and none is taken for another.
type Level string

// The levels.
const (
	LevelZone    Level = "zone"
	LevelAccount Level = "account"
	// LevelCredential is that of what the user of a credential owns, or an account does:
	// tokens.
	LevelCredential Level = "credential"
)

// Scope is what a thing belongs to: a zone, an account or a credential, with its id. Scopes
// are comparable. The zero value is none.
//
// On disk and in JSON a scope is a text (see [Scope.Text]): a zone is its id, an
// account "account:" and its id, and what has a level that nobody knows "?", that level, ":"
// and its id. Nothing else writes or reads that form.
type Scope struct {
	Level Level
	ID    string
}

// ZoneScope is the scope of a zone.
func ZoneScope(id ZoneID) Scope { return Scope{LevelZone, string(id)} }

// AccountScope is the scope of what an account has itself. It has an entry point of its
// own, of the kind [KindRoot], under /accounts/{account_id}/rulesets (known beyond the
// reference).
func AccountScope(id AccountID) Scope { return Scope{LevelAccount, string(id)} }

// CredentialScope is the scope of the tokens that an account owns or, where owner is empty,
// the calling user.
func CredentialScope(owner AccountID) Scope { return Scope{LevelCredential, string(owner)} }

// Zone is the id of a zone; false for any other scope.
func (s Scope) Zone() (ZoneID, bool) {
	if s.Level != LevelZone {
		return "", false
	}
	return ZoneID(s.ID), true
}

// Account is the id of an account; false for any other scope.
func (s Scope) Account() (AccountID, bool) {
	if s.Level != LevelAccount {
		return "", false
	}
	return AccountID(s.ID), true
}

// At is the place of a phase there.
func (s Scope) At(phase Phase) Place { return Place{s, phase} }

// EntryKind is the kind of the entry points there.
func (s Scope) EntryKind() Kind {
	if s.Level == LevelAccount {
		return KindRoot
	}
	return KindZone
}

// path is the path under which the rulesets are.
func (s Scope) path() string { return "/" + string(s.Level) + "s/" + s.ID }

// accountText begins the text of an account, and strangeText that of a level that is not
// known. No id of a zone begins so.
const (
	accountText = "account:"
	strangeText = "?"
)

// String is the text form, and for a credential its level and owner.
func (s Scope) String() string {
	switch {
	case s.Level == LevelZone || s.ID == "" && s.Level == LevelAccount:
		return s.ID
	case s.Level == LevelAccount:
		return accountText + s.ID
	}
	return strings.TrimSuffix(string(s.Level)+":"+s.ID, ":")
}

// Compare orders scopes by their texts.
func (s Scope) Compare(o Scope) int {
	if s.Level == o.Level {
		return cmp.Compare(s.ID, o.ID)
	}
	return cmp.Compare(s.String(), o.String())
}

// IsZero reports whether the text form is empty.
func (s Scope) IsZero() bool { return s.ID == "" || s.Level == "" || s.Level == LevelCredential }

// Text is the text form, as JSON and the columns of the ledger have it. It is empty for an id
// that is not known, and for a credential: what belongs to one is told by its owner. What has
// a level that is not known reads back as that, and not as a zone: guards refuse it.
func (s Scope) Text() string {
	switch {
	case s.IsZero():
		return ""
	case s.Level == LevelZone, s.Level == LevelAccount:
		return s.String()
	}
	return strangeText + s.String()
}

// MarshalText returns the text form.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.Text()), nil }

// UnmarshalText reads the text form. An empty one is the zero value.
func (s *Scope) UnmarshalText(text []byte) error {
	*s = ParseScope(string(text))
	return nil
}

// ParseScope reads the text form. An empty one is the zero value.
func ParseScope(text string) Scope {
	if account, ok := strings.CutPrefix(text, accountText); ok {
		return AccountScope(AccountID(account))
	}
	if strange, ok := strings.CutPrefix(text, strangeText); ok {
		level, id, _ := strings.Cut(strange, ":")
		return Scope{Level(level), id}
	}
	if text == "" {
		return Scope{}
	}
	return ZoneScope(ZoneID(text))
}

// Scan reads a column of a database.
func (s *Scope) Scan(column any) error {
	switch text := column.(type) {
	case nil:
		*s = Scope{}
	case string:
		*s = ParseScope(text)
	case []byte:
		*s = ParseScope(string(text))
	default:
		return errors.New("the column of a scope is not text")
	}
	return nil
}

// Place is what one request reads, and whose version one write moves: the entry point of a
// phase in a scope.
type Place struct {
	Scope Scope
	Phase Phase
}

// Compare orders places by scope, then by phase.
func (p Place) Compare(o Place) int {
	return cmp.Or(p.Scope.Compare(o.Scope), cmp.Compare(p.Phase, o.Phase))
}

// String is the text of the scope, and the phase.
func (p Place) String() string { return p.Scope.String() + " " + string(p.Phase) }

package wire

import (
	"encoding/json"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// The calls on tokens that are known beyond the reference. Reading is strict in
// what the answer is (a list is an array, never null or an object; a token has an
// id) and lenient inside.

// EncodeToken returns a token as a body that replaces one, or as a result that
// tells of one.
func (d Dialect) EncodeToken(token edge.Token) (json.RawMessage, error) { return d.encode(token) }

// EncodeTokens returns the result that lists tokens; without any it is an empty
// array.
func (d Dialect) EncodeTokens(tokens []edge.Token) (json.RawMessage, error) {
	list := []json.RawMessage{}
	for _, token := range tokens {
		data, err := d.encode(token)
		if err != nil {
			return nil, err
		}
		list = append(list, data)
	}
	return json.Marshal(list)
}

// EncodeGroups returns the result that lists permission groups.
func (d Dialect) EncodeGroups(groups []edge.PermissionGroup) (json.RawMessage, error) {
	if groups == nil {
		groups = []edge.PermissionGroup{}
	}
	data, err := json.Marshal(groups)
	return d.TranslateGroups(data), err
}

// EncodeSecret returns the result that tells a token's new secret: a bare string.
func EncodeSecret(secret edge.Secret) (json.RawMessage, error) { return json.Marshal(secret.Reveal()) }

// DecodeToken reads an answer that is one token.
func (d Dialect) DecodeToken(r Response) (edge.Token, error) {
	var raw json.RawMessage
	if _, err := r.Decode(&raw); err != nil {
		return edge.Token{}, err
	}
	return d.token(r, raw)
}

// DecodeTokens reads one page of a list of tokens.
func (d Dialect) DecodeTokens(r Response) ([]edge.Token, Info, error) {
	var list []json.RawMessage
	info, err := r.DecodePage(&list)
	if err != nil {
		return nil, Info{}, err
	}
	tokens := make([]edge.Token, len(list))
	for i, raw := range list {
		if tokens[i], err = d.token(r, raw); err != nil {
			return nil, Info{}, err
		}
	}
	return tokens, info, nil
}

func (d Dialect) token(r Response, raw json.RawMessage) (edge.Token, error) {
	var token edge.Token
	if err := json.Unmarshal(d.Translate(raw), &token); err != nil {
		return edge.Token{}, r.unreadable(jsonReason(err))
	}
	if token.ID == "" {
		return edge.Token{}, r.unreadable("the answer holds a token without an id")
	}
	return token, nil
}

// DecodeGroups reads a list of permission groups, or one page of it.
func (d Dialect) DecodeGroups(r Response) ([]edge.PermissionGroup, Info, error) {
	var raw json.RawMessage
	info, err := r.DecodePage(&raw)
	if err != nil {
		return nil, Info{}, err
	}
	var groups []edge.PermissionGroup
	if err := json.Unmarshal(d.TranslateGroups(raw), &groups); err != nil {
		return nil, Info{}, r.unreadable(jsonReason(err))
	}
	for _, group := range groups {
		if group.ID == "" || group.Name == "" {
			return nil, Info{}, r.unreadable("the answer holds a permission group without its id or its name")
		}
	}
	return groups, info, nil
}

// DecodeSecret reads a token's new secret. No error quotes the answer.
func DecodeSecret(r Response) (edge.Secret, error) {
	r.Confidential = true
	var raw json.RawMessage
	if _, err := r.Decode(&raw); err != nil {
		rememberSecrets(r.Body)
		return edge.Secret{}, err
	}
	if value := text(raw); strings.TrimSpace(value) != "" {
		return edge.NewSecret(value), nil
	}
	return edge.Secret{}, r.unreadable("the answer holds no secret")
}

package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// The calls on tokens that are known beyond the reference. Reading is strict in
// what the answer is (a list is an array, never null or an object; a token has an
// id) and lenient inside.

// EncodeToken returns a token as a body that replaces one, or as a result that
// tells of one.
func (d Dialect) EncodeToken(token edge.Token) (json.RawMessage, error) { return d.encode(token) }

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
func (d Dialect) DecodeToken(r Response) (token edge.Token, err error) {
	var raw json.RawMessage
	if _, err := r.Decode(&raw); err != nil {
		return token, err
	}
	if err := json.Unmarshal(d.Translate(raw), &token); err != nil {
		return edge.Token{}, r.unreadable(jsonReason(err))
	}
	if token.ID == "" {
		return edge.Token{}, r.unreadable(noTokenID)
	}
	return token, nil
}

const noTokenID = "the answer holds a token without an id"

// DecodeTokens reads one page of a list of tokens.
func (d Dialect) DecodeTokens(r Response) ([]edge.Token, Info, error) {
	translate := func(list []byte) []byte { return changeElements(list, d.Translate) }
	return decodeList(r, translate, func(t edge.Token) bool { return t.ID != "" }, noTokenID)
}

// DecodeGroups reads a list of permission groups, or one page of it.
func (d Dialect) DecodeGroups(r Response) ([]edge.PermissionGroup, Info, error) {
	isWhole := func(g edge.PermissionGroup) bool { return g.ID != "" && g.Name != "" }
	return decodeList(r, d.TranslateGroups, isWhole, "the answer holds a permission group without its id or its name")
}

// decodeList reads a list, or one page of it, of which every element must be whole.
func decodeList[T any](r Response, translate func([]byte) []byte, isWhole func(T) bool, problem string) (list []T, info Info, err error) {
	var raw json.RawMessage
	if info, err = r.DecodePage(&raw); err != nil {
		return nil, Info{}, err
	}
	if err := json.Unmarshal(translate(raw), &list); err != nil {
		return nil, Info{}, r.unreadable(jsonReason(err))
	}
	if slices.ContainsFunc(list, func(one T) bool { return !isWhole(one) }) {
		return nil, Info{}, r.unreadable(problem)
	}
	return list, info, nil
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

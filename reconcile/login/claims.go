package login

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

// check holds an ID token, whose signature, issuer, audience and time are right, to the login
// for which it was asked.
func (p *provider) check(token *oidc.IDToken, st state) error {
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(st.Nonce)) != 1 {
		return &tokenError{errors.New("the ID token is of another login: its nonce is not the one that was sent")}
	}
	var claims struct {
		Party string `json:"azp"`
	}
	if err := token.Claims(&claims); err != nil {
		return &tokenError{errors.New("the claims of the ID token cannot be read")}
	}
	if claims.Party != p.config.ClientID && (claims.Party != "" || len(token.Audience) > 1) {
		return &tokenError{errors.New("the ID token is for another client: azp is not client_id")}
	}
	return nil
}

// identity is whom an ID token names.
func (p *provider) identity(token *oidc.IDToken) (Identity, error) {
	claims := map[string]json.RawMessage{}
	if err := token.Claims(&claims); err != nil {
		return Identity{}, errors.New("the claims of the ID token cannot be read")
	}
	who := Identity{Way: ByOIDC}
	said, ok := claims[p.config.User]
	if !ok {
		return who, fmt.Errorf("the ID token has no claim %q, which web.login.oidc.user names", p.config.User)
	}
	if err := json.Unmarshal(said, &who.User); err != nil {
		return who, fmt.Errorf("the claim %q of the ID token is not a text", p.config.User)
	}
	if p.config.User == "email" && unverified(claims["email_verified"]) {
		return who, errors.New("the provider says that the mail address of this user is not verified")
	}
	var err error
	if who.Groups, err = texts(claims[p.config.Groups]); err != nil {
		return who, fmt.Errorf("the claim %q of the ID token %w", p.config.Groups, err)
	}
	return who, checkIdentity(who)
}

// unverified reports whether a provider says that an address was not proved. Some say it as a
// text, and some say nothing.
func unverified(claim json.RawMessage) bool {
	return claim != nil && strings.Trim(string(claim), `" `) != "true"
}

// texts are the texts in a claim, which is a list of them or one of them.
func texts(claim json.RawMessage) (list []string, err error) {
	if claim == nil || string(claim) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(claim, &one) == nil {
		return []string{one}, nil
	}
	if json.Unmarshal(claim, &list) != nil {
		return nil, errors.New("is neither a list of texts nor a text")
	}
	return list, nil
}

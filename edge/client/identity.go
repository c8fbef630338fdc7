package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
)

// identity is the header of requests without a body, of one token and one User-Agent. Requests that
// are alike share it: a transport writes to no header.
type identity struct {
	token  edge.Secret
	agent  string
	header http.Header
}

// identify says in a request who sends it.
func (c *Client) identify(req *http.Request, token edge.Secret) {
	agent := c.userAgent(req.Context())
	if req.Body == nil {
		if last := c.identity.Load(); last != nil && last.token == token && last.agent == agent {
			req.Header = last.header
			return
		}
	}
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	req.Header.Set("User-Agent", agent)
	if req.Body == nil {
		c.identity.Store(&identity{token, agent, req.Header})
	}
}

// userAgent is the header as RFC 9110 has it: a product, and a comment where there is one.
func (c *Client) userAgent(ctx context.Context) string {
	if c.config.Comment != nil {
		if comment := c.config.Comment(ctx); comment != "" {
			return c.config.UserAgent + " (" + comment + ")"
		}
	}
	return c.config.UserAgent
}

// credential reads the token. One that cannot stand in a header is refused
// here: the transport's error would quote it.
func (c *Client) credential() (edge.Secret, error) {
	token, err := c.config.Token()
	if err != nil {
		return edge.Secret{}, &edge.CredentialError{Err: err}
	}
	if token.IsZero() {
		return edge.Secret{}, &edge.CredentialError{Err: errors.New("it is empty")}
	}
	for _, b := range []byte(token.Reveal()) {
		if b <= ' ' || b > '~' {
			return edge.Secret{}, &edge.CredentialError{Err: errors.New("it contains white space or other characters a token cannot have")}
		}
	}
	return token, nil
}

package login

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/outbound"
)

// OIDC is an OpenID Connect provider.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret func() (edge.Secret, error) // asked for each login
	User         string                      // the claim with the name of a person
	Groups       string                      // the claim with their groups
	Scopes       []string                    // beside openid
	PEM          []byte                      // the authorities to trust; nil: those of the system
}

// The bounds of what is asked of a provider.
const (
	askTimeout    = 10 * time.Second
	mostAnswer    = 1 << 20         // bytes
	mostAtOnce    = 16              // logins that ask it
	failureKept   = 5 * time.Second // for which one that has failed is not asked again how it is set up
	discoveryKept = time.Hour
)

// provider asks an OpenID Connect provider, whose setup it learns when the first person logs
// in, and again each hour.
type provider struct {
	config      OIDC
	callback    string
	fingerprint string // sessions of another configuration do not count
	now         func() time.Time
	client      *http.Client
	places      chan struct{} // a place for each login that asks

	mu       sync.Mutex
	learned  *learned
	asked    time.Time // when it was asked last
	failure  error     // of the last time; nil: it has worked
	learning chan struct{}
}

// learned is what a provider says of itself.
type learned struct {
	endpoint oauth2.Endpoint
	verifier *oidc.IDTokenVerifier
}

func newProvider(c OIDC, callback string, now func() time.Time) (*provider, error) {
	transport, err := outbound.Transport(c.PEM)
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout = askTimeout
	text, err := json.Marshal([]string{c.Issuer, c.ClientID, c.User, c.Groups, callback})
	if err != nil {
		return nil, err
	}
	return &provider{
		config: c, callback: callback, now: now, places: make(chan struct{}, mostAtOnce),
		fingerprint: fmt.Sprintf("%x", sha256.Sum256(text)),
		client:      &http.Client{Transport: bounded{transport}, Timeout: askTimeout, CheckRedirect: outbound.Stay},
	}, nil
}

// bounded cuts answers that are too long.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, mostAnswer), response.Body}
	}
	return response, err
}

// learn returns what the provider says of itself. While it is asked, others wait for the same
// answer; one that it gave before goes on to count where it does not answer now.
func (p *provider) learn(ctx context.Context) (*learned, error) {
	for {
		p.mu.Lock()
		age := p.now().Sub(p.asked)
		switch {
		case p.learned != nil && p.failure == nil && age < discoveryKept, p.learned != nil && p.failure != nil && age < failureKept:
			defer p.mu.Unlock()
			return p.learned, nil
		case p.failure != nil && age < failureKept:
			defer p.mu.Unlock()
			return nil, p.failure
		}
		wait := p.learning
		if wait == nil {
			wait = make(chan struct{})
			p.learning = wait
			go p.discover(context.WithoutCancel(ctx), wait)
		}
		p.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// discover asks the provider, and closes done.
func (p *provider) discover(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), askTimeout)
	defer cancel()
	found, err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.learned = found
	}
	p.asked, p.failure, p.learning = p.now(), err, nil
	close(done)
}

func (p *provider) ask(ctx context.Context) (*learned, error) {
	said, err := oidc.NewProvider(ctx, p.config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("asking the provider how it is set up: %w", short(err))
	}
	var more struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Keys    string   `json:"jwks_uri"`
	}
	if err := said.Claims(&more); err != nil {
		return nil, err
	}
	endpoint := said.Endpoint()
	for what, address := range map[string]string{"authorization_endpoint": endpoint.AuthURL, "token_endpoint": endpoint.TokenURL, "jwks_uri": more.Keys} {
		address, _, _ = strings.Cut(address, "?")
		if _, err := outbound.Address(address); err != nil {
			return nil, fmt.Errorf("the provider's %s cannot be used: %w", what, err)
		}
	}
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if len(more.Methods) > 0 && !slices.Contains(more.Methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &learned{endpoint, said.Verifier(&oidc.Config{ClientID: p.config.ClientID, Now: p.now})}, nil
}

// short is an error whose text is at most one line long: some quote a whole answer.
func short(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if text == err.Error() && len(text) <= mostLogged {
		return err
	}
	return errors.New(beginning(text) + " …")
}

func (p *provider) oauth(l *learned, secret string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: secret, Endpoint: l.endpoint, RedirectURL: p.callback,
		Scopes: append([]string{oidc.ScopeOpenID}, p.config.Scopes...),
	}
}

// address is where a browser goes to log in.
func (p *provider) address(l *learned, st state) string {
	return p.oauth(l, "").AuthCodeURL(st.State, oidc.Nonce(st.Nonce), oauth2.S256ChallengeOption(st.Verifier))
}

// errBusy: too many people log in at this moment.
var errBusy = errors.New("too many logins ask the provider at once")

// redeem asks the provider for the ID token that a code stands for.
func (p *provider) redeem(ctx context.Context, code string, st state) (*oidc.IDToken, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), askTimeout)
	defer cancel()
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	case <-ctx.Done():
		return nil, errBusy
	}
	l, err := p.learn(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := p.config.ClientSecret()
	if err != nil {
		return nil, fmt.Errorf("reading client_secret: %w", err)
	}
	answer, err := p.oauth(l, secret.Reveal()).Exchange(ctx, code, oauth2.VerifierOption(st.Verifier))
	if err != nil {
		return nil, refusedCode(err)
	}
	raw, ok := answer.Extra("id_token").(string)
	if !ok {
		return nil, &tokenError{errors.New("the provider's answer has no ID token")}
	}
	token, err := l.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, &tokenError{short(err)}
	}
	return token, p.check(token, st)
}

// tokenError: an ID token is not for this login.
type tokenError struct{ reason error }

func (e *tokenError) Error() string { return e.reason.Error() }
func (e *tokenError) Unwrap() error { return e.reason }

// refusedCode says why a provider gives no token, without its answer, which can have
// anything in it.
func refusedCode(err error) error {
	refusal := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &refusal) {
		return fmt.Errorf("asking the provider for the ID token: %w", short(err))
	}
	status := ""
	if refusal.Response != nil {
		status = refusal.Response.Status
	}
	if word(refusal.ErrorCode) {
		return fmt.Errorf("the provider refuses the code: %s %s", status, refusal.ErrorCode)
	}
	return fmt.Errorf("the provider refuses the code: %s", status)
}

// word reports whether a text is an error code of OAuth.
func word(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
}

// Package client is the platform over HTTP.
//
//	budget := client.NewBudget(0, 0) // 1200 requests per 5 minutes
//	platform, err := client.New(client.Config{
//		BaseURL: "https://api.example.com/client/v4",
//		Token:   func() (edge.Secret, error) { return edge.NewSecret(os.Getenv("TOKEN")), nil },
//		Budget:  budget,
//	})
//	entry, err := platform.EntryPoint(ctx, zone)
//
// A call passes five gates, each in a file of its own:
//
//   - retry.go decides, in one table, what is tried again and what is final;
//   - deadline.go ends a read that takes too long, however it is repeated;
//   - budget.go keeps all calls of one credential under the platform's quota and
//     makes all of them wait when one is throttled;
//   - send.go sends one request and learns whether it may have left the machine;
//   - errors.go turns what went wrong into the sentinels of package edge, and
//     sees to it that no text ever contains the credential.
//
// A read is repeated when it fails for reasons that pass, for as long as
// [Config.ReadTimeout] says. A write is repeated
// only when it certainly had no effect; otherwise the caller learns
// [edge.ErrOutcomeUnknown] and reads before it writes again. The creation of a
// token is never repeated at all.
//
// Calls beyond the reference are sent to every platform; one that has no such
// address is [edge.ErrNotOffered]. Only a platform that is known to have it may
// be sent a dry run.
package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/edge/retry"
)

// Config says how to reach the platform. BaseURL and Token are required.
type Config struct {
	// BaseURL is the base address of the API, http or https, without credentials,
	// query or fragment. Plain http is refused but to this machine.
	BaseURL string
	// Token returns the credential. It is asked once per call of the contract, so a
	// rotated file is picked up without a restart.
	Token func() (edge.Secret, error)
	// Budget is shared by everything that uses the same credential; nil makes one
	// of the platform's documented size for this client alone.
	Budget *Budget
	// Concurrency bounds the requests in flight; zero is 16.
	Concurrency int
	// Timeout bounds one request from dialling to the last byte of the answer,
	// without the time it waits for the budget; zero is 20 s.
	Timeout time.Duration
	// ReadTimeout bounds all attempts of one read together, and the pauses between
	// them: from when the budget let the first one through, without the time that
	// further ones wait for the budget, for a pause of the credential, or for their
	// turn among Concurrency. Each page of a list is a read of its own. Zero is 10 s.
	ReadTimeout time.Duration
	// Known is how many answers are remembered, so that the same ones need not be decoded again;
	// zero is 20,000.
	Known int
	// Retry says how requests are repeated; zero is [retry.Request].
	Retry retry.Policy
	// Vendor stands in resource keys on the wire where the nouns say "vendor";
	// empty is "vendor".
	Vendor string
	// ConditionKey is how a token's condition is sent: "request.ip", also when
	// empty, or "request_ip", which newer documentation of the platform says. Both
	// are read.
	ConditionKey string

	// Observe is shown every request that was answered, and its answer; nil is
	// no one. A body that may hold a secret is not shown, nor is the credential.
	Observe func(deprecation.Request, deprecation.Response)
	// Failed is called with every try that failed, and why; nil calls nothing. It must return at
	// once.
	Failed func(error)

	// Documented says that the platform has no call that the reference does not show: none of
	// the others is sent.
	Documented bool

	UserAgent string // empty is "seawall"
	// Comment is what a request says beside it of who sends it, without parentheses; nil and empty are
	// nothing.
	Comment   func(context.Context) string
	Transport http.RoundTripper // nil is one made for one host and Concurrency
	Log       *slog.Logger      // nil is silent
}

// Client is an [edge.Platform] and an [edge.Tokens] over HTTP, safe
// for concurrent use. Make one with [New].
type Client struct {
	rulesetCalls
	tokenCalls // of the calling user

	config   Config
	url      string // without a slash at the end
	host     string // for errors
	dialect  wire.Dialect
	creator  http.RoundTripper // for what answers with a secret
	slots    *slots
	retries  retrypolicy.RetryPolicy[*attempt]
	known    known
	identity atomic.Pointer[identity] // of the request before; nil: there was none
	requests atomic.Int64
	toldWait atomic.Int64 // Unix time at which a wait for the budget was last told
	heard    heard        // messages of the platform
	toldSlow atomic.Int64 // Unix time at which it was last told that the platform throttles
}

var _ edge.Platform = (*Client)(nil)

// New returns a client. It sends nothing; it fails on a configuration that
// cannot work.
func New(config Config) (*Client, error) {
	base, err := parseBase(config.BaseURL)
	if err != nil {
		return nil, err
	}
	if config.Token == nil {
		return nil, errors.New("a client needs a credential")
	}
	dialect := wire.Dialect{Vendor: config.Vendor, ConditionKey: config.ConditionKey}
	if err := dialect.Check(); err != nil {
		return nil, err
	}
	setDefault(&config.Concurrency, 16)
	setDefault(&config.Timeout, 20*time.Second)
	setDefault(&config.ReadTimeout, 10*time.Second)
	setDefault(&config.Known, usualKnown)
	setDefault(&config.Retry, retry.Request)
	setDefault(&config.UserAgent, "seawall")
	if config.Budget == nil {
		config.Budget = NewBudget(0, 0)
	}
	if config.Transport == nil {
		config.Transport = newTransport(config.Concurrency)
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{
		config:  config,
		url:     strings.TrimRight(base.String(), "/"),
		host:    base.Host,
		dialect: dialect,
		creator: creationTransport(config.Transport),
		slots:   newSlots(config.Concurrency),
		retries: newRetryPolicy(config),
		known:   known{most: config.Known},
	}
	c.rulesetCalls, c.tokenCalls = rulesetCalls{c}, tokenCalls{c, edge.TokensPath()}
	return c, nil
}

// Offers is false for a call that the reference does not show, where the platform is
// configured to have no other.
func (c *Client) Offers(call edge.Call, level edge.Level) bool {
	return !c.config.Documented || edge.InReference(call, level)
}

// Requests counts the HTTP requests sent so far, repetitions included. An
// attempt that reached no server does not count.
func (c *Client) Requests() int64 { return c.requests.Load() }

// CloseIdle closes the connections that no request uses. The client can go on.
func (c *Client) CloseIdle() {
	if t, ok := c.config.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// parseBase reads a base address. No error repeats the address: someone may
// have put a password into it.
func parseBase(raw string) (*url.URL, error) {
	const form = "base_url must look like https://host/path"
	if !strings.Contains(raw, "://") {
		return nil, errors.New(form)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("base_url is not a URL")
	}
	if u.User != nil {
		return nil, errors.New("base_url must not contain a user name or password")
	}
	if u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return nil, errors.New("base_url must end with its path: no query, no fragment")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New(form)
	}
	if u.Scheme == "http" && !outbound.Loopback(u.Hostname()) {
		return nil, fmt.Errorf("base_url sends the credential in clear text to %s; write https", u.Host)
	}
	return u, nil
}

// newTransport keeps as many connections open as may be used at once: with the
// standard two per host most requests of a sweep would begin with a handshake.
func newTransport(concurrency int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = concurrency
	t.MaxIdleConnsPerHost = concurrency
	t.MaxConnsPerHost = concurrency
	t.IdleConnTimeout = 90 * time.Second
	t.TLSHandshakeTimeout = 10 * time.Second
	t.MaxResponseHeaderBytes = 256 << 10
	return t
}

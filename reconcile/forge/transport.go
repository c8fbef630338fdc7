package forge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/edge/trace"
)

// transport is what every request passes, whichever client makes it. It adds the
// token, to requests for one host alone; it is not sent elsewhere; it reads no
// answer without end; and it keeps quiet for as long as a server asked it to.
type transport struct {
	base   http.RoundTripper
	scheme string // of the address
	host   string
	prefix string // what stands before the token
	token  func() (edge.Secret, error)

	mu    sync.Mutex
	quiet time.Time // nothing is sent before it
}

const (
	maxAnswer      = 32 << 20 // bytes of an answer: a page of a hundred long comments
	maxRefusal     = 64 << 10 // bytes of an answer that says no
	maxAuthorities = 1 << 20
	longestQuiet   = time.Hour
)

var errMoved = errors.New("the address redirects")

func newTransport(c Config, base *url.URL) (*transport, error) {
	var authorities []byte
	if c.CAFile != "" {
		var err error
		if authorities, err = trusted.Read(c.CAFile, maxAuthorities); err != nil {
			return nil, err
		}
	}
	t, err := outbound.Transport(authorities)
	if err != nil {
		return nil, fmt.Errorf("%s %w", c.CAFile, err)
	}
	prefix := "Bearer "
	if c.Kind == Gitea {
		prefix = "token " // understood by the oldest servers too
	}
	return &transport{base: trace.Transport(trace.ForgeCall, t), scheme: base.Scheme, host: base.Host, prefix: prefix, token: c.Token}, nil
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != t.scheme || r.URL.Host != t.host {
		return nil, fmt.Errorf("%w to %s", errMoved, r.URL.Host)
	}
	if err := t.mayAsk(time.Now()); err != nil {
		return nil, err
	}
	ctx := r.Context()
	token, err := t.token()
	if err != nil {
		return nil, fmt.Errorf("reading the token: %w", err)
	}
	r = r.Clone(ctx)
	r.Header.Set("Authorization", t.prefix+token.Reveal())
	r.Header.Set("User-Agent", "seawall")
	answer, err := t.base.RoundTrip(r)
	if err != nil || r.Method == http.MethodDelete && answer.StatusCode == http.StatusNoContent {
		return answer, err // what was deleted has nothing to say
	}
	return t.judge(ctx, answer)
}

func (t *transport) judge(ctx context.Context, answer *http.Response) (*http.Response, error) {
	if answer.StatusCode/100 == 3 {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("%w to %q: check whether the project was renamed, and the address of the server", errMoved, answer.Header.Get("Location"))
	}
	if answer.StatusCode < 400 {
		return whole(answer)
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	_ = answer.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading the answer %s: %w", answer.Status, err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(said))
	wait := t.hush(answer, time.Now())
	if seen, ok := ctx.Value(refusalKey{}).(*refusal); ok {
		*seen = refusal{answer.StatusCode, said, wait}
	}
	return answer, nil
}

// whole bounds an answer, and refuses one with nothing in it: a client would take
// that for an empty list.
func whole(answer *http.Response) (*http.Response, error) {
	body := bufio.NewReader(answer.Body)
	if _, err := body.Peek(1); err != nil {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("reading the answer %s: %w", answer.Status, err)
	}
	answer.Body = http.MaxBytesReader(nil, both{body, answer.Body}, maxAnswer)
	return answer, nil
}

// both reads from one and closes the other.
type both struct {
	io.Reader
	io.Closer
}

// hush keeps a promise: a server that says when to come back is not asked before.
func (t *transport) hush(answer *http.Response, now time.Time) time.Duration {
	if answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	wait := retryAfter(answer.Header.Get("Retry-After"), now)
	if wait > 0 {
		t.mu.Lock()
		t.quiet = now.Add(wait)
		t.mu.Unlock()
	}
	return wait
}

// mayAsk fails while the server wants quiet.
func (t *transport) mayAsk(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait := t.quiet.Sub(now); wait > 0 {
		return &limited{wait}
	}
	return nil
}

// retryAfter reads seconds or a date; zero is none.
func retryAfter(text string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(seconds, 1<<20)) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longestQuiet)
}

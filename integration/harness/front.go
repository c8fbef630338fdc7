package harness

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Front stands before a platform and keeps the answers of some writes back, so that a
// test can do something while they are under way, however slow the machine is. What
// is kept back has taken effect.
type Front struct {
	Address string // in place of the platform's
	holding atomic.Int32
	opened  chan struct{}
	open    sync.Once
}

// NewFront keeps back the answer of each write from the nth on, until it is released or
// whoever asked is gone.
func NewFront(t *testing.T, p *Platform, nth int32) *Front {
	t.Helper()
	target, err := url.Parse(p.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	f := &Front{opened: make(chan struct{})}
	var writes atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host})
	proxy.ModifyResponse = func(answer *http.Response) error {
		if answer.Request.Method == http.MethodGet || writes.Add(1) < nth {
			return nil
		}
		f.holding.Add(1)
		select {
		case <-f.opened:
		case <-answer.Request.Context().Done():
		}
		return nil
	}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {} // whoever asked is gone
	server := httptest.NewServer(proxy)
	f.Address = server.URL + target.Path
	t.Cleanup(func() { f.Release(); server.Close() })
	return f
}

// Holds reports whether an answer is kept back.
func (f *Front) Holds() bool { return f.holding.Load() > 0 }

// Release lets all answers go, also those to come.
func (f *Front) Release() { f.open.Do(func() { close(f.opened) }) }

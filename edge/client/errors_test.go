package client

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/redact/redacttest"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/integration/must"
)

// Whatever a server makes of the credential, no error and no log line shows it.
func TestSecretsStaySecret(t *testing.T) {
	echo := func(format string, status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://elsewhere.example/?token="+testToken)
			w.WriteHeader(status)
			text, _ := json.Marshal(redacttest.Echo(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
			fmt.Fprintf(w, format, strings.Trim(string(text), `"`))
		}
	}
	at200 := strings.Repeat("x", 180) // the excerpt ends inside of the credential
	for name, handler := range map[string]http.HandlerFunc{
		"in a message":         echo(`{"success":false,"errors":[{"code":1,"message":"no %s"}]}`, 403),
		"in a chain":           echo(`{"success":false,"errors":[{"error_chain":[{"message":"%s","source":{"pointer":"/%[1]s"}}]}]}`, 400),
		"in a 200 failure":     echo(`{"success":false,"errors":[{"message":"%s","documentation_url":"http://h/%[1]s"}]}`, 200),
		"in a page":            echo(`<html><b>%s</b>`, 502),
		"at the excerpt's end": echo(at200+"%s", 502),
		"in what is no JSON":   echo(`hello %s`, 200),
		"in a wrong shape":     echo(`{"success":true,"result":"%s"}`, 200),
		"in a redirect":        echo(`%s`, 302),
		"throttled":            echo(`%s`, 429),
		"cut off":              answer(502, "no "+testToken[:20], "Content-Length", "100"),
		"half a text":          answer(200, `{"token":"`+testToken[:20]),
	} {
		for _, send := range []func(*Client) error{get, patch} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log bytes.Buffer
					c := serve(t, handler).client(t, func(config *Config) {
						config.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
					})
					err := send(c)
					if err == nil || log.Len() == 0 {
						t.Fatalf("got %v, log %q", err, log.String())
					}
					noSecret(t, fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)), log.String())
					var described *edge.Error
					if errors.As(err, &described) {
						noSecret(t, fmt.Sprintf("%#v", *described))
					}
				})
			})
		}
	}
}

func noSecret(t *testing.T, texts ...string) {
	t.Helper()
	search := redacttest.For(testToken)
	for _, text := range texts {
		if found := search.In([]byte(text)); found != "" {
			t.Errorf("the error has %s: %q", found, text)
		}
	}
}

func TestTransportErrorsAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, hangUp)
		err := get(s.client(t, nil))
		wantText(t, err, "GET /zones/", edge.ErrUnavailable.Error(), "127.0.0.1:8700 closed the connection without an answer")
		s = serve(t, stall)
		wantText(t, get(s.client(t, func(c *Config) { c.Timeout = time.Second })), "no answer from 127.0.0.1:8700 within 1s")
		s.refuse = true
		wantText(t, get(s.client(t, nil)), "connecting to 127.0.0.1:8700: connection refused")
	})
}

// Where it is not certain that an update stayed here, its outcome is unknown.
func TestPerhapsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{network: newNetwork()}
		go func() { // takes the connection and never reads
			conn, _ := s.Accept()
			<-s.done
			conn.Close()
		}()
		defer s.Close()
		c := s.client(t, func(config *Config) {
			config.Token = func() (edge.Secret, error) { return edge.NewSecret(strings.Repeat("x", 16<<10)), nil }
		})
		if err := patch(c); !errors.Is(err, edge.ErrOutcomeUnknown) || c.Requests() != 1 {
			t.Errorf("time ran out while writing: %v after %d requests", err, c.Requests())
		}
		silent := roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("lost") })
		c = s.client(t, func(config *Config) { config.Transport = silent })
		if err := patch(c); !errors.Is(err, edge.ErrOutcomeUnknown) || c.Requests() != 1 {
			t.Errorf("a transport that does not tell: %v after %d requests", err, c.Requests())
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Nobody listens, on the machine's own network.
func TestConnectionRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	listener.Close() // nobody listens there now
	c := overNetwork(t, "http://"+listener.Addr().String())
	err = get(c)
	if !errors.Is(err, edge.ErrUnavailable) || c.Requests() != 0 {
		t.Errorf("got %v after %d requests", err, c.Requests())
	}
	wantText(t, err, "connecting to "+listener.Addr().String()+": connection refused")
	err = patch(c)
	if errors.Is(err, edge.ErrOutcomeUnknown) || !errors.Is(err, edge.ErrUnavailable) {
		t.Errorf("an update that was never sent: %v", err)
	}
}

// TestProxyThatIsDown: the address that is refused is not that of the platform.
func TestProxyThatIsDown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	listener.Close() // nobody listens there now
	proxy := &url.URL{Scheme: "http", User: url.UserPassword("ada", testToken), Host: listener.Addr().String()}
	c, err := New(Config{
		BaseURL: "https://platform.example", Retry: retry.Request.Within(time.Millisecond), ReadTimeout: time.Minute,
		Token:     func() (edge.Secret, error) { return edge.NewSecret(testToken), nil },
		Transport: &http.Transport{Proxy: http.ProxyURL(proxy)},
	})
	must.Do(t, err)
	err = get(c)
	if !errors.Is(err, edge.ErrUnavailable) || c.Requests() != 0 {
		t.Errorf("got %v after %d requests", err, c.Requests())
	}
	wantText(t, err, "connecting to the proxy that HTTPS_PROXY or HTTP_PROXY names: "+proxy.Host+": connection refused")
}

func overNetwork(t *testing.T, base string) *Client {
	c, err := New(Config{
		BaseURL: base, Retry: retry.Request.Within(time.Millisecond), ReadTimeout: time.Minute,
		Token: func() (edge.Secret, error) { return edge.NewSecret(testToken), nil },
	})
	must.Do(t, err)
	return c
}

func TestCertificateIsNotTrusted(t *testing.T) {
	s := httptest.NewUnstartedServer(answer(200, entryJSON))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	defer s.Close()
	err := patch(overNetwork(t, s.URL))
	if !errors.Is(err, edge.ErrUnavailable) || errors.Is(err, edge.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	wantText(t, err, "certificate")
}

// A small answer that unpacks to a huge one is given up at the limit.
func TestAnswerIsLimited(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.Copy(z, io.LimitReader(zeros{}, wire.MaxBody+1))
	z.Close()
	s := httptest.NewServer(answer(200, packed.String(), "Content-Encoding", "gzip"))
	defer s.Close()
	err := get(overNetwork(t, s.URL))
	if !errors.Is(err, edge.ErrUnreadable) {
		t.Errorf("got %v", err)
	}
	wantText(t, err, "larger than 16 MiB")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

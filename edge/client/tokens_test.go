package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestCreateOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, ok(`{"id":"t","value":"`+testSecret+`","name":"ci","policies":[{"id":"p","effect":"allow",`+
			`"resources":{"com.acme.api.account.a":{"com.acme.api.account.zone.*":"*"}},"permission_groups":[]}],"condition":{"request_ip":{"in":["::/0"]}}}`)))
		c := s.client(t, func(config *Config) { config.Vendor, config.ConditionKey = "acme", "request_ip" })
		spec := testSpec()
		spec.Condition = &edge.Condition{RequestIP: &edge.AddressFilter{NotIn: []string{"192.0.2.0/24"}}}
		got, err := c.CreateToken(t.Context(), spec)
		must.Do(t, err)
		if got.ID != "t" || got.Value.Reveal() != testSecret || !got.Policies[0].Resources["com.vendor.api.account.a"].AllZones || got.Condition.RequestIP.In[0] != "::/0" {
			t.Errorf("got %+v", got)
		}
		post := s.arrivals()[0]
		if want := `{"condition":{"request_ip":{"not_in":["192.0.2.0/24"]}},"name":"ci","policies":[{"effect":"allow","permission_groups":[{"id":"g"}],` +
			`"resources":{"com.acme.api.account.` + string(testAccount) + `":{"com.acme.api.account.zone.*":"*"}}}]}`; post.body != want {
			t.Errorf("sent %s\nwant %s", post.body, want)
		}
		if post.method != "POST" || post.uri != "/client/v4/user/tokens" || post.length != int64(len(post.body)) ||
			post.header.Get("Content-Type") != "application/json" || post.header["Transfer-Encoding"] != nil || post.header["Idempotency-Key"] != nil {
			t.Errorf("the creation was %+v", post)
		}
	})
}

// What a platform says is wrong points at the keys the caller wrote.
func TestRefusalSpeaksOfTheCallersKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(400, `{"success":false,"errors":[{"message":"no com.acme.api.account.x","source":{"pointer":"/policies/0/resources/com.acme.api.account.x"}}]}`))
		c := s.client(t, func(config *Config) { config.Vendor = "acme" })
		_, err := c.UpdateToken(t.Context(), edge.TokenID(testEntry), edge.Token{TokenSpec: testSpec()})
		var e *edge.Error
		if !errors.As(err, &e) || !errors.Is(err, edge.ErrInvalid) || e.Details[0].Source.Pointer != "/policies/0/resources/com.vendor.api.account.x" {
			t.Errorf("got %v", err)
		}
		wantText(t, err, "no com.vendor.api.account.x")
	})
}

// An answer to a creation is not quoted, whatever it is: codes are left, and where in the
// request the mistake is.
func TestRefusedCreationIsNotQuoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(400, `{"success":false,"errors":[{"code":1001,"message":"made `+testSecret+`","documentation_url":"https://`+testSecret+
			`","source":{"pointer":"/policies/0/resources/`+testSecret+`"},"error_chain":[{"code":7,"message":"`+testSecret+`"}]}]}`))
		err := post(s.client(t, nil))
		want := "POST /user/tokens: 400 Bad Request: the text of the answer is not shown, because it may contain the new secret (code 1001) at /policies/0/resources: " +
			"the text of the answer is not shown, because it may contain the new secret (code 7)"
		if !errors.Is(err, edge.ErrInvalid) || err.Error() != want {
			t.Errorf("got %v", err)
		}
		var e *edge.Error
		if !errors.As(err, &e) || strings.Contains(fmt.Sprintf("%+v", *e), testSecret) {
			t.Errorf("the parts of the error hold the secret: %+v", e)
		}
	})
}

func TestDialectIsChecked(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Vendor = "a.b" },
		func(c *Config) { c.ConditionKey = "ip" },
	} {
		config := Config{BaseURL: "https://h", Token: func() (edge.Secret, error) { return edge.NewSecret("t"), nil }}
		change(&config)
		if _, err := New(config); err == nil {
			t.Errorf("%+v is taken", config)
		}
	}
}

// A connection that the server closes under a creation does not make the
// transport send it again, neither on a connection of its own nor on one that was
// kept from a read.
func TestTransportNeverRepeatsACreation(t *testing.T) {
	kept := func(config *Config) { config.Transport = plain{config.Transport} }
	for name, change := range map[string]func(*Config){"own connection": nil, "kept connection": kept} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, inTurn(answer(200, entryJSON), hangUp, answer(200, tokenJSON)))
				c := s.client(t, change)
				must.Do(t, get(c))
				if err := post(c); !errors.Is(err, edge.ErrOutcomeUnknown) || !errors.Is(err, edge.ErrUnavailable) {
					t.Errorf("got %v", err)
				}
				wantDials(t, s, map[bool]int{true: 2, false: 1}[change == nil])
				if seen := s.arrivals(); len(seen) != 2 || c.Requests() != 2 {
					t.Errorf("%d requests arrived, counted %d, want a read and a creation", len(seen), c.Requests())
				}
			})
		})
	}
}

// plain hides what kind of transport is below, so that it is used as it is.
type plain struct{ http.RoundTripper }

func wantDials(t *testing.T, s *server, want int) {
	t.Helper()
	s.network.mu.Lock()
	defer s.network.mu.Unlock()
	if s.dials != want {
		t.Errorf("%d connections, want %d", s.dials, want)
	}
}

// A connection that was closed while it was idle is no doubt about a creation:
// nothing went out on it, and nothing may be sent again behind our back.
func TestIdleConnectionClosedBeforeACreation(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"own connection": nil, "kept connection": func(config *Config) { config.Transport = plain{config.Transport} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, inTurn(answer(200, entryJSON, "Connection", "close"), answer(200, tokenJSON)))
				c := s.client(t, change)
				if err := errors.Join(get(c), post(c)); err != nil {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// A kept connection that breaks before a byte of the creation is on it is where
// net/http would send a POST again by itself, had it a second copy of the body.
func TestTransportHasNoSecondCopyOfACreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		s := serve(t, answer(200, tokenJSON))
		c := s.client(t, func(config *Config) {
			transport := config.Transport.(*http.Transport)
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := s.dial(ctx, network, address)
				return mute{conn, &broken}, err
			}
			config.Transport = plain{transport}
		})
		must.Do(t, get(c))
		broken.Store(true)
		if err := post(c); !errors.Is(err, edge.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		wantDials(t, s, 1)
		if n := len(s.arrivals()); n != 1 {
			t.Errorf("%d requests arrived, want the read alone", n)
		}
	})
}

// mute is a connection that can no longer be written to.
type mute struct {
	net.Conn
	broken *atomic.Bool
}

func (m mute) Write(p []byte) (int, error) {
	if m.broken.Load() {
		return 0, syscall.EPIPE
	}
	return m.Conn.Write(p)
}

// The caller learns at once that a creation was throttled, and everything else
// of the credential waits.
func TestThrottledCreationIsTheCallersToRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(answer(429, failure(971, "slow down"), "Retry-After", "30"), answer(200, tokenJSON)))
		c := s.client(t, nil)
		begin := time.Now()
		err := post(c)
		var e *edge.Error
		if !errors.Is(err, edge.ErrThrottled) || errors.Is(err, edge.ErrOutcomeUnknown) || !errors.As(err, &e) || e.RetryAfter != 30*time.Second {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("took %v", took)
		}
		if err := post(c); err != nil || time.Since(begin) != 30*time.Second {
			t.Errorf("the next: %v after %v", err, time.Since(begin))
		}
	})
}

// A creation that was on its way when the context ended may have happened; one
// that never left has not.
func TestCanceledCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, stall)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := s.client(t, nil).CreateToken(ctx, testSpec())
		if !errors.Is(err, context.Canceled) || !errors.Is(err, edge.ErrOutcomeUnknown) {
			t.Errorf("in flight: got %v", err)
		}
		budget := NewBudget(1, time.Hour)
		c := s.client(t, func(config *Config) { config.Budget = budget })
		must.Do(t, budget.take(t.Context(), manySlots(), untold))
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = c.CreateToken(ctx, testSpec())
		if !errors.Is(err, context.Canceled) || errors.Is(err, edge.ErrOutcomeUnknown) || c.Requests() != 0 {
			t.Errorf("waiting for the budget: got %v after %d requests", err, c.Requests())
		}
		wantText(t, err, "POST /user/tokens")
	})
}

// What must be on record before a creation is recorded when nothing but sending is
// left: after the wait for a slot and for the budget.
func TestCreationTellsWhenAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answerAll)
		budget := NewBudget(1, 3*time.Minute)
		must.Do(t, budget.take(t.Context(), manySlots(), untold))
		budget.done(1, 200, nil)
		c, begin := s.client(t, func(config *Config) { config.Budget = budget }), time.Now()
		var told []time.Duration
		_, err := c.CreateToken(edge.BeforeSend(t.Context(), func() error {
			if told = append(told, time.Since(begin)); len(s.arrivals()) != 0 {
				t.Error("it was sent already")
			}
			return nil
		}), testSpec())
		if check(t, err); len(told) != 1 || told[0] != 3*time.Minute || len(s.arrivals()) != 1 {
			t.Errorf("told after %v, %d requests", told, len(s.arrivals()))
		}
		// Whoever gives up while it waits has told nobody.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = c.CreateToken(edge.BeforeSend(ctx, func() error { t.Error("told"); return nil }), testSpec())
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, edge.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
	})
}

// A creation that cannot be recorded is not sent, and costs nothing.
func TestCreationHeldBackCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answerAll)
		c, full := s.client(t, func(config *Config) { config.Concurrency = 1 }), errors.New("no space left on the device")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 3 {
			_, err := c.CreateToken(edge.BeforeSend(ctx, func() error { cancel(); return full }), testSpec())
			if ctx = t.Context(); !errors.Is(err, full) || errors.Is(err, edge.ErrOutcomeUnknown) {
				t.Errorf("got %v", err)
			}
			wantText(t, err, "POST /user/tokens: no space")
		}
		if n := len(s.arrivals()); n != 0 || c.Requests() != 0 || c.config.Budget.State().Used != 0 {
			t.Errorf("%d requests arrived, %d and %d were counted", n, c.Requests(), c.config.Budget.State().Used)
		}
		check(t, post(c))
	})
}

// Each write of a token tells, once where it is sent once, and no read does.
func TestWritesTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, told := serve(t, answerAll).client(t, nil), 0
		ctx := edge.BeforeSend(t.Context(), func() error { told++; return nil })
		_, readErr := c.EntryPoint(ctx, testZone, edge.PhaseFirewallManaged)
		if told != 0 {
			t.Error("a read tells")
		}
		_, updateErr := c.UpdateToken(ctx, edge.TokenID(testEntry), edge.Token{TokenSpec: testSpec()})
		_, rollErr := c.RollToken(ctx, edge.TokenID(testEntry))
		check(t, errors.Join(readErr, updateErr, rollErr, c.DeleteToken(ctx, edge.TokenID(testEntry))))
		if told != 3 {
			t.Errorf("three writes have told %d times", told)
		}
	})
}

// Nothing that is said of a creation holds a secret: neither errors nor logs,
// ours or net/http's, of answers whole, cut or of any other kind.
func TestSecretIsNeverSaid(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"whole":                 answer(200, tokenJSON),
		"cut":                   answer(200, tokenJSON[:len(tokenJSON)-20]),
		"cut and announced":     answer(200, tokenJSON[:len(tokenJSON)-20], "Content-Length", "999"),
		"longer than announced": overlong,
		"no envelope":           answer(200, `{"value":"`+testSecret+`"}`),
		"no id":                 answer(200, ok(`{"value":"`+testSecret+`"}`)),
		"not JSON":              answer(200, testSecret),
		"a failure after all":   answer(500, tokenJSON),
		"a refusal after all":   answer(403, tokenJSON),
		"failure in success":    answer(200, strings.Replace(tokenJSON, "true", "false", 1)),
		"redirect":              answer(302, tokenJSON, "Location", "http://127.0.0.1/"),
		"see other":             answer(303, tokenJSON),
	} {
		t.Run(name, func(t *testing.T) {
			wantUnsaid(t, handler, func(t *testing.T, c *Client) (any, error) {
				got, err := c.CreateToken(t.Context(), testSpec())
				if (err == nil) != (name == "whole" || name == "longer than announced") {
					t.Errorf("got %v", err)
				}
				return got, err
			})
		})
	}
}

// wantUnsaid makes one call on a server that tells of a secret, and looks for it
// in all that is said of the call: the logs, the error and what came back.
func wantUnsaid(t *testing.T, handler http.HandlerFunc, call func(*testing.T, *Client) (any, error)) {
	t.Helper()
	var said record
	defer log.SetOutput(log.Writer())
	log.SetOutput(&said)
	synctest.Test(t, func(t *testing.T) {
		got, err := call(t, serve(t, handler).client(t, func(config *Config) {
			config.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}))
		synctest.Wait()
		data, _ := json.Marshal(got)
		fmt.Fprintf(&said, "%v %+v %#v %s", err, got, got, data)
	})
	for _, secret := range []string{testSecret, testSecret[:20], testToken} {
		if text := said.String(); strings.Contains(text, secret) {
			t.Errorf("said: %s", text)
		}
	}
}

// record is what was said, from wherever.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// overlong announces the length of its answer and sends the secret once more
// behind it.
func overlong(w http.ResponseWriter, _ *http.Request) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s%s", len(tokenJSON), tokenJSON, tokenJSON)
	out.Flush()
}

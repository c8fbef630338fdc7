package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func asAcme(config *Config) { config.Vendor, config.ConditionKey = "acme", "request_ip" }

const liveToken = `{"id":"t1","name":"ci","status":"disabled","issued_on":"2026-01-01T00:00:00Z","modified_on":"2026-01-01T00:00:00Z","last_used_on":null,` +
	`"provisioner_id":null,"condition":{"request_ip":{"in":["192.0.2.0/24"]}},"policies":[{"id":"p","effect":"allow",` +
	`"resources":{"com.acme.api.account.a":{"com.acme.api.account.zone.*":"*"}},"permission_groups":[{"id":"g","name":"Zone Read","scopes":["com.acme.api.account.zone"],"meta":{"key":"k"}}]}]}`

// What is read of a token goes back whole, in the platform's words: but for what
// the platform writes itself.
func TestUpdateOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, ok(liveToken)))
		c := s.client(t, asAcme)
		live, err := c.UserToken(t.Context(), "t1")
		must.Do(t, err)
		group := live.Policies[0].PermissionGroups[0]
		if !live.Policies[0].Resources["com.vendor.api.account.a"].AllZones || group.Scopes[0] != "com.vendor.api.account.zone" || live.Condition.RequestIP.In[0] != "192.0.2.0/24" {
			t.Errorf("read %+v", live)
		}
		got, err := c.UpdateToken(t.Context(), "t1", live)
		if err != nil || got.ID != "t1" || got.Status != "disabled" {
			t.Errorf("%v %+v", err, got)
		}
		put := s.arrivals()[1]
		want := `{"condition":{"request_ip":{"in":["192.0.2.0/24"]}},"name":"ci","policies":[{"effect":"allow","id":"p",` +
			`"permission_groups":[{"id":"g","meta":{"key":"k"},"name":"Zone Read","scopes":["com.acme.api.account.zone"]}],` +
			`"resources":{"com.acme.api.account.a":{"com.acme.api.account.zone.*":"*"}}}],"provisioner_id":null,"status":"disabled"}`
		if put.method != "PUT" || put.uri != "/client/v4/user/tokens/t1" || put.body != want || put.header.Get("Content-Type") != "application/json" {
			t.Errorf("sent %s %s\n%s\nwant\n%s", put.method, put.uri, put.body, want)
		}
	})
}

func TestTokenRefusalSpeaksOfTheCallersKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(400, `{"success":false,"errors":[{"message":"no com.acme.api.account.x","source":{"pointer":"/policies/0/resources/com.acme.api.account.x"}}]}`))
		err := put(s.client(t, asAcme))
		wantText(t, err, "PUT /user/tokens/", "no com.vendor.api.account.x", "/resources/com.vendor.")
	})
}

func TestVerifyGroupsDeleteAndRollOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(
			answer(200, ok(`{"id":"me","status":"active","not_before":null,"expires_on":"2027-01-01T00:00:00Z"}`)),
			answer(200, ok(`[{"id":"g","name":"Logs Read","scopes":["com.acme.api.account.zone"]},{"id":"h","name":"Logs Read","scopes":["com.acme.api.account"],"category":"x"}]`)),
			answer(200, ok(`{"id":"t"}`)), answer(200, ""), answer(200, ok(`"`+testSecret+`"`))))
		c := s.client(t, asAcme)
		me, err := c.VerifyToken(t.Context())
		if err != nil || me.ID != "me" || me.Status != "active" || me.ExpiresOn != "2027-01-01T00:00:00Z" || me.NotBefore != "" {
			t.Errorf("verify: %v %+v", err, me)
		}
		groups, err := c.PermissionGroups(t.Context())
		if err != nil || len(groups) != 2 || groups[0].Scopes[0] != "com.vendor.api.account.zone" || groups[1].Scopes[0] != "com.vendor.api.account" {
			t.Errorf("groups: %v %+v", err, groups)
		}
		for range 2 { // with a result and without a body
			if err := c.DeleteToken(t.Context(), "t"); err != nil {
				t.Errorf("delete: %v", err)
			}
		}
		secret, err := c.RollToken(t.Context(), "t")
		if err != nil || secret.Reveal() != testSecret {
			t.Errorf("roll: %v, %d bytes", err, len(secret.Reveal()))
		}
		var calls []string
		for _, a := range s.arrivals() {
			calls = append(calls, strings.TrimSpace(a.method+" "+a.uri+" "+a.body))
			if (a.body != "") != (a.header.Get("Content-Type") != "") {
				t.Errorf("%s: Content-Type %q", a.uri, a.header.Get("Content-Type"))
			}
		}
		want := []string{
			"GET /client/v4/user/tokens/verify", "GET /client/v4/user/tokens/permission_groups",
			"DELETE /client/v4/user/tokens/t", "DELETE /client/v4/user/tokens/t", "PUT /client/v4/user/tokens/t/value {}",
		}
		if fmt.Sprint(calls) != fmt.Sprint(want) {
			t.Errorf("sent %q\nwant %q", calls, want)
		}
	})
}

// What a missing address says, and what a missing token says. A 404 without an id
// in the address cannot be about a token.
func TestNotOfferedIsNotNotFound(t *testing.T) {
	calls := map[string]func(*Client) error{
		"list":   func(c *Client) error { _, err := c.UserTokens(context.Background()); return err },
		"verify": func(c *Client) error { _, err := c.VerifyToken(context.Background()); return err },
		"groups": func(c *Client) error { _, err := c.PermissionGroups(context.Background()); return err },
		"read":   func(c *Client) error { _, err := c.UserToken(context.Background(), "t"); return err },
		"update": put, "delete": del, "roll": rollToken,
	}
	withID := map[string]bool{"read": true, "update": true, "delete": true, "roll": true}
	for what, test := range map[string]struct {
		handler http.HandlerFunc
		found   func(withID bool) error
	}{
		"no route":          {answer(404, failure(7003, "could not route")), func(bool) error { return edge.ErrNotOffered }},
		"405":               {answer(405, "<html>"), func(bool) error { return edge.ErrNotOffered }},
		"404 of a token":    {answer(404, failure(1003, "no such token")), notFoundWithID},
		"404 of a gateway":  {answer(404, "<html>Not Found</html>"), notFoundWithID},
		"404 and no detail": {answer(404, `{"success":false,"errors":null}`), notFoundWithID},
	} {
		for name, call := range calls {
			synctest.Test(t, func(t *testing.T) {
				err := call(serve(t, test.handler).client(t, nil))
				want, other := test.found(withID[name]), edge.ErrNotFound
				if want == other {
					other = edge.ErrNotOffered
				}
				var e *edge.Error
				if !errors.Is(err, want) || errors.Is(err, other) || errors.Is(err, edge.ErrOutcomeUnknown) || !errors.As(err, &e) || e.Status < 404 {
					t.Errorf("%s, %s: got %v", what, name, err)
				}
			})
		}
	}
}

func notFoundWithID(withID bool) error {
	if withID {
		return edge.ErrNotFound
	}
	return edge.ErrNotOffered
}

// No id leads to another address than a token's.
func TestIDsStayInTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answerAll)
		c := s.client(t, nil)
		for _, id := range []edge.TokenID{"", ".", "..", "a/b", "../../zones", "verify", "permission_groups", "a?b", "ü", edge.TokenID(strings.Repeat("a", 33))} {
			_, e1 := c.UserToken(t.Context(), id)
			_, e2 := c.UpdateToken(t.Context(), id, edge.Token{})
			_, e3 := c.RollToken(t.Context(), id)
			for _, err := range []error{e1, e2, e3, c.DeleteToken(t.Context(), id)} {
				if !errors.Is(err, edge.ErrNotFound) {
					t.Errorf("%q: %v", id, err)
				}
			}
		}
		if n := len(s.arrivals()); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestAnswerAboutAnotherToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, answer(200, ok(liveToken))).client(t, nil)
		if _, err := c.UserToken(t.Context(), "t2"); !errors.Is(err, edge.ErrUnreadable) {
			t.Errorf("read: %v", err)
		}
		if _, err := c.UpdateToken(t.Context(), "t2", edge.Token{}); !errors.Is(err, edge.ErrUnreadable) || !errors.Is(err, edge.ErrOutcomeUnknown) {
			t.Errorf("update: %v", err)
		}
	})
}

// A roll that was cut is not sent again by the transport, on whichever connection.
func TestTransportNeverRepeatsARoll(t *testing.T) {
	for name, change := range map[string]func(*Config){"own connection": nil, "kept connection": func(c *Config) { c.Transport = plain{c.Transport} }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, inTurn(answer(200, entryJSON), hangUp, answerAll))
				c := s.client(t, change)
				must.Do(t, get(c))
				if err := rollToken(c); !errors.Is(err, edge.ErrOutcomeUnknown) || !errors.Is(err, edge.ErrUnavailable) {
					t.Errorf("got %v", err)
				}
				wantDials(t, s, map[bool]int{true: 2, false: 1}[change == nil])
				if seen := s.arrivals(); len(seen) != 2 || c.Requests() != 2 {
					t.Errorf("%d requests arrived, counted %d, want a read and a roll", len(seen), c.Requests())
				}
			})
		})
	}
}

// A roll that certainly never left is sent again, and one that was throttled.
func TestRollIsRepeatedWhereNothingHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(answer(429, failure(971, "slow down"), "Retry-After", "30"), answerAll))
		s.refuse = true
		time.AfterFunc(time.Second, func() {
			s.network.mu.Lock()
			defer s.network.mu.Unlock()
			s.refuse = false
		})
		c, begin := s.client(t, nil), time.Now()
		if err := rollToken(c); err != nil || time.Since(begin) < 30*time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		if n := len(s.arrivals()); n != 2 || c.Requests() != 2 {
			t.Errorf("%d rolls arrived, %d counted, want the throttled one and another", n, c.Requests())
		}
	})
}

// Nothing that is said of a roll holds a secret.
func TestRolledSecretIsNeverSaid(t *testing.T) {
	whole := ok(`"` + testSecret + `"`)
	for name, handler := range map[string]http.HandlerFunc{
		"whole":              answer(200, whole),
		"cut":                answer(200, whole[:len(whole)-50]),
		"cut and announced":  answer(200, whole[:len(whole)-50], "Content-Length", "999"),
		"an object":          answer(200, ok(`{"value":"`+testSecret+`"}`)),
		"a list":             answer(200, ok(`["`+testSecret+`"]`)),
		"no envelope":        answer(200, `"`+testSecret+`"`),
		"not JSON":           answer(200, testSecret),
		"a failure":          answer(500, whole),
		"a refusal":          answer(403, whole),
		"failure in success": answer(200, strings.Replace(whole, "true", "false", 1)),
		"redirect":           answer(302, whole, "Location", "http://127.0.0.1/"),
		"see other":          answer(303, whole),
	} {
		t.Run(name, func(t *testing.T) {
			wantUnsaid(t, handler, func(t *testing.T, c *Client) (any, error) {
				got, err := c.RollToken(t.Context(), "t")
				if (err == nil) != (name == "whole") || (err == nil) == got.IsZero() {
					t.Errorf("got %v", err)
				}
				if surely := name == "a refusal" || name == "redirect"; err != nil && errors.Is(err, edge.ErrOutcomeUnknown) == surely {
					t.Errorf("got %v", err)
				}
				return got, err
			})
		})
	}
}

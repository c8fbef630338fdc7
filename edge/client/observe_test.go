package client

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// What is shown of a request is what was sent, and no secret is.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, ok(`{"id":"t","value":"`+testSecret+`","rules":[]}`)))
		var mu sync.Mutex
		var seen []string
		c := s.client(t, func(config *Config) {
			config.Observe = func(req deprecation.Request, res deprecation.Response) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, req.Method+" "+req.URL)
				if strings.Contains(string(res.Body), testSecret) && strings.HasSuffix(req.URL, "/tokens") || len(req.Header) > 0 || res.Header == nil {
					t.Errorf("shown %+v %+v", req, res)
				}
				if req.Method == "GET" && len(res.Body) == 0 {
					t.Errorf("%s: the body is not shown", req.URL)
				}
			}
		})
		if _, err := c.CreateToken(t.Context(), testSpec()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.EntryPoint(t.Context(), testZone, edge.PhaseFirewallManaged); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ruleset(t.Context(), edge.AccountScope(testAccount), "1123456789abcdef0123456789abcdef"); err != nil {
			t.Fatal(err)
		}
		want := "POST /user/tokens GET " + edge.EntryPointPath(testZone, edge.PhaseFirewallManaged) + " GET " + edge.RulesetPath(edge.AccountScope(testAccount), "1123456789abcdef0123456789abcdef")
		if got := strings.Join(seen, " "); got != want {
			t.Errorf("shown %s\nwant %s", got, want)
		}
	})
}

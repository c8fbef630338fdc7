package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func page(after string, ids ...string) string {
	rulesets := []map[string]string{}
	for _, id := range ids {
		rulesets = append(rulesets, map[string]string{"id": id})
	}
	data, _ := json.Marshal(rulesets)
	return fmt.Sprintf(`{"result":%s,"success":true,"errors":[],"messages":[],"result_info":{"cursors":{"after":%q}}}`, data, after)
}

func TestListFollowsCursors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(answer(200, page("a b&c", "1", "2")), answer(502, ""), answer(200, page("z", "3")), answer(200, ok(`[{"id":"4"}]`))))
		list, err := s.client(t, nil).Rulesets(t.Context(), edge.AccountScope(testAccount))
		if err != nil || len(list) != 4 || list[3].ID != "4" {
			t.Fatalf("got %v, %v", list, err)
		}
		base := "/client/v4" + edge.RulesetsPath(edge.AccountScope(testAccount))
		want := []string{"?per_page=50", "?cursor=a+b%26c&per_page=50", "?cursor=a+b%26c&per_page=50", "?cursor=z&per_page=50"}
		for i, a := range s.arrivals() {
			if a.uri != base+want[i] {
				t.Errorf("request %d was %s, want %s", i, a.uri, base+want[i])
			}
		}
	})
}

// The vendor's own SDK reads the cursor from another place than its reference says.
func TestListReadsEitherCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := strings.Replace(page("x", "1"), `"cursors":{"after":"x"}`, `"cursor":"next"`, 1)
		s := serve(t, inTurn(answer(200, first), answer(200, page("", "2"))))
		list, err := s.client(t, nil).Rulesets(t.Context(), edge.AccountScope(testAccount))
		if err != nil || len(list) != 2 || !strings.Contains(s.arrivals()[1].uri, "cursor=next") {
			t.Errorf("got %v, %v", list, err)
		}
	})
}

func TestListGuardsAgainstLoops(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"the same cursor": answer(200, page("a", "1")),
		"a circle":        inTurn(answer(200, page("a", "1")), answer(200, page("b", "2")), answer(200, page("a", "3"))),
		"pages without an end": func() http.HandlerFunc {
			n := 0
			return func(w http.ResponseWriter, r *http.Request) {
				n++
				answer(200, page(fmt.Sprint("cursor-", n), "1"))(w, r)
			}
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, handler).client(t, nil)
				list, err := c.Rulesets(t.Context(), edge.AccountScope(testAccount))
				if list != nil || !errors.Is(err, edge.ErrUnreadable) || c.Requests() > maxPages {
					t.Errorf("got %d rulesets, %v after %d requests", len(list), err, c.Requests())
				}
			})
		})
	}
}

// An answer that is JSON and an envelope, but not of a ruleset.
func TestNotARuleset(t *testing.T) {
	for _, body := range []string{ok(`{}`), ok(`{"rules":[]}`), ok(`[]`), ok(`"text"`), ok(`null`)} {
		synctest.Test(t, func(t *testing.T) {
			if err := get(serve(t, answer(200, body)).client(t, nil)); !errors.Is(err, edge.ErrUnreadable) {
				t.Errorf("%s: got %v", body, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		_, err := serve(t, answer(200, ok(`[{"name":"x"}]`))).client(t, nil).Rulesets(t.Context(), edge.AccountScope(testAccount))
		if !errors.Is(err, edge.ErrUnreadable) {
			t.Errorf("a list of something else: got %v", err)
		}
	})
}

// The reference does not show what an update answers with.
func TestUpdateAnswers(t *testing.T) {
	for body, version := range map[string]string{
		"": "", ok("null"): "", ok(`{}`): "", ok(`{"id":"` + string(testRule) + `","version":"3"}`): "",
		entryJSON: "7",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := serve(t, answer(200, body)).client(t, nil)
			got, err := c.Send(t.Context(), edge.UpdateRule(testZone, testEntry, testRule, edge.Rule{}))
			if err != nil || (got != nil) != (version != "") || got != nil && got.Version != version {
				t.Errorf("%q: got %v, %v", body, got, err)
			}
		})
	}
}

func TestRequestsOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, entryJSON))
		c := s.client(t, nil)
		must.Do(t, errors.Join(get(c), patch(c)))
		seen := s.arrivals()
		read, update := seen[0], seen[1]
		if read.method != "GET" || read.uri != "/client/v4"+edge.EntryPointPath(testZone, edge.PhaseFirewallManaged) || read.body != "" || read.header["Content-Type"] != nil {
			t.Errorf("the read was %+v", read)
		}
		if update.method != "PATCH" || update.uri != "/client/v4"+edge.RulePath(testZone, testEntry, testRule) ||
			update.body != `{"expression":"true"}` || update.length != int64(len(update.body)) ||
			update.header.Get("Content-Type") != "application/json" || update.header["Transfer-Encoding"] != nil {
			t.Errorf("the update was %+v", update)
		}
		for _, a := range seen {
			if a.header.Get("Authorization") != "Bearer "+testToken || a.header.Get("User-Agent") != "seawall" {
				t.Errorf("headers of %s: %v", a.method, a.header)
			}
		}
	})
}

// Text that is no id never becomes part of a path.
func TestIDsAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, entryJSON))
		c := s.client(t, nil)
		for _, id := range []string{"", "..", "../../user/tokens", testZone.String() + "?x=", "0123456789ABCDEF0123456789ABCDEF"} {
			_, listErr := c.Rulesets(t.Context(), edge.AccountScope(edge.AccountID(id)))
			_, getErr := c.Ruleset(t.Context(), edge.AccountScope(testAccount), edge.RulesetID(id))
			_, entryErr := c.EntryPoint(t.Context(), edge.ZoneScope(edge.ZoneID(id)), edge.PhaseFirewallManaged)
			_, updateErr := c.Send(t.Context(), edge.UpdateRule(testZone, testEntry, edge.RuleID(id), edge.Rule{}))
			for _, err := range []error{listErr, getErr, entryErr, updateErr} {
				if !errors.Is(err, edge.ErrNotFound) {
					t.Errorf("%q: got %v", id, err)
				}
			}
		}
		if n := len(s.arrivals()); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

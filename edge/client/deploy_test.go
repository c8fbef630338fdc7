package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seawall-dev/seawall/edge"
)

func try(c *Client) error {
	return c.Try(context.Background(), edge.AddRule(testZone, testEntry, edge.Rule{Expression: "true"}))
}

// A dry run is believed only where the answer says that there is no result.
func TestDryRunIsHeldToItsWord(t *testing.T) {
	for body, want := range map[string]error{
		ok("null"): nil, entryJSON: edge.ErrNotDry, ok(`{}`): edge.ErrNotDry, "": edge.ErrNotDry, `{}`: edge.ErrUnreadable, "half": edge.ErrUnreadable,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, answer(200, body))
			err := try(s.client(t, nil))
			if want == nil && err != nil || !errors.Is(err, want) || errors.Is(err, edge.ErrOutcomeUnknown) || len(s.arrivals()) != 1 {
				t.Errorf("%q: got %v after %d requests", body, err, len(s.arrivals()))
			}
		})
	}
}

// Nothing that deploys can overwrite: no PUT, and no PATCH but that of one rule.
func TestDeploymentsOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, ok("null")))
		c := s.client(t, nil)
		live := edge.Rule{ID: testRule, Version: "7", LastUpdated: "2025-01-01T00:00:00Z", Action: edge.ActionExecute, Expression: "true"}
		before := 0
		told := edge.BeforeSend(context.Background(), func() error { before++; return nil })
		_, createErr := c.Send(told, edge.CreateEntryPoint(testZone, edge.PhaseFirewallManaged, live))
		_, addErr := c.Send(told, edge.AddRule(testZone, testEntry, live))
		_, deleteErr := c.Send(told, edge.DeleteRule(testZone, testEntry, testRule))
		err := errors.Join(
			createErr, addErr, deleteErr, c.Try(told, edge.CreateEntryPoint(testZone, edge.PhaseFirewallManaged, live)), c.Try(told, edge.AddRule(testZone, testEntry, live)),
			c.Try(told, edge.UpdateRule(testZone, testEntry, testRule, live.Update())),
		)
		if err != nil || before != 3 {
			t.Fatalf("%v; reported %d times before a request, want 3", err, before)
		}
		const rule = `{"action":"execute","expression":"true"}`
		const create = `{"name":"default","description":"","kind":"zone","phase":"http_request_firewall_managed","rules":[` + rule + `]}`
		base := "/client/v4"
		want := []string{
			"POST " + base + edge.RulesetsPath(testZone) + " " + create,
			"POST " + base + edge.RulesPath(testZone, testEntry) + " " + rule,
			"DELETE " + base + edge.RulePath(testZone, testEntry, testRule) + " ",
			"POST " + base + edge.RulesetsPath(testZone) + "?dry_run=true " + create,
			"POST " + base + edge.RulesPath(testZone, testEntry) + "?dry_run=true " + rule,
			"PATCH " + base + edge.RulePath(testZone, testEntry, testRule) + "?dry_run=true " + rule,
		}
		for i, a := range s.arrivals() {
			if got := a.method + " " + a.uri + " " + a.body; got != want[i] {
				t.Errorf("request %d was\n%s\nwant\n%s", i, got, want[i])
			}
		}
	})
}

func TestExistingEntryPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(400, failure(20217, "exists")))
		_, err := s.client(t, nil).Send(context.Background(), edge.CreateEntryPoint(testZone, edge.PhaseFirewallManaged))
		if !errors.Is(err, edge.ErrEntryPointExists) || errors.Is(err, edge.ErrInvalid) || errors.Is(err, edge.ErrOutcomeUnknown) || len(s.arrivals()) != 1 {
			t.Errorf("got %v", err)
		}
	})
}

// What a platform does not implement is not tried again.
func TestNotImplemented(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(501, failure(0, "not here")))
		_, err := s.client(t, nil).Zones(t.Context(), edge.ZoneFilter{})
		if !errors.Is(err, edge.ErrNotOffered) || errors.Is(err, edge.ErrUnavailable) || len(s.arrivals()) != 1 {
			t.Errorf("got %v after %d requests", err, len(s.arrivals()))
		}
	})
}

func TestZonesOnTheWire(t *testing.T) {
	zone := func(id string) string {
		return `{"id":"` + id + `","name":"a.example","account":{"id":"` + string(testAccount) + `"}}`
	}
	const info = `"messages":[],"result_info":{"page":1,"per_page":50,"total_pages":2,"total_count":2}`
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(
			answer(200, strings.Replace(ok("["+zone(testZone.String())+"]"), `"messages":[]`, info, 1)),
			answer(200, strings.Replace(ok("["+zone(string(testEntry))+"]"), `"messages":[]`, info, 1)),
		))
		list, err := s.client(t, nil).Zones(t.Context(), edge.ZoneFilter{Name: "a.example", Account: testAccount})
		if err != nil || len(list) != 2 || string(list[1].ID) != string(testEntry) || list[0].Account.ID != testAccount {
			t.Fatalf("got %v, %v", list, err)
		}
		for i, page := range []string{"1", "2"} {
			want := "/client/v4/zones?account.id=" + string(testAccount) + "&name=a.example&page=" + page + "&per_page=50"
			if got := s.arrivals()[i].uri; got != want {
				t.Errorf("request %d was %s, want %s", i, got, want)
			}
		}
	})
	for _, body := range []string{ok(`[{"name":"x"}]`), ok(`[{"id":"../x","name":"x"}]`), ok(`null`), ok(`{}`)} {
		synctest.Test(t, func(t *testing.T) {
			list, err := serve(t, answer(200, body)).client(t, nil).Zones(t.Context(), edge.ZoneFilter{})
			if !errors.Is(err, edge.ErrUnreadable) || list != nil {
				t.Errorf("%s: got %v, %v", body, list, err)
			}
		})
	}
}

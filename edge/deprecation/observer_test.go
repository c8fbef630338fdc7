package deprecation_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
)

func observer(t testing.TB) *deprecation.Observer {
	t.Helper()
	m, err := deprecation.NewMatcher(deprecation.Calendar{DataAsOf: "2026-01-01", Rules: []deprecation.Rule{{
		ID: "rate-limits", Title: "Rate limits", Date: "2025-06-15", Replacement: deprecation.Replacement{Text: "rules"},
		Endpoints: []deprecation.Endpoint{{Methods: []string{"GET"}, Path: "/zones/:zone_id/rate_limits"}},
	}}})
	must.Do(t, err)
	return deprecation.NewObserver(m)
}

var observing = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

func TestObserver(t *testing.T) {
	const quiet = `{"result":{"messages":["not the envelope's"]},"success":true,"errors":[],"messages":[]}`
	for name, c := range map[string]struct {
		path   string
		header map[string][]string
		body   string
		want   int
	}{
		"nothing":           {"/zones/z/rulesets", nil, quiet, 0},
		"messages null":     {"/zones/z/rulesets", nil, `{"result":null,"messages": null}`, 0},
		"a listed endpoint": {"/client/v4/zones/z/rate_limits?page=1", nil, quiet, 1},
		"a header":          {"/zones/z/rulesets", map[string][]string{"Deprecation": {"@1688169599"}}, quiet, 1},
		"a message":         {"/zones/z/rulesets", nil, `{"result":{},"messages": [ {"message":"this endpoint is deprecated"} ]}`, 1},
		"not JSON":          {"/zones/z/rulesets", nil, `<html>"messages": [`, 0},
		"empty":             {"/zones/z/rulesets", nil, ``, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := observer(t)
			for range 3 {
				o.Observe(deprecation.Request{Method: "GET", URL: c.path}, deprecation.Response{Header: c.header, Body: []byte(c.body)}, observing)
			}
			if got := o.Notices(observing); len(got) != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What is not seen again is forgotten: an announcement may be taken back.
func TestObserverForgets(t *testing.T) {
	o := observer(t)
	o.Observe(deprecation.Request{Method: "GET", URL: "/zones/z/rate_limits"}, deprecation.Response{}, observing)
	if got := o.Notices(observing.Add(24 * time.Hour)); len(got) != 1 {
		t.Errorf("after a day: %+v", got)
	}
	if got := o.Notices(observing.Add(25 * time.Hour)); len(got) != 0 {
		t.Errorf("after more than a day: %+v", got)
	}
	if got := o.Notices(observing); len(got) != 0 {
		t.Errorf("it comes back: %+v", got)
	}
}

func TestObserverIsBounded(t *testing.T) {
	rules := make([]deprecation.Rule, 500)
	for i := range rules {
		rules[i] = deprecation.Rule{
			ID: fmt.Sprintf("rule-%d", i), Title: "t", Date: "2025-06-15", Replacement: deprecation.Replacement{None: true},
			Endpoints: []deprecation.Endpoint{{Methods: []string{"GET"}, Path: fmt.Sprintf("/r%d", i)}},
		}
	}
	m, err := deprecation.NewMatcher(deprecation.Calendar{DataAsOf: "2026-01-01", Rules: rules})
	must.Do(t, err)
	o := deprecation.NewObserver(m)
	var all sync.WaitGroup
	for i := range rules {
		all.Go(func() {
			o.Observe(deprecation.Request{Method: "GET", URL: fmt.Sprintf("/r%d", i)}, deprecation.Response{}, observing)
		})
	}
	all.Wait()
	if n := len(o.Notices(observing)); n != 200 {
		t.Errorf("%d notices are remembered", n)
	}
}

// What a sweep sends and gets, most of it about nothing that goes away.
func BenchmarkObserverOfSweep(b *testing.B) {
	o := observer(b)
	body := make([]byte, 0, 4096)
	body = append(body, `{"result":{"rules":[`...)
	for len(body) < 3900 {
		body = append(body, `{"id":"0123456789abcdef"},`...)
	}
	body = append(body, `{}]},"success":true,"errors":[],"messages":[]}`...)
	req := deprecation.Request{Method: "GET", URL: "/zones/00000000000000000000000000000a01/rulesets/phases/http_request_firewall_managed/entrypoint"}
	b.ReportAllocs()
	for b.Loop() {
		o.Observe(req, deprecation.Response{Body: body}, observing)
	}
}

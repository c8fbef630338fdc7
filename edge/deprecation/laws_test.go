package deprecation_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// request draws one that is likely to meet a rule, and may be spoiled.
func request(c deprecation.Calendar) *rapid.Generator[deprecation.Request] {
	return rapid.Custom(func(t *rapid.T) deprecation.Request {
		e := rapid.SampledFrom(everyEndpoint(c)).Draw(t, "endpoint")
		req := deprecation.Request{Method: rapid.SampledFrom([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}).Draw(t, "method")}
		if rapid.Bool().Draw(t, "listed") && e.Methods[0] != deprecation.AnyMethod {
			req.Method = rapid.SampledFrom(e.Methods).Draw(t, "its method")
		}
		var words []string
		for _, s := range strings.Split(strings.Trim(e.Path, "/"), "/") {
			if strings.HasPrefix(s, ":") || strings.HasPrefix(s, "{") || s == "..." {
				s = rapid.StringMatching(`[a-z0-9._%+~-]{1,8}`).Draw(t, "value")
			}
			words = append(words, s)
		}
		req.URL = "/" + strings.Join(words, "/")
		if pairs := rapid.SliceOfN(pair(), 0, 4).Draw(t, "query"); len(pairs) > 0 {
			req.URL += "?" + strings.Join(pairs, "&")
		}
		req.Body = []byte(rapid.SampledFrom(bodies).Draw(t, "body"))
		if rapid.Bool().Draw(t, "lengths") {
			req.Header = map[string][]string{"Transfer-Encoding": {"chunked"}, "content-length": {"1"}}
		}
		return req
	})
}

var bodies = []string{
	``, `{`, `null`, `[]`, `{"value":"off"}`, `{"value":"on","zone_id":1}`, `{"zone_id":"z","zone_name":null,"locked":false,"ttl":1}`,
	`{"type":"SRV","data":{"service":"a","proto":"b","name":"c","port":1}}`, `{"type":"SRV","name":"_a._b.c","data":{"proto":"_b"}}`,
	`[{"zone_id":1},{"locked":2}]`, `{"items":[{"id":"cname_flattening","value":"on"}]}`, `{"settings":{"default_nameservers":1}}`,
	`{"notification_email":"a,b"}`, `{"type":"SRV","data":[{"name":"x"}]}`,
}

func pair() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		key := rapid.SampledFrom([]string{"name", "content", "type", "match", "page", "order", "search", "name.contains", "tag"}).Draw(t, "key")
		form := rapid.SampledFrom([]string{"", "", "contains:", "starts_with:", "ends_with:", "any"}).Draw(t, "form")
		return key + "=" + form + rapid.StringMatching(`[a-c,%:]{0,6}`).Draw(t, "value")
	})
}

func everyEndpoint(c deprecation.Calendar) (out []deprecation.Endpoint) {
	for _, r := range c.Rules {
		out = append(append(out, r.Endpoints...), r.Affected...)
		for _, q := range r.Query {
			out = append(out, q.On...)
		}
	}
	return out
}

// TestLawBase: the base of an address makes no difference to what is found.
func TestLawBase(t *testing.T) {
	c, m := builtin(t)
	at := day(t, "2025-04-01")
	rapid.Check(t, func(t *rapid.T) {
		req := request(c).Draw(t, "request")
		base := rapid.SampledFrom([]string{"/client/v4", "https://api.example.com", "https://h:8080/client/v4/", "//", "api.example.com/v9", "{base}", "/x%2Fzones/..", "http://u:p@h"}).Draw(t, "base")
		below := req
		below.URL = base + req.URL
		a, b := m.Match(req, at), m.Match(below, at)
		if !reflect.DeepEqual(told(a, ""), told(b, base)) {
			t.Fatalf("%s: %+v\n%s: %+v", req.URL, told(a, ""), below.URL, told(b, base))
		}
	})
}

// told is notices as JSON, the base taken off the proposed addresses.
func told(notices []deprecation.Notice, base string) []string {
	var out []string
	for _, n := range notices {
		if n.Rewrite != nil {
			r := *n.Rewrite
			r.URL = strings.TrimPrefix(r.URL, base)
			n.Rewrite = &r
		}
		all := n.Rewrites
		n.Rewrites = nil
		for _, r := range all {
			r.URL = strings.TrimPrefix(r.URL, base)
			n.Rewrites = append(n.Rewrites, r)
		}
		text, _ := json.Marshal(n)
		out = append(out, string(text))
	}
	return out
}

// TestLawParameters: a calendar with {id} for :id, and without leading slashes,
// is the same calendar.
func TestLawParameters(t *testing.T) {
	c, m := builtin(t)
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	other := map[string]any{}
	if err := json.Unmarshal(text, &other); err != nil {
		t.Fatal(err)
	}
	text, _ = json.Marshal(braced(other, false))
	var changed deprecation.Calendar
	if err := json.Unmarshal(text, &changed); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(c, changed) {
		t.Fatal("nothing was changed")
	}
	n, err := deprecation.NewMatcher(changed)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		req := request(c).Draw(t, "request")
		a, b := m.Match(req, day2025), n.Match(req, day2025)
		for i := range min(len(a), len(b)) {
			a[i].Detail, b[i].Detail = "", "" // quotes the path
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
}

var day2025 = deprecation.Date("2025-04-01").Time()

// braced rewrites every path of an endpoint in a decoded calendar.
func braced(v any, path bool) any {
	switch v := v.(type) {
	case map[string]any:
		_, endpoint := v["methods"]
		for key, e := range v {
			v[key] = braced(e, endpoint && (key == "path" || key == "to" || key == "also"))
		}
	case []any:
		for i, e := range v {
			v[i] = braced(e, path)
		}
	case string:
		if path {
			words := strings.Split(strings.Trim(v, "/"), "/")
			for i, w := range words {
				if name, ok := strings.CutPrefix(w, ":"); ok {
					words[i] = "{" + name + "}"
				}
			}
			return strings.Join(words, "/")
		}
	}
	return v
}

// TestLawRewritten: a request made from a rewrite that has an address leans on
// the rule no more; and MayMatch passes over nothing that Match finds.
func TestLawRewritten(t *testing.T) {
	c, m := builtin(t)
	rapid.Check(t, func(t *rapid.T) {
		req := request(c).Draw(t, "request")
		bare := deprecation.Request{Method: req.Method, URL: req.URL}
		if len(m.Match(bare, day2025)) > 0 && !m.MayMatch([]byte(req.URL)) {
			t.Fatalf("MayMatch passes over %s", req.URL)
		}
		for _, n := range m.Match(req, day2025) {
			all := n.Rewrites
			if n.Rewrite != nil {
				all = append(all, *n.Rewrite)
			}
			for _, r := range all {
				if r.URL == "" {
					continue
				}
				again := deprecation.Request{Method: r.Method, URL: r.URL, Body: r.Body}
				for _, left := range m.Match(again, day2025) {
					if left.Rule == n.Rule && !left.Info {
						t.Fatalf("%s %s %s\nbecomes %+v,\nwhich has %s: %s", req.Method, req.URL, req.Body, r, left.Rule, left.Detail)
					}
				}
			}
			if _, err := json.Marshal(n); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzMatch: no request and no answer makes the matcher fail, what it says can
// be written as JSON, and MayMatch passes over nothing that Match finds.
func FuzzMatch(f *testing.F) {
	_, m := builtin(f)
	f.Add("GET", "https://h/client/v4/zones/z/dns_records?name=a,b&type=contains:A#x", "", "", "")
	f.Add("PATCH", "/zones/z/settings/cname_flattening", `{"value":"on"}`, "@1688169599", `<x>; rel="deprecation"`)
	f.Add("POST", "zones/%7a/%64ns_records/", `{"type":"SRV","data":{"service":"_a","proto":"_b","name":"c"}}`, "true", ",;<")
	f.Add("PUT", "//zones/z/script_monitor//x?", `[{"zone_id":1}]`, "x", "")
	f.Fuzz(func(t *testing.T, method, url, body, deprecated, link string) {
		req := deprecation.Request{Method: method, URL: url}
		if len(m.Match(req, day2025)) > 0 && !m.MayMatch([]byte(url)) {
			t.Errorf("MayMatch passes over %q", url)
		}
		req.Body = []byte(body)
		header := map[string][]string{"Deprecation": {deprecated}, "Sunset": {deprecated}, "Link": {link}}
		notices := append(m.Match(req, day2025), m.MatchResponse(req, deprecation.Response{Header: header, Body: req.Body}, day2025)...)
		if _, err := json.Marshal(notices); err != nil {
			t.Errorf("%v", err)
		}
		m.MatchPath(url, day2025)
	})
}

// FuzzTemplate: what the calendar takes as a path matches itself, filled in.
func FuzzTemplate(f *testing.F) {
	f.Add("/zones/:zone_id/x")
	f.Add("a/{b}/...")
	f.Add("a//b")
	f.Fuzz(func(t *testing.T, path string) {
		c := deprecation.Calendar{DataAsOf: "2026-01-01", Rules: []deprecation.Rule{{
			ID: "x", Title: "x", Date: "2026-01-01", Replacement: deprecation.Replacement{None: true},
			Endpoints: []deprecation.Endpoint{{Methods: []string{"GET"}, Path: path}},
		}}}
		m, err := deprecation.NewMatcher(c)
		if err != nil {
			return
		}
		if len(m.Match(deprecation.Request{Method: "GET", URL: path}, day2025)) != 1 || !m.MayMatch([]byte(path)) {
			t.Errorf("%q does not match itself", path)
		}
	})
}

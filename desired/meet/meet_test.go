package meet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression/eval"
)

// zone is a zone with rules by "kind key", each as JSON.
func zone(t testing.TB, rules map[string]string) desired.Zone {
	t.Helper()
	z := desired.Zone{Key: "shop.example", Name: "shop.example", Scope: edge.ZoneScope("z")}
	for name, text := range rules {
		kind, key, _ := strings.Cut(name, " ")
		var values map[string]any
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			t.Fatal(err)
		}
		o, err := desired.NewOther(desired.KindName(kind), key, desired.Origin{File: "a.cue", Line: 1, Column: 1}, values)
		if err != nil {
			t.Fatal(err)
		}
		z.Others = append(z.Others, o)
	}
	slices.SortFunc(z.Others, func(a, b desired.Other) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key)) })
	return z
}

func request(t testing.TB, text string) eval.Request {
	t.Helper()
	var f eval.Form
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	r, err := f.Request()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var shop = map[string]string{
	"custom office":    `{"expression": "ip.src in {192.0.2.0/24}", "action": "skip", "skip": {"ruleset": "current"}, "order": "first"}`,
	"custom admin":     `{"expression": "http.request.uri.path contains \"/admin\"", "action": "block", "order": {"after": "office"}}`,
	"custom bots":      `{"expression": "cf.bot_management.score lt 10", "action": "managed_challenge", "order": {"after": "admin"}}`,
	"custom seen":      `{"expression": "http.request.uri.path eq \"/seen\"", "action": "log"}`,
	"custom api":       `{"expression": "http.request.uri.path eq \"/api\"", "action": "skip", "skip": {"phases": ["http_ratelimit"]}, "order": "last"}`,
	"custom asleep":    `{"expression": "true", "action": "block", "enabled": false}`,
	"rate_limit login": `{"expression": "http.request.uri.path in {\"/login\" \"/api\"}", "action": "block", "limit": {"characteristics": ["cf.colo.id", "ip.src"], "period": 60, "requests": 1}}`,
}

func TestResult(t *testing.T) {
	const scored = `"fields": {"cf.bot_management.score": 50}`
	for _, test := range []struct{ request, result, by, lacks string }{
		{`{"url": "/admin", "ip": "192.0.2.9"}`, "skip", "", ""},
		{`{"url": "/admin", "ip": "198.51.100.9"}`, "block", "admin", ""},
		{`{"url": "/admin"}`, "", "admin", `add to the request: ip: "…"`},
		{`{"url": "/", "ip": "198.51.100.9", ` + scored + `}`, "none", "", ""},
		{`{"url": "/", "ip": "198.51.100.9"}`, "", "", `add to the request: fields: "cf.bot_management.score": …`},
		{`{"url": "/seen", "ip": "198.51.100.9", ` + scored + `}`, "log", "", ""},
		{`{"url": "/login", "ip": "198.51.100.9", ` + scored + `}`, "rate_limit", "", ""},
		{`{"url": "/api", "ip": "198.51.100.9", ` + scored + `}`, "skip", "", ""},
		{`{"ip": "198.51.100.9", ` + scored + `}`, "", "", `add to the request: url: "…"`},
	} {
		o := Zone([]desired.Zone{zone(t, shop)}, request(t, test.request))
		by := ""
		if o.By != nil {
			by = o.By.Key
		}
		if o.Result != test.result || by != test.by || Add(o.Lacks) != test.lacks {
			t.Errorf("%s: %q by %q, lacks %s", test.request, o.Result, by, Add(o.Lacks))
		}
	}
}

// Each rule is there, in the order of the platform, with what decided.
func TestSteps(t *testing.T) {
	o := Zone([]desired.Zone{zone(t, shop)}, request(t, `{"url": "/api", "ip": "198.51.100.9", "fields": {"cf.bot_management.score": 50}}`))
	var got []string
	for _, s := range o.Steps {
		got = append(got, s.String())
	}
	want := []string{
		`custom rule office does not match: ip.src in {192.0.2.0/24}, of the value 198.51.100.9`,
		`custom rule admin does not match: http.request.uri.path contains "/admin", of the value "/api"`,
		`custom rule asleep is not evaluated: it is switched off`,
		`custom rule bots does not match: cf.bot_management.score lt 10, of the value 50`,
		`custom rule seen does not match: http.request.uri.path eq "/seen", of the value "/api"`,
		`custom rule api matches: http.request.uri.path eq "/api", of the value "/api"`,
		`rate limit login is not evaluated: api skips this phase`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	o = Zone([]desired.Zone{zone(t, shop)}, request(t, `{"url": "/login", "ip": "198.51.100.9"}`))
	if got := fmt.Sprint(o.Steps[len(o.Steps)-1].Counts); got != "[{cf.colo.id } {ip.src 198.51.100.9}]" {
		t.Error(got)
	}
}

// The rules of the account come first, in each phase; what its skip rules do to those of the zone
// is not known.
func TestAccountComesFirst(t *testing.T) {
	account := zone(t, map[string]string{
		"custom theirs": `{"expression": "http.request.uri.path eq \"/admin\"", "action": "log"}`,
		"custom skips":  `{"expression": "http.request.uri.path eq \"/login\"", "action": "skip", "skip": {"phases": ["http_ratelimit"]}}`,
		"custom runs":   `{"expression": "http.request.uri.path eq \"/run\"", "action": "execute"}`,
	})
	account.Scope = edge.AccountScope("a")
	scopes := []desired.Zone{account, zone(t, shop)}
	for text, want := range map[string]string{
		`{"url": "/admin", "ip": "198.51.100.9"}`:                                            "block ",
		`{"url": "/login", "ip": "198.51.100.9", "fields": {"cf.bot_management.score": 50}}`: "skip ",
		`{"url": "/run", "ip": "198.51.100.9", "fields": {"cf.bot_management.score": 50}}`:   " what the ruleset does that runs executes",
	} {
		o := Zone(scopes, request(t, text))
		if got := o.Result + " " + Add(o.Lacks); got != want || !o.Steps[0].Account {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if last := o.Steps[len(o.Steps)-1]; o.Result == "skip" && last.String() != "rate limit login may match: skips of the account skips this phase: whether in its zones, too, the vendor's documents do not say alike" {
			t.Error(last)
		}
	}
}

// Two rules whose order is not declared, and that would end the request in two ways, leave the
// result open; two that end it alike do not.
func TestUndeclaredOrder(t *testing.T) {
	rules := map[string]string{
		"custom a": `{"expression": "ssl", "action": "block"}`,
		"custom b": `{"expression": "http.host eq \"shop.example\"", "action": "challenge"}`,
	}
	ssl := request(t, `{"url": "https://shop.example/"}`)
	if o := Zone([]desired.Zone{zone(t, rules)}, ssl); o.Result != "" || Add(o.Lacks) != `which of "a" and "b" stands in front: say it with order` {
		t.Errorf("%q %s", o.Result, Add(o.Lacks))
	}
	rules["custom b"] = strings.Replace(rules["custom b"], "challenge", "block", 1)
	if o := Zone([]desired.Zone{zone(t, rules)}, ssl); o.Result != "block" {
		t.Errorf("%q %s", o.Result, Add(o.Lacks))
	}
	rules["custom b"] = `{"expression": "ssl", "action": "challenge", "order": "first"}`
	if o := Zone([]desired.Zone{zone(t, rules)}, ssl); o.Result != "challenge" || o.By.Key != "b" {
		t.Errorf("%q %s", o.Result, Add(o.Lacks))
	}
}

func TestExpect(t *testing.T) {
	o := Zone([]desired.Zone{zone(t, shop)}, request(t, `{"url": "/admin", "ip": "198.51.100.9"}`))
	for text, want := range map[string]string{
		`"block"`:                                 "",
		`"none"`:                                  `expects none, and the result is block; custom rule admin matches: http.request.uri.path contains "/admin", of the value "/admin"`,
		`{"meets": ["admin"]}`:                    "",
		`{"misses": ["office"]}`:                  "",
		`{"meets": ["office"]}`:                   `does not meet the rule "office"; ip.src in {192.0.2.0/24}, of the value 198.51.100.9`,
		`{"misses": ["admin"]}`:                   `meets the rule "admin"; http.request.uri.path contains "/admin", of the value "/admin"`,
		`{"meets": ["login"]}`:                    `does not meet the rule "login"; admin ended the request`,
		`{"misses": ["login"]}`:                   "",
		`{"meets": ["offic"]}`:                    `expects something of the rule "offic", which is not declared; did you mean "office"?`,
		`{"result": "skip"}`:                      `expects skip, and the result is block; custom rule admin matches: http.request.uri.path contains "/admin", of the value "/admin"`,
		`{"result": "block", "meets": ["admin"]}`: "",
	} {
		var e Expect
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		got := ""
		if f := e.Check(o); f != nil {
			got = f.Message + "; " + f.Hint
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Whether the request meets a rule is not known where another one may end it before.
func TestMeetsIsNotGuessed(t *testing.T) {
	rules := map[string]string{
		"custom a":     `{"expression": "ssl", "action": "block"}`,
		"custom b":     `{"expression": "http.host eq \"shop.example\"", "action": "block"}`,
		"custom bot":   `{"expression": "cf.client.bot", "action": "block", "order": "first"}`,
		"rate_limit l": `{"expression": "true", "action": "block", "limit": {"characteristics": ["ip.src"]}}`,
	}
	for text, want := range map[string]string{
		`{"url": "https://shop.example/", "fields": {"cf.client.bot": true}}`:  "bot meets; a misses; b misses; l misses",
		`{"url": "https://shop.example/", "fields": {"cf.client.bot": false}}`: "bot misses; a open; b open; l misses",
		`{"url": "https://a.example/", "fields": {"cf.client.bot": false}}`:    "bot misses; a meets; b misses; l misses",
		`{"url": "http://a.example/"}`:                                         "bot open; a misses; b misses; l open",
		`{"url": "https://a.example/"}`:                                        "bot open; a open; b misses; l misses",
	} {
		o := Zone([]desired.Zone{zone(t, rules)}, request(t, text))
		var got []string
		for _, key := range []string{"bot", "a", "b", "l"} {
			is := "open"
			if o.check(key, true) == nil {
				is = "meets"
			} else if o.check(key, false) == nil {
				is = "misses"
			}
			got = append(got, key+" "+is)
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Of a request that a rule does not match that executes a ruleset, nothing more is asked.
func TestWhatExecutesAsksForItsFields(t *testing.T) {
	account := zone(t, map[string]string{"custom runs": `{"expression": "cf.zone.plan eq \"ENT\"", "action": "execute"}`})
	account.Scope = edge.AccountScope("a")
	o := Zone([]desired.Zone{account, zone(t, map[string]string{"custom a": `{"expression": "true", "action": "block"}`})}, request(t, `{}`))
	if got := Add(o.Lacks); o.Result != "" || got != `add to the request: fields: "cf.zone.plan": …` {
		t.Errorf("%q, %s", o.Result, got)
	}
}

// What is said of a request beside what was said never changes a result that is known.
func TestMoreNeverChangesResult(t *testing.T) {
	known, open := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rules := map[string]string{}
		keys := []string{"a", "b", "c", "d"}
		for _, key := range keys[:rapid.IntRange(1, len(keys)).Draw(t, "rules")] {
			rule := map[string]any{
				"expression": rapid.SampledFrom([]string{"ssl", "cf.client.bot", "cf.waf.auth_detected", "ssl and cf.client.bot", "not ssl"}).Draw(t, "expression"),
				"action":     rapid.SampledFrom([]string{"block", "challenge", "log", "skip"}).Draw(t, "action"),
			}
			if rule["action"] == "skip" {
				rule["skip"] = rapid.SampledFrom([]any{map[string]any{"ruleset": "current"}, map[string]any{"phases": []string{"http_ratelimit"}}}).Draw(t, "skip")
			}
			if order := rapid.SampledFrom([]any{nil, "first", "last", map[string]any{"after": "a"}, map[string]any{"before": "b"}}).Draw(t, "order"); order != nil {
				rule["order"] = order
			}
			data, _ := json.Marshal(rule)
			rules["custom "+key] = string(data)
		}
		rules["rate_limit l"] = `{"expression": "cf.client.bot", "action": "block", "limit": {"characteristics": ["ip.src"]}}`
		z := zone(new(testing.T), rules)
		whole, part := eval.Form{Fields: map[string]json.RawMessage{}}, eval.Form{Fields: map[string]json.RawMessage{}}
		for _, field := range []string{"ssl", "cf.client.bot", "cf.waf.auth_detected"} {
			value, _ := json.Marshal(rapid.Bool().Draw(t, field))
			if whole.Fields[field] = value; rapid.Bool().Draw(t, "said") {
				part.Fields[field] = value
			}
		}
		all, err := whole.Request()
		some, err2 := part.Request()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		a, b := Zone([]desired.Zone{z}, some), Zone([]desired.Zone{z}, all)
		if a.Result == "" {
			open++
		} else if known++; a.Result != b.Result {
			t.Fatalf("%v: %q with %v, %q with %v", rules, a.Result, part, b.Result, whole)
		}
		for _, met := range everyOrder(z, all) {
			for name := range rules {
				_, key, _ := strings.Cut(name, " ")
				if a.check(key, true) == nil && !met[key] || a.check(key, false) == nil && met[key] {
					t.Fatalf("%v: with %v it is said of %s, and with %v it is met: %t", rules, part, key, whole, met[key])
				}
			}
		}
		if (a.Result == "") != (len(a.Lacks) > 0) {
			t.Fatalf("%q lacks %v", a.Result, a.Lacks)
		}
	})
	if known == 0 || open == 0 {
		t.Errorf("%d known, %d open: the law says nothing", known, open)
	}
}

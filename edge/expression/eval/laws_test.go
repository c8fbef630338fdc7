package eval

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge/expression"
)

// vocabulary are conditions over fields of all types.
var vocabulary = []string{
	`ssl`, `not cf.client.bot`, `true`, `false`,
	`http.host eq "a"`, `http.host ne "b"`, `http.host in {"a" "b"}`, `http.host lt "b"`, `http.host contains "a"`,
	`http.host matches "^[ab]"`, `http.host wildcard "A*"`, `lower(http.host) eq "a"`, `len(http.host) gt 1`,
	`starts_with(http.host, "a")`, `concat(http.host, http.referer) eq "ab"`, `substring(http.host, 0, 1) eq "a"`,
	`ip.src in {192.0.2.0/24 2001:db8::/32}`, `ip.src in $l`, `cidr(ip.src, 8, 8) eq 192.0.0.0`,
	`cf.bot_management.score lt 5`, `cf.bot_management.score in {1..3 9}`, `cf.bot_management.score & 1`,
	`http.request.headers["h"][0] eq "a"`, `http.request.headers["h"][1] ne "a"`, `lower(http.request.headers["h"][0]) eq "a"`,
	`any(http.request.headers["h"][*] eq "a")`, `all(http.request.headers["h"][*] eq "a")`,
	`any(starts_with(http.request.headers["h"][*], "a"))`, `all(starts_with(http.request.headers["h"][*], "a"))`,
	`any(substring(http.request.headers["h"][*], 0, 1)[*] eq "a")`, `len(http.request.headers["h"]) ge 2`,
	`any((http.request.headers["h"][*] eq "a" or not http.request.headers["g"][*] eq "b"))`,
	`any(concat(http.request.headers["h"][*], http.host)[*] eq "aa")`, `all(lower(http.request.headers.names[*])[*] eq "h")`,
	`lookup_json_integer(http.request.body.raw, "n") eq 1`, `has_key(http.request.headers, "h")`,
	`http.request.headers[*][0] eq "a"`, `any(http.request.headers[*][*] eq "a")`, `is_jwt_valid("1")`,
}

// genExpression is an expression over the vocabulary.
func genExpression(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	switch {
	case depth == 0 || kind < 2:
		return rapid.SampledFrom(vocabulary).Draw(t, "condition")
	case kind == 2:
		return "not (" + genExpression(t, depth-1) + ")"
	}
	op := rapid.SampledFrom([]string{" and ", " or ", " xor "}).Draw(t, "operator")
	var items []string
	for range rapid.IntRange(2, 3).Draw(t, "items") {
		items = append(items, "("+genExpression(t, depth-1)+")")
	}
	return strings.Join(items, op)
}

func genRequest(t *rapid.T) Request {
	text := rapid.SampledFrom([]string{"", "a", "A", "b", "ab"})
	list := func(name string) Value { return Texts(rapid.SliceOfN(text, 0, 3).Draw(t, name)...) }
	headers := map[string]Value{}
	for _, name := range []string{"h", "g"} {
		if rapid.Bool().Draw(t, name) {
			headers[name] = list(name)
		}
	}
	return Request{
		fields: map[string]Value{
			"true": Truth(true), "false": Truth(false), "ssl": Truth(rapid.Bool().Draw(t, "ssl")), "cf.client.bot": Truth(rapid.Bool().Draw(t, "bot")),
			"http.host": Text(text.Draw(t, "host")), "http.referer": Text(text.Draw(t, "referer")),
			"ip.src":                     Address(netip.MustParseAddr(rapid.SampledFrom([]string{"192.0.2.1", "198.51.100.1", "2001:db8::1"}).Draw(t, "ip"))),
			"cf.bot_management.score":    Number(rapid.Int64Range(0, 10).Draw(t, "score")),
			"http.request.headers":       Table(headers),
			"http.request.headers.names": list("names"),
			"http.request.body.raw":      Text(rapid.SampledFrom([]string{"", "{}", `{"n": 1}`, `{"n": 2}`}).Draw(t, "body")),
		},
		calls: map[string]Value{`is_jwt_valid("1")`: Truth(rapid.Bool().Draw(t, "jwt"))},
		lists: map[string]NamedList{"l": {networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}},
	}
}

// less is a request of which less is said.
func less(t *rapid.T, r Request) Request {
	return Request{fields: some(t, r.fields), calls: some(t, r.calls), lists: some(t, r.lists)}
}

func some[V any](t *rapid.T, all map[string]V) map[string]V {
	kept := map[string]V{}
	for name, v := range all {
		if rapid.IntRange(0, 2).Draw(t, name) > 0 {
			kept[name] = v
		}
	}
	return kept
}

func evaluated(t *rapid.T, r Request, text string) Result {
	e, err := expression.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	got := r.Evaluate(e)
	again, err := expression.Parse(e.String())
	if err != nil || r.Evaluate(again).Verdict != got.Verdict {
		t.Fatalf("%s is %v, but not as it is printed: %v", text, got.Verdict, err)
	}
	if (got.Verdict == Unknown) == (len(got.Lacks) == 0) {
		t.Fatalf("%s is %v, lacks %v", text, got.Verdict, got.Lacks)
	}
	return got
}

// What is said of a request beside what was said never turns true into false, or the other way
// round; and with all of it, a verdict is lacking for a reason that no request can say.
func TestMoreNeverContradicts(t *testing.T) {
	var counts [2][3]int
	rapid.Check(t, func(t *rapid.T) {
		text, whole := genExpression(t, 3), genRequest(t)
		all, part := evaluated(t, whole, text), evaluated(t, less(t, whole), text)
		counts[0][all.Verdict]++
		counts[1][part.Verdict]++
		if part.Verdict != Unknown && part.Verdict != all.Verdict {
			t.Fatalf("%s is %v with less, %v with all", text, part.Verdict, all.Verdict)
		}
		for _, l := range all.Lacks {
			if l.Why == "" && !strings.HasPrefix(l.Name, "substring(") {
				t.Fatalf("%s lacks %v", text, l)
			}
		}
	})
	for _, n := range counts {
		if min(n[True], n[False], n[Unknown]) == 0 {
			t.Errorf("verdicts are %v: the law says nothing", counts)
		}
	}
}

func TestDeMorgan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genExpression(t, 2), genExpression(t, 2)
		r := less(t, genRequest(t))
		for _, pair := range [][2]string{
			{"not ((" + a + ") and (" + b + "))", "(not (" + a + ")) or (not (" + b + "))"},
			{"not ((" + a + ") or (" + b + "))", "(not (" + a + ")) and (not (" + b + "))"},
			{"not ((" + a + ") xor (" + b + "))", "(not (" + a + ")) xor (" + b + ")"},
			{"not (not (" + a + "))", a},
			{"(" + a + ") and (" + b + ")", "(" + b + ") and (" + a + ")"},
		} {
			if first, second := evaluated(t, r, pair[0]), evaluated(t, r, pair[1]); first.Verdict != second.Verdict {
				t.Fatalf("%s is %v, %s is %v", pair[0], first.Verdict, pair[1], second.Verdict)
			}
		}
	})
}

// A wildcard is what a regular expression says of it.
func TestWildcardIsRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.ReplaceAll(rapid.StringMatching(`(a|b|A|\*)*`).Draw(t, "pattern"), "**", "*")
		value := rapid.StringMatching(`[abA*]*`).Draw(t, "value")
		if strings.Contains(pattern, "**") {
			t.Skip()
		}
		re := "^" + strings.ReplaceAll(pattern, "*", ".*") + "$"
		want, lack := (&evaluator{}).matches(re, value)
		if got, ok := Wildcard(pattern, value, false); !ok || lack != nil || got != want {
			t.Fatalf("%q of %q: %v %v, want %v %v", pattern, value, got, ok, want, lack)
		}
		if got, _ := Wildcard(pattern, value, true); want && !got {
			t.Fatalf("%q of %q: not true in any case", pattern, value)
		}
	})
}

// Whatever is asked of whatever request, there is an answer after bounded work.
func FuzzEvaluate(f *testing.F) {
	for _, text := range vocabulary {
		f.Add(text, `{"url": "https://a/b?c=d&e", "headers": {"h": ["a", "b"], "cookie": "a=b"}, "body": "a=b", "ip": "::1"}`)
	}
	f.Add(`http.host wildcard "a*b*c*d*e" and url_decode(http.host, "ru") matches "(a*)*b"`, `{"fields": {"http.host": "%25u0041"}}`)
	f.Add(`concat(concat(http.host,http.host),concat(http.host,http.host)) eq "a"`, `{"lists": {"l": [1, "a", "::/0"]}}`)
	f.Fuzz(func(t *testing.T, text, form string) {
		var request Form
		if json.Unmarshal([]byte(form), &request) != nil {
			return
		}
		r, err := request.Request()
		e, syntax := expression.Parse(text)
		if err != nil || syntax != nil {
			return
		}
		v := &evaluator{request: r}
		c := v.condition(e.Root)
		if v.spent > mostWork {
			t.Errorf("%d bytes of work", v.spent)
		}
		again, err := expression.Parse(e.String())
		if err != nil {
			return // of a text that cannot be printed
		}
		if got := r.Evaluate(again).Verdict; !c.several && got != c.one.Verdict {
			t.Errorf("%v, but as it is printed %v", c.one.Verdict, got)
		}
	})
}

func TestWorkIsBounded(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	body, _ := json.Marshal(long)
	r := requestOf(t, `{"fields": {"http.host": `+string(body)+`}}`)
	doubled := "http.host"
	for range 8 {
		doubled = "concat(" + doubled + "," + doubled + ")"
	}
	for _, text := range []string{
		doubled + ` eq "a"`,
		strings.Repeat(`http.host contains "b" or `, 150) + `http.host contains "c"`,
		`http.host matches "(a{30}){30}b"`,
		strings.Repeat(`http.host matches "a*a*a*b" or `, 60) + `ssl`,
		`http.host wildcard "` + strings.Repeat("a*", 1000) + `b"`,
	} {
		e, err := expression.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v := &evaluator{request: r}
		v.condition(e.Root)
		if v.spent > mostWork {
			t.Errorf("%.40s…: %d bytes of work", text, v.spent)
		}
	}
}

// Calls in calls are evaluated more than once, and a value that is too large is looked at, too.
func TestWorkOfCallsIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("any(", 25) + "ssl" + strings.Repeat(")", 25),
		strings.Repeat("starts_with((", 25) + "ssl" + strings.Repeat(`), "a")`, 25),
	} {
		e, err := expression.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(1, func() { Request{}.Evaluate(e) }); n > 1e6 {
			t.Errorf("%.40s…: %v allocations", text, n)
		}
	}
	e, err := expression.Parse("len(http.request.headers.names) eq 1")
	if err != nil {
		t.Fatal(err)
	}
	v := &evaluator{request: Request{fields: map[string]Value{"http.request.headers.names": Texts(make([]string, mostValue)...)}}}
	if v.condition(e.Root); v.spent < mostValue {
		t.Errorf("%d bytes of work for a value of more", v.spent)
	}
}

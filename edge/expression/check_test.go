package expression

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// said is a list of mistakes in short: "error 1:5: message".
func said(text string, mistakes []Mistake) string {
	var all []string
	for _, m := range mistakes {
		grade := [...]string{"certain", "documented", "doubtful", "noted"}[m.Grade]
		all = append(all, fmt.Sprintf("%s %s: %s", grade, m.Place(text), m.Message))
	}
	return strings.Join(all, "\n")
}

func TestCheck(t *testing.T) {
	custom := For{Phase: "http_request_firewall_custom"}
	for _, test := range []struct {
		text string
		f    For
		want string
	}{
		{`ssl`, custom, ""},
		{`http.host eq "a" and ip.src in {192.0.2.0/24} and cf.waf.score lt 20`, custom, ""},
		{`http.hots eq "a"`, custom, `certain 1:1: there is no field "http.hots"`},
		{`http.request.fresh eq "a"`, custom, `documented 1:1: there is no field "http.request.fresh"`},
		{`cf.bot_management.ja5 eq "a"`, custom, `documented 1:1: there is no field "cf.bot_management.ja5"`},
		{`request.host eq "a"`, custom, `certain 1:1: there is no field "request.host"`},
		{`1`, custom, `certain 1:1: there is no field "1"`},
		{`http.host eq 5`, custom, `certain 1:14: http.host is a String; 5 is none`},
		{`http.host eq 0A:0B`, custom, ``},
		{`cf.waf.score eq "5"`, custom, `certain 1:17: cf.waf.score is an Integer; "5" is none`},
		{`ip.src eq "192.0.2.1"`, custom, `certain 1:11: ip.src is an IP address; "192.0.2.1" is none`},
		{`ip.src in {1 192.0.2.1}`, custom, `certain 1:12: ip.src is an IP address; 1 is none`},
		{`ip.src contains "1"`, custom, `certain 1:8: ip.src is an IP address, which "contains" does not take`},
		{`ip.src gt 192.0.2.1`, custom, `doubtful 1:8: the documents say that addresses do not have "gt"; the published engine takes it`},
		{`ip.src in {}`, custom, `doubtful 1:1: the set is empty, so that nothing is in it`},
		{`ssl eq true`, custom, `documented 1:5: ssl is a Boolean, which is a condition without an operator`},
		{`ssl eq "true"`, custom, `certain 1:5: ssl is a Boolean, which is a condition without an operator`},
		{`http.host`, custom, `certain 1:1: http.host is a String, and no condition`},
		{`len(http.host)`, custom, `certain 1:1: len(http.host) is an Integer, and no condition`},
		{`http.request.headers.names[*] eq "a"`, custom, `certain 1:1: it is an array of conditions, not one`},
		{`any(http.request.headers.names[*] eq "a")`, custom, ``},
		{`any(lower(http.request.headers.names[*])[*] eq "a")`, custom, ``},
		{`any(http.request.headers.names[0] eq "a")`, custom, `documented 1:5: argument 1 of any is a Boolean, want an Array<Boolean>`},
		{`any(http.request.headers.names)`, custom, `documented 1:5: argument 1 of any is an Array<String>, want an Array<Boolean>`},
		{`any(http.request.headers.names[*])`, custom, `documented 1:5: argument 1 of any is a String, want an Array<Boolean>`},
		{`http.request.headers.names eq "a"`, custom, `certain 1:1: http.request.headers.names is an Array<String>, which is compared with nothing`},
		{`http.request.headers["a"] eq "a"`, custom, `certain 1:1: http.request.headers["a"] is an Array<String>, which is compared with nothing`},
		{`http.request.headers["a"][0] eq "a"`, custom, ``},
		{`http.request.headers[0][0] eq "a"`, custom, `certain 1:21: a Map<Array<String>> has elements by key, ["name"]`},
		{`http.host[0] eq "a"`, custom, `certain 1:10: a String has no elements`},
		{`ssl and (http.request.headers.names[*] eq "a")`, custom, `certain 1:9: a condition and an array of conditions are joined`},
		{`lowre(http.host) eq "a"`, custom, `certain 1:1: there is no function "lowre"`},
		{`fold_case(http.host) eq "a"`, custom, `documented 1:1: there is no function "fold_case"`},
		{`http.host(1) eq "a"`, custom, `certain 1:1: http.host is a field, and takes no arguments`},
		{`lower eq "a"`, custom, `certain 1:1: lower is a function`},
		{`lower() eq "a"`, custom, `documented 1:1: lower needs 1 arguments, and has 0`},
		{`lower(http.host, "a") eq "a"`, custom, `documented 1:18: lower takes 1 arguments`},
		{`lower("A") eq "a"`, custom, `documented 1:7: argument 1 of lower must be a field, or what a function returns`},
		{`lower(ip.src) eq "a"`, custom, `documented 1:7: argument 1 of lower is an IP address, want a String`},
		{`cidr(ip.src, 24, 24) in {192.0.2.0/24}`, custom, ``},
		{`cidr(ip.src, 24, 24) in {192.0.2.0/24}`, For{Phase: "http_request_firewall_managed"}, `documented 1:1: the function cidr is not offered in the phase http_request_firewall_managed`},
		{`concat(http.host, http.request.headers.names[*]) eq "a"`, custom, `certain 1:19: only the first argument of a function may have [*]`},
		{`http.response.code eq 403`, For{Phase: "http_ratelimit"}, `documented 1:1: the field http.response.code is not offered in the phase http_ratelimit`},
		{`http.response.code eq 403`, For{Phase: "http_ratelimit", Counting: true}, ``},
		{`tcp.dstport eq 22`, custom, `documented 1:1: the field tcp.dstport is not offered in the phase http_request_firewall_custom`},
		{`tcp.dstport eq 22`, For{Phase: "magic_transit"}, ``},
		{`tcp.flags & 2`, For{Phase: "magic_transit"}, ``},
		{`cf.waf.score lt 20`, For{Plan: "pro"}, `documented 1:1: the field cf.waf.score needs the plan enterprise`},
		{`http.host matches "a"`, For{Plan: "pro"}, `documented 1:11: "matches" needs the plan business`},
		{`http.host matches "a"`, For{Plan: "business"}, ``},
		{`http.host matches "(a"`, custom, `certain 1:19: the regular expression has a mistake at "(a": missing closing )`},
		{`http.host matches "(?=a)"`, custom, `certain 1:19: the regular expression has a mistake at "(?=": invalid or unsupported Perl syntax`},
		{`http.host matches "(a)\1"`, custom, `certain 1:19: the regular expression has a mistake at "\\1": invalid escape sequence`},
		{`http.host matches "(?u)\p{Hangul}+"`, custom, `doubtful 1:19: the regular expression has a mistake at "(?u": invalid or unsupported Perl syntax`},
		{`http.host wildcard "a**"`, custom, `certain 1:20: "**" is no wildcard`},
		{`http.host wildcard r"a\b"`, custom, "documented 1:20: in a wildcard a backslash stands before * or \\ alone"},
		{`http.host wildcard r"\**"`, custom, ``},
		{"ssl # yes", custom, `doubtful 1:5: a comment: the published engine takes none`},
		{"ssl\tor ssl", custom, `doubtful 1:4: a tab: the published engine takes blanks and line breaks alone`},
		{`and ssl`, custom, `certain 1:1: expected a field or a function, found "and"`},
	} {
		_, mistakes := Examine(test.text, test.f)
		if got := said(test.text, mistakes); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestBounds(t *testing.T) {
	for text, want := range map[string]string{
		`http.host eq "` + strings.Repeat("ä", longest-15) + `"`:              "",
		`http.host eq "` + strings.Repeat("ä", longest-14) + `"`:              "documented 1:1: it has 4097 characters; the limit is 4096",
		strings.Repeat("!", deepestSaid) + "ssl":                              "",
		strings.Repeat("!", deepestSaid+1) + "ssl":                            "documented 1:1: nests 129 deep; the limit is 128",
		strings.TrimSuffix(strings.Repeat(`http.host ~ "a" or `, 65), " or "): "documented 1:1: it has 65 regular expressions; the limit is 64",
	} {
		_, mistakes := Examine(text, For{})
		if got := said(text, mistakes); got != want {
			t.Errorf("%.60s…\n got %s\nwant %s", text, got, want)
		}
	}
	many := "x" + strings.Repeat(" or x or http.fresh", 10_000)
	if _, mistakes := Examine(many, For{}); len(mistakes) != 2*mostMistakes+1 { // and its length
		t.Errorf("%d mistakes", len(mistakes))
	}
	if _, err := Parse(strings.Repeat("(", deepest+1)); err == nil || !strings.Contains(err.Error(), "deeper") {
		t.Error(err)
	}
}

func TestFindings(t *testing.T) {
	for text, want := range map[string]string{
		`ssl or http.host eq "a" or (ssl)`:               `noted 1:28: ssl stands here twice`,
		`ssl xor ssl`:                                    ``,
		`http.host eq "a" and (ssl or http.host == "a")`: ``,
		`http.host in {"a" "b" r"a"}`:                    `noted 1:23: "a" is in the set twice`,
		`ip.src in {10.0.0.0/8 192.0.2.1 0.0.0.0/0}`:     `noted 1:12: 10.0.0.0/8 is private: no client connects from there`,
		`ip.src eq 127.0.0.1 or ip.src eq fe80::1`:       "noted 1:11: 127.0.0.1 is this machine itself: no client connects from there\nnoted 1:34: fe80::1 is of a local link: no client connects from there",
		`cf.edge.server_ip eq 10.0.0.1`:                  ``,
		`any(http.request.headers["X-Token"][*] eq "a")`: `noted 1:25: no header has the key "X-Token": keys are in lower case`,
		`any(http.request.uri.args["Token"][*] eq "a")`:  ``,
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := said(text, Findings(e)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestExplain(t *testing.T) {
	const text = `(http.host eq "a" and not (ip.src in $office or ip.src in {192.0.2.0/24})) or any(lower(http.request.headers.names[*])[*] contains "x") xor starts_with(http.host, "b")`
	e, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, line := range Explain(e) {
		fmt.Fprintf(&got, "%s%s\n", strings.Repeat("  ", line.Depth), line.Text)
	}
	const want = `one or more of these are true:
  all of these are true:
    http.host is "a"
    not: one or more of these are true:
      ip.src is in the list office
      ip.src is in 192.0.2.0/24
  an odd number of these is true:
    of at least one element: lower(http.request.headers.names[*])[*] contains "x"
    http.host begins with "b"
`
	if got.String() != want {
		t.Errorf("got\n%s", &got)
	}
	if used := Used(e); !slices.Equal(used, []string{"http.host", "ip.src", "any", "lower", "http.request.headers.names", "starts_with"}) {
		t.Error(used)
	}
}

// The tables are read whole: a type, a plan or a phase of another spelling would check nothing.
func TestTables(t *testing.T) {
	known := []Type{String, Integer, Boolean, IPAddress, "Array", "Map", "First"}
	plain := func(t Type) bool {
		for element, is := t.Element(); is; element, is = t.Element() {
			t = element
		}
		return t == "" || slices.Contains(known, t)
	}
	groups := func(name string, all []string) {
		for _, group := range all {
			if len(phases[group]) == 0 {
				t.Errorf("%s: no phase is %q", name, group)
			}
			for _, phase := range phases[group] {
				if !slices.Contains(Phases, phase) {
					t.Errorf("%s: there is no phase %q", group, phase)
				}
			}
		}
	}
	for name, f := range Fields() {
		if !plain(f.Type) || f.Is == "" || len(f.Source) != 1 || f.Plan != "" && !slices.Contains(Plans, f.Plan) {
			t.Errorf("%+v", f)
		}
		groups(name, f.Phases)
	}
	for name, f := range Functions() {
		if !plain(f.Returns) || f.Is == "" || len(f.Source) != 1 {
			t.Errorf("%+v", f)
		}
		for _, p := range f.Params {
			for _, one := range p.Types {
				if !plain(one) {
					t.Errorf("%s: %q is no type", name, one)
				}
			}
		}
		groups(name, f.Phases)
	}
	if len(Fields()) < 200 || len(Functions()) < 30 {
		t.Errorf("%d fields, %d functions", len(Fields()), len(Functions()))
	}
}

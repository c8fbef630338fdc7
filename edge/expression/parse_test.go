package expression

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bare is a tree without places, which a spelling changes.
func bare(n Node) Node {
	Walk(n, func(n Node) {
		reflect.ValueOf(n).Elem().FieldByName("Span").SetZero()
		switch n := n.(type) {
		case *Comparison:
			n.OpAt = Span{}
			for i := range n.Right {
				n.Right[i].Span = Span{}
			}
		case *Term:
			for i := range n.Indexes {
				n.Indexes[i].Span = Span{}
			}
		}
	})
	return n
}

// again reads what is printed of an expression, which is the same expression.
func again(t *testing.T, text string, e Expr) {
	t.Helper()
	printed := e.String()
	read, err := Parse(printed)
	if err != nil {
		t.Fatalf("%q is printed as %q: %v", text, printed, err)
	}
	if once := read.String(); once != printed {
		t.Fatalf("%q is printed as %q, and that as %q", text, printed, once)
	}
	if difference := cmp.Diff(bare(e.Root), bare(read.Root)); difference != "" {
		t.Fatalf("%q is printed as %q:\n%s", text, printed, difference)
	}
}

// inOrder reports places that are not in the text, or not within what they are a part of.
func inOrder(t *testing.T, text string, n Node, within Span) {
	t.Helper()
	at := n.Where()
	if at.At < within.At || at.To > within.To || at.At >= at.To {
		t.Fatalf("%q: %T is at %v, within %v", text, n, at, within)
	}
	switch n := n.(type) {
	case *Logical:
		for _, item := range n.Items {
			inOrder(t, text, item, at)
		}
	case *Not:
		inOrder(t, text, n.Of, at)
	case *Group:
		inOrder(t, text, n.Of, at)
	case *Comparison:
		inOrder(t, text, n.Left, at)
		for i := range n.Right {
			inOrder(t, text, &n.Right[i], at)
		}
	case *Term:
		for _, arg := range n.Args {
			inOrder(t, text, arg, at)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`(http.host in {"a" "b"} and ip.src in {192.0.2.0/24 2001:db8::/32}) and cf.zone.plan eq "ENT"`,
		`not any(lower(http.request.headers["a"][*])[*] contains r#"a"#) xor cf.waf.score in {1..5 0x10 010 -1}`,
		`http.request.uri.path ~ "^/[\"a]*" or http.host strict wildcard "\x2a\052*" or starts_with(http.host, "a")`,
		`len(http.host)>=0&&!ssl||cf.waf.score&5^^ip.src in $list or 10..5`,
		`nothttp.host eq"a"orssl#c`, `x matches "\"` + strings.Repeat("#", 300) + `"`, `ssl eq true`, `f(a,"b",-1,::1,0A:0B,(x),!y,a eq 1)`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			m := err.(*SyntaxError)
			if m.At < 0 || m.At > m.To || m.To > len(text) || m.Message == "" {
				t.Fatalf("%q: %+v", text, m)
			}
			return
		}
		inOrder(t, text, e.Root, Span{0, len(text)})
		again(t, text, e)
		_, mistakes := Examine(text, For{Phase: "http_request_firewall_custom", Plan: "free"})
		for _, m := range append(mistakes, Findings(e)...) {
			if m.At < 0 || m.At > m.To || m.To > len(text) || m.Message == "" {
				t.Fatalf("%q: %+v", text, m)
			}
		}
		Explain(e)
	})
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`ssl`:                           `ssl`,
		` ( ssl ) `:                     `(ssl)`,
		`ssl&&!ssl||ssl^^ssl`:           `ssl and not ssl or ssl xor ssl`,
		`http.host=="a"`:                `http.host eq "a"`,
		`http.host  eq r"a"`:            `http.host eq "a"`,
		`http.host eq "a\"b"`:           `http.host eq r#"a"b"#`,
		`http.host eq "\x61\142"`:       `http.host eq "ab"`,
		`x matches "a\"b[\"]\."`:        `x matches r#"a"b[\"]\."#`,
		`x matches r"[a"`:               `x matches r"[a"`,
		`x in {1  2..3}`:                `x in {1 2..3}`,
		`x in{}`:                        `x in {}`,
		`x in $a.b_1`:                   `x in $a.b_1`,
		`x[ 0 ]["a\\"][*] eq 1`:         `x[0]["a\\"][*] eq 1`,
		`any(x[*]eq 1)`:                 `any(x[*] eq 1)`,
		`f( a ,"b", 1 ,1.1.1.1)`:        `f(a, "b", 1, 1.1.1.1)`,
		`x strict wildcard "*"`:         `x strict wildcard "*"`,
		`x & 5 or y bitwise_and 1`:      `x bitwise_and 5 or y bitwise_and 1`,
		`nothttp.host eq"a"`:            `not http.host eq "a"`,
		`x eq10or y eq 0x10`:            `x eq 10 or y eq 0x10`,
		"ssl # a comment\nand\tssl":     `ssl and ssl`,
		`x eq AA:BB`:                    `x eq AA:BB`,
		`x in {010.0.0.1 ::1..::2}`:     `x in {010.0.0.1 ::1..::2}`,
		`f(x[*], (a or b) and not c)`:   `f(x[*], (a or b) and not c)`,
		`ssl eq true`:                   `ssl eq true`,
		`cf.response.1xxx_code eq 1020`: `cf.response.1xxx_code eq 1020`,
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := e.String(); got != want {
			t.Errorf("%s is printed as %s", text, got)
		}
		again(t, text, e)
	}
}

// Each mistake is told at its place, with what to try.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ text, place, message, hint string }{
		{``, "1:1", "expected a field or a function, found the end", ""},
		{`ssl and`, "1:8", "found the end", ""},
		{`ssl ssl`, "1:5", `expected an operator or the end, found "ssl"`, "joined by and"},
		{`ssl)`, "1:4", `found ")"`, "closes nothing"},
		{`(ssl`, "1:1", `"(" is not closed`, ""},
		{`(ssl]`, "1:5", `expected an operator or ")", found "]"`, "another bracket"},
		{`ip.src eqq 192.0.2.9`, "1:8", `"eqq" is no operator`, `did you mean "eq"?`},
		{`ip.src EQ 192.0.2.9`, "1:8", `"EQ" is no operator`, "lower case"},
		{`ssl AND ssl`, "1:5", `"AND" is no operator`, "lower case"},
		{`http.host = "a"`, "1:11", `expected an operator, found "="`, "== or eq"},
		{`http.host eq 'a'`, "1:14", `expected a value`, "double quotes"},
		{`http.host eq "a`, "1:14", "not closed", `it ends with "`},
		{`http.host eq r#"a"`, "1:14", "not closed", `"#`},
		{`http.host eq "\q"`, "1:15", `expected ", \, xHH or OOO after \`, `r"…"`},
		{`http.host eq shop.example`, "1:14", `expected a value, found "shop.example"`, "double quotes"},
		{`http.host eq http.referer`, "1:14", `expected a value`, "another"},
		{`http.host in {"a", "b"}`, "1:18", `found ","`, "without commas"},
		{`http.host in ("a" "b")`, "1:14", `expected "{" or "$"`, "a set, {…}"},
		{`http.host in {"a" "b"`, "1:14", `"{" is not closed`, ""},
		{`http.host eq {"a"}`, "1:14", "expected one value", "follow in"},
		{`ip.src in {$office}`, "1:12", "expected a value", "without braces"},
		{`ip.src in $`, "1:11", "expected the name of a list", ""},
		{`ip.src in $Office`, "1:11", "expected the name of a list", "lower-case"},
		{`ip.src eq 192.0.2.0/24`, "1:11", "no single value", "in {192.0.2.0/24}"},
		{`ip.src in {192.0.2.1/24}`, "1:12", "no number, address, network or range", "the network is 192.0.2.0/24"},
		{`ip.src in {192.0.2.9..192.0.2.1}`, "1:12", "no number", "from the lower"},
		{`cf.waf.score eq 08`, "1:17", `"08" is no number`, "octal"},
		{`http.request.uri.path starts_with "/a"`, "1:23", "found \"starts_with\"", "starts_with(http.request.uri.path"},
		{`any(x[*] eq 1 and ssl)`, "1:15", `expected "," or ")"`, "parentheses of its own"},
		{`http.request.headers['a'][*]`, "1:22", `expected a key in double quotes`, ""},
		{`http.request.headers["a" eq`, "1:26", `expected "]"`, ""},
		{`http.request.headers ["a"]`, "1:22", `found "["`, "without a blank"},
		{`len(http.host`, "1:1", "the call of len is not closed", ""},
		{`http..host eq "a"`, "1:6", "expected a field or a function", "one dot"},
		{"ssl and\n  ssl eqx", "2:7", `"eqx" is no operator`, ""},
		{"http.host eq \"ä\" foo", "1:18", `found "foo"`, ""},
	} {
		_, err := Parse(test.text)
		m, is := err.(*SyntaxError)
		if !is {
			t.Errorf("%s is read", test.text)
			continue
		}
		if m.Place(test.text) != test.place || !strings.Contains(m.Message, test.message) || !strings.Contains(m.Hint, test.hint) {
			t.Errorf("%s\n  %s: %s\n  hint: %s", test.text, m.Place(test.text), m.Message, m.Hint)
		}
	}
}

package judge

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"strings"

	"pgregory.net/rapid"
)

// request is what a naive evaluator sees: the values of the terms that generated expressions
// have. A term that is not in it is missing.
type request struct {
	values     map[string]any // string, int64, netip.Addr, bool
	neIfMissed bool           // what "ne" is of a missing value
}

// vocabulary has the terms, with values that a request may have by what is assumed of it, and
// with others.
var vocabulary = []struct {
	term       string
	missing    bool // even if all is as assumed
	values     []any
	unexpected []any
}{
	{`http.host`, false, []any{"", "a", "b", "ab"}, nil},
	{`http.request.uri.path`, false, []any{"/", "/a", "/a/b"}, []any{"", "a", "*"}},
	{`lower(http.request.uri.path)`, false, []any{"/", "/a", "/a/b"}, []any{"", "a", "*"}},
	{`http.request.headers["h"][0]`, true, []any{"", "a", "b", "ab"}, nil},
	{`cf.zone.name`, false, []any{"example.com"}, nil},
	{`cf.zone.plan`, false, []any{"ENT"}, []any{"a", ""}},
	{`cf.waf.score`, false, []any{int64(0), int64(4), int64(5), int64(6), int64(99)}, []any{int64(-1)}},
	{`len(http.host)`, false, []any{int64(0), int64(5)}, []any{int64(-1)}},
	{`lookup_json_integer(http.request.body.raw, "n")`, true, []any{int64(-1), int64(0), int64(4), int64(5)}, nil},
	{`ip.src`, false, []any{
		netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("255.255.255.255"),
		netip.MustParseAddr("::"), netip.MustParseAddr("::ffff:10.0.0.1"), netip.MustParseAddr("2001:db8::1"),
	}, nil},
	{`ssl`, false, []any{true, false}, nil},
	{`any(http.request.headers["h"][*] eq "a")`, false, []any{true, false}, nil},
}

// draw is a request. One that is as assumed has the values of the fields that are known here.
func draw(r *rand.Rand, asAssumed bool) request {
	q := request{values: map[string]any{}, neIfMissed: r.IntN(2) == 0}
	for _, v := range vocabulary {
		values := v.values
		if !asAssumed {
			values = append(values[:len(values):len(values)], v.unexpected...)
		}
		certain := v.term == "cf.zone.name" || values[0] == true
		if (v.missing || !asAssumed && !certain) && r.IntN(4) == 0 {
			continue
		}
		q.values[v.term] = values[r.IntN(len(values))]
	}
	return q
}

// generated is an expression: its text, how strongly its operator binds, and what it is of a
// request.
type generated struct {
	text  string
	binds int // 0 or, 1 xor, 2 and, 3 for what no operator joins
	of    func(request) bool
}

func (e generated) within(binds int) string {
	if e.binds < binds {
		return "(" + e.text + ")"
	}
	return e.text
}

func genExpression(t *rapid.T, depth int) generated {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return genLeaf(t)
	}
	a := genExpression(t, depth-1)
	switch op := rapid.IntRange(-2, 2).Draw(t, "operator"); op {
	case -2:
		return a.not(t)
	case -1: // joined to its contrary, or to itself: else few are always or never true
		b := a
		if rapid.Bool().Draw(t, "contrary") {
			b = a.not(t)
		}
		return a.join(t, rapid.IntRange(0, 2).Draw(t, "join"), b)
	default:
		return a.join(t, op, genExpression(t, depth-1))
	}
}

func (e generated) not(t *rapid.T) generated {
	not := rapid.SampledFrom([]string{"not ", "!"}).Draw(t, "not")
	return generated{not + e.within(3), 3, func(q request) bool { return !e.of(q) }}
}

func (e generated) join(t *rapid.T, op int, b generated) generated {
	name := rapid.SampledFrom([][]string{{" or ", "||"}, {" xor ", "^^"}, {" and ", "&&"}}[op]).Draw(t, "spelling")
	return generated{e.within(op) + name + b.within(op+1), op, func(q request) bool {
		left, right := e.of(q), b.of(q)
		return [...]bool{left || right, left != right, left && right}[op]
	}}
}

// genLeaf is a comparison, or something that is true or false.
func genLeaf(t *rapid.T) generated {
	v := rapid.SampledFrom(vocabulary).Draw(t, "term")
	if _, is := v.values[0].(bool); is {
		return leaf(v.term, v.term, func(value any) bool { return value.(bool) })
	}
	literal := func() any {
		value := rapid.SampledFrom(append(v.values[:len(v.values):len(v.values)], v.unexpected...)).Draw(t, "literal")
		if _, is := value.(string); is && rapid.Bool().Draw(t, "of another term") {
			return rapid.SampledFrom([]any{"a", "b", "/", "example.com", "EXAMPLE.COM", "ENT"}).Draw(t, "text")
		}
		return value
	}
	if _, is := v.values[0].(string); is && rapid.Bool().Draw(t, "predicate") {
		return genPredicate(t, v.term, literal().(string))
	}
	if rapid.Bool().Draw(t, "in") {
		return genIn(t, v.term, literal)
	}
	return genOrdered(t, v.term, literal())
}

func leaf(text, term string, of func(value any) bool) generated {
	return generated{text, 3, func(q request) bool {
		value, there := q.values[term]
		return there && of(value)
	}}
}

// regexForms are regular expressions around a literal, with what they are true of.
var regexForms = []struct {
	pattern string
	is      func(value, text string) bool
}{
	{"%s", strings.Contains},
	{"^%s", strings.HasPrefix},
	{"%s$", strings.HasSuffix},
	{"^%s$", func(value, text string) bool { return value == text }},
	{"^%s.*", strings.HasPrefix},
	{".*%s.*$", strings.Contains},
	{"^(.*)%s", strings.Contains},
	{"%s.+", func(value, text string) bool {
		return value != "" && strings.Contains(value[:len(value)-1], text)
	}},
}

func genPredicate(t *rapid.T, term, text string) generated {
	of := func(is func(value, text string) bool) func(any) bool {
		return func(value any) bool { return is(value.(string), text) }
	}
	switch op := rapid.SampledFrom([]string{"contains", "starts_with", "ends_with", "wildcard", "strict wildcard", "matches"}).Draw(t, "predicate"); op {
	case "contains":
		return leaf(fmt.Sprintf("%s contains %q", term, text), term, of(strings.Contains))
	case "starts_with":
		return leaf(fmt.Sprintf("starts_with(%s, %q)", term, text), term, of(strings.HasPrefix))
	case "ends_with":
		return leaf(fmt.Sprintf("ends_with(%s,%q)", term, text), term, of(strings.HasSuffix))
	case "matches":
		form := rapid.IntRange(0, len(regexForms)-1).Draw(t, "form")
		text = strings.ReplaceAll(text, "*", "")
		pattern := fmt.Sprintf(regexForms[form].pattern, regexp.QuoteMeta(text))
		return leaf(fmt.Sprintf(`%s matches r"%s"`, term, pattern), term, func(value any) bool {
			return regexForms[form].is(value.(string), text)
		})
	default:
		text = strings.ReplaceAll(text, "*", "")
		same := func(s string) string {
			if op == "wildcard" {
				return strings.ToLower(s)
			}
			return s
		}
		form := rapid.IntRange(0, 3).Draw(t, "stars")
		pattern := [...]string{text, text + "*", "*" + text, "*" + text + "*"}[form]
		if text == "" && form == 3 {
			pattern = "*"
		}
		return leaf(fmt.Sprintf("%s %s %q", term, op, pattern), term, of(func(value, _ string) bool {
			value, text := same(value), same(text)
			return [...]bool{value == text, strings.HasPrefix(value, text), strings.HasSuffix(value, text), strings.Contains(value, text)}[form]
		}))
	}
}

// written is a literal as the language has it.
func written(value any) string {
	if text, is := value.(string); is {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprint(value)
}

func genIn(t *rapid.T, term string, literal func() any) generated {
	var texts []string
	var tests []func(any) bool
	for range rapid.IntRange(1, 4).Draw(t, "values") {
		one := literal()
		text, test := written(one), func(value any) bool { return value == one }
		if a, is := one.(netip.Addr); is && rapid.Bool().Draw(t, "network") {
			bits := rapid.SampledFrom([]int{0, 1, 31}).Draw(t, "bits")
			network := netip.PrefixFrom(a, bits).Masked()
			text, test = network.String(), func(value any) bool { return network.Contains(value.(netip.Addr)) }
			if a.Is4In6() {
				text, test = "::/0", func(value any) bool { return !value.(netip.Addr).Is4() }
			}
		}
		if n, is := one.(int64); is && rapid.Bool().Draw(t, "range") {
			length := rapid.SampledFrom([]int64{1, 4, 1 << 40}).Draw(t, "length")
			text, test = fmt.Sprintf("%d..%d", n, n+length), func(value any) bool { return value.(int64) >= n && value.(int64) <= n+length }
		}
		texts, tests = append(texts, text), append(tests, test)
	}
	return leaf(term+" in {"+strings.Join(texts, " ")+"}", term, func(value any) bool {
		for _, test := range tests {
			if test(value) {
				return true
			}
		}
		return false
	})
}

func genOrdered(t *rapid.T, term string, literal any) generated {
	operators := [][]string{{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}}
	if _, is := literal.(int64); !is {
		operators = operators[:2]
	}
	op := rapid.IntRange(0, len(operators)-1).Draw(t, "comparison")
	text := term + " " + rapid.SampledFrom(operators[op]).Draw(t, "spelling") + " " + written(literal)
	return generated{text, 3, func(q request) bool {
		value, there := q.values[term]
		if !there {
			return op == 1 && q.neIfMissed
		}
		a, _ := value.(int64)
		b, _ := literal.(int64)
		return [...]bool{value == literal, value != literal, a < b, a <= b, a > b, a >= b}[op]
	}}
}

package visible

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// nasty are characters without ink, that look like others, that renderers fold or act on,
// and pieces of what escapes look like.
var nasty = []string{
	"\U000E0100", "\ufe0f", "\u034f", "\u3164", "\u2800", "\u115f", "\uffa0", "\u17b4", "\u180b", "\U0001D159",
	" ", "  ", "\t", "\n", "\r", "\u00a0", "\u2003", "\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u2028", "\x00", "\x7f", "\x1b[2J", "\u009b",
	"\xff", "\xfe", "\ufffd", "\ue000", "\U0010ffff", "e\u0301", "\u00e9", "\u0430", "a", "\u01c3", "!", "\u2026", "...", "\u2192",
	"u", "{", "}", "[", "]", `\`, `\u{20}`, `\x{ff}`, `\u{e9}`, `"`, "`", "|", "20", "e9", "<b>", "&nbsp;",
}

func genNasty(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 6).Draw(t, label), "")
}

// onlyASCII is what even a reader sees who cannot tell one letter from another.
func onlyASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return -1
		}
		return r
	}, s)
}

// folded is a text as Markdown shows it.
func folded(s string) string { return strings.Join(strings.Fields(s), " ") }

// Two different values are never shown the same, nor two different names, whatever is done
// to white space and to what is not ASCII; and what is shown has nothing in it that acts.
func TestDifferentIsShownDifferently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genNasty(t, "a"), genNasty(t, "b")
		if rapid.Bool().Draw(t, "one looks like the other shown") {
			b = rapid.SampledFrom([]string{Name(a), Text(a), strings.Trim(Value(a), `"`)}).Draw(t, "as shown")
		}
		for name, show := range map[string]func(string) string{
			"value": func(s string) string { return Value(s) },
			"list":  func(s string) string { return Value([]string{s, "x"}) },
			"any":   func(s string) string { return Value(map[string]any{s: []any{s}}) },
			"name":  Name,
		} {
			left, right := show(a), show(b)
			if (folded(onlyASCII(left)) == folded(onlyASCII(right))) != (a == b) {
				t.Fatalf("%s: %+q is shown as %s, and %+q as %s", name, a, left, b, right)
			}
			for _, r := range left {
				if r < ' ' || r > '~' && name != "name" {
					t.Fatalf("%s: %U in %q", name, r, left)
				}
			}
			if Text(left) != left {
				t.Fatalf("%s: shown again %s is %s", name, left, Text(left))
			}
		}
	})
}

// A sentence stays readable, keeps what is escaped, and hides nothing but the kind of a
// single blank.
func TestTextHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genNasty(t, "s")
		text := Text(s)
		if Text(text) != text {
			t.Fatalf("%+q is shown as %s and then as %s", s, text, Text(text))
		}
		ink := strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \n\r\t…→", r) {
				return -1
			}
			return r
		}, s)
		if ink != "" && folded(onlyASCII(text)) == "" || !utf8.ValidString(text) {
			t.Fatalf("%+q is shown as %q", s, text)
		}
	})
}

func TestShown(t *testing.T) {
	for _, c := range []struct{ in, value, name, text string }{
		{"shop.example", `"shop.example"`, "shop.example", "shop.example"},
		{"true ", `"true\u{20}"`, `true\u{20}`, "true "},
		{"a  b", `"a \u{20}b"`, `a \u{20}b`, "a  b"},
		{"a\tb", `"a\u{9}b"`, `a\u{9}b`, "a b"},
		{"a\u00a0b", `"a\u{a0}b"`, `a\u{a0}b`, `a\u{a0}b`},
		{"tru\U000E0100e", `"tru\u{e0100}e"`, `tru\u{e0100}e`, `tru\u{e0100}e`},
		{"caf\u00e9 bar", `"caf\u{e9} bar"`, `café[caf\u{e9}] bar`, `café[caf\u{e9}] bar`},
		{"\u3164", `"\u{3164}"`, `\u{3164}`, `\u{3164}`},
		{"a…→b", `"a\u{2026}\u{2192}b"`, `a\u{2026}\u{2192}b`, "a…→b"},
		{`C:\u{61}`, `"C:\\u{61}"`, `C:\u{5c}u{61}`, `C:\u{61}`},
		{`say "x"`, `"say \"x\""`, `say "x"`, `say "x"`},
		{"\xff", `"\x{ff}"`, `\x{ff}`, `\x{ff}`},
	} {
		if v, n, s := Value(c.in), Name(c.in), Text(c.in); v != c.value || n != c.name || s != c.text {
			t.Errorf("%+q is shown as %s, %s and %s", c.in, v, n, s)
		}
	}
	type named struct {
		B string `json:"b"`
		A []any  `json:"a"`
	}
	if got, want := Value(named{"x\u200b", []any{1.5, nil, true, map[string]any{"k ": "<"}}}), `{"b":"x\u{200b}","a":[1.5,null,true,{"k\u{20}":"<"}]}`; got != want {
		t.Errorf("got %s", got)
	}
}

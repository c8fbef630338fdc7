package eval

import (
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// function is one that can be computed here. It gets arguments that are known and, unless it
// takes those, none that is missing. What it cannot tell is [notTold].
type function struct {
	least        int
	takesMissing bool
	of           func(args []Value) Value
}

// notTold is what a function returns that cannot tell: a request may say what the call returns.
var notTold = lacking(Lack{})

// functions are those of functions.txt that can be computed and that the phases of custom rules,
// rate limits and managed rulesets have. D functions.mdx; E functions/concat.rs.
var functions = map[string]function{
	"lower":               {1, false, ofText(func(s string) Value { return Text(lower(s)) })},
	"upper":               {1, false, ofText(func(s string) Value { return Text(upper(s)) })},
	"starts_with":         {2, false, ofTexts(func(s, t string) Value { return Truth(strings.HasPrefix(s, t)) })},
	"ends_with":           {2, false, ofTexts(func(s, t string) Value { return Truth(strings.HasSuffix(s, t)) })},
	"remove_bytes":        {2, false, ofTexts(removeBytes)},
	"len":                 {1, false, length},
	"concat":              {1, true, concat},
	"substring":           {2, false, substring},
	"split":               {3, false, split},
	"join":                {2, false, join},
	"to_string":           {1, false, toString},
	"url_decode":          {1, false, urlDecode},
	"decode_base64":       {1, false, ofText(decodeBase64)},
	"encode_base64":       {1, false, encodeBase64},
	"cidr":                {3, false, func(a []Value) Value { return network(a[0], a[1], a[2]) }},
	"cidr6":               {2, false, func(a []Value) Value { return network(a[0], Number(32), a[1]) }},
	"lookup_json_string":  {2, false, func(a []Value) Value { return lookup(a, texts) }},
	"lookup_json_integer": {2, false, func(a []Value) Value { return lookup(a, numbers) }},
	"has_key":             {2, false, hasKey},
	"has_value":           {2, false, hasValue},
}

func ofText(of func(string) Value) func([]Value) Value {
	return func(args []Value) Value {
		if args[0].kind != texts || len(args) > 1 {
			return notTold
		}
		return of(args[0].text)
	}
}

func ofTexts(of func(a, b string) Value) func([]Value) Value {
	return func(args []Value) Value {
		if args[0].kind != texts || args[1].kind != texts || len(args) > 2 {
			return notTold
		}
		return of(args[0].text, args[1].text)
	}
}

func removeBytes(s, bytes string) Value {
	var goes [256]bool
	for i := range len(bytes) {
		goes[bytes[i]] = true
	}
	return Text(string(slices.DeleteFunc([]byte(s), func(c byte) bool { return goes[c] })))
}

func length(args []Value) Value {
	switch args[0].kind {
	case texts:
		return Number(int64(len(args[0].text)))
	case lists:
		return Number(int64(len(args[0].list)))
	default:
		return notTold
	}
}

// concat leaves out what is missing; it is missing itself where all of it is.
func concat(args []Value) Value {
	args = slices.DeleteFunc(slices.Clone(args), func(v Value) bool { return v.kind == missing })
	if len(args) == 0 {
		return Value{}
	}
	whole := Value{kind: args[0].kind}
	var text strings.Builder
	for _, arg := range args {
		if arg.kind != whole.kind || arg.kind != texts && arg.kind != lists {
			return notTold
		}
		text.WriteString(arg.text)
		whole.list = append(whole.list, arg.list...)
	}
	whole.text = text.String()
	return whole
}

// substring counts from the end where a place is negative. What is outside of the text is not
// documented.
func substring(args []Value) Value {
	places := []int64{0, int64(len(args[0].text))}
	for i, arg := range args[1:min(len(args), 3)] {
		if arg.kind != numbers {
			return notTold
		}
		if places[i] = arg.number; arg.number < 0 {
			places[i] += int64(len(args[0].text))
		}
	}
	from, to := places[0], places[1]
	if args[0].kind != texts || len(args) > 3 || from < 0 || to > int64(len(args[0].text)) || from > to {
		return notTold
	}
	return Text(args[0].text[from:to])
}

func split(args []Value) Value {
	if args[0].kind != texts || args[1].kind != texts || args[1].text == "" || args[2].kind != numbers || args[2].number < 1 || args[2].number > 128 {
		return notTold
	}
	return Texts(strings.SplitN(args[0].text, args[1].text, int(args[2].number))...)
}

func join(args []Value) Value {
	if args[0].kind != lists || args[1].kind != texts {
		return notTold
	}
	parts := make([]string, len(args[0].list))
	size := 0
	for i, e := range args[0].list {
		if e.kind != texts {
			return notTold
		}
		parts[i] = e.text
		size += len(e.text) + len(args[1].text)
	}
	if size > mostValue {
		return lacking(tooMuch)
	}
	return Text(strings.Join(parts, args[1].text))
}

func toString(args []Value) Value {
	switch v := args[0]; v.kind {
	case numbers, truths:
		return Text(v.String())
	case addresses:
		return Text(v.address.String())
	default:
		return notTold
	}
}

// network is the network of an address, by the bits for either family.
func network(of, bits4, bits6 Value) Value {
	if of.kind != addresses || bits4.kind != numbers || bits6.kind != numbers || bits4.number < 1 || bits4.number > 32 ||
		bits6.number < 1 || bits6.number > 128 {
		return notTold
	}
	bits := bits6.number
	if of.address.Is4() {
		bits = bits4.number
	}
	return Address(netip.PrefixFrom(of.address, int(bits)).Masked().Addr())
}

func decodeBase64(s string) Value {
	data, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		return notTold // what becomes of it is not documented
	}
	return Text(string(data))
}

func encodeBase64(args []Value) Value {
	if args[0].kind != texts || len(args) > 1 {
		return notTold
	}
	return Text(base64.StdEncoding.EncodeToString([]byte(args[0].text)))
}

// urlDecode takes the options r, decode until nothing is left, and u, %uXXXX. What becomes of a %
// that begins no escape is not documented.
func urlDecode(args []Value) Value {
	options := ""
	if len(args) > 1 {
		options = args[1].text
	}
	if args[0].kind != texts || len(args) > 2 || strings.Trim(options, "ru") != "" || len(args) == 2 && args[1].kind != texts {
		return notTold
	}
	text := args[0].text
	for range 64 {
		next, ok := decodeOnce(text, strings.Contains(options, "u"))
		if !ok {
			return notTold
		}
		if next == text || !strings.Contains(options, "r") {
			return Text(next)
		}
		text = next
	}
	return notTold
}

func decodeOnce(s string, wide bool) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+':
			b.WriteByte(' ')
		case c != '%':
			b.WriteByte(c)
		case wide && i+5 < len(s) && s[i+1] == 'u':
			n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
			if err != nil || utf16.IsSurrogate(rune(n)) {
				return "", false
			}
			b.WriteRune(rune(n))
			i += 5
		default:
			if i+2 >= len(s) {
				return "", false
			}
			n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return "", false
			}
			b.WriteByte(byte(n))
			i += 2
		}
	}
	return b.String(), true
}

func hasKey(args []Value) Value {
	if args[0].kind != tables || args[1].kind != texts {
		return notTold
	}
	_, has := args[0].table[args[1].text]
	return Truth(has)
}

func hasValue(args []Value) Value {
	if args[0].kind != lists && args[0].kind != tables {
		return notTold
	}
	return Truth(slices.ContainsFunc(elements(args[0]), args[1].equal))
}

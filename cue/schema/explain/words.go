package explain

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/seawall-dev/seawall/edge/nearest"
)

// bounds puts the schema's regular expressions into words. A test holds that
// each of the schema's is here.
var bounds = map[string]string{
	`=~"^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$"`: "must be written YYYY-MM-DDThh:mm:ssZ",
	`=~"^[0-9]+$"`:                                       "must be a number in quotes, such as \"42\"",
	`=~"^[0-9a-f]{32}$"`:                                 "must be 32 lower-case hexadecimal digits",
	`=~"^\\PC*\\{intent\\}\\PC*$"`:                       "must contain {intent}, and be printable",
	`=~"^(100|[1-9][0-9]?)%$"`:                           "must be a share from 1% to 100%",
	`=~"^\\PC*[^\\s\\pZ\\pC]\\PC*$"`:                     "must be printable and not blank",
	`=~"[^\\s\\pZ]"`:                                     "must not be blank",
	`=~"^[0-9A-Za-z_-]{1,64}$"`:                          "must be 1 to 64 letters, digits, - or _",
	`=~"^[^/\\\\\\pC]+(/[^/\\\\\\pC]+)*$"`:               "must be a relative path with /",
	`!~"(^|/)\\.\\.?(/|$)"`:                              "must not contain . or .. as a part",
	`=~"^[^\\s?#]+$"`:                                    "must be a path without blanks, ? and #",
	`=~"^[a-z0-9]+(-[a-z0-9]+)*$"`:                       "must be lower-case words joined by hyphens",
	`=~"^\\d{4}-\\d{2}-\\d{2}$"`:                         "must be written YYYY-MM-DD",
	`=~"^/"`:                                             "must be an absolute path",
	`=~"^refs/[^\\s]+$"`:                                 "must be a full name such as refs/heads/main",
	`=~"^[^\\s/][^\\s]*$"`:                               "must be the name of a branch, such as main",
	`!~"^refs/"`:                                         "must be the short name of a branch, such as main; a full name belongs in ref",
	`=~"^[a-z0-9-]{1,64}$"`:                              "must be 1 to 64 lower-case letters, digits or -",
	`=~"^[^\\s]*:[0-9]{1,5}$"`:                           "must be host:port, or :port for every address",
	`=~"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"`:              "must be 1 to 63 letters, digits, ., _ or -, the first a letter or a digit",
	`=~"^[A-Za-z_][A-Za-z0-9_]*$"`:                       "must be the name of an environment variable",
	`=~"^[A-Za-z][A-Za-z0-9-]*$"`:                        "must be the name of a header: letters, digits and -",
	`=~"^[A-Za-z0-9_.-]+$"`:                              "must be the name of a systemd credential",
	`=~"^[A-Za-z0-9._~@:=,-]+(/[A-Za-z0-9._~@:=,-]+)*$"`: "must be a relative path of letters, digits and . _ ~ @ : = , -",
	`=~"^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$"`:           "must be the name of a project, owner/name",
	`=~"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`:                "must be lower-case letters, digits and -, with a letter or digit at both ends",
	`=~"^(https?://[^/?#]|/)"`:                           "must be an address, https://…, or a path, /…",
	`=~"^[A-Z][A-Z0-9]$"`:                                "must be two capital letters",
	`=~"^[a-z0-9_.]+$"`:                                  "must be lower-case letters, digits, _ and .",
	`=~"^https?://[^\\s]+$"`:                             "must be an https or http address",
	`=~"^https://[^\\s]+$|^http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:[0-9]+)?(/[^\\s]*)?$"`: "must be an https address, or http to this machine",
}

// validators does the same for the functions the schema calls.
var validators = map[string]string{
	"strings.MaxRunes(120)":                                  "must not be longer than 120 characters",
	`=~"^\\PC*[^\\s\\pZ\\pC]\\PC*$" & strings.MaxRunes(120)`: "must be printable, not blank, and at most 120 characters",
	"struct.MinFields(1)":                                    "must not be empty",
	"time.Duration":                                          `must be a duration such as "720h" or "90m"`,
}

// inWords says in one line what is wrong with a value whose part of the schema
// is a leaf, and what to try.
func inWords(err error, v, schema cue.Value) (message, hint string) {
	if words, ok := ownWords(schema); ok && v.Validate(cue.Concrete(true)) == nil {
		return said(words, v)
	}
	var best verdictOn
	for _, e := range errors.Errors(err) {
		found := judge(e, v, schema)
		if found.final {
			return found.message, found.hint
		}
		if found.rank > best.rank {
			best = found
		}
	}
	switch {
	case best.rank > 0:
		return verdict(v, best.message), ""
	case !v.IsConcrete() && v.Validate() == nil:
		return noValue(v, schema)
	}
	return verdict(v, "does not fit here"), ""
}

// verdictOn is what one of CUE's errors says of a value. Of several the one of
// the highest rank counts, unless one is final.
type verdictOn struct {
	message, hint string
	final         bool
	rank          int // 0: nothing
}

func judge(e errors.Error, v, schema cue.Value) verdictOn {
	format, args := e.Msg()
	switch {
	case format == "%s" && len(args) == 1:
		message, hint := said(fmt.Sprint(args[0]), v)
		return verdictOn{message: message, hint: hint, final: true}
	case strings.HasPrefix(format, "incomplete value"):
		message, hint := noValue(v, schema)
		return verdictOn{message: message, hint: hint, final: true}
	case strings.HasPrefix(format, "invalid value") && len(args) >= 2:
		words, hint := bound(fmt.Sprint(args[1]), v)
		return verdictOn{message: words, hint: hint, final: hint != "", rank: 3}
	case strings.HasPrefix(format, "conflicting values") && strings.Contains(format, "mismatched") && len(args) == 4:
		return verdictOn{message: otherKind(v, fmt.Sprint(args[2]), fmt.Sprint(args[3])), rank: 2}
	case strings.HasPrefix(format, "conflicting values"):
		return verdictOn{message: "is not allowed here", rank: 1}
	}
	return verdictOn{}
}

// ownWords returns what a disjunction of the schema says when nothing of it
// fits: its last alternative is a call of error.
func ownWords(schema cue.Value) (string, bool) {
	alternatives := []cue.Value{schema}
	if op, args := schema.Expr(); op == cue.OrOp {
		alternatives = args
	}
	for _, a := range alternatives {
		for _, e := range errors.Errors(a.Err()) {
			if format, args := e.Msg(); format == "%s" && len(args) == 1 {
				return fmt.Sprint(args[0]), true
			}
		}
	}
	return "", false
}

// said uses the schema's own words. "must be one of" becomes a verdict on the
// value, with the candidate it is closest to.
func said(words string, v cue.Value) (message, hint string) {
	list, isEnum := strings.CutPrefix(words, "must be one of ")
	if !isEnum {
		if strings.HasPrefix(words, "must ") {
			words = verdict(v, words)
		}
		return words, ""
	}
	if text, err := v.String(); err == nil {
		hint = nearest.Hint(text, strings.Split(list, ", "), "")
	}
	return verdict(v, "is not one of "+list), hint
}

func bound(text string, v cue.Value) (message, hint string) {
	if text == "net.IPCIDR" {
		return notCIDR(v)
	}
	return cmp.Or(bounds[text], validators[text], comparison(text), "is not allowed here"), ""
}

// notCIDR tells a lone address apart from what is no address at all.
func notCIDR(v cue.Value) (message, hint string) {
	text, err := v.String()
	if err != nil {
		return shown(v) + " is " + kindName(v) + "; want an address range as text", `for example "192.0.2.0/24"`
	}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return shown(v) + " is a single address; want a range in CIDR notation",
			fmt.Sprintf("write %q", fmt.Sprintf("%s/%d", addr, addr.BitLen()))
	}
	return shown(v) + " is not an address range in CIDR notation", `for example "192.0.2.0/24" or "2001:db8::/32"`
}

// comparison puts ">=1" and its like into words; empty for anything else.
func comparison(text string) string {
	for _, c := range []struct{ op, words string }{
		{">=", "must be at least "},
		{"<=", "must be at most "},
		{">", "must be more than "},
		{"<", "must be less than "},
		{"!=", "must not be "},
	} {
		if limit, ok := strings.CutPrefix(text, c.op); ok {
			return c.words + limit
		}
	}
	return ""
}

func otherKind(v cue.Value, kinds ...string) string {
	own := strings.TrimPrefix(strings.TrimPrefix(kindName(v), "a "), "an ")
	for _, kind := range kinds {
		if kind == "int" && strings.ContainsAny(numeral(v), "eE") && !strings.HasPrefix(numeral(v), "0x") {
			return "has an exponent; want a whole number, written with digits only"
		}
		if kind != own && kind != v.IncompleteKind().String() {
			return "is " + kindName(v) + "; want " + article(kind)
		}
	}
	return "is not allowed here"
}

// numeral is a number as it stands in a file; empty for what is no number there. CUE
// itself prints 1e999999 as 1.0.
func numeral(v cue.Value) string {
	source := v.Source()
	if field, ok := source.(*ast.Field); ok {
		source = field.Value
	}
	if literal, ok := source.(*ast.BasicLit); ok && (literal.Kind == token.INT || literal.Kind == token.FLOAT) {
		return literal.Value
	}
	return ""
}

func kindName(v cue.Value) string { return article(v.IncompleteKind().String()) }

// article names a CUE kind for a person.
func article(kind string) string {
	return cmp.Or(articles[strings.Trim(kind, "()")], "a value of kind "+kind)
}

var articles = map[string]string{
	"int": "a whole number", "float": "a number", "number": "a number", "int|float": "a number",
	"bool": "true or false", "string": "text", "list": "a list", "struct": "a struct", "null": "null",
}

// verdict is a sentence with the value as its subject, where the value can be
// shown in a word.
func verdict(v cue.Value, words string) string {
	switch v.IncompleteKind() {
	case cue.StructKind, cue.ListKind:
		return words
	case cue.NullKind:
		if strings.HasPrefix(words, "is null") {
			return words
		}
	}
	return shown(v) + " " + words
}

// shown is the value as a person wrote it.
func shown(v cue.Value) string {
	v, _ = v.Default()
	if literal := numeral(v); literal != "" {
		return short(literal)
	}
	return short(fmt.Sprint(v))
}

func short(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return text
}

package eval

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge/expression"
)

// Value is what a field has for a request, or what a function returns. The zero value is one
// that is missing: an element that a map or an array does not have.
type Value struct {
	kind    kind
	text    string // of a text
	number  int64
	truth   bool
	address netip.Addr
	list    []Value
	table   map[string]Value
	lacks   []Lack // of one that is not known
}

type kind byte

const (
	missing kind = iota
	unknown
	texts
	numbers
	truths
	addresses
	lists
	tables
)

// Lack is why something is not known. Name is what to say of the request: a field, a call as it
// is written, or "$name" for a list. It is empty where no request can say it; Why says it then.
type Lack struct{ Name, Why string }

// String is the lack as people read it.
func (l Lack) String() string { return cmp.Or(l.Why, l.Name) }

// added is how a form says a field, beside those that it says by name.
var added = map[string]string{
	"http.request.method": `method: "GET"`, "http.request.version": `version: "HTTP/2"`,
	"ssl": `url: "https://…"`, "http.host": `url: "https://…"`, "http.request.full_uri": `url: "https://…"`, "raw.http.request.full_uri": `url: "https://…"`,
	"http.user_agent": "headers: {…}", "http.referer": "headers: {…}", "http.cookie": "headers: {…}", "http.x_forwarded_for": "headers: {…}",
	"ip.src": `ip: "…"`, "ip.src.country": `country: "…"`, "ip.geoip.country": `country: "…"`, "ip.src.asnum": "asn: …", "ip.geoip.asnum": "asn: …",
}

// Add is what to add to a form, as CUE writes it, so that this is known; empty where nothing helps.
func (l Lack) Add() string {
	list, isList := strings.CutPrefix(l.Name, "$")
	switch {
	case l.Name == "":
		return ""
	case isList && strings.Contains(list, "."):
		return fmt.Sprintf("lists: %q: […]", list)
	case isList:
		return fmt.Sprintf("lists: %s: […]", list)
	case added[l.Name] != "":
		return added[l.Name]
	case l.Why != "", !isField(l.Name):
	case strings.HasPrefix(l.Name, "http.request.headers"), strings.HasPrefix(l.Name, "http.request.cookies"):
		return "headers: {…}"
	case strings.HasPrefix(l.Name, "http.request.uri"), strings.HasPrefix(l.Name, "raw.http.request.uri"):
		return `url: "…"`
	case l.Name == "http.request.body.raw", l.Name == "http.request.body.size":
		return `body: "…"`
	}
	if strings.ContainsAny(l.Name, "\"\\") {
		return fmt.Sprintf("fields: #\"%s\"#: …", l.Name)
	}
	return fmt.Sprintf("fields: %q: …", l.Name)
}

func isField(name string) bool { _, is := expression.Fields()[name]; return is }

// Text is a value of the type bytes.
func Text(text string) Value { return Value{kind: texts, text: text} }

// Number is a value of the type integer.
func Number(n int64) Value { return Value{kind: numbers, number: n} }

// Truth is a value of the type boolean.
func Truth(is bool) Value { return Value{kind: truths, truth: is} }

// Address is a value of the type IP address.
func Address(a netip.Addr) Value { return Value{kind: addresses, address: a} }

// List is an array.
func List(all ...Value) Value { return Value{kind: lists, list: all} }

// Table is a map.
func Table(all map[string]Value) Value { return Value{kind: tables, table: all} }

// Texts is an array of texts.
func Texts(all ...string) Value {
	list := make([]Value, len(all))
	for i, text := range all {
		list[i] = Text(text)
	}
	return List(list...)
}

func lacking(lacks ...Lack) Value { return Value{kind: unknown, lacks: lacks} }

func because(why string) Value { return lacking(Lack{Why: why}) }

// equal reports whether two values that are known are the same.
func (v Value) equal(w Value) bool {
	switch v.kind {
	case lists:
		return w.kind == lists && slices.EqualFunc(v.list, w.list, Value.equal)
	case tables:
		return w.kind == tables && maps.EqualFunc(v.table, w.table, Value.equal)
	default:
		return v.kind == w.kind && v.text == w.text && v.number == w.number && v.truth == w.truth && v.address == w.address
	}
}

// size is about how many bytes a value takes.
func (v Value) size() int {
	n := 8 + len(v.text)
	for _, e := range v.list {
		n += e.size()
	}
	for key, e := range v.table {
		n += len(key) + e.size()
	}
	return n
}

// String is the value as an expression writes it; an array and a map have no form there.
func (v Value) String() string {
	switch v.kind {
	case missing:
		return "missing"
	case texts:
		return strconv.Quote(v.text)
	case numbers:
		return strconv.FormatInt(v.number, 10)
	case truths:
		return strconv.FormatBool(v.truth)
	case addresses:
		return v.address.String()
	case lists:
		all := make([]string, len(v.list))
		for i, e := range v.list {
			all[i] = e.String()
		}
		return "[" + strings.Join(all, " ") + "]"
	case tables:
		var all []string
		for _, key := range slices.Sorted(maps.Keys(v.table)) {
			all = append(all, strconv.Quote(key)+": "+v.table[key].String())
		}
		return "{" + strings.Join(all, ", ") + "}"
	default:
		return "not known"
	}
}

// mostShown bounds what is shown of a value.
const mostShown = 120

// shown is the value as people read it.
func (v Value) shown() string {
	text := v.String()
	if len(text) > mostShown {
		return strings.ToValidUTF8(text[:mostShown], "") + "…"
	}
	return text
}

// Known reports whether the value is known; one that is missing is.
func (v Value) Known() bool { return v.kind != unknown }

// Shown is a value as people read it, at most about 120 bytes.
func (v Value) Shown() string { return v.shown() }

// Lacks are why it is not known.
func (v Value) Lacks() []Lack { return v.lacks }

package eval

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge/expression"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// Form is a request as people write it: what is not said is not known. Headers are all headers of
// the request, where there are any.
type Form struct {
	Method  string             `json:"method,omitempty"`
	URL     string             `json:"url,omitempty"` // "https://shop.example/login?a=b", or "/login"
	Version string             `json:"version,omitempty"`
	Headers map[string]Strings `json:"headers,omitempty"`
	Body    *string            `json:"body,omitempty"`
	IP      string             `json:"ip,omitempty"`
	Country string             `json:"country,omitempty"`
	ASN     *int64             `json:"asn,omitempty"`
	// Fields are those of the language by name, and calls as they are written. They take the
	// place of what follows from the rest.
	Fields map[string]json.RawMessage `json:"fields,omitempty"`
	// Lists are what the named lists have: addresses and networks, numbers, or texts.
	Lists map[string][]json.RawMessage `json:"lists,omitempty"`

	headers []Header // in their order, with names as they were sent; they take the place of Headers
}

// Strings is a text or a list of texts.
type Strings []string

// UnmarshalJSON reads either.
func (s *Strings) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*s = Strings{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(s))
}

// FormError is what is wrong with a member of a form.
type FormError struct {
	Path    []string // "fields", "ip.src"
	Message string
	Hint    string
}

// Error is the member and the message.
func (e *FormError) Error() string { return strings.Join(e.Path, ".") + ": " + e.Message }

// Request is what the form says, and what follows from it. The error is a [*FormError].
func (f Form) Request() (Request, error) {
	r := Request{fields: map[string]Value{"true": Truth(true), "false": Truth(false)}, calls: map[string]Value{}, lists: map[string]NamedList{}}
	text := func(name, value string) {
		if value != "" {
			r.fields[name] = Text(value)
		}
	}
	text("http.request.method", f.Method)
	text("http.request.version", f.Version)
	text("ip.src.country", f.Country)
	text("ip.geoip.country", f.Country)
	if f.ASN != nil {
		r.fields["ip.src.asnum"], r.fields["ip.geoip.asnum"] = Number(*f.ASN), Number(*f.ASN)
	}
	if f.URL != "" {
		if err := r.addURL(f.URL); err != nil {
			return r, &FormError{[]string{"url"}, "is no address", "write https://shop.example/login?a=b, or /login"}
		}
	}
	if headers := f.sent(r.fields["http.host"]); headers != nil {
		r.addHeaders(headers)
	}
	if f.Body != nil {
		r.addBody(*f.Body)
	}
	if f.IP != "" {
		a, err := netip.ParseAddr(f.IP)
		if err != nil || a.Zone() != "" {
			return r, &FormError{[]string{"ip"}, fmt.Sprintf("%q is no address", f.IP), ""}
		}
		r.fields["ip.src"] = Address(a)
	}
	if err := r.addFields(f.Fields); err != nil {
		return r, err
	}
	return r, r.addLists(f.Lists)
}

// sent are all headers; nil where none are said. Each request has that of the host.
func (f Form) sent(host Value) []Header {
	if f.Headers == nil && f.headers == nil {
		return nil
	}
	headers := append([]Header{}, f.headers...)
	for _, name := range slices.Sorted(maps.Keys(f.Headers)) {
		for _, value := range f.Headers[name] {
			headers = append(headers, Header{name, value})
		}
	}
	hasHost := slices.ContainsFunc(headers, func(h Header) bool { return lower(h.Name) == "host" })
	if !hasHost && host.kind == texts {
		headers = append(headers, Header{"host", host.text})
	}
	return headers
}

// addFields adds the fields that are said by name.
func (r *Request) addFields(fields map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		path := []string{"fields", name}
		f, known := expression.Fields()[name]
		if known {
			value, ok := typed(fields[name], f.Type)
			if !ok {
				return &FormError{path, fmt.Sprintf("%s is %s; %s is none", name, a(f.Type), fields[name]), ""}
			}
			r.fields[name] = value
			continue
		}
		e, err := expression.Parse(name)
		call, is := e.Root.(*expression.Term)
		if err != nil || !is || !call.Call || len(call.Indexes) > 0 {
			return &FormError{path, fmt.Sprintf("there is no field %q", name), nearest.Hint(name, names(), "docs/expressions.md lists the fields that are known")}
		}
		value, ok := typed(fields[name], expression.Functions()[call.Name].Returns)
		if !ok {
			return &FormError{path, fmt.Sprintf("%s does not return %s", call.Name, fields[name]), ""}
		}
		r.calls[call.String()] = value
	}
	return nil
}

func names() []string { return slices.Collect(maps.Keys(expression.Fields())) }

func a(t expression.Type) string {
	if strings.IndexByte("AI", string(t)[0]) >= 0 {
		return "an " + string(t)
	}
	return "a " + string(t)
}

// typed reads a value of a type. One of no known type may be a text, a number or a truth.
func typed(data json.RawMessage, t expression.Type) (Value, bool) {
	if element, is := t.Element(); is && strings.HasPrefix(string(t), "Map<") {
		return typedTable(data, element)
	} else if is {
		return typedList(data, element)
	}
	var plain any
	if json.Unmarshal(data, &plain) != nil {
		return Value{}, false
	}
	switch plain := plain.(type) {
	case string:
		if t == expression.IPAddress {
			a, err := netip.ParseAddr(plain)
			return Address(a), err == nil && a.Zone() == ""
		}
		return Text(plain), t == expression.String || t == "" || t == "First"
	case float64:
		n, err := strconv.ParseInt(string(data), 10, 64)
		return Number(n), err == nil && (t == expression.Integer || t == "")
	case bool:
		return Truth(plain), t == expression.Boolean || t == ""
	}
	return Value{}, false
}

func typedTable(data json.RawMessage, element expression.Type) (Value, bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil || all == nil {
		return Value{}, false
	}
	values := make(map[string]Value, len(all))
	for key, one := range all {
		value, ok := typed(one, element)
		if values[key] = value; !ok {
			return Value{}, false
		}
	}
	return Table(values), true
}

func typedList(data json.RawMessage, element expression.Type) (Value, bool) {
	var all []json.RawMessage
	if json.Unmarshal(data, &all) != nil || all == nil {
		return Value{}, false
	}
	values := make([]Value, len(all))
	for i, one := range all {
		value, ok := typed(one, element)
		if values[i] = value; !ok {
			return Value{}, false
		}
	}
	return List(values...), true
}

// addLists adds what named lists have.
func (r *Request) addLists(lists map[string][]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		var l NamedList
		for i, data := range lists[name] {
			value, ok := typed(data, "")
			if !ok || value.kind == truths {
				return &FormError{[]string{"lists", name}, fmt.Sprintf("element %d is no text and no number", i+1), ""}
			}
			if network, is := networkOf(value.text); is && value.kind == texts {
				l.networks = append(l.networks, network)
			}
			l.values = append(l.values, value)
		}
		r.lists[name] = l
	}
	return nil
}

func networkOf(text string) (netip.Prefix, bool) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return network.Masked(), true
	}
	a, err := netip.ParseAddr(text)
	return netip.PrefixFrom(a, a.BitLen()), err == nil && a.Zone() == ""
}

package call

import (
	"net/url"
	"strings"
)

// WithQuery is an address with more of a query.
func WithQuery(address, query string) string {
	if query == "" {
		return address
	}
	address, _, _ = strings.Cut(address, "#")
	switch {
	case strings.HasSuffix(address, "?"), strings.HasSuffix(address, "&"):
		return address + query
	case strings.Contains(address, "?"):
		return address + "&" + query
	}
	return address + "?" + query
}

// Escaped is a value as it stands in a query; what is open in it, written so, stays
// readable.
func Escaped(value, open string) string {
	pieces := strings.Split(value, open)
	for i, p := range pieces {
		pieces[i] = url.QueryEscape(p)
	}
	return strings.Join(pieces, open)
}

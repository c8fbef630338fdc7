package call

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Open is written for what an address leaves open, whoever wrote it and in
// whatever language.
const Open = "{}"

// Normal brings an address that somebody wrote into the form in which calls carry
// it: absolute, or from its first slash where the host is left open, with "{}"
// for each open segment. It is false where nothing of the path is known.
func Normal(address string) (string, bool) {
	address = Placeholders(strings.TrimSpace(address))
	address, _, _ = strings.Cut(address, "#")
	address, query, asks := strings.Cut(address, "?")
	host, path := splitHost(address)
	path, known := normalPath(path)
	if asks {
		path += "?" + escaped(query, false)
	}
	return WithoutUser(host + path), known
}

// splitHost cuts scheme and host off. They are dropped where they are left open.
func splitHost(address string) (host, path string) {
	scheme, rest, absolute := strings.Cut(address, "://")
	if absolute {
		host, path = cutSlash(rest)
		host = host[strings.LastIndexByte(host, '@')+1:]
		if scheme != "http" && scheme != "https" || !isHost(host) {
			return "", path
		}
		return scheme + "://" + host, path
	}
	first, rest := cutSlash(address)
	switch {
	case first == "" || strings.HasPrefix(first, Open+".") || first == Open:
		return "", rest
	case strings.HasPrefix(first, Open): // a base that ends with a slash of its own
		return "", "/" + strings.TrimPrefix(address, Open)
	case isHost(first) && (strings.ContainsRune(first, '.') && !strings.HasPrefix(first, ".") || strings.ContainsRune(first, ':')):
		return "https://" + first, rest
	}
	return "", "/" + address
}

func cutSlash(s string) (before, from string) {
	if i := strings.IndexByte(s, '/'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// isHost reports whether net/url takes a text for a host.
func isHost(s string) bool {
	u, err := url.Parse("http://" + s + "/")
	return err == nil && s != "" && u.Host == s
}

// normalPath writes every open segment alike.
func normalPath(path string) (string, bool) {
	if path == "" {
		return "/", false
	}
	segments := strings.Split(path[1:], "/")
	known := false
	for i, segment := range segments {
		segment = normalSegment(segment, i == len(segments)-1)
		known = known || segment != "" && segment != Open
		segments[i] = escaped(segment, true)
	}
	return "/" + strings.Join(segments, "/"), known
}

// normalSegment returns "{}" for a segment that is open wholly or in part, with one
// exception: a last segment that goes on with something open
// ("/firewall/rules${query}") is mostly followed by a query.
func normalSegment(s string, last bool) string {
	if len(s) > 1 && s[0] == ':' && IsName(s[1:]) {
		return Open
	}
	i := strings.Index(s, Open)
	switch {
	case i < 0:
		return s
	case last && i > 0 && i == len(s)-len(Open) && IsLetter(s[i-1]):
		return s[:i]
	}
	return Open
}

var names = lazyregexp.New(`^[\w-]+$`)

// IsName reports whether a text is a word of letters, digits and hyphens.
func IsName(s string) bool { return names().MatchString(s) }

// IsLetter reports whether a byte can begin a name.
func IsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// escaped escapes what would break a line, or an address; in a path, so that net/url can
// read it, a percent sign that escapes nothing too.
func escaped(s string, path bool) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ' || c == 0x7f, c == '%' && path && !isEscape(s[i:]):
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isEscape(s string) bool {
	return len(s) >= 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2])
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// WithoutUser drops names and passwords from an address. They stand before a host,
// and a host need not stand first: curl takes user:password@host, and a proxy's
// path may hold a whole address.
func WithoutUser(address string) string {
	if strings.IndexByte(address, '@') < 0 {
		return address
	}
	path, rest := address, ""
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		path, rest = address[:i], address[i:]
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		hosts := i > 1 && segments[i-1] == "" && strings.HasSuffix(segments[i-2], ":") // as in "https://"
		if at := strings.LastIndexByte(s, '@'); hosts || strings.IndexByte(s[:at+1], ':') >= 0 {
			segments[i] = s[at+1:]
		}
	}
	return strings.Join(segments, "/") + rest
}

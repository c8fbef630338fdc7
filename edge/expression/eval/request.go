package eval

import (
	"errors"
	"maps"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// Request is what is known of one request. It is made of a [Form].
type Request struct {
	fields map[string]Value // those that the request says or that follow from it
	calls  map[string]Value // calls of functions as they are written, and what they return
	lists  map[string]NamedList
}

// With is the request with a field more, where it does not say that field itself.
func (r Request) With(name string, value Value) Request {
	if _, said := r.fields[name]; said {
		return r
	}
	fields := make(map[string]Value, len(r.fields)+1)
	maps.Copy(fields, r.fields)
	fields[name] = value
	r.fields = fields
	return r
}

// Header is one header of a request.
type Header struct{ Name, Value string }

// addURL adds what an address says. One that begins with "/" says nothing of scheme and host. The
// fragment is not sent (D fields/index.yaml, http.request.full_uri).
func (r *Request) addURL(address string) error {
	address, _, _ = strings.Cut(address, "#")
	rest := address
	if !strings.HasPrefix(address, "/") {
		u, behind, err := cutAddress(address)
		if err != nil {
			return err
		}
		if rest = behind; !strings.HasPrefix(rest, "/") {
			rest = "/" + rest
		}
		r.fields["ssl"] = Truth(strings.EqualFold(u.Scheme, "https"))
		if u.Port() == "" && u.User == nil { // whether these fields have a port is not documented
			host := strings.ToLower(u.Host)
			r.fields["http.host"] = Text(host)
			r.uri("full_uri", strings.ToLower(u.Scheme)+"://"+host+rest, rest)
		}
	}
	pathname, query, _ := strings.Cut(rest, "?")
	r.uri("uri", rest, rest)
	r.uri("uri.path", pathname, rest)
	r.uri("uri.query", query, "")
	r.uri("uri.path.extension", extension(pathname), rest)
	r.addPairs("http.request.uri.args", query)
	r.addPairs("raw.http.request.uri.args", query)
	return nil
}

// Host is the host of an address, in lower case and without a port; empty where it says none.
func Host(address string) string {
	if u, _, err := cutAddress(address); err == nil {
		return strings.ToLower(u.Hostname())
	}
	return ""
}

// cutAddress reads scheme and host of an address; what is behind them may be what no browser sends.
func cutAddress(address string) (u *url.URL, rest string, err error) {
	start := strings.Index(address, "://") + len("://")
	if start < len("://") {
		return nil, "", errors.New("there is no ://")
	}
	at := len(address)
	if n := strings.IndexAny(address[start:], "/?#"); n >= 0 {
		at = start + n
	}
	if u, err = url.Parse(address[:at]); err == nil && u.Host == "" {
		err = errors.New("there is no host")
	}
	return u, address[at:], err
}

// uri adds a part of the address, as it was received and as rules see it. The zone can have it
// normalized before rules see it, which is on by default; so a path that this would change says
// nothing of the second one (D rules/normalization).
func (r *Request) uri(name, value, raw string) {
	r.fields["raw.http.request."+name] = Text(value)
	if pathname, _, _ := strings.Cut(raw, "?"); !changed(pathname) {
		r.fields["http.request."+name] = Text(value)
		return
	}
	r.fields["http.request."+name] = lacking(Lack{
		Name: "http.request." + name,
		Why:  "http.request." + name + " (URL normalization may change it: say it in fields)",
	})
}

var odd = regexp.MustCompile(`//|\\|/\.{1,2}(/|$)|%([^0-9A-F]|.[^0-9A-F]|.?$|2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE]|2F|5C)`)

// changed reports whether normalization may change a path: slashes in a row, dots, backslashes,
// and escapes of what needs none.
func changed(pathname string) bool { return odd.MatchString(pathname) || !isASCII(pathname) }

// extension is that of the file of a path, in lower case (D fields/index.yaml).
func extension(pathname string) string {
	file := path.Base(pathname)
	if at := strings.LastIndexByte(file, '.'); at > 0 && !strings.HasSuffix(pathname, "/") {
		return lower(file[at+1:])
	}
	return ""
}

// addPairs adds a map of pairs as a query has them, without decoding, and its names and values (D
// fields/index.yaml, http.request.uri.args).
func (r *Request) addPairs(name, text string) {
	var names, values []string
	if text != "" {
		for pair := range strings.SplitSeq(text, "&") {
			key, value, _ := strings.Cut(pair, "=")
			if pair == "" { // not documented
				return
			}
			names, values = append(names, key), append(values, value)
		}
	}
	r.addTable(name, names, values)
}

func (r *Request) addTable(name string, names, values []string) {
	table := map[string][]string{}
	for i, key := range names {
		table[key] = append(table[key], values[i])
	}
	r.fields[name] = tableOf(table)
	r.fields[name+".names"], r.fields[name+".values"] = Texts(names...), Texts(values...)
}

func tableOf(table map[string][]string) Value {
	values := make(map[string]Value, len(table))
	for key, all := range table {
		values[key] = Texts(all...)
	}
	return Table(values)
}

// addHeaders adds all headers of a request, and the fields that have one of them. One that is not
// there is empty there.
func (r *Request) addHeaders(headers []Header) {
	var names, keys, values []string
	first := map[string]string{}
	for _, h := range headers {
		key := lower(h.Name)
		if strings.HasPrefix(key, ":") { // of HTTP/2, and no header
			continue
		}
		names, keys, values = append(names, h.Name), append(keys, key), append(values, h.Value)
		if _, seen := first[key]; !seen {
			first[key] = h.Value
		}
	}
	r.addTable("http.request.headers", keys, values)
	r.fields["http.request.headers.names"] = Texts(names...)
	r.fields["http.request.headers.truncated"] = Truth(false)
	for field, key := range map[string]string{
		"http.user_agent": "user-agent", "http.referer": "referer", "http.cookie": "cookie", "http.x_forwarded_for": "x-forwarded-for",
	} {
		if all := r.fields["http.request.headers"].table[key]; len(all.list) < 2 { // how several are joined is not documented
			r.fields[field] = Text(first[key])
		}
	}
	if host := first["host"]; host != "" && r.fields["http.host"].kind == missing && !strings.Contains(host, ":") {
		r.fields["http.host"] = Text(host)
	}
	if r.fields["http.cookie"].kind == texts {
		r.addCookies(first["cookie"])
	}
}

// addCookies adds the cookies by name. Names are decoded, values are not.
func (r *Request) addCookies(header string) {
	table := map[string][]string{}
	for part := range strings.SplitSeq(header, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, is := strings.Cut(part, "=")
		decoded, ok := decodeOnce(name, false)
		if !is || !ok || strings.Contains(name, "+") {
			return // not documented
		}
		table[decoded] = append(table[decoded], value)
	}
	r.fields["http.request.cookies"] = tableOf(table)
}

// addBody adds a body, and the fields of a form where the headers say that it is one.
func (r *Request) addBody(body string) {
	r.fields["http.request.body.raw"] = Text(body)
	r.fields["http.request.body.size"] = Number(int64(len(body)))
	if len(body) > wholeBody {
		r.fields["http.request.body.raw"] = lacking(Lack{Name: "http.request.body.raw", Why: "http.request.body.raw (the plan says how much of a body this long it has)"})
		return
	}
	r.fields["http.request.body.truncated"] = Truth(false)
	kinds := r.fields["http.request.headers"].table["content-type"].list
	if len(kinds) == 1 && strings.HasPrefix(lower(kinds[0].text), "application/x-www-form-urlencoded") {
		r.addPairs("http.request.body.form", body)
	}
}

// wholeBody is how much of a body each plan that has the fields of bodies looks at (D
// fields/index.yaml, http.request.body.truncated: 128 KB).
const wholeBody = 128_000

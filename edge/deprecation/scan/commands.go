package scan

import (
	"net/http"
	"path"
	"strings"
)

// prefixes are words before the name of a command.
var prefixes = map[string]bool{
	"if": true, "then": true, "elif": true, "else": true, "while": true, "until": true, "do": true, "!": true, "{": true, "time": true,
	"sudo": true, "exec": true, "command": true, "env": true, "nohup": true, "$": true, ">": true, "%": true,
}

// start is where the name of a command stands among its words.
func (c command) start() int {
	for i, w := range c.words {
		name, _, assigns := strings.Cut(w, "=")
		if !prefixes[w] && !(assigns && name != "" && nameLength(name) == len(name)) {
			return i
		}
	}
	return len(c.words)
}

// name is the command's, without its folder; empty if there is none.
func (c command) name() string {
	if i := c.start(); i < len(c.words) {
		return baseName(c.words[i])
	}
	return ""
}

func baseName(word string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
}

// calls returns the HTTP calls of a command. curl and wget are found behind other
// words too (timeout 5 curl …, docker run … curl …); HTTPie's name is too common a
// word for that. A call whose whole address is open has none.
func (c command) calls() []Call {
	start := c.start()
	for i := start; i < len(c.words); i++ {
		var requests []request
		switch name := baseName(c.words[i]); {
		case name == "curl":
			requests = curlRequests(c.words[i+1:], c.input)
		case name == "wget":
			requests = wgetRequests(c.words[i+1:])
		case i == start && (name == "http" || name == "https" || name == "xh" || name == "xhs"):
			requests = httpieRequests(c.words[i+1:])
		default:
			continue
		}
		return callsOf(requests, c.line)
	}
	return nil
}

// request is what the options of a command ask for.
type request struct {
	method    string // empty: what follows from the rest
	addresses []string
	header    http.Header
	query     []string
	body      []byte // nil if there is none or it is not known
	sends     bool   // there is a body, known or not
}

func (r *request) addHeader(text string) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	if r.header == nil {
		r.header = http.Header{}
	}
	addHeader(r.header, name, value)
}

// defaultHeader sets a header that a command sends by itself.
func (r *request) defaultHeader(name, value string) {
	if r.header.Get(name) == "" {
		r.addHeader(name + ":" + value)
	}
}

// callsOf returns one call for each address that can be read. Open ones count
// only where they are all there is: "$@" beside an address mostly holds options.
func callsOf(requests []request, line int) []Call {
	var calls []Call
	for _, r := range requests {
		var read, open []Call
		for _, a := range r.addresses {
			if !strings.Contains(a, "/") && !strings.Contains(a, opened) {
				continue // not an address: apt-get install curl jq
			}
			c := Call{Method: r.methodOr(http.MethodGet, http.MethodPost), Header: r.header, Body: r.body, Line: line}
			if url, ok := normal(withQuery(a, r.query)); ok {
				c.URL = url
				read = append(read, c)
			} else if strings.Contains(a, opened) {
				open = append(open, c)
			}
		}
		if len(read) == 0 && len(open) > 0 {
			read = open[:1]
		}
		calls = append(calls, read...)
	}
	return calls
}

// methodOr returns the method asked for, or what holds without and with a body.
func (r request) methodOr(without, with string) string {
	method := strings.ToUpper(r.method)
	switch {
	case isMethod([]byte(method)):
		return method
	case r.sends:
		return with
	}
	return without
}

func withQuery(address string, query []string) string {
	if len(query) == 0 {
		return address
	}
	address, _, _ = strings.Cut(address, "#")
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + strings.Join(query, "&")
}

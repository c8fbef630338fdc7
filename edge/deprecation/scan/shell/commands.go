package shell

import (
	"net/http"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// command is one simple command: words without their quotes, what is open in them
// written "{}".
type command struct {
	line  int
	span  call.Span
	words []string
	input *input // nil where what it is fed is not in the script
}

// input is a here-document, a here-string, or what another command writes.
type input struct {
	text string
	line int // where it begins
}

// opener reads a file that a command names; nil where none can be read.
type opener func(name string) ([]byte, error)

// file is the content of a file; false where it cannot be read.
func (o opener) file(name string) (string, bool) {
	if o == nil || strings.Contains(name, call.Open) {
		return "", false
	}
	text, err := o(name)
	return string(text), err == nil
}

// prefixes are words before the name of a command.
var prefixes = call.Words("time sudo exec command env nohup $ > %")

// start is where the name of a command stands among its words.
func (c command) start() int {
	for i, w := range c.words {
		name, _, assigns := strings.Cut(w, "=")
		if !prefixes[w] && !(assigns && syntax.ValidName(name)) {
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

// requests returns what a command asks for, and whether it is one of the clients.
// curl and wget are found behind other words too (timeout 5 curl …, docker run …
// curl …); HTTPie's name is too common a word for that.
func (c command) requests(open opener) ([]request, bool) {
	start := c.start()
	for i := start; i < len(c.words); i++ {
		switch name := baseName(c.words[i]); {
		case name == "curl":
			return curlRequests(c.words[i+1:], c.input, open), true
		case name == "wget":
			return wgetRequests(c.words[i+1:], open), true
		case i == start && (name == "http" || name == "https" || name == "xh" || name == "xhs"):
			return httpieRequests(c.words[i+1:], c.input), true
		}
	}
	return nil, false
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
	call.AddHeader(&r.header, name, value)
}

// defaultContentType sets the Content-Type that a command sends by itself.
func (r *request) defaultContentType(value string) {
	if r.header.Get("Content-Type") == "" {
		r.addHeader("Content-Type:" + value)
	}
}

// callsOf returns one call for each address that can be read. Open ones count
// only where they are all there is: "$@" beside an address mostly holds options.
func (c command) callsOf(requests []request) []call.Call {
	var calls []call.Call
	for _, r := range requests {
		var read, open []call.Call
		for _, a := range r.addresses {
			if !strings.Contains(a, "/") && !strings.Contains(a, call.Open) {
				continue // not an address: apt-get install curl jq
			}
			one := call.Call{Method: r.asked(), Header: r.header, Body: r.body, Line: c.line, Span: c.span}
			if url, ok := call.Normal(call.WithQuery(a, strings.Join(r.query, "&"))); ok {
				one.URL = url
				read = append(read, one)
			} else if strings.Contains(a, call.Open) {
				open = append(open, one)
			}
		}
		if len(read) == 0 && len(open) > 0 {
			read = open[:1]
		}
		calls = append(calls, read...)
	}
	return calls
}

// asked is the method asked for, or what holds with or without a body.
func (r request) asked() string {
	method := strings.ToUpper(r.method)
	switch {
	case call.IsMethod([]byte(method)):
		return method
	case r.sends:
		return http.MethodPost
	}
	return http.MethodGet
}

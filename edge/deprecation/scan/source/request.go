package source

import (
	"net/http"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// request is one that the program makes, as far as is known.
type request struct {
	method  string // empty: not known
	usual   string // the method where none is named; empty: not known
	target  *value
	base    *value // of a client
	query   []string
	body    *value
	headers *value
	line    int
}

// invoke is what a call returns: a text or an object that it builds, a request
// that it makes or goes on with, the answer of an SDK, or nothing that is known.
func (p *parser) invoke(path string, recv *value, args []argument, line int) *value {
	for _, a := range args {
		p.note(a.value)
	}
	if recv.req != nil {
		if v := p.goOn(path, recv, args, line); v != nil {
			return v
		}
	}
	if p.sdkCall(path, args, line) {
		return atom("", line)
	}
	if plainName(path) == "openconnection" && isAddress(recv) { // new URL(…).openConnection()
		return p.made(&request{usual: http.MethodGet, target: recv}, line)
	}
	if v := built(path, recv, args); v != nil {
		return v
	}
	if r := p.requestOf(path, recv, args); r != nil {
		return p.made(r, line)
	}
	if v := passed(path, recv, args); v != nil {
		return v
	}
	out := atom("", line)
	out.text = path + "()"
	return out
}

// made remembers a request and returns the value that stands for it.
func (p *parser) made(r *request, line int) *value {
	r.line = line
	p.requests = append(p.requests, r)
	return &value{is: open, line: line, req: r}
}

// The members that options, messages and arguments have for the parts of a request.
var (
	targetNames = []string{"url", "uri", "path", "endpoint", "href", "resource", "requesturi", "route", "pathname", "requesturl", "urlstring"}
	baseNames   = []string{"baseurl", "baseuri", "prefixurl", "baseaddress", "base", "host", "apiurl", "apibase", "serverurl"}
	queryNames  = []string{"params", "query", "qs", "searchparams", "queryparams", "queryparameters", "querystring", "rawquery"}
	bodyNames   = []string{"json", "body", "data", "payload", "content", "form", "jsonbody", "requestbody", "formdata", "httpbody", "bodyvalue", "send", "entity", "sendjson", "addjsonbody", "addbody", "bodyjson", "write", "end"}
	methodNames = []string{"method", "type", "verb", "httpmethod", "requestmethod"}
	headerNames = []string{"headers", "header", "requestheaders", "httpheaders", "additionalheaders"}
	// optionNames are members that only the options of a request have.
	optionNames = append(append(append([]string{"method", "credentials", "mode", "timeout", "auth", "responsetype", "baseurl", "body", "json"}, queryNames...), headerNames...), "httpversion")
)

// verbs reads the method in the name of a function: get, getJson, HttpPatch,
// PostAsync, send_delete.
var verbs = lazyregexp.New(`^(?:http|do|send|async|api|fetch|make|rest|call|client|authed|cf)?(get|post|put|patch|delete|head)(?:s|json|asjson|jsonasync|fromjsonasync|async|asjsonasync|async|request|req|entity|forobject|forentity|string|stringasync|body|stream|raw|http|url|page|all|api|call|method|one)?$`)

var methods = []string{"get", "post", "put", "patch", "delete", "head"}

// verbIn is the method in the name of a function; empty where there is none. Of
// Net::HTTP::Patch.new it is in what is made.
func verbIn(path string) string {
	last := path
	for _, made := range []string{".new", ".newbuilder", ".create", ".init"} {
		last = strings.TrimSuffix(last, made)
	}
	last = plainName(last)
	if !slices.ContainsFunc(methods, func(m string) bool { return strings.Contains(last, m) }) {
		return ""
	}
	if m := verbs().FindStringSubmatch(last); m != nil {
		return strings.ToUpper(m[1])
	}
	return ""
}

// senders are functions that make requests whose method is an argument, and what
// it is where none is given.
var senders = map[string]string{
	"fetch": "GET", "axios": "GET", "got": "GET", "ky": "GET", "needle": "GET", "urlopen": "GET", "ajax": "GET", "open": "", "request": "GET", "send": "", "newrequest": "GET",
	"newrequestwithcontext": "GET", "urlrequest": "GET", "invoke-restmethod": "GET", "invokerestmethod": "GET", "invokewebrequest": "GET", "irm": "GET", "iwr": "GET", "curlinit": "GET", "exchange": "", "retrieve": "GET", "call": "",
	"requestasync": "GET", "httprequestmessage": "GET", "execute": "", "restrequest": "GET", "superagent": "GET", "$fetch": "GET", "ofetch": "GET", "httprequest": "GET", "usefetch": "GET",
}

// requestOf is the request that a call makes; nil where it makes none.
func (p *parser) requestOf(path string, recv *value, args []argument) *request {
	name := plainName(strings.TrimSuffix(path, ".new"))
	usual, sends := senders[name]
	r := &request{method: verbIn(path), usual: usual}
	r.read(args)
	switch name {
	case "uri", "url": // HttpRequest.newBuilder().uri(…), client.patch().uri(…)
		return chained(r, path, args)
	case "newbuilder": // HttpRequest.newBuilder(uri)
		if len(args) == 1 && strings.Contains(strings.ToLower(path), "request") {
			r.usual, sends = http.MethodGet, true
		}
	}
	if r.target == nil {
		if r.base == nil || r.body != nil {
			return nil
		}
		return r // a client, whose later requests have its base
	}
	if recv.req != nil && recv.req.base != nil {
		r.base = recv.req.base
	}
	if sends || r.method != "" || r.body != nil || len(r.query) > 0 {
		return r
	}
	return nil
}

// chained is a request that a builder begins with its address.
func chained(r *request, path string, args []argument) *request {
	if len(args) != 1 || r.target == nil || !strings.Contains(path, "()") {
		return nil
	}
	r.usual = "GET"
	for step := range strings.SplitSeq(path, ".") {
		if verb := verbIn(strings.TrimSuffix(step, "()")); verb != "" {
			r.method = verb
		}
	}
	return r
}

// read takes what the arguments say. The first object without a name is the content.
func (r *request) read(args []argument) {
	var content *value
	for _, a := range args {
		switch {
		case a.name != "" && r.named(plainName(a.name), a.value):
		case r.method == "" && methodOf(a.value) != "":
			r.method = methodOf(a.value)
		case r.target == nil && isAddress(a.value):
			r.target = a.value
		case a.is == object && a.req == nil && r.isOptions(a.value):
			for i, item := range a.items {
				r.named(plainName(a.keys[i]), item)
			}
		case content == nil && r.mayBeBody(a.value):
			content = a.value
		}
	}
	r.addContent(content)
}

// addContent takes an argument without a name as the body or, of a GET, as the query.
func (r *request) addContent(v *value) {
	switch asks := r.method == http.MethodGet || r.method == http.MethodHead; {
	case v == nil || r.target == nil:
	case asks && v.is == object:
		r.query = append(r.query, v.form())
	case !asks && r.body == nil:
		r.body = v
	}
}

// mayBeBody reports whether an argument without a name can be the body: an object
// or a list, or behind the address the text of one.
func (r *request) mayBeBody(v *value) bool {
	if v.is == text {
		return r.target != nil && v.json() != nil
	}
	return v.req == nil && (v.is == object || v.is == list) && len(v.items) > 0
}

// named takes a part of the request by the name of an argument or a member.
func (r *request) named(name string, v *value) bool {
	has := func(names []string) bool { return slices.Contains(names, name) }
	switch {
	case has(methodNames) && methodOf(v) != "":
		r.method = methodOf(v)
	case has(targetNames) && isAddress(v):
		r.target = v
	case has(baseNames) && v.is == text && strings.Contains(v.text, "/"):
		r.base = v
	case has(queryNames):
		r.query = append(r.query, queryOf(v))
	case has(headerNames) && v.is == object:
		r.headers = v
	case has(bodyNames):
		r.body = v
	default:
		return false
	}
	return true
}

// queryOf is an object, a list of pairs or a text as a query.
func queryOf(v *value) string {
	if v.is == text {
		return strings.TrimPrefix(v.text, "?")
	}
	return v.form()
}

// isOptions tells the options of a request from a body: a member that only
// options have, or one for the address.
func (r *request) isOptions(v *value) bool {
	if v.get(optionNames...) != nil {
		return true
	}
	return r.target == nil && v.get(targetNames...) != nil && isAddress(v.get(targetNames...)) || r.target == nil && v.get(baseNames...) != nil
}

// methodOf is the method that a value names: "PATCH", http.MethodPatch,
// HttpMethod.PATCH, Method::PATCH, :patch.
func methodOf(v *value) string {
	name := v.text
	if v.is == open {
		name = strings.TrimPrefix(strings.TrimPrefix(plainName(name), "method"), "httpmethod")
	} else if v.is != text {
		return ""
	}
	if name = strings.ToUpper(name); call.IsCommonMethod(name) {
		return name
	}
	return ""
}

func isAddress(v *value) bool {
	if v == nil || v.is != text {
		return false
	}
	_, ok := v.address()
	return ok && v.json() == nil
}

// goOn adds what a method of a builder, a client or a message says.
func (p *parser) goOn(path string, recv *value, args []argument, line int) *value {
	r, name := recv.req, plainName(path)
	if r.target == nil { // a client
		if one := p.requestOf(path, recv, args); one != nil && one.target != nil {
			one.base = r.base
			return p.made(one, line)
		}
		return recv
	}
	r.extend(path, name, args)
	return recv
}

// extend adds what a method of a builder or a message says.
func (r *request) extend(path, name string, args []argument) {
	first, second := argAt(args, 0), argAt(args, 1)
	verb := verbIn(path)
	switch {
	case first == nil:
		if r.method == "" && name == strings.ToLower(verb) { // not .getBody() of the answer
			r.method = verb
		}
	case name == "method" && methodOf(first) != "":
		r.method = methodOf(first)
		bodyOf(r, args[1:])
	case second == nil && call.IsCommonMethod(verb) && !isAddress(first):
		r.method = verb
		bodyOf(r, args)
	case second != nil && first.is == text && len(args) == 2:
		r.pair(path, name, first, second)
	case !slices.Contains(targetNames, name):
		r.named(strings.TrimPrefix(strings.TrimPrefix(name, "set"), "with"), first)
	}
}

// pair adds a name with its value: to the header, or to the query.
func (r *request) pair(path, name string, first, second *value) {
	switch {
	case name == "set", name == "setrequestproperty", strings.Contains(strings.ToLower(path), "header"):
		r.header(first, second)
	case adds[name] && name != "add" && name != "append" && name != "setparameter":
		r.query = append(r.query, first.piece()+"="+escaped(second))
	}
}

func bodyOf(r *request, args []argument) {
	for _, a := range args {
		if a.is == object || a.is == list || a.is == text {
			r.body = a.value
		}
	}
}

func (r *request) header(name, v *value) {
	if r.headers == nil {
		r.headers = &value{is: object}
	}
	r.headers.set(name.text, v)
}

// setMember sets a part of a request that a variable holds: req.body = ….
func (r *request) setMember(member string, v *value) bool {
	if r.named(plainName(member), v) {
		return true
	}
	if v.is == text || v.is == word { // req["Name"] = "value"
		r.header(&value{text: member}, v)
	}
	return true
}

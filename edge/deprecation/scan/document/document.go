// Package document reads documents that hold requests beside other things: API
// descriptions ([OpenAPI]), and, with [Any], collections of Postman and Insomnia,
// recorded interactions (VCR, go-vcr, Pact, WireMock, nock), playbooks of Ansible,
// pipelines of CI, manifests, notebooks, and whatever else in JSON or YAML has
// members url and method, or commands. [Requests] reads files of REST clients
// (.http, .rest), [Markdown] the code in texts.
//
// In comes text, out go calls (package call). Of the other readers shell and
// source are imported, for what the documents embed.
package document

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Any reads a document in JSON or YAML, whatever it is for.
func Any(text []byte, out *call.Sink) error {
	roots, err := parseTrees(text)
	for _, root := range roots {
		w := &walker{out: out, vars: map[string]string{}}
		w.node(root, 0)
	}
	return err
}

// walker goes through a document.
type walker struct {
	out  *call.Sink
	vars map[string]string // what the document sets for its commands and addresses
}

func (w *walker) node(n *yaml.Node, depth int) {
	if n == nil || depth > treeDepth {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		w.mapping(n, depth)
	case yaml.SequenceNode:
		w.sequence(n, depth)
	case yaml.ScalarNode:
		w.scalar(n)
	} // what an alias stands for is read where it stands
}

// mapping reads an object: as a recorded interaction, as a request, or member by member.
func (w *walker) mapping(n *yaml.Node, depth int) {
	if cells := get(n, "cells"); cells != nil && get(n, "nbformat") != nil {
		notebook(n, w.out)
		return
	}
	w.variables(n)
	if w.interaction(n) {
		return
	}
	c, ok := w.request(n)
	if ok && strings.Contains(c.URL, "/") {
		var known bool
		if c.URL, known = call.Normal(c.URL); known {
			w.out.Offer(c)
		}
		ok = known
	}
	for k, v := range members(n) {
		if ok && slices.Contains(requestParts, k.Value) {
			continue
		}
		w.scalar(k)
		w.node(v, depth+1)
	}
}

// variables takes what a document sets: env, vars, variables.
func (w *walker) variables(n *yaml.Node) {
	for _, name := range []string{"env", "vars", "variables", "variable", "environment", "values", "data"} {
		for name, value := range pairs(get(n, name)) {
			w.set(name, value)
		}
	}
}

// mostVars bounds the variables of a document.
const mostVars = 1 << 12

func (w *walker) set(name string, value *yaml.Node) {
	if t := text(value); t != "" && len(t) < 1<<10 && !strings.Contains(t, "{{") && len(w.vars) < mostVars {
		w.vars[name] = t
	}
}

// fills are the variables of templates: {{ name }}, ${{ env.name }}, $(name).
var fills = lazyregexp.New(`\$?\{\{\s*-?\s*(?:env\.|vars\.|variables\.|\.Values\.|_\.)?([\w.-]*)[^{}]*\}\}|\$\(([A-Za-z_][\w.]*)\)`)

// filled puts in what is known of the variables of a text; others are open.
func (w *walker) filled(s string) string {
	if !strings.Contains(s, "{{") && !strings.Contains(s, "$(") {
		return s
	}
	return fills().ReplaceAllStringFunc(s, func(m string) string {
		groups := fills().FindStringSubmatch(m)
		if v, known := w.vars[groups[1]+groups[2]]; known {
			return v
		}
		if groups[2] != "" {
			return m // a command, for a shell
		}
		return call.Open
	})
}

// sequence reads a list. One of lines is a script where it makes calls.
func (w *walker) sequence(n *yaml.Node, depth int) {
	lines := len(n.Content) > 0
	for _, item := range n.Content {
		lines = lines && item.Kind == yaml.ScalarNode
	}
	if lines {
		if script, ok := w.script(n.Content); ok {
			shell.Text(script, w.out)
			return
		}
	}
	for _, item := range n.Content {
		w.node(item, depth+1)
	}
}

// placed is a text of lines that are put together, each where it stands.
type placed struct {
	strings.Builder
	at int // the line of what comes next
}

func (p *placed) add(line int, text string) {
	text = strings.TrimSuffix(text, "\n") + "\n"
	for ; p.at < line; p.at++ {
		p.WriteByte('\n')
	}
	p.WriteString(text)
	p.at += strings.Count(text, "\n")
}

// script puts the lines of a list together, each where it stands: of a pipeline
// they are one script, and as arguments of a program one command.
func (w *walker) script(lines []*yaml.Node) (shell.Script, bool) {
	first := contentLine(lines[0])
	joined, arguments := placed{at: first}, []string{}
	for _, n := range lines {
		t := w.filled(n.Value)
		joined.add(contentLine(n), t)
		arguments = append(arguments, "'"+strings.ReplaceAll(t, "'", `'\''`)+"'")
	}
	s := shell.Script{Text: joined.String(), Line: first, Vars: w.vars}
	if shell.HasCalls(s.Text) {
		return s, true
	}
	s.Text = strings.Join(arguments, " ") // ["curl", "-X", "PUT", …]
	return s, shell.HasCalls(s.Text)
}

// scalar reads a text: as a script, or for the addresses in it.
func (w *walker) scalar(n *yaml.Node) {
	if n.ShortTag() != "!!str" || !strings.ContainsAny(n.Value, "/") {
		return
	}
	t := w.filled(n.Value)
	if shell.HasCalls(t) {
		shell.Text(shell.Script{Text: t, Line: contentLine(n), Vars: w.vars}, w.out)
		return
	}
	line, spread := contentLine(n), strings.Contains(n.Value, "\n") && n.Style&yaml.LiteralStyle != 0
	for part := range strings.SplitSeq(t, "\n") {
		for address := range call.Addresses(part) {
			w.out.Literal(call.Call{URL: address, Line: line})
		}
		if spread {
			line++
		}
	}
}

// The members that requests have for their parts, in whatever document.
var (
	addressNames = []string{"url", "uri", "requestUrl", "urlPath", "urlPattern", "urlPathPattern", "path"}
	queryNames   = []string{"params", "query", "queryParams", "queryParameters", "parameters", "queryString"}
	headerNames  = []string{"headers", "header", "request_headers"}
	bodyNames    = []string{"body", "request_body", "json", "data", "payload", "requestBody", "jsonBody", "content"}
	requestParts = slices.Concat(addressNames, queryNames, headerNames, bodyNames)
)

// Request reads an object that someone else has read, as [Any] does; false where it is no
// request.
func Request(members map[string]any) (call.Call, bool) {
	var n yaml.Node
	w := &walker{}
	if n.Encode(members) != nil {
		return call.Call{}, false
	}
	c, ok := w.request(&n)
	if !ok || !call.IsAddress(c.URL) {
		return c, false
	}
	c.URL, ok = call.Normal(c.URL)
	return c, ok
}

// request reads an object with an address and a method: a task of Ansible, a request of a
// collection, one that was recorded. The address is as it is written.
func (w *walker) request(n *yaml.Node) (c call.Call, ok bool) {
	at := firstOf(n, addressNames...)
	c.Method = strings.ToUpper(text(firstOf(n, "method", "verb", "httpMethod", "http_method", "create_method")))
	if c.Method == "" && firstOf(n, "return_content", "status_code", "body_format", "body") != nil { // of Ansible
		c.Method = http.MethodGet
	}
	if at == nil || !call.IsCommonMethod(c.Method) {
		return c, false
	}
	c.URL = w.address(at)
	_, asked, _ := strings.Cut(c.URL, "?")
	for pair := range strings.SplitSeq(w.query(firstOf(n, queryNames...)), "&") {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.Contains("&"+asked, "&"+name+"=") { // recordings have it in both places
			c.URL = call.WithQuery(c.URL, pair)
		}
	}
	body := firstOf(n, bodyNames...)
	if patterns := items(get(n, "bodyPatterns")); body == nil && len(patterns) > 0 { // of WireMock
		body = get(patterns[0], "equalToJson")
	}
	c.Line, c.Header, c.Body = at.Line, w.header(firstOf(n, headerNames...)), w.body(body)
	return c, true
}

// address is a text, or Postman's object: with raw, or host, path and query.
func (w *walker) address(n *yaml.Node) string {
	if raw := text(cmp.Or(get(n, "raw"), n)); raw != "" || get(n, "path") == nil {
		return w.filled(raw)
	}
	joined := func(name, separator string) string {
		var words []string
		for _, word := range items(get(n, name)) {
			words = append(words, text(word))
		}
		return cmp.Or(text(get(n, name)), strings.Join(words, separator))
	}
	return w.filled(joined("host", ".")+"/"+strings.TrimPrefix(joined("path", "/"), "/")) + w.filled(call.WithQuery("", w.query(get(n, "query"))))
}

// query is an object, a list of names and values, or a text as a query.
func (w *walker) query(n *yaml.Node) string {
	if t := text(n); t != "" {
		return w.filled(t)
	}
	var all []string
	for name, value := range pairs(n) {
		value = cmp.Or(get(value, "equalTo"), value) // of WireMock
		all = append(all, name+"="+call.Escaped(w.filled(text(value)), call.Open))
	}
	return strings.Join(all, "&")
}

// header is an object or a list of names and values as a header.
func (w *walker) header(n *yaml.Node) (h http.Header) {
	for name, value := range pairs(n) {
		if values := items(value); len(values) > 0 {
			value = values[0]
		}
		call.AddHeader(&h, name, text(value))
	}
	return h
}

// body is a text, JSON, or what tools wrap around either; nil where there is none.
func (w *walker) body(n *yaml.Node) []byte {
	n = plainNode(n)
	if packed := firstOf(n, "base64_string", "base64"); packed != nil {
		if body, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text(packed), "\n", "")); err == nil {
			return body
		}
	}
	switch mode := text(get(n, "mode")); {
	case n == nil || n.Kind == yaml.ScalarNode && n.Value == "":
		return nil
	case n.Kind == yaml.ScalarNode:
		return []byte(w.filled(n.Value))
	case mode != "": // Postman
		return w.body(get(n, mode))
	}
	if inner := firstOf(n, "string", "text"); inner != nil && len(n.Content) <= 6 {
		return w.body(inner)
	}
	return []byte(w.filled(string(encoded(plainJSON(n)))))
}

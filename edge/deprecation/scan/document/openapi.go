package document

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/jsontext"
)

// OpenAPI reads a description of an API: each operation is a call. An address is
// the base of the first server, the path, and, once for each, the values that a
// query parameter enumerates: free ones say nothing about what is sent. Bodies and
// answers have the members that their schemas name, with the values that are
// fixed or given as examples.
func OpenAPI(text []byte, s *call.Sink) error {
	roots, err := parseTrees(text)
	if err != nil {
		return err
	}
	root := roots[0]
	api := apiDocument{root: root, s: s}
	if get(root, "openapi") == nil && get(root, "swagger") == nil {
		return errors.New("it has neither openapi nor swagger")
	}
	api.paths(get(root, "paths"), api.base())
	return nil
}

type apiDocument struct {
	root *yaml.Node
	s    *call.Sink
}

// base is the address that paths are appended to: of OpenAPI 3 the first server,
// of 2 host and basePath.
func (a apiDocument) base() string {
	if get(a.root, "swagger") == nil {
		return a.server(a.root)
	}
	return strings.TrimSuffix(text(get(a.root, "host"))+text(get(a.root, "basePath")), "/")
}

// server is the first server that a document, a path or an operation names, with
// the defaults of its variables.
func (a apiDocument) server(of *yaml.Node) string {
	servers := items(get(of, "servers"))
	if len(servers) == 0 {
		return ""
	}
	address := text(get(servers[0], "url"))
	for name, variable := range members(get(servers[0], "variables")) {
		if value := text(get(variable, "default")); value != "" && len(address) < jsontext.KeyLimit {
			address = strings.ReplaceAll(address, "{"+name.Value+"}", value)
		}
	}
	return strings.TrimSuffix(address, "/")
}

var apiMethods = call.Words("get put post delete options head patch trace")

func (a apiDocument) paths(paths *yaml.Node, base string) {
	for path, item := range members(paths) {
		item = a.resolve(item)
		for name, operation := range members(item) {
			if !apiMethods[name.Value] {
				continue
			}
			address := cmp.Or(a.server(operation), a.server(item), base) + path.Value
			a.operation(call.Call{Method: strings.ToUpper(name.Value), URL: address, Line: name.Line}, item, operation)
		}
	}
}

// mostValues bounds how many enumerated values of one operation are tried.
const mostValues = 100

// operation hands on the call, and one more for each enumerated value.
func (a apiDocument) operation(c call.Call, item, operation *yaml.Node) {
	address, ok := call.Normal(c.URL)
	if !ok {
		a.s.Skip(c.Line, "the address of the operation is left open")
		return
	}
	if c.Body = a.body(item, operation); c.Body != nil {
		c.Header = http.Header{"Content-Type": {"application/json"}}
	}
	c.Response = a.answer(operation)
	queries := append([]string{""}, a.queries(item)...)
	queries = append(queries, a.queries(operation)...)
	for _, q := range queries[:min(len(queries), mostValues)] {
		if c.URL = address; q != "" {
			c.URL += "?" + q
		}
		a.s.Offer(c)
	}
}

// queries lists name=value for what the query parameters enumerate.
func (a apiDocument) queries(of *yaml.Node) []string {
	var queries []string
	for _, p := range items(get(of, "parameters")) {
		p = a.resolve(p)
		if text(get(p, "in")) != "query" {
			continue
		}
		for _, v := range a.enumerated(p) {
			if len(queries) < mostValues {
				queries = append(queries, url.QueryEscape(text(get(p, "name")))+"="+url.QueryEscape(text(v)))
			}
		}
	}
	return queries
}

// enumerated finds an enum on a parameter (OpenAPI 2), on its schema (3), or on
// that of its items.
func (a apiDocument) enumerated(p *yaml.Node) []*yaml.Node {
	schema := a.resolve(get(p, "schema"))
	for _, n := range []*yaml.Node{p, get(p, "items"), schema, a.resolve(get(schema, "items"))} {
		if values := items(get(n, "enum")); len(values) > 0 {
			return values
		}
	}
	return nil
}

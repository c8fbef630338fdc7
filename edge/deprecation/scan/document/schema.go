package document

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// body is what the schema of an operation's request says: an example of it.
func (a apiDocument) body(item, operation *yaml.Node) []byte {
	for _, of := range []*yaml.Node{operation, item} {
		for _, p := range items(get(of, "parameters")) { // OpenAPI 2
			if p = a.resolve(p); text(get(p, "in")) == "body" {
				return a.encoded(get(p, "schema"))
			}
		}
	}
	return a.content(a.resolve(get(operation, "requestBody")))
}

// answer is what the schemas of an operation's answers say, together.
func (a apiDocument) answer(operation *yaml.Node) *call.Response {
	all := map[string]any{}
	for _, response := range members(get(operation, "responses")) {
		response = a.resolve(response)
		body := a.content(response)
		if body == nil {
			body = a.encoded(get(response, "schema"))
		}
		_ = json.Unmarshal(body, &all) // what is no object has no members
	}
	if len(all) == 0 {
		return nil
	}
	return &call.Response{Body: encoded(all)}
}

// content is the JSON among the types of media.
func (a apiDocument) content(of *yaml.Node) []byte {
	for kind, media := range members(get(of, "content")) {
		if !strings.Contains(kind.Value, "json") {
			continue
		}
		if example := get(media, "example"); example != nil {
			return encoded(plainJSON(example))
		}
		return a.encoded(get(media, "schema"))
	}
	return nil
}

func (a apiDocument) encoded(schema *yaml.Node) []byte {
	if schema == nil {
		return nil
	}
	nodes := mostNodes
	v := a.example(schema, 0, &nodes)
	if v == nil {
		return nil
	}
	return encoded(v)
}

// Bounds of the example of one schema, which may refer to itself.
const (
	deepestSchema = 12
	mostNodes     = 2000
)

// example is a value of a schema: its example, its only value, or the members that
// it names.
func (a apiDocument) example(schema *yaml.Node, depth int, nodes *int) any {
	schema = a.resolve(schema)
	if *nodes--; schema == nil || depth > deepestSchema || *nodes < 0 {
		return nil
	}
	for _, name := range []string{"example", "const", "default"} {
		if v := get(schema, name); v != nil {
			return plainJSON(v)
		}
	}
	if values := items(get(schema, "enum")); len(values) == 1 {
		return plainJSON(values[0])
	}
	if of := get(schema, "items"); of != nil {
		return []any{a.example(of, depth+1, nodes)}
	}
	out := map[string]any{}
	a.properties(schema, out, depth, nodes)
	if len(out) == 0 {
		return nil
	}
	return out
}

// properties are the members of a schema and of those that it is made of.
func (a apiDocument) properties(schema *yaml.Node, out map[string]any, depth int, nodes *int) {
	for _, name := range []string{"allOf", "oneOf", "anyOf"} {
		for _, part := range items(get(schema, name)) {
			if part = a.resolve(part); depth < deepestSchema && *nodes > 0 {
				*nodes--
				a.properties(part, out, depth+1, nodes)
			}
		}
	}
	for name, property := range members(get(schema, "properties")) {
		out[name.Value] = a.example(property, depth+1, nodes)
	}
}

func (a apiDocument) resolve(n *yaml.Node) *yaml.Node { return resolve(a.root, n) }

package deprecation

import (
	"fmt"
	"strings"
)

// moved is the call at the place that takes over. Where the reference shows a
// field and no path, it is the field, with the value that the body maps to.
func (c *call) moved(h hit) *Rewrite {
	e := h.endpoint
	if e.Field != "" {
		return &Rewrite{Field: e.Field, Body: c.mappedValue(e)}
	}
	if e.To == "" {
		return nil
	}
	to, err := parseTemplate(e.To)
	if err != nil {
		return nil
	}
	path, ok := to.filled(h.template, c.address.raw(h.first))
	if !ok {
		return nil
	}
	return &Rewrite{Method: c.Method, URL: c.address.withSegments(h.first, path), Body: jsonOrNil(c.Body)}
}

// mappedValue sets the field to what the old value maps to; nil where the body
// has none or the reference maps it to nothing.
func (c *call) mappedValue(e *Endpoint) []byte {
	for _, object := range objects(decodeJSON(c.Body), nil) {
		for _, m := range e.Values {
			if object["value"] == m.From {
				return encodeJSON(map[string]bool{e.Field: m.To})
			}
		}
	}
	return nil
}

// withoutMembers is the call with a body that has none of the members, made by
// their recipe; nil where there is no recipe that holds for all of them.
func (c *call) withoutMembers(met []*Member) *Rewrite {
	if field := met[0].Field; field != "" {
		return &Rewrite{Field: field}
	}
	body := decodeJSON(c.Body) // a copy of its own, to be changed
	for _, m := range met {
		for _, object := range m.holders(body) {
			if !m.taken(object) {
				return nil
			}
		}
	}
	return &Rewrite{Method: c.Method, URL: c.URL, Body: encodeJSON(body)}
}

// taken takes the member out of an object by its recipe.
func (m *Member) taken(object map[string]any) bool {
	switch m.Recipe {
	case RecipeDrop:
		path := names(m.Path)
		last := len(path) - 1
		for _, o := range objects(object, path[:last]) {
			delete(o, path[last])
		}
		return true
	case RecipeSRV:
		return outerName(object)
	}
	return false
}

// outerName moves an SRV record's data.service, proto and name to its outer
// name, "_service._proto.name". Where one of them is missing the outer name has
// to have them already.
func outerName(record map[string]any) bool {
	data, ok := record["data"].(map[string]any)
	if !ok {
		return false
	}
	outer, _ := record["name"].(string)
	name, ok := srvName(data, outer)
	if !ok {
		return false
	}
	for _, field := range srvFields {
		delete(data, field)
	}
	record["name"] = name
	return true
}

var srvFields = []string{"service", "proto", "name"}

func srvName(data map[string]any, outer string) (string, bool) {
	var parts []string
	for _, field := range srvFields {
		if v, ok := data[field].(string); ok && v != "" {
			parts = append(parts, v)
		}
	}
	complete := len(outer) > 0 && outer[0] == '_'
	if len(parts) < len(srvFields) {
		return outer, complete
	}
	if parts[2] == "@" {
		return "", false // the zone's own name, which the request need not show
	}
	name := fmt.Sprintf("%s.%s.%s", underscored(parts[0]), underscored(parts[1]), parts[2])
	if complete && !sameName(name, outer) {
		return "", false // two names that differ: only a person knows which is meant
	}
	if complete {
		return outer, true
	}
	return name, true
}

func underscored(label string) string {
	if label[0] == '_' {
		return label
	}
	return "_" + label
}

// sameName: equal but for case, or one of them without the zone's name at its end.
func sameName(a, b string) bool {
	short, long := strings.ToLower(a), strings.ToLower(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	return long == short || len(long) > len(short) && long[:len(short)+1] == short+"."
}

package deprecation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// decodeJSON reads a body, numbers as they are written. What is no JSON has no
// members.
func decodeJSON(body []byte) any {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func encodeJSON(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil // cannot be: it was decoded from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

// jsonOrNil is a body that may stand in JSON.
func jsonOrNil(body []byte) json.RawMessage {
	if len(body) == 0 || !json.Valid(body) {
		return nil
	}
	return slices.Clone(body)
}

// members are the hits whose member is in the call's body.
func (c *call) members(hits []hit) []*Member {
	if len(hits) == 0 || len(c.Body) == 0 {
		return nil
	}
	if !c.decoded {
		c.body, c.decoded = decodeJSON(c.Body), true
	}
	return membersIn(c.body, hits)
}

func membersIn(body any, hits []hit) []*Member {
	var out []*Member
	for _, h := range hits {
		if !slices.Contains(out, h.member) && len(h.member.holders(body)) > 0 {
			out = append(out, h.member)
		}
	}
	return out
}

func memberPaths(members []*Member) []string {
	var out []string
	for _, m := range members {
		path := m.Path
		if m.In != "" {
			path = m.In + "." + path
		}
		if m.Equals != "" {
			path += "=" + m.Equals
		}
		out = append(out, path)
	}
	return out
}

// holders are the objects of a body that have the member, as the rule means it.
func (m *Member) holders(body any) []map[string]any {
	var out []map[string]any
	for _, object := range objects(body, names(m.In)) {
		if slices.ContainsFunc(lookup(object, m.Path), m.means) && m.When.holds(object, m.Path) {
			out = append(out, object)
		}
	}
	return out
}

func (m *Member) means(value any) bool { return m.Equals == "" || fmt.Sprint(value) == m.Equals }

// holds reports whether the object is of the kind that is meant.
func (w *When) holds(object map[string]any, member string) bool {
	if w == nil {
		return true
	}
	if found := lookup(object, w.Path); len(found) > 0 {
		return slices.ContainsFunc(found, func(v any) bool { return fmt.Sprint(v) == w.Equals })
	}
	if slices.ContainsFunc(w.Beside, func(path string) bool { return len(lookup(object, path)) > 0 }) {
		return true
	}
	return w.Prefix != "" && slices.ContainsFunc(lookup(object, member), func(v any) bool {
		text, ok := v.(string)
		return ok && strings.HasPrefix(text, w.Prefix)
	})
}

func names(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

// objects are the objects at a path. A list on the way, or at its end, stands
// for its elements.
func objects(v any, path []string) []map[string]any {
	switch v := v.(type) {
	case []any:
		var out []map[string]any
		for _, e := range v {
			out = append(out, objects(e, path)...)
		}
		return out
	case map[string]any:
		if len(path) == 0 {
			return []map[string]any{v}
		}
		return objects(v[path[0]], path[1:])
	}
	return nil
}

// lookup are the values at a path of an object. A member that is null is there.
func lookup(object map[string]any, path string) []any {
	all := names(path)
	last := len(all) - 1
	var out []any
	for _, o := range objects(object, all[:last]) {
		if v, ok := o[all[last]]; ok {
			out = append(out, v)
		}
	}
	return out
}

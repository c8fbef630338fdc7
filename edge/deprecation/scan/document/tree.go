package document

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/jsontext"
)

// parseTrees reads the documents of a text in JSON or YAML to the same kind of
// tree, which knows its lines. JSON is not left to the YAML parser: tabs and some
// escapes would be errors to it.
func parseTrees(text []byte) ([]*yaml.Node, error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		s := jsontext.New(bufio.NewReader(bytes.NewReader(text)))
		n, err := jsonTree(s, 0)
		if err == nil {
			err = s.End()
		}
		return []*yaml.Node{n}, err
	}
	var roots []*yaml.Node
	for d := yaml.NewDecoder(bytes.NewReader(text)); len(roots) < mostDocuments; {
		var document yaml.Node
		switch err := d.Decode(&document); {
		case errors.Is(err, io.EOF) && len(roots) > 0:
			return roots, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("the document is empty")
		case err != nil:
			return roots, errors.New(withoutText(err.Error()))
		}
		if len(document.Content) > 0 {
			roots = append(roots, document.Content[0])
		}
	}
	return roots, nil
}

// mostDocuments bounds those of one text.
const mostDocuments = 10_000

// withoutText cuts off what YAML's errors quote of the text.
func withoutText(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message, _, _ = strings.Cut(message, "`")
	return strings.TrimPrefix(message, "yaml: ")
}

// treeDepth bounds how deep a JSON document may be nested.
const treeDepth = 500

func jsonTree(s *jsontext.Stream, depth int) (*yaml.Node, error) {
	c, err := s.Peek()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Line: s.Line}
	switch {
	case depth > treeDepth:
		return nil, fmt.Errorf("line %d: nested more than %d deep", s.Line, treeDepth)
	case c == '{':
		n.Kind = yaml.MappingNode
		return n, s.Object(func(key string, line int) error {
			value, err := jsonTree(s, depth+1)
			if value != nil { // the text is not cut short in it
				n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: line}, value)
			}
			return err
		})
	case c == '[':
		n.Kind = yaml.SequenceNode
		return n, s.Array(func() error {
			value, err := jsonTree(s, depth+1)
			if value != nil {
				n.Content = append(n.Content, value)
			}
			return err
		})
	}
	n.Kind = yaml.ScalarNode
	text, _, err := s.Raw(1 << 30)
	if err != nil {
		return nil, err
	}
	if n.Value = string(text); c == '"' {
		n.Tag = "!!str"
		err = json.Unmarshal(text, &n.Value)
	}
	return n, err
}

// aliases bounds how many references are followed from one place.
const aliases = 16

// plainNode returns what an alias of YAML stands for.
func plainNode(n *yaml.Node) *yaml.Node {
	for range aliases {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// members goes through an object's names and values.
func members(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(name, value *yaml.Node) bool) {
		n := plainNode(n)
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], plainNode(n.Content[i+1])) {
				return
			}
		}
	}
}

// get returns a member of an object, nil if there is none.
func get(n *yaml.Node, name string) *yaml.Node {
	for k, v := range members(n) {
		if k.Value == name {
			return v
		}
	}
	return nil
}

// resolve follows a $ref within the document; others lead nowhere.
func resolve(root, n *yaml.Node) *yaml.Node {
	for range aliases {
		ref := text(get(n, "$ref"))
		if ref == "" {
			return n
		}
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return nil
		}
		n = root
		for _, step := range strings.Split(path, "/") {
			n = get(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
	}
	return nil
}

func items(n *yaml.Node) []*yaml.Node {
	n = plainNode(n)
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

func text(n *yaml.Node) string {
	n = plainNode(n)
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// plainJSON is a node as a value for JSON; nil where it is none.
func plainJSON(n *yaml.Node) (v any) {
	_ = n.Decode(&v)
	return v
}

// pairs goes through an object, or a list of names and values.
func pairs(n *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(name string, value *yaml.Node) bool) {
		for k, v := range members(n) {
			if !yield(k.Value, v) {
				return
			}
		}
		for _, item := range items(n) {
			name := firstOf(item, "key", "name")
			if name != nil && text(get(item, "disabled")) != "true" && !yield(text(name), get(item, "value")) {
				return
			}
		}
	}
}

// firstOf is the first member that an object has of these.
func firstOf(n *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		if v := get(n, name); v != nil {
			return v
		}
	}
	return nil
}

// contentLine is the line that the text of a scalar begins on.
func contentLine(n *yaml.Node) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Line + 1
	}
	return n.Line
}

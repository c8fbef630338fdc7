package scan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseTree reads a document in JSON or YAML to the same kind of tree, which
// knows its lines. JSON is not left to the YAML parser: tabs and some escapes
// would be errors to it.
func parseTree(text []byte) (*yaml.Node, int, error) {
	lines := bytes.Count(text, []byte("\n")) + 1
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		s := newStream(bufio.NewReader(bytes.NewReader(text)))
		n, err := jsonTree(s, 0)
		if err == nil {
			err = s.end()
		}
		return n, lines, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, lines, err
	}
	if len(document.Content) == 0 {
		return nil, lines, errors.New("the document is empty")
	}
	return document.Content[0], lines, nil
}

// treeDepth bounds how deep a JSON document may be nested.
const treeDepth = 500

func jsonTree(s *stream, depth int) (*yaml.Node, error) {
	c, err := s.peek()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Line: s.line}
	switch {
	case depth > treeDepth:
		return nil, fmt.Errorf("line %d: nested more than %d deep", s.line, treeDepth)
	case c == '{':
		n.Kind = yaml.MappingNode
		return n, s.object(func(key string, line int) error {
			value, err := jsonTree(s, depth+1)
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key, Line: line}, value)
			return err
		})
	case c == '[':
		n.Kind = yaml.SequenceNode
		return n, s.array(func() error {
			value, err := jsonTree(s, depth+1)
			n.Content = append(n.Content, value)
			return err
		})
	}
	n.Kind = yaml.ScalarNode
	text, _, err := s.raw(1 << 30)
	if err != nil {
		return nil, err
	}
	if n.Value = string(text); c == '"' {
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
func (a apiDocument) members(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
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
func (a apiDocument) get(n *yaml.Node, name string) *yaml.Node {
	for k, v := range a.members(n) {
		if k.Value == name {
			return v
		}
	}
	return nil
}

// resolve follows a $ref within the document; others lead nowhere.
func (a apiDocument) resolve(n *yaml.Node) *yaml.Node {
	for range aliases {
		ref := text(a.get(n, "$ref"))
		if ref == "" {
			return n
		}
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return nil
		}
		n = a.root
		for _, step := range strings.Split(path, "/") {
			n = a.get(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
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

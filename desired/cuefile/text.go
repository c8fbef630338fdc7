package cuefile

import (
	"strings"
)

// node is a member and those below it, in order.
type node struct {
	label    string
	leaf     *field
	children []*node
}

// treeOf nests fields by their paths.
func treeOf(fields []field) *node {
	root := &node{}
	for i := range fields {
		at := root
		for _, label := range splitPath(fields[i].path) {
			at = at.child(label)
		}
		at.leaf = &fields[i]
	}
	return root
}

func (n *node) child(label string) *node {
	for _, c := range n.children {
		if c.label == label {
			return c
		}
	}
	c := &node{label: label}
	n.children = append(n.children, c)
	return c
}

func splitPath(path string) (labels []string) {
	for path != "" {
		first := deploymentOf(path)
		labels, path = append(labels, first), strings.TrimPrefix(path[len(first):], ".")
	}
	return labels
}

// printer writes CUE. Indentation and alignment are the formatter's.
type printer struct {
	strings.Builder
	defaults bool // a value is the default of a tier
}

// shortLine is the longest struct or list that is written in one line.
const shortLine = 72

// member writes label: value, a chain of labels where each has one member.
func (p *printer) member(n *node) {
	p.WriteString(n.label + ": ")
	p.value(n)
}

func (p *printer) value(n *node) {
	switch {
	case n.leaf != nil:
		p.leaf(*n.leaf)
	case len(n.children) == 1:
		p.member(n.children[0])
	default:
		p.structure(n.children)
	}
}

func (p *printer) structure(children []*node) {
	if line, ok := p.inOneLine(children); ok {
		p.WriteString(line)
		return
	}
	p.WriteString("{\n")
	for _, c := range children {
		p.member(c)
		p.WriteString("\n")
	}
	p.WriteString("}")
}

// inOneLine is a struct of two single values, such as a threshold.
func (p *printer) inOneLine(children []*node) (string, bool) {
	if len(children) > 2 {
		return "", false
	}
	parts := make([]string, len(children))
	for i, c := range children {
		if c.leaf == nil || c.leaf.isList() {
			return "", false
		}
		one := printer{defaults: p.defaults}
		one.member(c)
		parts[i] = one.String()
	}
	line := "{" + strings.Join(parts, ", ") + "}"
	return line, len(line) <= shortLine && !strings.Contains(line, "\n")
}

// leaf writes one value. In a tier it is a default: a zone may say something else.
func (p *printer) leaf(f field) {
	overridable := p.defaults && f.kind != ""
	if overridable {
		p.WriteString("*")
	}
	if f.isList() {
		p.list(f)
	} else {
		p.WriteString(f.value)
	}
	if overridable {
		p.WriteString(" | " + f.kind)
	}
}

func (p *printer) list(f field) {
	if line := f.text(); len(line) <= shortLine && strings.Join(f.notes, "") == "" {
		p.WriteString(line)
		return
	}
	p.WriteString("[\n")
	for i, item := range f.items {
		p.WriteString(item + ",")
		if i < len(f.notes) && f.notes[i] != "" {
			p.WriteString(" // " + f.notes[i])
		}
		p.WriteString("\n")
	}
	p.WriteString("]")
}

// comment writes lines of a comment.
func (p *printer) comment(lines ...string) {
	for _, line := range lines {
		p.WriteString("//")
		if line = comment(line); line != "" {
			p.WriteString(" " + line)
		}
		p.WriteString("\n")
	}
}

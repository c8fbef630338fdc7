package cuefile

import (
	"bytes"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
)

// Part is the part of a file that a value stands in: the declaration of one zone, account
// or token, or what several share.
type Part struct {
	// Shared is what several share, as it is written: _gold, zone: [string], or with a
	// condition, zone: [string] if labels.tier == "gold". Empty for a declaration.
	Shared string
	// First and Last are its lines, from 1.
	First, Last int
}

// PartAt is the part of a text with the value at a line and column, both from 1, the column
// in bytes. It is false for a text that is no CUE, or where nothing stands there.
func PartAt(text []byte, line, column int) (Part, bool) {
	at, ok := offset(text, line, column)
	if !ok {
		return Part{}, false
	}
	file, err := parser.ParseFile("", text, parser.ParseComments)
	if err != nil {
		return Part{}, false
	}
	l := locator{text: text, at: at}
	for _, decl := range file.Decls {
		ast.Walk(decl, l.enter, nil)
	}
	return l.part, l.part.First > 0
}

// offset is where a line and column are in a text.
func offset(text []byte, line, column int) (at int, ok bool) {
	for ; line > 1; line-- {
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			return 0, false
		}
		at += next + 1
	}
	rest, _, _ := bytes.Cut(text[at:], []byte("\n"))
	return at + column - 1, line == 1 && column >= 1 && column <= len(rest)
}

// locator goes down to an offset.
type locator struct {
	text   []byte
	at     int
	labels []string
	named  bool // a hidden field, a definition or a let clause: what is in it has no name of its own
	part   Part
}

// enter notes what encloses the offset.
func (l *locator) enter(n ast.Node) bool {
	if n.Pos().Offset() > l.at || n.End().Offset() <= l.at {
		return false
	}
	if l.named {
		return false
	}
	switch n := n.(type) {
	case *ast.Field:
		l.field(n)
	case *ast.LetClause:
		l.share(n, "let "+n.Ident.Name)
		l.named = true
	case *ast.Comprehension:
		var clauses []string
		for _, c := range n.Clauses {
			clauses = append(clauses, l.source(c))
		}
		l.share(n, strings.TrimSpace(l.part.Shared+" "+strings.Join(clauses, " ")))
	}
	return true
}

func (l *locator) field(f *ast.Field) {
	name, isIdent, err := ast.LabelName(f.Label)
	switch {
	case pattern(f.Label):
		label := l.source(f.Label)
		if n := len(l.labels); n > 0 {
			label = l.labels[n-1] + ": " + label
		}
		l.share(f, label)
	case err != nil: // a name that is worked out
		name = l.source(f.Label)
	case isIdent && strings.HasPrefix(strings.TrimPrefix(name, "_"), "#"), isIdent && strings.HasPrefix(name, "_"):
		l.share(f, name)
		l.named = true
	case l.part.Shared == "" && len(l.labels) < declarationDepth(append(l.labels, name)):
		l.lines(f)
	}
	l.labels = append(l.labels, name)
}

// pattern reports whether a label stands for several: [string].
func pattern(label ast.Label) bool {
	_, ok := label.(*ast.ListLit)
	return ok
}

// declarationDepth is how many labels lead to one declaration.
func declarationDepth(labels []string) int {
	if labels[0] == "account" {
		return zoneDepth
	}
	return 2
}

func (l *locator) share(n ast.Node, name string) {
	l.part.Shared = name
	l.lines(n)
}

func (l *locator) lines(n ast.Node) {
	l.part.First, l.part.Last = n.Pos().Line(), n.End().Line()
}

// source is a node as it is written, in one line.
func (l *locator) source(n ast.Node) string {
	return strings.Join(strings.Fields(source(l.text, n)), " ")
}

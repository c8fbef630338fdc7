package cuefile

import (
	"bytes"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// wafPath are the labels that lead to what a zone runs, and fullPath those to a member that is
// to be changed.
func wafPath(account, zone string) []string { return []string{"account", account, "zone", zone, "waf"} }

func (c Change) fullPath(account, zone string) []string {
	labels := wafPath(account, zone)
	if c.Other() {
		labels = labels[:zoneDepth]
	}
	for _, label := range splitPath(c.Path) {
		labels = append(labels, unquoted(label))
	}
	return labels
}

func unquoted(label string) string {
	name, _, err := ast.LabelName(&ast.BasicLit{Kind: token.STRING, Value: label})
	if err != nil || !strings.HasPrefix(label, `"`) {
		return label
	}
	return name
}

// zoneDepth is how many labels lead to a zone: account, its key, zone, its key.
const zoneDepth = 4

// finding is where a path stands in a file, and where it could.
type finding struct {
	path []string
	zone bool
	hits []hit
	in   *ast.StructLit // the innermost struct with braces of the zone that the path goes through
	rest []string       // the path below it
	// chain is the zone's value where it is a chain of labels without braces, such as
	// "shop.example": waf: _tier; nil for none.
	chain *ast.StructLit
}

// hit is a field at the path. Top is the outermost field of the chain it is in, such as
// waf in waf: core: paranoia: 2, below braces.
type hit struct {
	field, top *ast.Field
	in         *ast.StructLit // nil for the file itself
}

// find looks for a path, and reports whether the file is formatted as cue fmt does.
func find(text []byte, path []string) (f *finding, formatted bool, err error) {
	file, err := parser.ParseFile("", text, parser.ParseComments)
	if err != nil {
		return nil, false, err
	}
	f = &finding{path: path}
	f.visit(file.Decls, path, 0, hit{})
	as, _ := format.Source(text)
	return f, bytes.Equal(as, text), nil
}

func (f *finding) visit(decls []ast.Decl, path []string, depth int, at hit) {
	for _, decl := range decls {
		field, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(field.Label)
		if err != nil || name != path[0] {
			continue
		}
		f.zone = f.zone || depth+1 == zoneDepth
		here := hit{field: field, top: at.top, in: at.in}
		if here.top == nil {
			here.top = field
		}
		if len(path) == 1 {
			f.hits = append(f.hits, here)
			continue
		}
		for _, s := range structsOf(field.Value) {
			f.visit(s.Elts, path[1:], depth+1, f.enter(s, path[1:], depth+1, here))
		}
	}
}

// enter notes a struct on the way, and is where its fields are.
func (f *finding) enter(s *ast.StructLit, rest []string, depth int, at hit) hit {
	if !s.Lbrace.IsValid() {
		if depth == zoneDepth && f.chain == nil {
			f.chain = s
		}
		return at
	}
	if depth >= zoneDepth && (f.in == nil || len(rest) < len(f.rest)) {
		f.in, f.rest = s, rest
	}
	return hit{in: s}
}

// structsOf are the literal structs that a value is made of.
func structsOf(value ast.Expr) []*ast.StructLit {
	switch v := value.(type) {
	case *ast.StructLit:
		return []*ast.StructLit{v}
	case *ast.ParenExpr:
		return structsOf(v.X)
	case *ast.BinaryExpr:
		if v.Op == token.AND {
			return append(structsOf(v.X), structsOf(v.Y)...)
		}
	}
	return nil
}

package explain

import (
	"fmt"
	"strconv"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/seawall-dev/seawall/desired"
)

// sharedConflict explains that a field has a value of its own and another one that it
// shares with others: from a tier, a pattern or a template. Both must be concrete and of
// one kind, at two places of the files; it is false for any other conflict. The problem
// is then at the field's own value.
func sharedConflict(p desired.Problem, v cue.Value, files []*ast.File) (desired.Problem, bool) {
	values := concreteParts(v, deepest)
	if len(values) != 2 {
		return p, false
	}
	own, shared := values[0], values[1]
	ownHere, sharedHere := atPath(valuePos(own), p.Path, files), atPath(valuePos(shared), p.Path, files)
	if ownHere == sharedHere {
		return p, false
	}
	if sharedHere {
		own, shared = shared, own
	}
	kind, ok := typeName(shared.Kind())
	if !ok || own.Kind() != shared.Kind() {
		return p, false
	}
	p.Origin = originOf(valuePos(own))
	p.Message = fmt.Sprintf("conflicting values %s and %s", shown(own), shown(shared))
	p.Hint = fmt.Sprintf("%s sets %s, and %s sets %s for all that share it; to let one differ, make the shared value a default: *%s | %s",
		p.Origin, shown(own), originOf(valuePos(shared)), shown(shared), shown(shared), kind)
	return p, true
}

// typeName is the type of CUE for a default of a kind; false for what is no scalar.
func typeName(k cue.Kind) (string, bool) {
	switch k {
	case cue.IntKind, cue.StringKind, cue.BoolKind:
		return k.String(), true
	case cue.FloatKind:
		return "number", true
	}
	return "", false
}

// valuePos is where a value stands, behind the label of its field.
func valuePos(v cue.Value) token.Pos {
	if field, ok := v.Source().(*ast.Field); ok {
		return field.Value.Pos()
	}
	return v.Pos()
}

// concreteParts are the concrete scalars of a person's files that v is unified of.
func concreteParts(v cue.Value, depth int) (parts []cue.Value) {
	op, args := v.Expr()
	if op != cue.AndOp || depth == 0 {
		if _, scalar := typeName(v.Kind()); scalar && users(v.Pos()) {
			parts = append(parts, v)
		}
		return parts
	}
	for _, arg := range args {
		parts = append(parts, concreteParts(arg, depth-1)...)
	}
	return parts
}

// atPath reports whether the value at a position of the files is written at a path itself,
// and not somewhere that the path refers to.
func atPath(pos token.Pos, path string, files []*ast.File) bool {
	for _, f := range files {
		if f.Filename == pos.Filename() || f.Pos().Filename() == pos.Filename() {
			if found, ok := labelsAt(f, pos.Offset()); ok && joined(found) == joined(unquoted(path)) {
				return true
			}
		}
	}
	return false
}

func unquoted(path string) (labels []string) {
	for _, sel := range cue.ParsePath(path).Selectors() {
		label := sel.String()
		if text, err := strconv.Unquote(label); err == nil {
			label = text
		}
		labels = append(labels, label)
	}
	return labels
}

// labelsAt are the labels of the fields around an offset of a file, from the outside; false
// where one of them is no plain name: a pattern, or an element of a list.
func labelsAt(f *ast.File, offset int) (labels []string, ok bool) {
	ok = true
	ast.Walk(f, func(n ast.Node) bool {
		if n.Pos().Offset() > offset || offset >= n.End().Offset() {
			_, file := n.(*ast.File)
			return file
		}
		switch n := n.(type) {
		case *ast.Field:
			name, _, err := ast.LabelName(n.Label)
			labels, ok = append(labels, name), ok && err == nil
		case *ast.ListLit, *ast.Comprehension:
			ok = ok && n.Pos().Offset() == offset
		}
		return true
	}, nil)
	return labels, ok
}

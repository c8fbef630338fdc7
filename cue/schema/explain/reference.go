package explain

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// Unresolved reports whether a problem is about a name that nothing declares. Problems with
// the same message are then one mistake, wherever the name is used.
func Unresolved(p desired.Problem) bool {
	return strings.HasPrefix(p.Message, `reference "`) && strings.HasSuffix(p.Message, `" not found`)
}

func notFound(name string) string { return fmt.Sprintf(`reference "%s" not found`, name) }

// mostNames bounds the names that a hint lists.
const mostNames = 8

// reference adds a hint to the problem that a name at the start of an expression is not
// declared, which CUE finds while it builds a value of the files. Many places may use a name.
func (e *explainer) reference(p desired.Problem) (desired.Problem, bool) {
	name := strings.TrimSuffix(strings.TrimPrefix(p.Message, `reference "`), `" not found`)
	if _, known := e.hints[name]; !known {
		e.hints[name] = nameHint(name, declaredNames(e.files), true)
	}
	p.Hint = e.hints[name]
	return p, true
}

// missingStep returns the first step of a reference such as _tier.shop that its struct does
// not have, as message and hint; false where v is no such reference.
func missingStep(v cue.Value) (message, hint string, ok bool) {
	base, name, ok := firstMissing(v, deepest*2)
	if !ok {
		return "", "", false
	}
	known, _ := fieldNames(base)
	_, path := base.ReferencePath()
	for i := range known {
		known[i] = path.String() + "." + known[i]
	}
	name = path.String() + "." + name
	return notFound(name), nameHint(name, known, false), true
}

// firstMissing walks from the end of a reference to its start, and into what a value is
// unified of.
func firstMissing(v cue.Value, depth int) (base cue.Value, name string, ok bool) {
	op, args := v.Expr()
	switch {
	case depth == 0:
	case op == cue.AndOp:
		for _, arg := range args {
			if base, name, ok = firstMissing(arg, depth-1); ok {
				return base, name, true
			}
		}
	case (op == cue.SelectorOp || op == cue.IndexOp) && len(args) == 2:
		if base, name, ok = firstMissing(args[0], depth-1); ok {
			return base, name, true
		}
		name, err := args[1].String()
		_, path := args[0].ReferencePath() // none of the top level, whose names CUE has resolved
		return args[0], name, err == nil && path.Err() == nil && len(path.Selectors()) > 0 && lacks(args[0], name)
	}
	return cue.Value{}, "", false
}

// lacks reports whether a struct can be read, and has no field of this name.
func lacks(v cue.Value, name string) bool {
	known, ok := fieldNames(v)
	return ok && !slices.Contains(known, name) && !slices.Contains(known, cue.Str(name).String())
}

// fieldNames are the names of a struct's fields as CUE writes them, sorted; false for what
// cannot be read.
func fieldNames(v cue.Value) (names []string, ok bool) {
	iter, err := v.Fields(cue.All())
	if err != nil {
		return nil, false
	}
	for iter.Next() {
		if sel := iter.Selector(); sel.ConstraintType() != cue.PatternConstraint {
			names = append(names, strings.TrimRight(sel.String(), "?!"))
		}
	}
	slices.Sort(names)
	return names, true
}

// declaredNames are the names that all expressions of a package may begin with, sorted.
func declaredNames(files []*ast.File) []string {
	var names []string
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.Field:
				if name, isIdent, err := ast.LabelName(d.Label); err == nil && isIdent {
					names = append(names, name)
				}
			case *ast.LetClause:
				names = append(names, d.Ident.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// predeclared are names of the language that a word may be a misspelling of.
var predeclared = []string{"string", "int", "bool", "number", "float", "true", "false", "null", "bytes"}

// nameHint proposes the nearest name, else lists those there are. At the start of an
// expression, only helpers are listed: hidden fields and definitions.
func nameHint(name string, known []string, start bool) string {
	candidates := known
	if start {
		candidates = slices.Concat(known, predeclared)
		known = slices.DeleteFunc(slices.Clone(known), func(n string) bool { return !strings.HasPrefix(n, "_") && !strings.HasPrefix(n, "#") })
	}
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return ofSeries(name, c) })
	switch hint := nearest.Hint(name, candidates, ""); {
	case hint != "":
		return hint
	case len(known) > mostNames:
		return fmt.Sprintf("known here: %s and %d more", strings.Join(known[:mostNames], ", "), len(known)-mostNames)
	case len(known) > 0:
		return "known here: " + strings.Join(known, ", ")
	}
	return "declare it, for example as a hidden field: " + name + ": {…}"
}

// ofSeries reports whether two names differ in the last character alone, such as _tierA and
// _tierB: one is not a misspelling of the other.
func ofSeries(a, b string) bool {
	return len(a) == len(b) && len(a) > 1 && a != b && a[:len(a)-1] == b[:len(b)-1]
}

// Package explain says in a person's words what is wrong with a CUE value: one
// line per mistake, at the place in the person's own file.
//
// CUE itself stops at the first mistakes of a struct, reports them where the
// schema stands, and spends a paragraph on a misspelt word. So when a value
// does not fit, [Check] walks value and schema side by side: unknown and
// missing fields it finds itself, and each leaf is unified with its part of
// the schema alone, which leaves one error to put into words ([words.go]).
// Mistakes of the value in itself, such as two conflicting lines, come first,
// and whatever the walk cannot find is still told as CUE saw it, in a line.
package explain

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// Missing is the message of a problem about a field that must be there.
const Missing = "required field is missing"

// maxPerValue bounds the mistakes told of one value; the rest are counted.
const maxPerValue = 1000

// Check unifies plain with schema. It returns the unified value, and what is
// wrong with plain, which was built of files; nothing when it fits.
func Check(plain, schema cue.Value, files Files) (cue.Value, []desired.Problem) {
	unified := plain.Unify(schema)
	err := unified.Validate(cue.Concrete(true), cue.Final())
	if err == nil {
		return unified, nil
	}
	return unified, problems(err, plain, schema, files)
}

// Files are what a value was built of.
type Files struct {
	Own    string      // the folder whose positions are preferred over those of other folders
	Syntax []*ast.File // all of them; they have the names that an expression may begin with
}

func problems(whole error, plain, schema cue.Value, files Files) []desired.Problem {
	e := &explainer{ctx: cuecontext.New(), places: places{own: files.Own}, files: files.Syntax, broken: map[string]bool{}, hints: map[string]string{}}
	e.ownMistakes(plain)
	e.value(plain, schema, nil)
	if len(e.problems) == 0 {
		e.add(e.translate(whole)...)
	}
	for i, p := range e.problems {
		if p.Origin.IsZero() {
			e.problems[i].Origin = nearestDeclared(plain, p.Path)
		}
	}
	return capped(e.problems)
}

type explainer struct {
	ctx      *cue.Context // for values of its own, dropped with it
	places   places
	files    []*ast.File
	problems []desired.Problem
	broken   map[string]bool   // paths that are wrong without any schema
	hints    map[string]string // by the name that is not declared
}

func (e *explainer) add(problems ...desired.Problem) {
	e.problems = append(e.problems, problems...)
}

// ownMistakes tells what is wrong with the value itself, and remembers where:
// there, the schema has nothing to add.
func (e *explainer) ownMistakes(plain cue.Value) {
	err := plain.Validate()
	if err == nil {
		return
	}
	for _, p := range e.translate(err) {
		e.broken[p.Path] = true
		if p, ok := e.inOwnFiles(p, plain.LookupPath(cue.ParsePath(p.Path))); ok {
			e.add(p)
			continue
		}
		// A person's file that embeds the schema, as `seawall init` writes it,
		// breaks on the schema's own words too.
		if v, ok := written(plain.LookupPath(cue.ParsePath(p.Path))); ok && p.Hint == "" {
			p.Message, p.Hint = said(p.Message, v)
		}
		e.add(p)
	}
}

// inOwnFiles says more of a mistake that files make without any schema; false where there
// is no more to say.
func (e *explainer) inOwnFiles(p desired.Problem, v cue.Value) (desired.Problem, bool) {
	switch {
	case strings.HasPrefix(p.Message, "conflicting values") && len(e.problems) < maxPerValue:
		return sharedConflict(p, v, e.files)
	case strings.HasPrefix(p.Message, "undefined field"):
		message, hint, ok := missingStep(v)
		if ok {
			p.Message, p.Hint = message, hint
		}
		return p, ok
	case Unresolved(p):
		return e.reference(p)
	}
	return p, false
}

// written returns the one value among those that a broken one is made of that
// is not broken itself: what a person wrote where a schema says what it may be.
func written(v cue.Value) (cue.Value, bool) {
	op, args := v.Expr()
	if op != cue.AndOp {
		return cue.Value{}, false
	}
	var found []cue.Value
	for _, arg := range args {
		if arg.Err() == nil && arg.IsConcrete() {
			found = append(found, arg)
		}
	}
	if len(found) != 1 {
		return cue.Value{}, false
	}
	return found[0], true
}

func (e *explainer) value(plain, schema cue.Value, path []cue.Selector) {
	if e.broken[pathString(path)] {
		return
	}
	shape, kind := shapeOf(schema), plain.IncompleteKind()
	hidden := kind == cue.BottomKind && e.brokenBelow(path) // an error inside hides the kind
	switch {
	case shape.list && (kind == cue.ListKind || hidden):
		e.list(plain, shape, path)
	case shape.structure && (kind == cue.StructKind || hidden):
		e.structure(plain, schema, shape, path)
	default:
		e.leaf(plain, schema, path)
	}
}

func (e *explainer) brokenBelow(path []cue.Selector) bool {
	above := pathString(path)
	for below := range e.broken {
		if rest, ok := strings.CutPrefix(below, above); ok && rest != "" {
			return true
		}
	}
	return false
}

func (e *explainer) structure(plain, schema cue.Value, shape shape, path []cue.Selector) {
	seen := map[string]bool{}
	before := len(e.problems)
	for _, c := range children(plain) {
		name := c.sel.Unquoted()
		seen[name] = true
		at := with(path, c.sel)
		if child, ok := shape.field(name, e.ctx); ok {
			e.value(c.value, child, at)
		} else if !e.broken[pathString(at)] {
			e.add(e.unknown(name, c.value, shape, at))
		}
	}
	for _, name := range shape.required {
		if !seen[name] {
			e.add(e.missing(name, plain, path))
		}
	}
	if len(seen) == 0 && len(e.problems) == before {
		e.leaf(plain, schema, path)
	}
}

func (e *explainer) list(plain cue.Value, shape shape, path []cue.Selector) {
	elements := children(plain)
	for n, c := range elements {
		if child, ok := shape.element(n); ok {
			e.value(c.value, child, with(path, cue.Index(n)))
		}
	}
	if len(elements) < len(shape.elements) {
		e.add(e.problem(plain, path, "must not be empty", "give it at least one entry"))
	}
}

type child struct {
	sel   cue.Selector
	value cue.Value
}

// children lists the fields of a struct or the elements of a list, also of one
// that has an error inside.
func children(v cue.Value) (out []child) {
	iter, err := v.Fields(cue.Patterns(true)) // with patterns, CUE takes lists too
	if err != nil {
		return nil
	}
	for iter.Next() {
		if sel := iter.Selector(); sel.ConstraintType() == 0 {
			out = append(out, child{sel, iter.Value()})
		}
	}
	return out
}

func (e *explainer) leaf(plain, schema cue.Value, path []cue.Selector) {
	err := plain.Unify(schema).Validate(cue.Concrete(true), cue.Final())
	if err == nil || e.brokenBelow(path) {
		return
	}
	message, hint, unresolved := missingStep(plain)
	if !unresolved {
		message, hint = inWords(err, plain, schema)
	}
	if s := shapeOf(schema); hint == "" && s.structure && len(s.fields) > 0 && plain.IncompleteKind() != cue.StructKind {
		hint = "known in it: " + strings.Join(s.known(), ", ")
	}
	if Origin(plain).IsZero() && !plain.IsConcrete() { // only a copy of the schema has the field
		message, hint = Missing, ""
	}
	p := e.problem(plain, path, message, hint)
	if pos := e.places.best(err); pos.IsValid() {
		p.Origin = originOf(pos)
	}
	e.add(p)
}

func (e *explainer) unknown(name string, v cue.Value, shape shape, path []cue.Selector) desired.Problem {
	if len(shape.fields) == 0 {
		return e.problem(v, path, shape.unfitKey(), "")
	}
	message := "unknown field"
	var hint string
	switch near := nearest.Word(name, shape.known()); {
	case near != "" && !widens(name, near):
		hint = fmt.Sprintf("did you mean %q?", near)
	case strings.HasPrefix(name, "com."):
		hint = `keys have one of the six documented forms, with the segment "vendor"`
	case len(path) == 1:
		hint = "known here: " + strings.Join(shape.known(), ", ") + "; helpers are hidden fields (_name), definitions (#Name) or let"
	default:
		hint = "known here: " + strings.Join(shape.known(), ", ")
	}
	return e.problem(v, path, message, hint)
}

// widens reports whether a suggestion would turn one thing into all of them: a
// person in a hurry follows it.
func widens(name, suggestion string) bool {
	return strings.HasSuffix(suggestion, "*") && !strings.HasSuffix(name, "*")
}

func (e *explainer) missing(name string, parent cue.Value, path []cue.Selector) desired.Problem {
	return e.problem(parent, with(path, cue.Str(name)), Missing, "")
}

// problem is a mistake of v as a whole, at the label that declares it.
func (e *explainer) problem(v cue.Value, path []cue.Selector, message, hint string) desired.Problem {
	return desired.Problem{Origin: Origin(v), Path: pathString(path), Message: message, Hint: hint}
}

func with(path []cue.Selector, sel cue.Selector) []cue.Selector {
	return append(path[:len(path):len(path)], sel)
}

func pathString(path []cue.Selector) string { return cue.MakePath(path...).String() }

// capped bounds the problems, but for names that are not declared: those are one mistake
// for each name, whose places a report counts.
func capped(problems []desired.Problem) []desired.Problem {
	var kept []desired.Problem
	told, rest := 0, 0
	for _, p := range problems {
		switch {
		case Unresolved(p):
		case told == maxPerValue:
			rest++
			continue
		default:
			told++
		}
		kept = append(kept, p)
	}
	if rest > 0 {
		kept = append(kept, desired.Problem{Message: fmt.Sprintf("%d more mistakes are not shown", rest)})
	}
	return kept
}

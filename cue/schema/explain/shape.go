package explain

import (
	"cmp"
	"fmt"
	"slices"

	"cuelang.org/go/cue"
)

// shape is what one level of a schema allows, read once per visit.
type shape struct {
	structure, list bool

	fields   map[string]cue.Value
	required []string
	patterns []pattern

	elements []cue.Value // of a list: those it must have
	rest     cue.Value   // of a list: all further ones
	open     bool        // of a list: there may be further ones
}

type pattern struct{ label, value cue.Value }

// shapeOf reads a schema. A disjunction of shapes is neither structure nor
// list: it is judged as a whole.
func shapeOf(schema cue.Value) shape {
	s := shape{fields: map[string]cue.Value{}}
	switch schema.IncompleteKind() {
	case cue.ListKind:
		s.list = true
	case cue.StructKind, cue.BottomKind:
		// A struct that must not be empty is an error as long as it is.
		s.structure = true
	default:
		return s
	}
	iter, err := schema.Fields(cue.Optional(true), cue.Patterns(true))
	if err != nil {
		return shape{}
	}
	for iter.Next() {
		s.take(iter.Selector(), iter.Value())
	}
	if s.structure && len(s.fields) == 0 && len(s.patterns) == 0 {
		s.structure = false
	}
	slices.Sort(s.required)
	return s
}

func (s *shape) take(sel cue.Selector, v cue.Value) {
	isPattern := sel.ConstraintType() == cue.PatternConstraint
	switch {
	case s.list && isPattern:
		s.rest, s.open = v, true
	case s.list:
		s.elements = append(s.elements, v)
	case isPattern:
		s.patterns = append(s.patterns, pattern{sel.Pattern(), v})
	default:
		s.fields[sel.Unquoted()] = v
		if sel.ConstraintType() == cue.RequiredConstraint {
			s.required = append(s.required, sel.Unquoted())
		}
	}
}

// field returns the schema of a field, and whether the schema has one.
func (s shape) field(name string, ctx *cue.Context) (cue.Value, bool) {
	if v, ok := s.fields[name]; ok {
		return v, true
	}
	for _, p := range s.patterns {
		if p.label.Unify(ctx.Encode(name)).Validate() == nil {
			return p.value, true
		}
	}
	return cue.Value{}, false
}

func (s shape) element(n int) (cue.Value, bool) {
	if n < len(s.elements) {
		return s.elements[n], true
	}
	return s.rest, s.open
}

// known lists the fields that may be written, sorted.
func (s shape) known() []string {
	var names []string
	for name, v := range s.fields {
		if v.IncompleteKind() == cue.BottomKind && !shapeOf(v).structure {
			continue // there only to say why it is refused
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// unfitKey says what a key must be where only patterns are allowed.
func (s shape) unfitKey() string {
	for _, p := range s.patterns {
		label := fmt.Sprint(p.label)
		if words := cmp.Or(bounds[label], validators[label]); words != "" {
			return "key " + words
		}
	}
	return "unknown field"
}

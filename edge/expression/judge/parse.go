package judge

import (
	"github.com/seawall-dev/seawall/edge/expression"
)

// reader makes a form of an expression. What it does not understand of one makes it fail: nothing
// is known of it then.
type reader struct {
	facts Facts
	form  *form
	names map[name]int // the index of each variable of form

	regexps int // that are compiled
}

// parse reads an expression. It is false for one that is not understood.
func parse(text string, facts Facts) (*form, bool) {
	e, err := expression.Parse(text)
	if err != nil || len(e.Comments) > 0 { // whether there are comments is not sure
		return nil, false
	}
	r := &reader{facts: facts, form: &form{}, names: map[name]int{}}
	var ok bool
	r.form.root, ok = r.node(e.Root)
	return r.form, ok
}

// ops are the operators that join two expressions.
var ops = map[string]op{"and": opAnd, "or": opOr, "xor": opXor}

// node is the node of a condition.
func (r *reader) node(n expression.Node) (int, bool) {
	switch n := n.(type) {
	case *expression.Logical:
		left, ok := r.node(n.Items[0])
		for _, item := range n.Items[1:] {
			if !ok {
				break
			}
			var right int
			right, ok = r.node(item)
			left = r.form.add(node{op: ops[n.Op], a: left, b: right})
		}
		return left, ok
	case *expression.Group:
		return r.node(n.Of)
	case *expression.Not:
		a, ok := r.node(n.Of)
		return r.form.add(node{op: opNot, a: a}), ok
	case *expression.Comparison:
		return r.comparison(n)
	case *expression.Term:
		return r.condition(n)
	}
	return 0, false
}

// condition is a term that is true or false by itself.
func (r *reader) condition(n *expression.Term) (int, bool) {
	switch {
	case n.Name == "true" && !n.Call:
		return r.form.add(node{op: opTrue}), true
	case n.Name == "false" && !n.Call:
		return r.form.add(node{op: opNot, a: r.form.add(node{op: opTrue})}), true
	}
	if of, text, is := affix(n); is {
		return r.predicate(r.term(of), n.Name, text), true
	}
	t := r.term(n)
	return r.truth(t), !t.each
}

// affix is what starts_with(…, "…") and ends_with(…, "…") ask of a term.
func affix(n *expression.Term) (of *expression.Term, text string, is bool) {
	if n.Name != "starts_with" && n.Name != "ends_with" || len(n.Args) != 2 || len(n.Indexes) > 0 {
		return nil, "", false
	}
	of, isTerm := n.Args[0].(*expression.Term)
	literal, isLiteral := n.Args[1].(*expression.Literal)
	if !isTerm || of.Each() || !isLiteral || literal.Kind != expression.Text {
		return nil, "", false
	}
	return of, literal.Text, true
}

// term is what is known of a field or a call, with its indexes.
func (r *reader) term(n *expression.Term) term {
	t := r.known(n)
	t.key = n.String()
	return t
}

func (r *reader) known(n *expression.Term) (t term) {
	if len(n.Indexes) > 0 {
		return term{each: n.Each()} // an element may be missing
	}
	if !n.Call {
		return fieldOf(n.Name, r.facts)
	}
	convert, known := conversions[n.Name]
	if !known || len(n.Args) != 1 {
		return term{}
	}
	of, isTerm := n.Args[0].(*expression.Term)
	if !isTerm || of.Each() {
		return term{}
	}
	return convert(r.known(of))
}

// classOf is the class of a literal, and its values.
func classOf(l expression.Literal) (interval, class, bool) {
	if l.Kind == expression.Text {
		return interval{l.Text, l.Text}, texts, true
	}
	if low, high, ok := l.Integers(); ok {
		return interval{number(low), number(high)}, numbers, true
	}
	if first, last, ok := l.Addresses(); ok {
		return interval{address(first), address(last)}, addresses, true
	}
	return interval{}, unknownClass, false
}

// valuesOf are the values of literals of one class.
func valuesOf(literals []expression.Literal) (set, bool) {
	all := make([]interval, 0, len(literals))
	of := unknownClass
	for _, l := range literals {
		values, c, ok := classOf(l)
		if !ok || of != unknownClass && c != of {
			return set{}, false
		}
		of, all = c, append(all, values)
	}
	return setOf(of, all...), of != unknownClass
}

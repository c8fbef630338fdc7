package judge

import (
	"math"

	"github.com/seawall-dev/seawall/edge/expression"
)

// comparison is the node of a comparison.
func (r *reader) comparison(n *expression.Comparison) (int, bool) {
	t := r.term(n.Left)
	if t.each {
		return 0, false
	}
	switch n.Op {
	case "eq", "ne", "lt", "le", "gt", "ge":
		return r.ordered(t, n)
	case "in":
		return r.in(t, n.Right)
	}
	value := n.Right[0]
	if (n.Op == "bitwise_and") != (value.Kind == expression.Bare) {
		return 0, false
	}
	return r.predicate(t, n.Op, value.Text), true
}

// ordered is a comparison by an operator that knows an order.
func (r *reader) ordered(t term, n *expression.Comparison) (int, bool) {
	values, ok := valuesOf(n.Right)
	if !ok {
		return 0, false
	}
	op, value := n.Op, values.intervals[0].low
	switch {
	case op == "eq":
		return r.member(t, values)
	case op == "ne":
		equal, ok := r.member(t, values)
		return r.notEqual(t, equal), ok
	case values.class != numbers:
		return r.predicated(t, &predicate{op: op, text: value}), true
	}
	below := setOf(numbers, interval{number(math.MinInt64), value})
	if op == "lt" || op == "ge" {
		if value == number(math.MinInt64) {
			return 0, false
		}
		below.intervals[0].high = predecessor(value)
	}
	less, ok := r.member(t, below)
	if op == "gt" || op == "ge" {
		less = r.form.add(node{op: opAnd, a: r.present(t), b: r.form.add(node{op: opNot, a: less})})
	}
	return less, ok
}

// notEqual is "ne". The documentation says that it is false where a value is missing, the
// published source that it is true: so it may be either.
func (r *reader) notEqual(t term, equal int) int {
	present := r.present(t)
	other := r.form.add(node{op: opAnd, a: present, b: r.form.add(node{op: opNot, a: equal})})
	missing := r.form.add(node{op: opNot, a: present})
	missing = r.form.add(node{op: opAnd, a: missing, b: r.truth(term{})})
	return r.form.add(node{op: opOr, a: other, b: missing})
}

// in is that a term is in a named list, of which nothing is known, or one of some values. What an
// empty set is to the platform is not sure.
func (r *reader) in(t term, values []expression.Literal) (int, bool) {
	if len(values) == 1 && values[0].Kind == expression.List {
		return r.predicated(t, &predicate{op: "in", text: values[0].Text}), true
	}
	all, ok := valuesOf(values)
	if !ok {
		return 0, false
	}
	return r.member(t, all)
}

// member is that a term has one of some values.
func (r *reader) member(t term, s set) (int, bool) {
	v := &r.form.variables[r.variable(t, false)]
	if v.class != unknownClass && v.class != s.class {
		return 0, false
	}
	v.class = s.class
	return r.atom(t, atom{key: s.key(), set: &s}), true
}

// predicate is that a string does with a term what an operator says.
func (r *reader) predicate(t term, op, text string) int {
	pred := &predicate{op: op, text: text}
	if op == "matches" && t.fixed && r.regexps < mostRegexps {
		r.regexps++
		pred.compile()
	}
	return r.predicated(t, pred)
}

func (r *reader) predicated(t term, pred *predicate) int {
	return r.atom(t, atom{key: pred.key(), pred: pred})
}

package eval

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/expression"
)

// comparison compares a term, or each of what [*] stands for, with values.
func (v *evaluator) comparison(n *expression.Comparison) condition {
	value, each := v.term(n.Left)
	switch {
	case value.kind == unknown && each:
		return undecidedSeveral(value.lacks)
	case value.kind == unknown:
		return undecided(value.lacks)
	case each:
		return several(value.list, func(e Value) Result { return v.compare(n, e) })
	}
	return condition{one: v.compare(n, value)}
}

func (v *evaluator) compare(n *expression.Comparison, value Value) Result {
	switch {
	case value.kind == unknown:
		return Result{Lacks: value.lacks}
	case value.kind == missing && n.Op == "ne":
		return Result{Lacks: []Lack{{Why: fmt.Sprintf(
			`%s is missing: whether "ne" is true then, the vendor's documents and its engine do not say alike (write: not … eq …)`, n.Left)}}}
	case value.kind == missing: // D partials/rules-language-missing-value-behavior.mdx, E ast/field_expr.rs
		return Result{Verdict: False, Why: n, Saw: "missing"}
	}
	if !v.spend(value.size()) {
		return Result{Lacks: []Lack{tooMuch}}
	}
	is, lack := v.holds(n, value)
	if lack != nil {
		return Result{Lacks: []Lack{*lack}}
	}
	return Result{Verdict: verdictOf(is), Why: n, Saw: value.shown()}
}

// holds tells whether a comparison is true of a value.
func (v *evaluator) holds(n *expression.Comparison, value Value) (is bool, lack *Lack) {
	if n.Op == "in" {
		return v.in(n, value)
	}
	right := n.Right[0]
	switch n.Op {
	case "contains", "matches", "wildcard", "strict wildcard":
		text, ok := right.Bytes()
		if value.kind != texts || !ok {
			return false, unfit(n)
		}
		return v.text(n.Op, text, value.text)
	case "bitwise_and":
		low, _, ok := right.Integers()
		if value.kind != numbers || !ok {
			return false, unfit(n)
		}
		return value.number&low != 0, nil
	}
	order, ordered, ok := orderOf(value, right)
	switch {
	case !ok:
		return false, unfit(n)
	case !ordered:
		return n.Op == "ne", nil // E ast/field_expr.rs, matches_opt
	}
	return inOrder(n.Op, order), nil
}

func unfit(n *expression.Comparison) *Lack {
	return &Lack{Why: fmt.Sprintf("%s cannot be compared so", n.Left)}
}

// inOrder reports whether an operator is true of values in an order.
func inOrder(op string, order int) bool {
	switch op {
	case "eq":
		return order == 0
	case "ne":
		return order != 0
	case "lt":
		return order < 0
	case "le":
		return order <= 0
	case "gt":
		return order > 0
	}
	return order >= 0
}

// orderOf is the order of a value and a literal of its type. Addresses of two families have none.
func orderOf(value Value, l expression.Literal) (order int, ordered, ok bool) {
	switch value.kind {
	case texts:
		text, ok := l.Bytes()
		return strings.Compare(value.text, text), true, ok
	case numbers:
		n, _, ok := l.Integers()
		return cmp.Compare(value.number, n), true, ok
	case addresses:
		a, _, ok := l.Addresses()
		return value.address.Compare(a), value.address.Is4() == a.Is4(), ok
	default:
		return 0, false, false
	}
}

// in tells whether a value is in a set or in a list.
func (v *evaluator) in(n *expression.Comparison, value Value) (is bool, lack *Lack) {
	if len(n.Right) == 1 && n.Right[0].Kind == expression.List {
		list, said := v.request.lists[n.Right[0].Text]
		if !said {
			return false, &Lack{Name: "$" + n.Right[0].Text}
		}
		is, sure := list.has(value)
		if !sure {
			return false, &Lack{Why: fmt.Sprintf("whether the list $%s has %s: it has elements of another type, or a * that may stand for it", n.Right[0].Text, value.shown())}
		}
		return is, nil
	}
	for _, l := range n.Right {
		within, ok := value.within(l)
		if !ok {
			return false, unfit(n)
		}
		is = is || within
	}
	return is, nil
}

// within reports whether a value is a literal, or in the range or the network that it is.
func (v Value) within(l expression.Literal) (is, ok bool) {
	switch v.kind {
	case texts:
		text, ok := l.Bytes()
		return v.text == text, ok
	case numbers:
		low, high, ok := l.Integers()
		return low <= v.number && v.number <= high, ok
	case addresses:
		first, last, ok := l.Addresses()
		return first.Compare(v.address) <= 0 && v.address.Compare(last) <= 0, ok // those of version 4 are in front of all others
	default:
		return false, false
	}
}

// NamedList is what a list of the platform has, as a request says it.
type NamedList struct {
	networks []netip.Prefix
	values   []Value // numbers and texts
}

// has is not sure where an element has another type than the value, such as a network with a slip in
// it, or is a name like *.shop.example that may stand for the value (D waf/tools/lists/custom-lists).
func (l NamedList) has(value Value) (is, sure bool) {
	if value.kind == addresses {
		is = slices.ContainsFunc(l.networks, func(n netip.Prefix) bool { return n.Contains(value.address) })
		return is, is || len(l.networks) == len(l.values)
	}
	is = slices.ContainsFunc(l.values, value.equal)
	return is, is || !slices.ContainsFunc(l.values, func(e Value) bool {
		below, wild := strings.CutPrefix(e.text, "*")
		return e.kind != value.kind || wild && strings.HasSuffix(lower(value.text), lower(below))
	})
}

// text tells whether an operator on texts is true.
func (v *evaluator) text(op, text, value string) (is bool, lack *Lack) {
	switch op {
	case "contains":
		return strings.Contains(value, text), nil
	case "matches":
		return v.matches(text, value)
	}
	is, ok := Wildcard(text, value, op == "wildcard")
	if !ok {
		return false, &Lack{Why: fmt.Sprintf("%q is no wildcard", text)}
	}
	return is, nil
}

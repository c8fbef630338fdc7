package eval

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge/expression"
)

// term is the value of a field or a call, with its indexes. each says that it is an array of the
// values of which [*] makes many; one that is missing has none.
func (v *evaluator) term(n *expression.Term) (value Value, each bool) {
	bare := n
	if len(n.Indexes) > 0 {
		plain := *n
		plain.Indexes = nil
		bare = &plain
	}
	value, each = v.base(bare), false
	if value.kind == unknown {
		return value, n.Each()
	}
	current := []Value{value}
	for _, index := range n.Indexes {
		var next []Value
		for _, at := range current {
			if index.Kind == expression.Each {
				next = append(next, elements(at)...)
			} else if e := element(at, index); e.kind != missing {
				next = append(next, e)
			}
			if !v.spend(len(next)) {
				return lacking(tooMuch), n.Each()
			}
		}
		current, each = next, each || index.Kind == expression.Each
		if len(current) == 0 && !each {
			return Value{}, n.Each()
		}
	}
	// An array that is missing is another thing than an empty one, to any and all.
	if each && len(current) == 0 && v.isMissing(value, n.Indexes) {
		return Value{}, true
	}
	if each {
		return List(current...), true
	}
	return current[0], false
}

// isMissing reports whether what the last [*] stands for is missing, where that is the only one.
func (v *evaluator) isMissing(value Value, indexes []expression.Index) bool {
	for i, index := range indexes {
		if index.Kind == expression.Each {
			return value.kind == missing && i == len(indexes)-1
		}
		value = element(value, index)
	}
	return false
}

// base is the value of a term without indexes.
func (v *evaluator) base(n *expression.Term) Value {
	if !n.Call {
		if value, said := v.request.fields[n.Name]; said {
			return value
		}
		return lacking(Lack{Name: n.Name})
	}
	if len(v.request.calls) > 0 {
		if value, said := v.request.calls[n.String()]; said {
			return value
		}
	}
	return v.call(n)
}

func elements(of Value) []Value {
	if of.kind == tables {
		var all []Value
		for _, key := range slices.Sorted(maps.Keys(of.table)) {
			all = append(all, of.table[key])
		}
		return all
	}
	return of.list
}

// element is one of an array or a map; missing where there is none.
func element(of Value, index expression.Index) Value {
	switch {
	case index.Kind == expression.Number && of.kind == lists && uint64(index.Number) < uint64(len(of.list)):
		return of.list[index.Number]
	case index.Kind == expression.Key && of.kind == tables:
		return of.table[index.Key]
	}
	return Value{}
}

// call is what a function returns. One whose first argument has [*] is called for each of it, and
// what is missing then is left out (E ast/function_expr.rs).
func (v *evaluator) call(n *expression.Term) Value {
	if !v.spend(callWork) {
		return lacking(tooMuch)
	}
	if n.Name == "any" || n.Name == "all" {
		r := v.quantifier(n)
		if r.Verdict == Unknown {
			return lacking(r.Lacks...)
		}
		return Truth(r.Verdict == True)
	}
	f, known := functions[n.Name]
	if !known {
		return lacking(Lack{Name: n.String()})
	}
	args, mapped, lacks := v.arguments(n)
	switch {
	case lacks != nil:
		return lacking(lacks...)
	case len(args) < f.least:
		return because(fmt.Sprintf("%s has too few arguments", n.Name))
	case !mapped:
		return v.apply(n, f, args)
	case args[0].kind == missing:
		return Value{}
	}
	var all []Value
	for _, e := range args[0].list {
		result := v.apply(n, f, append([]Value{e}, args[1:]...))
		if result.kind == unknown {
			return result // it may be missing, so that not even the number is known
		}
		if result.kind != missing {
			all = append(all, result)
		}
	}
	return List(all...)
}

// arguments are those of a call. lacks say that some are not known.
func (v *evaluator) arguments(n *expression.Term) (args []Value, mapped bool, lacks []Lack) {
	for i, arg := range n.Args {
		value, each := v.argument(arg)
		if value.kind == unknown {
			lacks = together(lacks, value.lacks)
		}
		if each && i > 0 {
			return nil, false, []Lack{{Why: "only the first argument of a function may have [*]"}}
		}
		args, mapped = append(args, value), mapped || each
	}
	return args, mapped, lacks
}

func (v *evaluator) argument(arg expression.Node) (value Value, each bool) {
	switch arg := arg.(type) {
	case *expression.Term:
		return v.term(arg)
	case *expression.Literal:
		return literal(*arg), false
	}
	c := v.condition(arg)
	switch {
	case c.lacks != nil:
		return lacking(c.lacks...), true
	case !c.several:
		return c.one.value(), false
	}
	all := make([]Value, len(c.all))
	for i, r := range c.all {
		if all[i] = r.value(); r.Verdict == Unknown {
			return all[i], false
		}
	}
	return List(all...), false
}

func (r Result) value() Value {
	if r.Verdict == Unknown {
		return lacking(r.Lacks...)
	}
	return Truth(r.Verdict == True)
}

// literal is the value of an argument that the expression says itself.
func literal(l expression.Literal) Value {
	if l.Kind == expression.Text {
		return Text(l.Text)
	}
	if first, last, ok := l.Addresses(); ok && first == last {
		return Address(first)
	}
	if low, high, ok := l.Integers(); ok && low == high {
		return Number(low)
	}
	if bytes, ok := l.Bytes(); ok {
		return Text(bytes)
	}
	return because(fmt.Sprintf("%s is no value", l.Text))
}

// apply calls a function with arguments that are known.
func (v *evaluator) apply(n *expression.Term, f function, args []Value) Value {
	size := 0
	for _, arg := range args {
		if arg.kind == missing && !f.takesMissing {
			return Value{} // D partials/rules-language-missing-value-behavior.mdx
		}
		size += arg.size()
	}
	if !v.spend(size) || size > mostValue {
		return lacking(tooMuch)
	}
	result := f.of(args)
	if result.kind == unknown && result.lacks[0].Why == "" {
		result.lacks = []Lack{{Name: n.String()}}
	}
	return result
}

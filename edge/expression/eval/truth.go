package eval

import "github.com/seawall-dev/seawall/edge/expression"

// truth is a term that is a condition itself. One that is missing is false (E ast/field_expr.rs,
// IsTrue).
func (v *evaluator) truth(n *expression.Term) condition {
	if n.Call && (n.Name == "any" || n.Name == "all") {
		return condition{one: v.quantifier(n)}
	}
	value, each := v.term(n)
	each = each || isMapped(n)
	switch {
	case value.kind == unknown && each:
		return undecidedSeveral(value.lacks)
	case value.kind == unknown:
		return undecided(value.lacks)
	case each:
		return several(value.list, func(e Value) Result { return truthOf(e, n) })
	case value.kind == missing:
		return decided(false, n, "missing")
	case value.kind == truths:
		return decided(value.truth, n, v.looked(n))
	}
	return undecided([]Lack{{Why: n.String() + " is no condition"}})
}

// looked is the value that a function looked at first; empty for none.
func (v *evaluator) looked(n *expression.Term) string {
	if !n.Call || len(n.Args) == 0 {
		return ""
	}
	first, is := n.Args[0].(*expression.Term)
	if !is {
		return ""
	}
	value, _ := v.term(first)
	return value.shown()
}

// isMapped reports whether a call returns an array because its first argument has [*].
func isMapped(n *expression.Term) bool {
	if !n.Call || len(n.Args) == 0 || len(n.Indexes) > 0 || n.Name == "any" || n.Name == "all" {
		return false
	}
	first, is := n.Args[0].(*expression.Term)
	return is && first.Each()
}

func truthOf(e Value, n expression.Node) Result {
	switch e.kind {
	case truths:
		return Result{Verdict: verdictOf(e.truth), Why: n}
	case unknown:
		return Result{Lacks: e.lacks}
	default:
		return Result{Lacks: []Lack{{Why: expression.Write(n) + " is no condition"}}}
	}
}

func several(values []Value, of func(Value) Result) condition {
	c := condition{several: true, all: make([]Result, len(values))}
	for i, e := range values {
		c.all[i] = of(e)
	}
	return c
}

// quantifier is any(…) or all(…). All of none are true, but where the argument is a term that is
// missing itself (E ast/logical_expr.rs, Quantifier).
func (v *evaluator) quantifier(n *expression.Term) Result {
	if !v.spend(callWork) {
		return Result{Lacks: []Lack{tooMuch}}
	}
	if len(n.Args) != 1 || len(n.Indexes) > 0 {
		return Result{Lacks: []Lack{{Why: n.Name + " has one argument"}}}
	}
	if t, is := n.Args[0].(*expression.Term); is {
		if value, _ := v.term(t); value.kind == missing {
			return Result{Verdict: False, Why: n, Saw: "missing"}
		}
	}
	c := v.condition(n.Args[0])
	switch {
	case !c.several && c.one.Verdict == Unknown:
		return c.one
	case !c.several:
		return Result{Lacks: []Lack{{Why: n.Name + " needs an array of conditions"}}}
	case c.lacks != nil:
		return Result{Lacks: c.lacks}
	}
	deciding := map[string]Verdict{"any": True, "all": False}[n.Name]
	var lacks []Lack
	for _, r := range c.all {
		switch r.Verdict {
		case deciding:
			return Result{Verdict: deciding, Why: n, Saw: r.Saw}
		case Unknown:
			lacks = together(lacks, r.Lacks)
		default:
		}
	}
	if lacks != nil {
		return Result{Lacks: lacks}
	}
	return Result{Verdict: verdictOf(n.Name == "all"), Why: n}
}

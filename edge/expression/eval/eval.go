// Package eval tells whether an expression is true of one request.
//
//	request, err := eval.Form{Method: "GET", URL: "https://shop.example/login"}.Request()
//	result := request.Evaluate(e)
//	fmt.Println(result.Verdict, result.Why, result.Lacks)
//
// There are three answers: true, false, and not known. Nothing is guessed: a field of which the
// request says nothing, and all that the platform alone can know of it, is not known, and the
// result says which fields were asked for. Conditions are joined by Kleene's rules, so that what
// is known of a part can be enough; to say more of a request never turns true into false, or the
// other way round.
//
// What operators and functions do is as in the vendor's published engine (E:
// cloudflare/wirefilter, engine/src) and its documents (D: ruleset-engine/rules-language of
// cloudflare/cloudflare-docs). Where the two differ, as for "ne" of what is missing, it is not
// known. testdata/corpus.txt has a line for each, with its source.
package eval

import (
	"github.com/seawall-dev/seawall/edge/expression"
)

// Verdict is what an expression is of a request.
type Verdict byte

// The verdicts.
const (
	Unknown Verdict = iota
	False
	True
)

// String is the verdict in lower case.
func (v Verdict) String() string { return [...]string{"unknown", "false", "true"}[v] }

func verdictOf(is bool) Verdict {
	if is {
		return True
	}
	return False
}

// Result is what an expression is of a request, and why.
type Result struct {
	Verdict Verdict
	// Why is the part that decided: of "and" the first one that is false, of "or" the first
	// one that is true, and else the whole. It is nil where nothing decided.
	Why expression.Node
	Saw string // the value that it looked at; empty for several
	// Lacks are what is not known, each once; none for a verdict.
	Lacks []Lack
}

// mostWork bounds the bytes that one evaluation looks at, those of a regular expression once for
// each of its instructions: well below a second.
const mostWork = 16 << 20

// callWork is what a call takes, however little it looks at. Calls in calls are evaluated more than
// once, so that deep ones would take time without end.
const callWork = 4 << 10

// mostValue bounds the size of a value that functions make.
const mostValue = 1 << 20

// Evaluate tells whether an expression is true of the request.
func (r Request) Evaluate(e expression.Expr) Result {
	if e.Root == nil {
		return Result{Lacks: []Lack{{Why: "there is no expression"}}}
	}
	v := &evaluator{request: r}
	c := v.condition(e.Root)
	if c.several {
		return Result{Lacks: []Lack{{Why: "it is an array of conditions, not one"}}}
	}
	return c.one
}

// Value is what a term has for the request: a field, a call, or an element of one.
func (r Request) Value(t *expression.Term) Value {
	v := &evaluator{request: r}
	value, _ := v.term(t)
	return value
}

type evaluator struct {
	request Request
	spent   int
	regexps map[string]compiled
}

// spend counts work on some bytes. It is false where there was too much of it.
func (v *evaluator) spend(bytes int) bool {
	if bytes >= mostWork-v.spent {
		v.spent = mostWork // nothing more is looked at
		return false
	}
	v.spent += bytes + 1
	return true
}

var tooMuch = Lack{Why: "it takes too much time to tell"}

// condition is one verdict, or one for each element where a part has [*]. Several of which not
// even the number is known have lacks.
type condition struct {
	one     Result
	several bool
	all     []Result
	lacks   []Lack
}

func decided(is bool, why expression.Node, saw string) condition {
	return condition{one: Result{Verdict: verdictOf(is), Why: why, Saw: saw}}
}

func undecided(lacks []Lack) condition { return condition{one: Result{Lacks: lacks}} }

// condition evaluates something that is true or false.
func (v *evaluator) condition(n expression.Node) condition {
	if !v.spend(0) {
		return undecided([]Lack{tooMuch})
	}
	switch n := n.(type) {
	case *expression.Group:
		return v.condition(n.Of)
	case *expression.Not:
		return v.condition(n.Of).each(func(r Result) Result {
			r.Verdict = [...]Verdict{Unknown, True, False}[r.Verdict]
			return r
		})
	case *expression.Logical:
		return v.logical(n)
	case *expression.Comparison:
		return v.comparison(n)
	case *expression.Term:
		return v.truth(n)
	}
	return undecided([]Lack{{Why: "a value is no condition"}})
}

// each does something to each verdict.
func (c condition) each(do func(Result) Result) condition {
	if !c.several {
		c.one = do(c.one)
	}
	for i, r := range c.all {
		c.all[i] = do(r)
	}
	return c
}

// logical joins conditions. Those of arrays are joined element by element, as far as the shortest
// one goes (E ast/logical_expr.rs).
func (v *evaluator) logical(n *expression.Logical) condition {
	items := make([]condition, len(n.Items))
	for i, item := range n.Items {
		items[i] = v.condition(item)
		if items[i].several != items[0].several {
			return undecided([]Lack{{Why: "a condition and an array of conditions are joined"}})
		}
		if items[i].lacks != nil {
			return items[i]
		}
	}
	if !items[0].several {
		of := make([]Result, len(items))
		for i, item := range items {
			of[i] = item.one
		}
		return condition{one: joined(n, of)}
	}
	shortest := len(items[0].all)
	for _, item := range items {
		shortest = min(shortest, len(item.all))
	}
	all := condition{several: true}
	for at := range shortest {
		of := make([]Result, len(items))
		for i, item := range items {
			of[i] = item.all[at]
		}
		if !v.spend(len(of)) {
			return undecidedSeveral([]Lack{tooMuch})
		}
		all.all = append(all.all, joined(n, of))
	}
	return all
}

func undecidedSeveral(lacks []Lack) condition { return condition{several: true, lacks: lacks} }

// joined is what an operator makes of verdicts.
func joined(n *expression.Logical, of []Result) Result {
	deciding := map[string]Verdict{"and": False, "or": True}[n.Op] // Unknown for xor: nothing decides alone
	odd := false
	var lacks []Lack
	for _, r := range of {
		switch {
		case r.Verdict == Unknown:
			lacks = together(lacks, r.Lacks)
		case r.Verdict == deciding:
			return r
		}
		odd = odd != (r.Verdict == True)
	}
	switch {
	case lacks != nil:
		return Result{Lacks: lacks}
	case n.Op == "xor":
		return Result{Verdict: verdictOf(odd), Why: n}
	}
	return Result{Verdict: verdictOf(n.Op == "and"), Why: n}
}

// mostLacks bounds what a result names.
const mostLacks = 20

// together are lacks, each once.
func together(a, b []Lack) []Lack {
	all := a[:len(a):len(a)]
	for _, l := range b {
		known := false
		for _, k := range all {
			known = known || k == l
		}
		if !known && len(all) < mostLacks {
			all = append(all, l)
		}
	}
	return all
}

package meet

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/edge/expression/eval"
)

// undeclared notes rules of a phase that may stand in front of others, which is not declared, and
// would end the request there, or in another way. by is the place of the one that does; -1 for none.
func (t *trace) undeclared(o order, start, by int) {
	steps := t.Steps[start:]
	results, ending := t.results(start, by)
	for j := range steps {
		e, behind := &steps[j], by >= 0 && start+j > by
		if results[j].Verdict == eval.False || behind && slices.ContainsFunc(ending, func(r *Rule) bool { return o.front(r, e.Rule) }) {
			continue
		}
		if behind {
			open := which(t.Steps[by].Rule, e.Rule)
			e.Open = append(e.Open, open)
			if e.terminates() {
				t.mayEnd = append(t.mayEnd, open)
			}
			if e.Ends() && e.Action != t.Steps[by].Action {
				t.could[e.Action] = true
				t.Lacks = append(append(t.Lacks, open), results[j].Lacks...)
			}
		}
		if e.Ends() {
			t.before(o, steps[:j], by-start, e.Rule)
		}
	}
}

// results are those of the rules of a phase, also of those behind the one that ends it; ending are
// the rules that surely end each request that comes to them.
func (t *trace) results(start, by int) (results []eval.Result, ending []*Rule) {
	steps := t.Steps[start:]
	results = make([]eval.Result, len(steps))
	for j, s := range steps {
		switch {
		case s.Off == "":
			results[j] = eval.Result{Verdict: s.Verdict, Lacks: s.Lacks}
		case s.Enabled && by >= 0 && start+j > by:
			results[j] = t.request.Evaluate(s.expr)
		default:
			results[j].Verdict = eval.False
		}
		if results[j].Verdict == eval.True && s.Ends() {
			ending = append(ending, s.Rule)
		}
	}
	return results, ending
}

// before leaves open whether the request comes to those rules that the order of this one allows
// behind it.
func (t *trace) before(o order, steps []Step, by int, e *Rule) {
	for i := range steps {
		if r := &steps[i]; (by < 0 || i <= by) && r.Off == "" && r.Verdict != eval.False && !o.front(r.Rule, e) {
			r.Open = append(r.Open, which(r.Rule, e))
			if !e.terminates() {
				r.passes = append(r.passes, which(r.Rule, e))
			}
		}
	}
}

func which(a, b *Rule) eval.Lack {
	return eval.Lack{Why: fmt.Sprintf("which of %q and %q stands in front: say it with order", a.Key, b.Key)}
}

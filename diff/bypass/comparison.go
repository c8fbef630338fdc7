package bypass

import "math"

// comparison reads a comparison, or something that is true or false by itself.
func (p *parser) comparison() (int, bool) {
	start := p.at
	if n, ok := p.affix(); ok {
		return n, true
	}
	p.at = start
	t, ok := p.term()
	if !ok || t.each {
		return 0, false
	}
	t.key = p.keyFrom(start)
	if p.peek().kind != tokenWord {
		return p.truth(t), true
	}
	switch op := p.peek().text; op {
	case "eq", "ne", "lt", "le", "gt", "ge":
		p.at++
		return p.ordered(t, op)
	case "in":
		p.at++
		return p.in(t)
	case "contains", "matches", "wildcard":
		p.at++
		return p.predicate(t, op, p.take())
	case "strict":
		p.at++
		return p.predicate(t, "strict wildcard", p.afterWildcard())
	case "bitwise_and":
		p.at++
		value := p.take()
		return p.predicated(t, &predicate{op: op, text: value.text}), value.kind == tokenValue
	}
	return p.truth(t), true
}

// affix reads starts_with(…, "…") or ends_with(…, "…").
func (p *parser) affix() (int, bool) {
	op := p.take()
	if !op.is("starts_with") && !op.is("ends_with") || !p.accept("(") {
		return 0, false
	}
	start := p.at
	t, ok := p.term()
	if !ok || t.each {
		return 0, false
	}
	t.key = p.keyFrom(start)
	if !p.accept(",") || p.tokens[p.at+1].text != ")" {
		return 0, false
	}
	n, ok := p.predicate(t, op.text, p.take())
	return n, ok && p.accept(")")
}

// afterWildcard is the token behind the word wildcard, which is next.
func (p *parser) afterWildcard() token {
	if !p.accept("wildcard") {
		return token{}
	}
	return p.take()
}

// ordered reads the value behind an operator that knows an order.
func (p *parser) ordered(t term, op string) (int, bool) {
	values, ok := setOfToken(p.take())
	if !ok || len(values.intervals) != 1 || values.intervals[0].low != values.intervals[0].high {
		return 0, false
	}
	value := values.intervals[0].low
	switch {
	case op == "eq":
		return p.member(t, values)
	case op == "ne":
		equal, ok := p.member(t, values)
		return p.notEqual(t, equal), ok
	case values.class != numbers:
		return p.predicated(t, &predicate{op: op, text: value}), true
	}
	below := setOf(numbers, interval{number(math.MinInt64), value})
	if op == "lt" || op == "ge" {
		if value == number(math.MinInt64) {
			return 0, false
		}
		below.intervals[0].high = predecessor(value)
	}
	n, ok := p.member(t, below)
	if op == "gt" || op == "ge" {
		n = p.form.add(node{op: opAnd, a: p.present(t), b: p.form.add(node{op: opNot, a: n})})
	}
	return n, ok
}

// notEqual is "ne". The documentation says that it is false where a value is missing, the
// published source that it is true: so it may be either.
func (p *parser) notEqual(t term, equal int) int {
	present := p.present(t)
	other := p.form.add(node{op: opAnd, a: present, b: p.form.add(node{op: opNot, a: equal})})
	missing := p.form.add(node{op: opNot, a: present})
	missing = p.form.add(node{op: opAnd, a: missing, b: p.truth(term{})})
	return p.form.add(node{op: opOr, a: other, b: missing})
}

// in reads what follows "in": a named list, of which nothing is known, or values.
func (p *parser) in(t term) (int, bool) {
	if list := p.peek(); list.kind == tokenList {
		p.at++
		return p.predicated(t, &predicate{op: "in", text: list.text}), true
	}
	if !p.accept("{") {
		return 0, false
	}
	var all []interval
	class := unknownClass
	for !p.accept("}") {
		one, ok := setOfToken(p.take())
		if !ok || class != unknownClass && class != one.class {
			return 0, false
		}
		class, all = one.class, append(all, one.intervals...)
	}
	if class == unknownClass {
		return 0, false
	}
	return p.member(t, setOf(class, all...))
}

// setOfToken is the values of a literal.
func setOfToken(t token) (set, bool) {
	switch t.kind {
	case tokenText:
		return setOf(texts, interval{t.text, t.text}), true
	case tokenValue:
		values, class, ok := valuesOf(t.text)
		return setOf(class, values), ok
	default:
		return set{}, false
	}
}

// member is that a term has one of some values.
func (p *parser) member(t term, s set) (int, bool) {
	v := &p.form.variables[p.variable(t, false)]
	if v.class != unknownClass && v.class != s.class {
		return 0, false
	}
	v.class = s.class
	return p.atom(t, atom{key: s.key(), set: &s}), true
}

// predicate is that a string does with a term what an operator says.
func (p *parser) predicate(t term, op string, text token) (int, bool) {
	if text.kind != tokenText {
		return 0, false
	}
	pred := &predicate{op: op, text: text.text}
	if op == "matches" && t.fixed && p.regexps < mostRegexps {
		p.regexps++
		pred.compile()
	}
	return p.predicated(t, pred), true
}

func (p *parser) predicated(t term, pred *predicate) int {
	return p.atom(t, atom{key: pred.key(), pred: pred})
}

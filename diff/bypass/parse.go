package bypass

import "slices"

// deepest is how deep parentheses, "not" and functions may nest; the platform takes 128.
const deepest = 200

// parser reads tokens into a form. The operators bind in this order: not, and, xor, or.
type parser struct {
	tokens []token
	closes []int // for a token that opens brackets: the one that closes them
	at     int
	depth  int
	facts  Facts
	form   *form
	names  map[name]int // the index of each variable of form

	regexps int // that are compiled
}

// parse reads an expression. It is false for one that is not understood.
func parse(expression string, facts Facts) (*form, bool) {
	tokens, ok := tokenize(expression)
	if !ok {
		return nil, false
	}
	closes, ok := matching(tokens)
	if !ok {
		return nil, false
	}
	p := &parser{tokens: tokens, closes: closes, facts: facts, names: map[name]int{}}
	p.form = &form{nodes: make([]node, 0, len(tokens))}
	p.form.root, ok = p.either(0)
	return p.form, ok && p.peek().kind == tokenEnd
}

var pairs = []string{"()", "[]", "{}"}

// matching finds the token that closes each bracket. It is false where one has none, or too many
// are open.
func matching(tokens []token) ([]int, bool) {
	closes := make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		if t.kind != tokenSymbol {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			if open = append(open, i); len(open) > deepest {
				return nil, false
			}
		case ")", "]", "}":
			if len(open) == 0 {
				return nil, false
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if !slices.Contains(pairs, tokens[last].text+t.text) {
				return nil, false
			}
			closes[last] = i
		}
	}
	return closes, len(open) == 0
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is that word or symbol.
func (p *parser) accept(text string) bool {
	if !p.peek().is(text) {
		return false
	}
	p.at++
	return true
}

// joins are the operators that join two expressions, those that bind least first.
var joins = [...]struct {
	name string
	op   op
}{{"or", opOr}, {"xor", opXor}, {"and", opAnd}}

// either reads expressions that are joined by joins[level] or one that binds more.
func (p *parser) either(level int) (int, bool) {
	if level == len(joins) {
		return p.negated()
	}
	left, ok := p.either(level + 1)
	for ok && p.accept(joins[level].name) {
		var right int
		right, ok = p.either(level + 1)
		left = p.form.add(node{op: joins[level].op, a: left, b: right})
	}
	return left, ok
}

// negated reads an expression that no operator joins.
func (p *parser) negated() (int, bool) {
	if p.depth++; p.depth > deepest {
		return 0, false
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"):
		a, ok := p.negated()
		return p.form.add(node{op: opNot, a: a}), ok
	case p.accept("("):
		a, ok := p.either(0)
		return a, ok && p.accept(")")
	case p.accept("true"):
		return p.form.add(node{op: opTrue}), true
	case p.accept("false"):
		return p.form.add(node{op: opNot, a: p.form.add(node{op: opTrue})}), true
	}
	return p.comparison()
}

// keywords are the words that are no names.
var keywords = []string{
	"and", "or", "xor", "not", "eq", "ne", "lt", "le", "gt", "ge", "in",
	"contains", "matches", "wildcard", "strict", "bitwise_and", "true", "false",
}

// term reads a field or the call of a function, with its indexes.
func (p *parser) term() (term, bool) {
	if p.depth++; p.depth > deepest {
		return term{}, false
	}
	defer func() { p.depth-- }()
	name := p.take()
	if name.kind != tokenWord || slices.Contains(keywords, name.text) {
		return term{}, false
	}
	t := fieldOf(name.text, p.facts)
	if p.peek().is("(") {
		t = p.call(name.text)
	}
	for p.accept("[") {
		t = term{each: t.each || p.peek().is("*")} // an element may be missing
		switch index := p.take(); {
		case index.kind == tokenValue, index.kind == tokenText, index.is("*"):
		default:
			return term{}, false
		}
		if !p.accept("]") {
			return term{}, false
		}
	}
	return t, true
}

// call reads the arguments of a function, which begin with a bracket. Of functions that are not
// known, nothing is known but where they end.
func (p *parser) call(name string) term {
	open := p.at
	if convert, known := conversions[name]; known {
		p.at++
		if t, ok := p.term(); ok && !t.each && p.accept(")") {
			return convert(t)
		}
	}
	p.at = p.closes[open] + 1
	return term{}
}

// keyFrom is a form of the tokens since start that no others have.
func (p *parser) keyFrom(start int) string {
	if p.at == start+1 {
		return p.tokens[start].key()
	}
	var key []byte
	for _, t := range p.tokens[start:p.at] {
		key = append(append(key, t.key()...), ' ')
	}
	return string(key)
}

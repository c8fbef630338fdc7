package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/nearest"
)

// deepest is how deep parentheses, "not" and calls may nest. The published engine takes 128;
// where an execute rule and a rule that it runs are joined, it is a few more.
const deepest = 200

// parser reads an expression by recursive descent, as the published engine does: without tokens,
// because what may come next depends on what came before. Operators bind in this order: not,
// and, xor, or.
type parser struct {
	scanner
	depth, most int
}

// Parse reads an expression. The error is a [*SyntaxError].
func Parse(text string) (Expr, error) {
	p := &parser{scanner: scanner{text: text}}
	p.space()
	root, ok := p.joined(0)
	if ok {
		if p.space(); p.at < len(p.text) {
			p.trailing()
		}
	}
	if p.mistake != nil {
		return Expr{}, &SyntaxError{*p.mistake}
	}
	return Expr{Root: root, Comments: p.comment, tab: p.tab, depth: p.most}, nil
}

// trailing fails at what follows an expression that is whole.
func (p *parser) trailing() {
	at, found := p.found()
	hint := ""
	word := p.rest()[:span(p.rest(), isWord)]
	switch {
	case p.text[p.at] == ')':
		hint = "it closes nothing"
	case p.text[p.at] == '[':
		hint = "an index follows its field at once, without a blank"
	case slices.Contains(textFunctions, word):
		hint = fmt.Sprintf(`%s is a function: %s(http.request.uri.path, "…")`, word, word)
	case word != "":
		hint = nearest.Hint(word, operatorWords, "two conditions are joined by and, or or xor")
	}
	p.fail(at, "expected an operator or the end, found "+found, hint)
}

// textFunctions look like operators in the vendor's dashboard.
var textFunctions = []string{"starts_with", "ends_with"}

// joins are the operators that join expressions, those that bind least first.
var joins = [...]struct{ english, sign string }{{"or", "||"}, {"xor", "^^"}, {"and", "&&"}}

// joined reads expressions that are joined by joins[level] or one that binds more.
func (p *parser) joined(level int) (Node, bool) {
	if level == len(joins) {
		return p.simple()
	}
	first, ok := p.joined(level + 1)
	if !ok {
		return nil, false
	}
	var items []Node
	for {
		end := p.at
		if p.space(); !p.accept(joins[level].english) && !p.accept(joins[level].sign) {
			p.at = end
			break
		}
		p.space()
		next, ok := p.joined(level + 1)
		if !ok {
			return nil, false
		}
		if items == nil {
			items = []Node{first}
		}
		items = append(items, next)
	}
	if items == nil {
		return first, true
	}
	return &Logical{Span{first.Where().At, p.at}, joins[level].english, items}, true
}

// nested reads something that is one level deeper.
func (p *parser) nested(read func() (Node, bool)) (Node, bool) {
	if p.depth++; p.depth > deepest {
		return nil, p.fail(Span{p.at, p.at + 1}, fmt.Sprintf("nests deeper than %d", deepest), "")
	}
	p.most = max(p.most, p.depth)
	n, ok := read()
	p.depth--
	return n, ok
}

// simple reads an expression that no operator joins.
func (p *parser) simple() (Node, bool) {
	start := p.at
	switch {
	case p.accept("("):
		return p.nested(func() (Node, bool) { return p.group(start) })
	case p.isNot():
		return p.nested(func() (Node, bool) { return p.not(start) })
	}
	left, ok := p.term()
	if !ok {
		return nil, false
	}
	return p.comparison(left)
}

func (p *parser) group(start int) (Node, bool) {
	p.space()
	of, ok := p.joined(0)
	if !ok {
		return nil, false
	}
	if p.space(); !p.accept(")") {
		if p.at == len(p.text) {
			return nil, p.fail(Span{start, start + 1}, `"(" is not closed`, "")
		}
		return nil, p.expected(`an operator or ")"`, p.afterValue())
	}
	return &Group{Span{start, p.at}, of}, true
}

// afterValue is what to try where something follows a condition that is whole.
func (p *parser) afterValue() string {
	switch p.text[p.at] {
	case '"':
		return "several values stand in a set: in {\"a\" \"b\"}"
	case ']', '}':
		return "another bracket is open"
	case '[':
		return "an index follows its field at once, without a blank"
	}
	return ""
}

// isNot reports whether "not" is next. The engine takes it in front of a name without a blank.
func (p *parser) isNot() bool {
	return strings.HasPrefix(p.rest(), "not") || strings.HasPrefix(p.rest(), "!")
}

func (p *parser) not(start int) (Node, bool) {
	if !p.accept("not") {
		p.accept("!")
	}
	p.space()
	of, ok := p.simple()
	if !ok {
		return nil, false
	}
	return &Not{Span{start, p.at}, of}, true
}

// term reads a field or the call of a function, with its indexes.
func (p *parser) term() (*Term, bool) {
	start := p.at
	name, ok := p.name()
	if !ok {
		return nil, false
	}
	if slices.Contains(operatorWords, name) {
		return nil, p.fail(Span{start, p.at}, fmt.Sprintf("expected a field or a function, found %q", name), "something is missing before it")
	}
	t := &Term{Name: name}
	end := p.at
	if p.space(); p.accept("(") {
		t.Call = true
		if _, ok := p.nested(func() (Node, bool) { return t, p.arguments(t, start) }); !ok {
			return nil, false
		}
	} else {
		p.at = end
	}
	for strings.HasPrefix(p.rest(), "[") {
		index, ok := p.index()
		if !ok {
			return nil, false
		}
		t.Indexes = append(t.Indexes, index)
	}
	t.Span = Span{start, p.at}
	return t, true
}

// arguments reads those of a call, behind the open parenthesis.
func (p *parser) arguments(t *Term, start int) bool {
	for p.space(); !p.accept(")"); p.space() {
		switch {
		case p.at == len(p.text):
			return p.fail(Span{start, start + len(t.Name)}, fmt.Sprintf(`the call of %s is not closed`, t.Name), `it ends with ")"`)
		case len(t.Args) > 0 && !p.accept(","):
			hint := ""
			if rest := p.rest(); strings.HasPrefix(rest, "and") || strings.HasPrefix(rest, "or") || strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||") {
				hint = "an argument that joins conditions stands in parentheses of its own"
			}
			return p.expected(`"," or ")"`, hint)
		}
		p.space()
		arg, ok := p.argument()
		if !ok {
			return false
		}
		t.Args = append(t.Args, arg)
	}
	return true
}

// argument reads an argument: a value, a field, a comparison, or conditions that begin with a
// parenthesis, "not", any or all.
func (p *parser) argument() (Node, bool) {
	switch {
	case p.startsText():
		text, ok := p.str(false)
		return &text, ok
	case strings.HasPrefix(p.rest(), "("), p.isNot(), p.startsQuantifier():
		return p.joined(0)
	}
	if n := p.bare(); n >= span(p.rest(), isWord) && n > 0 && isBare(p.rest()[:n]) {
		p.at += n
		return &Literal{Span{p.at - n, p.at}, Bare, p.text[p.at-n : p.at]}, true
	}
	left, ok := p.term()
	if !ok {
		return nil, false
	}
	return p.comparison(left)
}

// startsQuantifier reports whether a call of any or all is next.
func (p *parser) startsQuantifier() bool {
	rest := p.rest()
	for _, name := range [...]string{"any", "all"} {
		if after, is := strings.CutPrefix(rest, name); is && strings.HasPrefix(strings.TrimLeft(after, " \r\n"), "(") {
			return true
		}
	}
	return false
}

// index reads one index.
func (p *parser) index() (Index, bool) {
	start := p.at
	p.at++
	p.space()
	var i Index
	switch {
	case p.accept("*"):
	case strings.HasPrefix(p.rest(), `"`):
		key, ok := p.str(false)
		if !ok {
			return i, false
		}
		i.Kind, i.Key = Key, key.Text
	default:
		n := p.bare()
		number, ok := position(p.rest()[:n])
		if !ok {
			return i, p.expected("a key in double quotes, a number or *", "")
		}
		p.at += n
		i.Kind, i.Number = Number, number
	}
	if p.space(); !p.accept("]") {
		return i, p.expected(`"]"`, "")
	}
	i.Span = Span{start, p.at}
	return i, true
}

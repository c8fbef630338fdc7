package source

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// parser reads the tokens of a file as expressions and assignments. It knows no
// grammar of one language, and the brackets, calls, members and operators that
// most have in common; what it cannot make sense of is open.
type parser struct {
	cursor
	scope
	depth    int
	requests []*request
	noted    []*value     // texts that may be addresses
	used     map[int]bool // strings that a request is made of
	sdks     []sdk
}

// cursor is where in the tokens of a file the parser is.
type cursor struct {
	lang   language
	tokens []token
	at     int
}

// scope is what the names of a file are set to.
type scope struct{ vars map[string]*value }

func (p *cursor) now() token  { return p.token(p.at) }
func (p *cursor) peek() token { return p.token(p.at + 1) }

// token is the one at a position; behind the last there is the end.
func (p *cursor) token(at int) token { return p.tokens[min(at, len(p.tokens)-1)] }

func (p *cursor) step() token {
	t := p.now()
	if t.kind != end {
		p.at++
	}
	return t
}

func (p *cursor) is(marks ...string) bool {
	t := p.now()
	return t.kind == mark && slices.Contains(marks, t.text)
}

// breaks passes over line ends and comments.
func (p *cursor) breaks() {
	for p.now().kind == newline || p.now().kind == comment {
		p.at++
	}
}

// file reads the whole.
func (p *parser) file() {
	for p.now().kind != end {
		before := p.at
		p.item(true)
		if p.at == before {
			p.at++ // a bracket that nothing opened, or a sign that means nothing here
		}
	}
}

// items reads to a closing bracket. Line ends separate within braces alone.
func (p *parser) items(closing string) (keys []string, items []*value, named bool) {
	p.depth++
	defer func() { p.depth-- }()
	for p.now().kind != end {
		p.breaks()
		if p.is(closing) {
			p.at++
			return keys, items, named
		}
		if p.is(",", ";") {
			p.at++
			continue
		}
		before := p.at
		key, v := p.item(closing == "}")
		if p.at == before {
			if p.is(")", "]", "}") {
				return keys, items, named // it is another's
			}
			p.at++
			continue
		}
		if len(items) < mostItems {
			keys, items, named = append(keys, key), append(items, v), named || key != ""
		}
	}
	return keys, items, named
}

// separators stand between a name and what it is set to.
var separators = []string{"=", ":=", ":", "=>", "+=", ".=", "||=", "??=", "<-"}

// item reads one element, argument, member or statement, with its name where it
// has one.
func (p *parser) item(statement bool) (string, *value) {
	if p.depth > 3*deepest {
		p.skipNested()
		return "", atom("", p.now().line)
	}
	p.passOver()
	targets := p.targets(statement)
	from := p.at
	v := p.expression()
	if p.at == from {
		return "", v
	}
	key := p.keyOf(from, v)
	set := false
	for p.is(separators...) && key != "" && !(p.is(":") && statement && p.endsHere()) {
		sep := p.step().text
		set = true
		p.breaks()
		before := p.at
		next := p.expression()
		if p.at == before {
			break
		}
		if sep == "+=" || sep == ".=" {
			next = concat(v, next)
		}
		v = next
	}
	p.note(v)
	if as := p.asName(); as != "" {
		p.assign(as, v)
	}
	if !set {
		return "", v
	}
	p.assign(key, v)
	for _, other := range targets {
		p.assign(other, v)
	}
	return unquotedKey(key), v
}

// asName takes the name in "with … as name"; empty where there is none.
func (p *cursor) asName() string {
	t, next := p.now(), p.peek()
	if t.kind != name || t.text != "as" || next.kind != name {
		return ""
	}
	p.at += 2
	return next.text
}

// passOver passes over the words before a name, and the parameters of a block.
func (p *cursor) passOver() {
	for t := p.now(); t.kind == name && silent[t.text] && p.startsOperand(p.peek()); t = p.now() {
		p.at++
	}
	if p.lang.script && p.is("|") {
		for p.at++; p.now().kind != newline && p.now().kind != end; p.at++ {
			if p.is("|") {
				p.at++
				return
			}
		}
	}
}

// targets are the names before the last one in "a, b := …".
func (p *cursor) targets(statement bool) (names []string) {
	if !statement {
		return nil
	}
	at := p.at
	for p.token(at).kind == name && p.token(at+1).kind == mark && p.token(at+1).text == "," && len(names) < 8 {
		names = append(names, p.token(at).text)
		at += 2
	}
	if len(names) > 0 && p.token(at).kind == name && p.token(at+1).kind == mark && (p.token(at+1).text == ":=" || p.token(at+1).text == "=") {
		p.at = at
		return names
	}
	return nil
}

// endsHere reports whether a colon ends a line, as behind Python's if.
func (p *cursor) endsHere() bool {
	k := p.peek().kind
	return k == newline || k == end || k == comment
}

// keyOf is the name that an expression from a position on can be: a string, or
// names joined by dots.
func (p *cursor) keyOf(from int, v *value) string {
	from = min(from, len(p.tokens))
	first := p.token(from)
	switch {
	case first.kind == str && p.at == from+1:
		return first.text
	case v.is == open && v.text != "":
		return v.text
	case first.kind == name && v.req == nil:
		return pathOf(p.tokens[from:min(p.at, len(p.tokens))])
	case first.kind == mark && first.text == "[" && p.at == from+3: // [key]: of Lua and TypeScript
		return p.token(from + 1).text
	case first.kind == mark && first.text == ":" && p.at == from+2:
		return p.token(from + 1).text
	}
	return pathOf(p.tokens[from:min(p.at, len(p.tokens))])
}

// pathOf is "a.b.c" of tokens that are just that.
func pathOf(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		switch {
		case i%2 == 0 && t.kind == name:
			b.WriteString(t.text)
		case i%2 == 1 && t.kind == mark && isDot(t.text):
			b.WriteByte('.')
		default:
			return ""
		}
	}
	return b.String()
}

func isDot(mark string) bool { return mark == "." || mark == "::" || mark == "->" || mark == "?." }

func unquotedKey(key string) string { return strings.Trim(key, `"'`) }

// note remembers a text that may be an address.
func (p *parser) note(v *value) {
	if v.is == text && strings.Contains(v.text, "/") {
		p.noted = append(p.noted, v)
	}
}

// joinOps put texts together: of most languages, of Lua, of Elixir, of Haskell, of
// Visual Basic, of SQL, of PHP and Perl.
var joinOps = []string{"+", "..", "<>", "++", "&", "~", "."}

// otherOps make of two values one that is open.
var otherOps = []string{"===", "!==", "==", "!=", "<=", ">=", "<", ">", "&&", "-", "*", "|", "^", "<=>", "<<", ">>", "|>"}

// expression reads operands and what joins them.
func (p *parser) expression() *value {
	left := p.operand()
	for range mostItems {
		op := p.operator(left)
		if op == "" {
			break
		}
		if op == "?" {
			left = p.choice(left)
			continue
		}
		p.breaks()
		before := p.at
		right := p.operand()
		if p.at == before {
			break
		}
		left = combine(op, left, right)
	}
	return left
}

func combine(op string, left, right *value) *value {
	switch {
	case op == "%" && left.is == text:
		return formatted(left, arguments(right))
	case op == "/" && left.is == text:
		return joined([]*value{left, right}, "/")
	case op == "||" || op == "??" || op == "or":
		if left.is == open {
			return right
		}
		return left
	case slices.Contains(joinOps, op):
		return concat(left, right)
	}
	return atom("", left.line)
}

// arguments are the values of a tuple, or the one.
func arguments(v *value) []*value {
	if v.is == list {
		return v.items
	}
	return []*value{v}
}

// operator takes one that goes on with an expression; empty where none does. It
// may stand on the next line if that can begin no statement.
func (p *cursor) operator(left *value) string {
	at := p.at
	for p.token(at).kind == newline || p.token(at).kind == comment {
		at++
	}
	t := p.token(at)
	switch {
	case t.kind == name && at == p.at && (t.text == "or" || t.text == "and"), t.kind == mark && t.text == "?" && at == p.at,
		t.kind == mark && joinsTexts(t.text, left, p.lang) && (at == p.at || crossesLines(t.text)):
		p.at = at + 1
		return t.text
	}
	return ""
}

// joinsTexts reports whether a sign goes on with an expression.
func joinsTexts(op string, left *value, lang language) bool {
	if op == "|" && lang.script || op == "/" && left.is != text {
		return false
	}
	return op == "||" || op == "??" || op == "%" || op == "/" || slices.Contains(joinOps, op) || slices.Contains(otherOps, op)
}

// crossesLines reports whether a sign at the beginning of a line can only go on with
// the line before.
func crossesLines(op string) bool {
	return op == "||" || op == "??" || op != "&" && op != "~" && slices.Contains(joinOps, op)
}

// choice reads the rest of "c ? a : b": the first that is known.
func (p *parser) choice(left *value) *value {
	if p.is(":") { // ?: of Kotlin, PHP and Groovy
		p.at++
		return combine("||", left, p.operand())
	}
	p.breaks()
	yes := p.expression()
	p.note(yes)
	p.breaks()
	if !p.is(":") {
		return yes
	}
	p.at++
	p.breaks()
	no := p.expression()
	p.note(no)
	if yes.is == open {
		return no
	}
	return yes
}

// silent words stand before an operand and do not change it.
var silent = call.Words("await new return yield throw const let var val def final static private public protected export default async go defer mut pub readonly local my our echo print elif if while unless when then in of case not raise assert lambda fun func fn function override internal sealed lateinit unsafe string String")

// operand reads a value with its calls, members and indices.
func (p *parser) operand() *value {
	t := p.now()
	if p.depth++; p.depth > 4*deepest {
		p.step()
		p.depth--
		return atom("", t.line)
	}
	defer func() { p.depth-- }()
	switch t.kind {
	case str:
		return p.postfix(p.string(), "")
	case number:
		p.at++
		return &value{is: word, text: t.text, line: t.line}
	case name:
		if silent[t.text] && p.startsOperand(p.peek()) {
			p.at++
			return p.operand()
		}
		p.at++
		return p.named(t)
	case mark:
		return p.marked(t)
	}
	return atom("", t.line)
}

// startsOperand reports whether a token can begin one, so that the word before it
// is no name.
func (p *cursor) startsOperand(t token) bool {
	return t.kind == name || t.kind == str || t.kind == mark && (t.text == "[" || t.text == "!")
}

// named reads what begins with a name.
func (p *parser) named(t token) *value {
	switch strings.ToLower(t.text) {
	case "true", "false", "null", "none", "nil", "undefined":
		return &value{is: word, text: t.text, line: t.line}
	}
	if p.lang.power && strings.Contains(t.text, "-") {
		return p.cmdlet(t)
	}
	return p.postfix(p.variable(t.text, t.line), t.text)
}

// variable is what a name is set to, or what is open under it.
func (p *scope) variable(path string, line int) *value {
	if v := p.lookup(path); v != nil {
		return v
	}
	return atom(path, line)
}

// lookup finds a variable by its name, with or without what stands before it:
// self.base is what base is set to in the class.
func (p *scope) lookup(path string) *value {
	if v := p.vars[path]; v != nil {
		return v
	}
	first, rest, dotted := strings.Cut(path, ".")
	if dotted && (first == "self" || first == "this" || first == "cls" || first == "static" || first == "Self") {
		if v := p.vars[rest]; v != nil {
			return v
		}
	}
	if !dotted {
		for _, owner := range []string{"self.", "this."} {
			if v := p.vars[owner+path]; v != nil {
				return v
			}
		}
	}
	return nil
}

// marked reads what begins with a sign.
func (p *parser) marked(t token) *value {
	switch t.text {
	case "(", "@(":
		p.at++
		_, items, named := p.items(")")
		v := &value{is: list, items: items, line: t.line}
		if len(items) == 1 && !named && t.text == "(" {
			v = items[0]
		}
		return p.postfix(v, "")
	case "[":
		p.at++
		v := p.collection(t, "]")
		if next := p.now(); len(v.items) <= 1 && next.kind == name && !next.spaced {
			return p.operand() // []byte(…), []string{…}
		}
		return p.postfix(v, "")
	case "{", "@{", "%{":
		p.at++
		return p.postfix(p.collection(t, "}"), "")
	case "!", "-", "+", "*", "&", "...", "..", "<", "@", "~", "/re/", "%", "\\":
		p.at++
		return p.operand()
	case ":": // :symbol
		if next := p.peek(); next.kind == name && !next.spaced {
			p.at += 2
			return atom(next.text, t.line)
		}
	}
	return atom("", t.line)
}

// collection reads the elements of a list, or the members of an object or a block.
func (p *parser) collection(t token, closing string) *value {
	keys, items, named := p.items(closing)
	if !named && closing == "]" {
		return &value{is: list, items: items, line: t.line}
	}
	v := &value{is: object, line: t.line}
	for i, item := range items {
		switch {
		case keys[i] != "":
			v.set(keys[i], item)
		case item.is == open && item.text != "" && !strings.Contains(item.text, "."):
			v.set(item.text, item) // {url, data}
		case item.is == object:
			for j, key := range item.keys { // {...defaults, url}
				v.set(key, item.items[j])
			}
		}
	}
	if !named && len(v.keys) == 0 {
		v = &value{is: list, items: items, line: t.line}
	}
	return v
}

// skipNested passes over what is nested too deep, up to the end of its bracket.
func (p *cursor) skipNested() {
	depth := 0
	for ; p.now().kind != end; p.at++ {
		switch {
		case p.is("(", "[", "{", "@{", "%{", "@("):
			depth++
		case p.is(")", "]", "}"):
			if depth--; depth < 0 {
				return
			}
		}
	}
}

// string reads a literal, and those that stand beside it where that joins them.
func (p *parser) string() *value {
	v := p.literal()
	for p.lang.adjoin && p.now().kind == str {
		v = concat(v, p.literal())
	}
	return v
}

func (p *parser) literal() *value {
	t := p.now()
	v := &value{is: text, text: t.text, line: t.line, tokens: []int{p.at}}
	p.at++
	if len(t.fills) == 0 {
		return v
	}
	pieces := strings.Split(t.text, hole)
	var b strings.Builder
	for i, piece := range pieces {
		b.WriteString(piece)
		if i == len(pieces)-1 || b.Len() > longestString {
			break
		}
		if known := p.known(t.fills, i); known != nil {
			b.WriteString(known.text)
			v.add(known.tokens)
		} else {
			b.WriteString(hole)
		}
	}
	v.text = b.String()
	return v
}

// known is the text that is filled into a string; nil where it is open.
func (p *scope) known(fills []string, i int) *value {
	if i >= len(fills) || fills[i] == "" {
		return nil
	}
	if v := p.lookup(fills[i]); v != nil && v.is == text {
		return v
	}
	return nil
}

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
	noted    []*value          // texts that may be addresses
	used     map[int]bool      // strings that a request is made of
	sdks     map[string]string // calls of client libraries, by method
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
func (p *parser) items(closing string) (items []argument, named bool) {
	p.depth++
	defer func() { p.depth-- }()
	for p.now().kind != end {
		p.breaks()
		if p.is(closing) {
			p.at++
			return items, named
		}
		if p.is(",", ";") {
			p.at++
			continue
		}
		before := p.at
		key, v := p.item(closing == "}")
		if p.at == before {
			if p.is(")", "]", "}") {
				return items, named // it is another's
			}
			p.at++
			continue
		}
		if len(items) < mostItems {
			items, named = append(items, argument{key, v}), named || key != ""
		}
	}
	return items, named
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
	return strings.Trim(key, `"'`), v
}

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
	set := p.now().kind == name // elsewhere in the file: BASE + "/zones"
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
		if left = combine(op, left, right); set && right.is == text && left.is == text && strings.Contains(right.text, "/") {
			left.line, set = right.line, false
		}
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
func arguments(v *value) (args []argument) {
	if v.is != list {
		return []argument{{"", v}}
	}
	for _, item := range v.items {
		args = append(args, argument{"", item})
	}
	return args
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

// choice reads the rest of "c ? a : b", or "a ?: b": the first that is known.
func (p *parser) choice(left *value) *value {
	if !p.is(":") {
		left = p.next()
		p.breaks()
	}
	if !p.is(":") {
		return left
	}
	p.at++
	return combine("||", left, p.next())
}

// next reads the expression behind a sign, which may be on the next line.
func (p *parser) next() *value {
	p.breaks()
	v := p.expression()
	p.note(v)
	return v
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

// named reads what begins with a name.
func (p *parser) named(t token) *value {
	switch strings.ToLower(t.text) {
	case "true", "false", "null", "none", "nil", "undefined":
		return &value{is: word, text: t.text, line: t.line}
	}
	if p.lang.power && strings.Contains(t.text, "-") {
		return p.cmdlet(t)
	}
	v := p.lookup(t.text)
	if v == nil {
		v = atom(t.text, t.line)
	}
	return p.postfix(v, t.text)
}

// marked reads what begins with a sign.
func (p *parser) marked(t token) *value {
	switch t.text {
	case "(", "@(":
		return p.parenthesised(t)
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
	case "!", "-", "+", "*", "&", "...", "..", "<", "@", "~", "%", "\\":
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

// parenthesised reads a tuple, or the one value that the brackets are around.
func (p *parser) parenthesised(t token) *value {
	p.at++
	items, named := p.items(")")
	v := &value{is: list, items: values(items), line: t.line}
	if len(items) == 1 && !named && t.text == "(" {
		v = items[0].value
	}
	if next := p.now(); p.lang.typed && v.is == open && (next.kind == name || next.kind == str) {
		return p.operand() // a cast: (HttpURLConnection) new URL(…)
	}
	return p.postfix(v, "")
}

// collection reads the elements of a list, or the members of an object or a block.
func (p *parser) collection(t token, closing string) *value {
	items, named := p.items(closing)
	v := &value{is: object, line: t.line}
	for _, a := range items {
		switch {
		case !named && closing == "]":
		case a.name != "":
			v.set(a.name, a.value)
		case a.is == open && a.text != "" && !strings.Contains(a.text, "."):
			v.set(a.text, a.value) // {url, data}
		case a.is == object:
			for j, key := range a.keys { // {...defaults, url}
				v.set(key, a.items[j])
			}
		}
	}
	if !named && len(v.keys) == 0 {
		v.is, v.items = list, values(items)
	}
	return v
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

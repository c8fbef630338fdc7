package source

import "strings"

// postfix goes on with a value: its members, indices and calls. path is what it is
// called, "" where it has no name.
func (p *parser) postfix(v *value, path string) *value {
	for more, n := true, 0; more && n < mostItems; n++ {
		v, path, more = p.follow(v, path)
	}
	return v
}

// follow goes one step on, and reports whether there may be another.
func (p *parser) follow(v *value, path string) (*value, string, bool) {
	if p.chains() {
		v, path = p.member(v, path)
		return v, path, true
	}
	t := p.now()
	if past := p.pastTypes(p.at); p.lang.typed && past > p.at && p.markAt(past, "(") { // new HttpEntity<>(…)
		p.at = past
		t = p.now()
	}
	switch {
	case t.kind == mark:
		return p.bracket(t, v, path)
	case t.kind == name && !t.spaced && strings.HasPrefix(path, "map."):
		return p.operand(), "", false // map[string]any{…}
	case path != "" && v.is == open && p.startsBare(t, path):
		return p.invoke(path, v, p.bare(), t.line), path + "()", true
	}
	return v, path, false
}

// startsBare reports whether a token can begin arguments without brackets.
func (p *cursor) startsBare(t token, path string) bool {
	switch {
	case t.kind == str:
		return p.lang.script && t.spaced || !t.spaced && p.lang.backs
	case t.kind == name: // get "/path", key: value
		return p.lang.script && t.spaced && verbIn(path) != ""
	}
	return false
}

// bracket goes on with what a sign begins: arguments, an index, the members of a
// composite.
func (p *parser) bracket(t token, v *value, path string) (*value, string, bool) {
	switch {
	case t.text == "(" && (path != "" || v.req != nil):
		if parameters, block, ok := p.declares(path); ok {
			return p.method(parameters, block), "", false
		}
		p.at++
		args, _ := p.items(")")
		v = p.invoke(path, v, args, t.line)
		return v, path[:min(len(path), longestPath)] + "()", true
	case t.text == "!" && p.peek().kind == mark && p.peek().text == "(" && !t.spaced: // format!(…)
		p.at++
		return v, path, true
	case t.text == "[" && !t.spaced:
		p.at++
		v, path = p.index(v, path)
		return v, path, true
	case t.text == "{" && path != "" && composite(path):
		p.at++
		v = p.collection(t, "}")
		if len(v.items) == 0 { // url.Values{}
			v.is = object
		}
		return v, "", true
	}
	return v, path, false
}

// chains reports whether a member follows, on this line or on the next.
func (p *cursor) chains() bool {
	at := p.at
	for p.token(at).kind == newline || p.token(at).kind == comment {
		at++
	}
	t := p.token(at)
	if t.kind != mark || !isDot(t.text) || t.text == "." && p.lang.dots {
		return false
	}
	next := p.token(at + 1)
	if next.kind != name && !(next.kind == mark && next.text == "(") || next.spaced && next.kind == mark {
		return false
	}
	p.at = at
	return true
}

// member goes to a member of a value.
func (p *parser) member(v *value, path string) (*value, string) {
	p.at++ // the dot
	t := p.now()
	if t.kind != name {
		return v, path // ?.( of JavaScript
	}
	p.at++
	full := t.text
	if path != "" && len(path) < longestPath {
		full = path + "." + t.text
	}
	if p.is("(") || p.lang.script && p.now().kind == str {
		return v, full // a method: it gets the value it belongs to
	}
	if known := p.lookup(full); known != nil {
		return known, full
	}
	if item := v.get(plainName(t.text)); item != nil {
		return item, full
	}
	if v.is != open && (transparent[plainName(t.text)] || same[plainName(t.text)] || jsons[plainName(t.text)]) {
		return v, full
	}
	out := atom(full, t.line)
	out.req = v.req
	return out, full
}

// longestPath bounds the names of members of members.
const longestPath = 512

// transparent are members that are the value in another form.
var transparent = map[string]bool{"href": true, "text": true, "absoluteuri": true, "body": true, "url": true, "uri": true, "value": true, "searchparams": true, "queryparams": true}

// index goes to an element of a value.
func (p *parser) index(v *value, path string) (*value, string) {
	items, _ := p.items("]")
	if len(items) != 1 || items[0].name != "" {
		return atom("", p.now().line), path
	}
	key := items[0]
	if known := v.get(plainName(key.text)); known != nil && key.is == text {
		return known, ""
	}
	out := atom("", key.line)
	if path != "" && key.is == text {
		out.text = path + "." + key.text
	}
	return out, path[:min(len(path), longestPath)] + ".x"
}

// composite reports whether braces behind a name make a value: Type{…}.
func composite(path string) bool {
	last := path[strings.LastIndexByte(path, '.')+1:]
	switch last {
	case "string", "any", "map", "interface", "byte":
		return true
	}
	return last != "" && last[0] >= 'A' && last[0] <= 'Z'
}

// argument is one of a call, with its name where it has one.
type argument struct {
	name string
	*value
}

func zipped(keys []string, items []*value) []argument {
	var args []argument
	for i, item := range items {
		args = append(args, argument{keys[i], item})
	}
	return args
}

// bare reads arguments without brackets, up to the end of the line.
func (p *parser) bare() []argument {
	var args []argument
	for p.now().kind != end && p.now().kind != newline && len(args) < mostItems {
		before := p.at
		key, v := p.item(false)
		args = append(args, argument{key, v})
		if p.at == before || !p.is(",") {
			break
		}
		p.at++
		p.breaks()
	}
	return args
}

// cmdlet reads a command of PowerShell: Verb-Noun -Name value value @splatted.
func (p *parser) cmdlet(t token) *value {
	var args []argument
	for p.now().kind != newline && p.now().kind != end && !p.is("|", ")", "}", ";") && len(args) < mostItems {
		at := p.at
		key := p.cmdletName()
		if key != "" && (p.is("-") || p.now().kind == newline) { // a switch
			continue
		}
		v := p.operand()
		for p.is("+") { // another sign between two arguments is no operator
			p.at++
			v = concat(v, p.operand())
		}
		p.note(v)
		if v.is == object && key == "" { // @splatted
			args = append(args, zipped(v.keys, v.items)...)
		} else {
			args = append(args, argument{key, v})
		}
		if p.at == at {
			p.at++
		}
	}
	return p.invoke(t.text, atom(t.text, t.line), args, t.line)
}

// cmdletName takes the name before an argument: -Name or -Name:; empty where there
// is none.
func (p *cursor) cmdletName() string {
	next := p.peek()
	if !p.is("-") || next.kind != name || next.spaced {
		return ""
	}
	p.at += 2
	if p.is(":") {
		p.at++
	}
	return next.text
}

// assign sets a variable, or what a member of one means for it: of req.URL.RawQuery for req.
func (p *scope) assign(path string, v *value) {
	owner, member, dotted := cutLast(path)
	for ; dotted; owner, _, dotted = cutLast(owner) {
		if of := p.lookup(owner); of != nil && p.attach(of, member, v) {
			return
		}
	}
	if len(p.vars) < mostVars {
		p.vars[path] = v
	}
}

// mostVars bounds the variables of a file.
const mostVars = 1 << 15

func cutLast(path string) (owner, member string, dotted bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// attach sets a member of a request, of an address or of an object.
func (p *scope) attach(of *value, member string, v *value) bool {
	name := plainName(member)
	switch {
	case of.req != nil:
		return of.req.setMember(member, v)
	case of.is == text && (name == "rawquery" || name == "query" || name == "search"):
		of.query = append(of.query, strings.TrimPrefix(v.piece(), "?"))
		return true
	case of.is == object:
		of.set(member, v)
		return true
	}
	return false
}

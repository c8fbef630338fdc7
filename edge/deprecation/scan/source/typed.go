package source

import (
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// What Java and its like have beside values: casts, type arguments and declarations of
// methods.

// cast passes over a type in brackets before an operand: (HttpURLConnection) new URL(…).
func (p *cursor) cast() bool {
	if !p.lang.typed || p.peek().kind != name {
		return false
	}
	at := p.at + 1
	for p.token(at).kind == name && p.token(at+1).kind == mark && p.token(at+1).text == "." {
		at += 2
	}
	at = p.pastTypes(at + 1)
	next := p.token(at + 1)
	if !p.markAt(at, ")") || next.kind != name && next.kind != str {
		return false
	}
	p.at = at + 1
	return true
}

// pastTypes is the position behind type arguments, <String> or <>, or the position itself
// where none stand there.
func (p *cursor) pastTypes(at int) int {
	if p.markAt(at, "<>") {
		return at + 1
	}
	if !p.markAt(at, "<") {
		return at
	}
	depth := 0
	for i := at; i < at+longestTypes; i++ {
		t := p.token(i)
		switch {
		case p.markAt(i, "<"):
			depth++
		case p.markAt(i, ">"):
			if depth--; depth == 0 {
				return i + 1
			}
		case t.kind != name && !(t.kind == mark && strings.Contains(",.?[]", t.text)):
			return at
		}
	}
	return at
}

// longestTypes bounds the tokens of type arguments.
const longestTypes = 32

func (p *cursor) markAt(at int, text string) bool {
	t := p.token(at)
	return t.kind == mark && t.text == text
}

// controls are words with brackets and a block behind them that declare nothing.
var controls = call.Words("if for while switch catch synchronized try foreach using lock fixed")

// declares returns the parameters of a method whose declaration goes on here with its
// opening bracket, and where its block begins; false where none is declared.
func (p *cursor) declares(path string) (parameters []string, block int, ok bool) {
	if !p.lang.typed || controls[path] || strings.Contains(path, ".") {
		return nil, 0, false
	}
	depth, at := 0, p.at
	for ; at < p.at+longestHead; at++ {
		t := p.token(at)
		switch {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			depth--
		case t.kind == name && (p.markAt(at+1, ",") || p.markAt(at+1, ")")):
			parameters = append(parameters, t.text)
		case t.kind == str || t.kind == end:
			return nil, 0, false
		}
		if depth == 0 {
			break
		}
	}
	at = p.pastThrows(at + 1)
	return parameters, at, p.markAt(at, "{")
}

// longestHead bounds the tokens of a declaration before its block.
const longestHead = 256

// pastThrows passes over "throws A, B" and line ends.
func (p *cursor) pastThrows(at int) int {
	for i := at; i < at+longestTypes; i++ {
		t := p.token(i)
		if t.kind != name && t.kind != newline && t.kind != comment && !(t.kind == mark && (t.text == "," || t.text == ".")) {
			return i
		}
	}
	return at
}

// method reads the block of a method: its parameters are open in it, whatever else in the
// file has their names.
func (p *parser) method(parameters []string, block int) *value {
	before := map[string]*value{}
	for _, name := range parameters {
		before[name] = p.vars[name]
		p.vars[name] = atom(name, p.now().line)
	}
	p.at = block + 1
	p.items("}")
	for name, v := range before {
		if delete(p.vars, name); v != nil {
			p.vars[name] = v
		}
	}
	return atom("", p.now().line)
}

// Objects that are made empty and filled by their methods. Of headers, the text says so.
var emptied = call.Words("jsonobject objectnode hashmap linkedhashmap treemap linkedmultivaluemap")

// javaObject is an object that Java's libraries make or add to: headers, a map, a message of
// Spring's RestTemplate; nil where it is none.
func javaObject(path string, recv *value, args []argument) *value {
	name := plainName(path)
	first, second := argAt(args, 0), argAt(args, 1)
	if made := emptyObject(name, recv.line); made != nil && first == nil && recv.is == open {
		return made
	}
	switch {
	case name == "put" && recv.is == object && second != nil && first.is == text:
		recv.set(first.text, second)
		return recv
	case name == "of" && strings.HasSuffix(path, "Map.of"):
		return mapOf(recv, args)
	case name == "httpentity" && first != nil:
		return entity(recv, args)
	}
	return nil
}

// emptyObject is one that is made empty, by the name of what makes it; nil for none.
func emptyObject(name string, line int) *value {
	switch {
	case name == "httpheaders", name == "headers":
		return &value{is: object, text: "headers", line: line}
	case emptied[name]:
		return &value{is: object, line: line}
	}
	return nil
}

// mapOf is a map of keys and values in turn.
func mapOf(recv *value, args []argument) *value {
	made := &value{is: object, line: recv.line}
	for i := 0; i+1 < len(args); i += 2 {
		made.set(args[i].text, args[i+1].value)
	}
	return made
}

// entity is a message of Spring's RestTemplate: headers, and a body.
func entity(recv *value, args []argument) *value {
	made := &value{is: object, line: recv.line}
	for _, a := range args {
		if a.is == object && a.text == "headers" {
			made.set("headers", a.value)
		} else {
			made.set("body", a.value)
		}
	}
	return made
}

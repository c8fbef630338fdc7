package source

import (
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// What Java and its like have beside values: type arguments and declarations of
// methods.

// pastTypes is the position behind type arguments, <String> or <>, or the position itself
// where none stand there.
func (p *cursor) pastTypes(at int) int {
	if p.markAt(at, "<>") {
		return at + 1
	}
	if !p.markAt(at, "<") {
		return at
	}
	for i := at + 1; i < at+longestTypes; i++ {
		t := p.token(i)
		switch {
		case p.markAt(i, ">"), p.markAt(i, ">>"):
			return i + 1
		case t.kind != name && !(t.kind == mark && strings.Contains(",.?[]<", t.text)):
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
	for at := p.at; at < p.at+longestHead; at++ {
		t := p.token(at)
		switch {
		case t.kind == mark && t.text == "{":
			return parameters, at, true
		case t.kind == str || t.kind == end || t.kind == mark && (t.text == ";" || t.text == "->"):
			return nil, 0, false
		case t.kind == name && (p.markAt(at+1, ",") || p.markAt(at+1, ")")):
			parameters = append(parameters, t.text)
		}
	}
	return nil, 0, false
}

// longestHead bounds the tokens of a declaration before its block.
const longestHead = 256

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

// Package source finds the requests that programs make, in any language, and the
// string literals that can be addresses.
//
// It has no grammar of one language. It knows strings with what is filled into
// them, comments, brackets, names, calls and the operators that join texts; what
// constants and variables of the file are set to; the functions with which the
// usual libraries build addresses, queries and bodies; and how they are asked for
// a request. Where no request can be made out, the literals themselves are handed
// on, without a method.
//
// In comes text, out go calls (package call). Of the other readers only shell is
// imported, for commands within literals.
package source

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
)

// Code is a piece of a program and where it stands.
type Code struct {
	Name string // of a file: it tells the language
	Text string
	Line int // of its first line
}

// Text hands on the calls of a program, by their lines.
func Text(c Code, out *call.Sink) {
	lang := languageOf(c.Name, c.Text)
	switch {
	case lang.bare:
		bareWords(c, out)
		return
	case lang.make:
		makeCalls(c, out)
		return
	}
	tokens := lex(c.Text, lang)
	p := &parser{cursor: cursor{lang: lang, tokens: tokens}, scope: scope{vars: constants(tokens)}, used: map[int]bool{}, sdks: imported(c.Text, out.SDKs)}
	p.file()
	found := append(p.calls(), p.literals()...)
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(a.Line, b.Line) })
	for _, one := range found {
		one.Line += c.Line - 1
		one.hand(out, one.Call)
	}
	p.commands(c, out)
}

// finding is a call or a literal, and how it is handed on.
type finding struct {
	call.Call
	hand func(*call.Sink, call.Call)
}

// constants reads a file once for what is set at its outermost level, or in a
// class, so that a constant is known before the line that sets it. What is set
// twice is not.
func constants(tokens []token) map[string]*value {
	set, twice := map[string]*value{}, map[string]bool{}
	for i := 0; i+2 < len(tokens); i++ {
		t, sep, v := tokens[i], tokens[i+1], tokens[i+2]
		if t.kind != name || sep.kind != mark || sep.text != "=" && sep.text != ":=" || v.kind != str || strings.Contains(v.text, hole) {
			continue
		}
		after := tokens[min(i+3, len(tokens)-1)]
		if after.kind == mark && slices.Contains(joinOps, after.text) {
			continue
		}
		if set[t.text] != nil && set[t.text].text != v.text {
			twice[t.text] = true
		}
		set[t.text] = &value{is: text, text: v.text, line: v.line, tokens: []int{i + 2}}
	}
	vars := map[string]*value{}
	for name, v := range set {
		if !twice[name] && strings.Contains(v.text, "/") {
			vars[name] = v
		}
	}
	return vars
}

// literals are the addresses that no request is made of: those put together of
// most strings first, then strings by themselves.
func (p *parser) literals() []finding {
	slices.SortStableFunc(p.noted, func(a, b *value) int { return cmp.Compare(len(b.tokens), len(a.tokens)) })
	var out []finding
	for _, v := range p.noted {
		if slices.ContainsFunc(v.tokens, func(t int) bool { return !p.used[t] }) {
			out = append(out, p.words(v)...)
			for _, t := range v.tokens {
				p.used[t] = true
			}
		}
	}
	for i, t := range p.tokens {
		switch {
		case t.kind == str && !p.used[i] && strings.Contains(t.text, "/"):
			out = append(out, p.words(&value{is: text, text: t.text, line: t.line, tokens: []int{i}})...)
		case t.kind == comment && strings.Contains(t.text, "/"):
			out = append(out, quotedIn(t)...)
		}
	}
	return out
}

// words are the addresses in a text, each on its line where the text stands over
// several.
func (p *cursor) words(v *value) (out []finding) {
	spread := len(v.tokens) == 1 && p.tokens[v.tokens[0]].raw
	written := strings.ReplaceAll(v.text, hole, call.Open)
	if len(v.query) > 0 {
		written, _ = v.address()
	}
	line := v.line
	for part := range strings.SplitSeq(written, "\n") {
		method, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		if !call.IsCommonMethod(method) { // no "PATCH /zones/…"
			method = ""
		}
		for address := range call.Addresses(part) {
			out = append(out, finding{call.Call{Method: method, URL: address, Line: line}, (*call.Sink).Literal})
		}
		if spread {
			line++
		}
	}
	return out
}

// quotedIn are the quoted addresses in a comment.
func quotedIn(t token) (out []finding) {
	for _, inner := range lex(t.text, generic) {
		if inner.kind != str {
			continue
		}
		for address := range call.Addresses(inner.text) {
			out = append(out, finding{call.Call{URL: address, Line: t.line + inner.line - 1}, (*call.Sink).Literal})
		}
	}
	return out
}

// commands reads the commands that literals hold: os.system("curl …").
func (p *parser) commands(c Code, out *call.Sink) {
	var vars map[string]string
	for _, t := range p.tokens {
		if t.kind != str || !strings.Contains(t.text, "curl ") && !strings.Contains(t.text, "wget ") {
			continue
		}
		script := strings.ReplaceAll(t.text, hole, "$x")
		if !shell.HasCalls(script) {
			continue
		}
		if vars == nil {
			vars = p.texts()
		}
		shell.Text(shell.Script{Text: script, Line: t.line + c.Line - 1, Vars: vars}, out)
	}
}

// texts are the variables that are texts without anything open.
func (p *scope) texts() map[string]string {
	vars := map[string]string{}
	for name, v := range p.vars {
		if v.is == text && !strings.Contains(v.text, hole) {
			vars[name] = v.text
		}
	}
	return vars
}

// bareWords takes the words of files in which strings need no quotes, up to the
// comments, and the commands in them.
func bareWords(c Code, out *call.Sink) {
	if shell.HasCalls(c.Text) {
		shell.Text(shell.Script{Text: c.Text, Line: c.Line}, out)
	}
	line := c.Line - 1
	for text := range strings.SplitSeq(c.Text, "\n") {
		line++
		if !strings.Contains(text, "/") || strings.Contains(text, "curl ") || strings.Contains(text, "wget ") {
			continue
		}
		if i := strings.Index(" "+text, " #"); i >= 0 {
			text = text[:i]
		}
		for _, field := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\"'`;|<>,()", r) }) {
			if name, v, ok := strings.Cut(field, "="); ok && call.IsName(name) {
				field = v // URL=https://…
			}
			for address := range call.Addresses(field) {
				out.Literal(call.Call{URL: address, Line: line})
			}
		}
	}
}

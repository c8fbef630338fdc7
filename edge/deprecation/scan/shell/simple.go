package shell

import (
	"maps"
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// simple reads a command: its assignments, the calls it makes, the function it
// invokes, the scripts it is given to run.
func (r *run) simple(cmd *syntax.CallExpr, s *syntax.Stmt, in *input) {
	if len(cmd.Args) == 0 {
		r.assign(cmd.Assigns)
		return
	}
	before := r.vars
	if len(cmd.Assigns) > 0 {
		r.vars = maps.Clone(before)
		r.assign(cmd.Assigns)
	}
	c := command{line: r.line(cmd.Args[0].Pos()), input: in}
	if r.at.exact {
		c.span = span(s)
	}
	for _, w := range cmd.Args {
		c.words = append(c.words, r.fields(w)...)
	}
	r.vars = before
	r.execute(c)
}

// span is the text of a statement with its here-documents.
func span(s *syntax.Stmt) call.Span {
	end := s.End().Offset()
	for _, redirect := range s.Redirs {
		if redirect.Hdoc != nil {
			end = max(end, redirect.Hdoc.End().Offset())
		}
	}
	return call.Span{From: int(s.Pos().Offset()), To: int(end)}
}

// execute says what a command does.
func (r *run) execute(c command) {
	if len(c.words) == 0 {
		return
	}
	requests, client := c.requests(r.open)
	if client {
		for _, one := range c.callsOf(requests) {
			r.add(found{Call: one})
		}
		return
	}
	name := c.name()
	if f := r.funcs[name]; f != nil {
		r.invoke(f, append([]string{}, c.words[c.start()+1:]...))
		return
	}
	switch {
	case name == "read" || name == "mapfile":
		r.readInto(c)
	case runsScripts[name]:
		r.inner(c)
	case !silent[name]:
		r.unknown(c)
	}
}

// add takes a call. In a function that is invoked with other arguments an open
// address is no news.
func (r *findings) add(f found) {
	if f.URL == "" && (r.quiet || r.inside) {
		return
	}
	r.found = append(r.found, f)
}

// silent are commands whose arguments are no addresses that anyone calls.
var silent = call.Words("echo printf test [ cd ls rm mkdir cp mv export source . grep sed awk jq exit return chmod chown tar git")

// readInto sets the variable that a command reads its input into.
func (r *run) readInto(c command) {
	if c.input != nil {
		r.set(c.words[len(c.words)-1], c.input.text)
	}
}

// runsScripts are commands whose arguments or input are mostly scripts.
var runsScripts = call.Words("sh bash zsh dash ksh eval ssh su watch cat tee")

// inner reads the scripts that a command is given to run: sh -c '…', and a
// here-document that a shell or a file is fed.
func (r *run) inner(c command) {
	if r.depth >= deepest {
		return
	}
	quiet := r.quiet
	r.depth++
	for _, w := range c.words[1:] {
		if strings.ContainsAny(w, " \n\t") {
			r.script(w, c.line)
		}
	}
	if c.input != nil {
		r.quiet = quiet || c.name() == "cat" || c.name() == "tee" // which may be fed anything
		r.script(c.input.text, c.input.line)
	}
	r.depth--
	r.quiet = quiet
}

// script reads a script inside this one. Only one that names a client can matter.
func (r *run) script(text string, line int) {
	if mentions(text) && r.parsed > 0 {
		r.parsed -= len(text)
		r.read(text, position{line: line})
	}
}

// unknown takes the addresses among the arguments of a command that is not known:
// a function of another script, mostly. A method beside them is theirs.
func (r *findings) unknown(c command) {
	method := ""
	for _, w := range c.words[1:] {
		if call.IsCommonMethod(w) {
			method = w
		}
	}
	for _, w := range c.words[1:] {
		r.address(call.Call{Method: method, Line: c.line, Span: c.span}, "", w)
	}
}

// literal takes a value that a script sets, where it is an address.
func (r *findings) literal(line int, variable, text string) {
	r.address(call.Call{Line: line}, variable, text)
}

// address takes a word as an address, if it is one.
func (r *findings) address(c call.Call, variable, word string) {
	if strings.IndexByte(word, '/') < 0 || strings.ContainsAny(word, " \n\t{\"") && !strings.Contains(word, call.Open) || len(word) > longestVar {
		return
	}
	if address, ok := call.Normal(word); ok {
		c.URL = address
		r.add(found{Call: c, literal: true, variable: variable})
	}
}

// input is what redirections feed a statement; nil where it is not in the script.
func (r *run) input(s *syntax.Stmt) *input {
	for _, redirect := range s.Redirs {
		switch redirect.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if redirect.Hdoc != nil {
				text := r.document(redirect)
				if redirect.Op == syntax.DashHdoc {
					text = tabs().ReplaceAllString(text, "")
				}
				return &input{text: text, line: r.line(redirect.Hdoc.Pos())}
			}
			return &input{line: r.line(redirect.Pos())}
		case syntax.WordHdoc:
			return &input{text: r.text(redirect.Word), line: r.line(redirect.Word.Pos())}
		case syntax.RdrIn:
			if text, known := opener(r.open).file(r.text(redirect.Word)); known {
				return &input{text: text, line: r.line(redirect.Pos())}
			}
		}
	}
	return nil
}

// document is the text of a here-document. In one whose end is quoted nothing is
// expanded.
func (r *run) document(redirect *syntax.Redirect) string {
	if quoted := redirect.Word.Lit() == "" || strings.Contains(redirect.Word.Lit(), `\\`); quoted {
		return redirect.Hdoc.Lit()
	}
	text, err := expand.Document(r.config(), r.opened(redirect.Hdoc))
	if err != nil {
		return call.Open
	}
	return text
}

// tabs are those that <<- does not count.
var tabs = lazyregexp.New(`(?m)^\t+`)

// output is what a statement writes, where that can be said without running it:
// echo, printf, cat. Its calls count in any case.
func (r *run) output(s *syntax.Stmt) (string, bool) {
	cmd, simple := s.Cmd.(*syntax.CallExpr)
	if !simple || len(cmd.Args) == 0 {
		if !simple && s.Cmd != nil {
			r.stmt(s)
			return "", false
		}
		in := r.input(s) // $(<file)
		if in == nil {
			return "", false
		}
		return in.text, true
	}
	name := cmd.Args[0].Lit()
	if name != "echo" && name != "printf" && name != "cat" {
		r.stmt(s)
		return "", false
	}
	var args []string
	for _, w := range cmd.Args[1:] {
		args = append(args, r.fields(w)...)
	}
	in := r.input(s)
	switch {
	case name == "cat" && in != nil:
		return in.text, true
	case name == "cat":
		return opener(r.open).file(strings.Join(args, " "))
	case name == "printf" && len(args) > 0:
		text, _, err := expand.Format(r.config(), args[0], args[1:])
		return text, err == nil
	}
	return echoed(args), true
}

// echoed is what echo writes.
func echoed(args []string) string {
	for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-E") {
		args = args[1:]
	}
	return strings.Join(args, " ") + "\n"
}

// baseName is the name of a command without its folder, without the @ with which just and
// batch files keep it from being shown, and without what is open before it: $(Q)curl.
func baseName(word string) string {
	word = strings.TrimPrefix(strings.TrimPrefix(word, call.Open), "@")
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
}

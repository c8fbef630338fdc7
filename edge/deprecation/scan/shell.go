package scan

import (
	"bufio"
	"bytes"
	"errors"
)

// readShell reads scripts, and any text with commands in it, as far as it takes
// to find the calls of curl, wget and HTTPie: quotes, continued lines, variables,
// command substitution, here-documents. Nothing is run. A variable that the
// script itself sets to something plain is known; every other one is open.
func readShell(r *bufio.Reader, s *sink) error {
	text, err := readWhole(r, s.o.MaxDocument)
	if err != nil {
		return err
	}
	s.stats.Lines = bytes.Count(text, []byte("\n"))
	if n := len(text); n > 0 && text[n-1] != '\n' {
		s.stats.Lines++
	}
	return newScript(text, s.skip, func(c command) error { return offerCommand(c, s) }).run()
}

// offerCommand hands on the calls of one command.
func offerCommand(c command, s *sink) error {
	for _, call := range c.calls() {
		if call.URL == "" {
			s.skip(call.Line, "the whole address of the call is left open")
			continue
		}
		if err := s.offer(call); err != nil {
			return err
		}
	}
	return nil
}

var errEnough = errors.New("enough")

// countCommands returns how many calls the beginning of a script makes, 1 at most:
// it is asked only whether there are any.
func countCommands(text []byte) int {
	n := 0
	script := newScript(text, func(int, string) {}, func(c command) error {
		if n = len(c.calls()); n > 0 {
			return errEnough
		}
		return nil
	})
	_ = script.run() // errEnough, and nothing else
	return n
}

// command is one simple command: words without their quotes, what is open in them
// written "{}".
type command struct {
	line  int
	words []string
	input *heredoc // what it is fed, nil where that is not in the script
}

// heredoc is a here-document or here-string.
type heredoc struct {
	end       string // the word that ends it
	literal   bool   // quoted: nothing in it is expanded
	tabs      bool   // <<-: leading tabs do not count
	text      string
	line      int // where the text begins
	collected bool
}

// script goes through shell text.
type script struct {
	src   []byte
	pos   int
	line  int
	depth int // of substitutions
	vars  map[string]string
	skip  func(line int, reason string)
	emit  func(command) error
	// grown counts what variables have added to the commands at hand.
	grown int
	// patience is how many bytes may be read again, behind quotes that nothing
	// closes: each level of substitution could otherwise multiply the work.
	patience *int

	current command
	queue   []command // complete but for their here-documents
	waiting []*heredoc
}

// substitutions bounds how deep $(…) may lie within each other.
const substitutions = 16

func newScript(text []byte, skip func(int, string), emit func(command) error) *script {
	patience := 8*len(text) + 1<<16
	return &script{src: text, line: 1, vars: map[string]string{}, skip: skip, emit: emit, patience: &patience}
}

// within is a script inside this one, such as that of sh -c.
func (s *script) within(text []byte, line int) *script {
	return &script{src: text, line: line, depth: s.depth + 1, vars: s.vars, skip: s.skip, emit: s.emit, patience: s.patience}
}

// run reads to the end.
func (s *script) run() error {
	for s.pos < len(s.src) {
		if err := s.until(0); err != nil {
			return err
		}
	}
	return nil
}

// until reads commands to the bracket that closes a substitution, or to the end.
func (s *script) until(closing byte) error {
	brackets := 0
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\r':
			s.pos++
		case '\n':
			s.pos++
			s.line++
			if err := s.newline(); err != nil {
				return err
			}
		case '#':
			s.toLineEnd()
		case ';', '&', '|':
			s.pos++
			s.finish()
		case '(':
			s.pos++
			brackets++
			s.finish()
		case ')':
			s.pos++
			s.finish()
			if brackets--; brackets < 0 {
				if brackets = 0; closing == ')' {
					return s.flush()
				}
			}
		case '<', '>':
			s.redirect()
		default:
			s.take()
		}
	}
	s.finish()
	return s.flush()
}

// take reads one word into the command at hand.
func (s *script) take() {
	if s.src[s.pos] == '\\' && s.continues() {
		return
	}
	line := s.line
	w, ok := s.wholeWord()
	if !ok {
		return
	}
	if s.pos < len(s.src) && (s.src[s.pos] == '<' || s.src[s.pos] == '>') && isNumber(w) {
		return // 2>/dev/null
	}
	if len(s.current.words) == 0 {
		s.current.line = line
	}
	s.current.words = append(s.current.words, w.fields()...)
}

// wholeWord reads one word. Where a quote in it is not closed (in prose, or in a
// script that was cut), it goes on behind the line.
func (s *script) wholeWord() (*shellWord, bool) {
	from, line, queued := s.pos, s.line, len(s.queue)
	w, ok := s.word()
	if ok {
		return w, true
	}
	s.skip(line, "a quote that is not closed")
	if *s.patience -= s.pos - from; *s.patience < 0 {
		s.pos = len(s.src)
		return nil, false
	}
	s.pos, s.line, s.queue = from, line, s.queue[:queued]
	s.toLineEnd()
	return nil, false
}

// continues takes a backslash at the end of a line.
func (s *script) continues() bool {
	for _, end := range []string{"\\\n", "\\\r\n"} {
		if bytes.HasPrefix(s.src[s.pos:], []byte(end)) {
			s.pos += len(end)
			s.line++
			return true
		}
	}
	return false
}

func (s *script) toLineEnd() {
	i := bytes.IndexByte(s.src[s.pos:], '\n')
	if i < 0 {
		i = len(s.src) - s.pos
	}
	s.pos += i
}

// finish ends the command at hand.
func (s *script) finish() {
	if len(s.current.words) > 0 {
		s.queue = append(s.queue, s.current)
	}
	s.current = command{}
}

// newline ends a line: the here-documents that it announced follow.
func (s *script) newline() error {
	s.finish()
	for _, h := range s.waiting {
		s.collect(h)
	}
	s.waiting = s.waiting[:0]
	return s.flush()
}

// flush hands on what is complete, and the scripts inside it.
func (s *script) flush() error {
	queue := s.queue
	s.queue, s.grown = nil, 0
	for _, c := range queue {
		s.assign(c.words)
		if err := s.emit(c); err != nil {
			return err
		}
		if err := s.inner(c); err != nil {
			return err
		}
	}
	return nil
}

// inner reads the scripts that a command is given to run: sh -c '…', and a
// here-document that a shell or a file is fed.
func (s *script) inner(c command) error {
	if s.depth >= substitutions || !runsScripts[c.name()] {
		return nil
	}
	for _, w := range c.words[1:] {
		if hasSpace(w) {
			if err := s.within([]byte(w), c.line).run(); err != nil {
				return err
			}
		}
	}
	if c.input != nil && c.input.collected {
		return s.within([]byte(c.input.text), c.input.line).run()
	}
	return nil
}

// runsScripts are commands whose arguments or input are mostly scripts.
var runsScripts = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "eval": true, "ssh": true, "su": true, "watch": true, "cat": true, "tee": true,
}

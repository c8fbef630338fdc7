package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// The rules of the terminal, which every command keeps:
//
//   - The result goes to standard output. Progress, logs and what went wrong go
//     to standard error.
//   - Colour is for terminals, and never with NO_COLOR set or TERM=dumb.
//   - What went wrong is told as one problem, where it stands, and hints on what
//     to try; never as a stack of wrapped errors with a usage page.
//   - Progress is one line that is wiped; it shows on a terminal that can wipe. Logs
//     are written above it.
//   - Nothing is written with a secret in it, whoever put it there: both streams pass
//     [edge.RedactWriter].
//   - A question is for terminals. A script is never asked.
//   - 0 is success and 1 is any failure to do the job; the other codes are in
//     the help of the command that uses them.

// terminal is where a command writes.
type terminal struct {
	in             io.Reader
	out, err       io.Writer
	screen         *screen // what err writes to where that is a terminal; else nil
	inTTY          bool
	outTTY, errTTY bool
	colourOut      bool
	colourErr      bool
}

func newTerminal(in, out, err *os.File) *terminal {
	t := &terminal{
		in: in, out: edge.RedactWriter(out), err: edge.RedactWriter(err),
		inTTY:  term.IsTerminal(int(in.Fd())),
		outTTY: term.IsTerminal(int(out.Fd())),
		errTTY: term.IsTerminal(int(err.Fd())),
	}
	if t.errTTY {
		t.screen = &screen{out: t.err, width: func() int { width, _, _ := term.GetSize(int(err.Fd())); return width }}
		t.err = t.screen
		if t.outTTY {
			t.out = aside{t.screen, t.out}
		}
	}
	colour := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	t.colourOut, t.colourErr = colour && t.outTTY, colour && t.errTTY
	return t
}

// failure is an error told to a person: one problem and what to try.
type failure struct {
	problem string
	lines   []string // that say more, each shown on its own
	hints   []string
	cause   error
}

func (f *failure) Error() string { return f.problem }
func (f *failure) Unwrap() error { return f.cause }

// fail makes a failure of err with hints, in front of those it has already.
func fail(err error, hints ...string) error {
	var inner *failure
	if errors.As(err, &inner) {
		hints = append(slices.Clone(hints), inner.hints...)
	}
	return &failure{problem: err.Error(), hints: hints, cause: err}
}

// failLines makes a failure that takes several lines to say.
func failLines(err error, lines []string, hints ...string) error {
	return &failure{err.Error(), lines, hints, err}
}

// usage is a failure of the command line itself.
func usage(format string, args ...any) error {
	return fail(fmt.Errorf(format, args...), "seawall --help lists the commands, and --help after a command its flags")
}

// exitStatus ends the program with a code and without another word: everything
// was said already.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// exitCode maps an error to an exit code, and tells it if nobody has.
func (t *terminal) exitCode(err error) int {
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	t.tell(err)
	return 1
}

func (t *terminal) tell(err error) {
	var m *badFile
	if errors.As(err, &m) {
		t.problems(t.err, m.problems)
	}
	fmt.Fprintf(t.err, "%s %s\n", t.red("seawall: error:"), oneLine(err.Error()))
	var f *failure
	if errors.As(err, &f) {
		for _, line := range f.lines {
			fmt.Fprintln(t.err, "    "+oneLine(line))
		}
		for _, hint := range f.hints {
			t.hint(hint)
		}
	}
}

func (t *terminal) hint(text string) {
	if text != "" {
		fmt.Fprintf(t.err, "%s %s\n", t.dim("hint:"), oneLine(text))
	}
}

func (t *terminal) red(s string) string { return t.paint("31", s) }
func (t *terminal) dim(s string) string { return t.paint("2", s) }

func (t *terminal) paint(code, s string) string {
	if !t.colourErr {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// problems tells mistakes in files, one line each with its hint below.
func (t *terminal) problems(w io.Writer, problems []desired.Problem) {
	for _, p := range problems {
		kind := ""
		if p.Warning {
			kind = "warning: "
		}
		at := p.Origin.String()
		if at != "" {
			at += ": "
		}
		rest := p.Message
		if p.Path != "" {
			rest = p.Path + ": " + rest
		}
		fmt.Fprintln(w, oneLine(at+kind+rest))
		if p.Hint != "" {
			fmt.Fprintln(w, "    hint: "+oneLine(p.Hint))
		}
	}
}

// oneLine keeps text from files and servers on its line and away from the
// terminal's control sequences.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// cause strips an error of the net package of the words around its cause.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}

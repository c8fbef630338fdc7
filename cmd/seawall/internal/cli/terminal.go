// Package cli is what all commands do at the terminal: show results, errors with hints,
// problems in files, progress and questions; log; and stop on a signal. It knows no command.
package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

// The rules of the terminal, which every command keeps:
//
//   - The result goes to standard output. Progress, logs and what went wrong go
//     to standard error.
//   - Colour is for terminals, and never with NO_COLOR set or TERM=dumb.
//   - What went wrong is reported as one problem, where it stands, and hints on what
//     to try; never as a stack of wrapped errors with a usage page.
//   - Progress is one line that is wiped; it shows on a terminal that can wipe. Logs
//     are written above it.
//   - Nothing is written with a secret in it, whoever put it there: both streams pass
//     [edge.RedactWriter].
//   - A question is for terminals. A script is never asked.
//   - 0 is success and 1 is any failure to do the job; the other codes are in
//     the help of the command that uses them.

// Terminal is where a command writes.
type Terminal struct {
	In             io.Reader
	Out, Err       io.Writer
	screen         *screen // what err writes to where that is a terminal; else nil
	lost           *noting // what out writes to; nil in tests that have no process
	inTTY          bool
	outTTY, errTTY bool
	ColourOut      bool
	ColourErr      bool
}

// NewTerminal returns the terminal of a process, with what each stream is and may show.
func NewTerminal(in, out, err *os.File) *Terminal {
	t := &Terminal{
		In: in, Err: edge.RedactWriter(err), lost: &noting{to: out},
		inTTY:  term.IsTerminal(int(in.Fd())),
		outTTY: term.IsTerminal(int(out.Fd())),
		errTTY: term.IsTerminal(int(err.Fd())),
	}
	t.Out = edge.RedactWriter(t.lost)
	if t.errTTY {
		t.screen = &screen{out: t.Err, width: func() int { width, _, _ := term.GetSize(int(err.Fd())); return width }}
		t.Err = t.screen
		if t.outTTY {
			t.Out = aside{t.screen, t.Out}
		}
	}
	colour := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	t.ColourOut, t.ColourErr = colour && t.outTTY, colour && t.errTTY
	return t
}

// noting notes the first failure of a stream: most of what writes a result does not look.
type noting struct {
	to    io.Writer
	mu    sync.Mutex
	first error
}

func (n *noting) Write(p []byte) (int, error) {
	done, err := n.to.Write(p)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.first = cmp.Or(n.first, err)
	return done, err
}

// failed is the first failure; nil where a reader has closed its pipe, who wants no more.
func (n *noting) failed() error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if errors.Is(n.first, syscall.EPIPE) {
		return nil
	}
	return n.first
}

// OutIsTerminal reports whether results go to a person's terminal, and not to a file or a pipe.
func (t *Terminal) OutIsTerminal() bool { return t.outTTY }

// exitCode maps an error to an exit code, and tells it if no one has.
func (t *Terminal) exitCode(err error) int {
	var status ExitError
	if lost := t.lost.failed(); lost != nil && (err == nil || errors.As(err, &status)) {
		err = Fail(fmt.Errorf("the output is incomplete: %w", lost))
	}
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	t.ShowError(err)
	return 1
}

// ShowError writes an error, with its problems in files and its hints, to standard error.
func (t *Terminal) ShowError(err error) {
	var m *FileError
	if errors.As(err, &m) {
		t.ShowProblems(t.Err, m.Problems)
	}
	fmt.Fprintf(t.Err, "%s %s\n", t.Red("seawall: error:"), OneLine(err.Error()))
	var f *HintError
	if errors.As(err, &f) {
		for _, line := range f.lines {
			fmt.Fprintln(t.Err, "    "+OneLine(line))
		}
	}
	var crash interface{ Printed() string }
	if errors.As(err, &crash) {
		showPrinted(t.Err, crash.Printed())
	}
	for _, hint := range HintsOf(err) {
		t.Hint(hint)
	}
}

// Hint writes a hint to standard error; an empty one writes nothing.
func (t *Terminal) Hint(text string) {
	if text != "" {
		fmt.Fprintf(t.Err, "%s %s\n", t.Dim("hint:"), OneLine(text))
	}
}

// Red is for what needs attention; without colour the text stays as it is.
func (t *Terminal) Red(s string) string { return t.paint("31", s) }

// Dim is for labels of less importance.
func (t *Terminal) Dim(s string) string { return t.paint("2", s) }

func (t *Terminal) paint(code, s string) string {
	if !t.ColourErr {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// ShowProblems tells mistakes in files, one line each with its hint below.
func (t *Terminal) ShowProblems(w io.Writer, problems []desired.Problem) {
	for _, p := range problems {
		switch {
		case p.Warning && p.Path != "":
			p.Path = "warning: " + p.Path
		case p.Warning:
			p.Message = "warning: " + p.Message
		}
		fmt.Fprintln(w, OneLine(p.String()))
		if p.Hint != "" {
			fmt.Fprintln(w, "    hint: "+OneLine(p.Hint))
		}
		showPrinted(w, p.Printed)
	}
}

// showPrinted writes what a process printed that crashed.
func showPrinted(w io.Writer, text string) {
	if text == "" {
		return
	}
	fmt.Fprintln(w, "    the process printed:")
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, "      "+OneLine(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), "\n")))
	}
}

// OneLine keeps text from files and servers on its line, away from the terminal's control
// sequences, and without anything hidden in it.
func OneLine(s string) string { return visible.Text(s) }

// Show writes a result as --output says: as JSON, or by text.
func (t *Terminal) Show(output string, value any, text func() error) error {
	if output != "json" {
		return text()
	}
	encoder := json.NewEncoder(t.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// Forms are how a result is written, by the word of --output.
type Forms map[string]func(io.Writer) error

// ShowAs writes a result in one of its forms.
func (t *Terminal) ShowAs(output string, forms Forms) error { return forms[output](t.Out) }

// Apart writes parts of a result with an empty line between them.
func Apart[T any](w io.Writer, parts []T, write func(T) error) error {
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := write(part); err != nil {
			return err
		}
	}
	return nil
}

// Table writes rows in columns, each cell on one line.
func (t *Terminal) Table(rows [][]string) error {
	w := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = OneLine(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// Plural is a number with its noun: "1 zone", "2 zones".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ShortCommit is the first digits of a commit, as git log shows them.
func ShortCommit(commit string) string {
	if commit == "" {
		return "none (a folder)"
	}
	return commit[:min(len(commit), 12)]
}

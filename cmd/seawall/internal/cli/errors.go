package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

// HintError is an error told to a person: one problem and what to try.
type HintError struct {
	problem string
	lines   []string // that say more, each shown on its own
	hints   []string
	cause   error
}

func (f *HintError) Error() string { return f.problem }
func (f *HintError) Unwrap() error { return f.cause }

// Fail makes a failure of err with hints, in front of those it has already.
func Fail(err error, hints ...string) error {
	return &HintError{problem: err.Error(), hints: slices.Concat(hints, HintsOf(err)), cause: err}
}

// HintsOf collects what to try after an error: the hints that [Fail] has given it, else the
// advice that a failure of git, of the ledger or of a question brings itself.
func HintsOf(err error) []string {
	var told *HintError
	var known interface{ Advice() string }
	switch {
	case errors.As(err, &told):
		return slices.Clone(told.hints)
	case errors.As(err, &known) && known.Advice() != "":
		return []string{known.Advice()}
	case errors.Is(err, reconcile.ErrInvalid):
		return []string{"nothing was sent; seawall validate checks a folder without a network"}
	}
	return nil
}

// Reason is an error in one line, with what to try.
func Reason(err error) string {
	return strings.Join(append([]string{err.Error()}, HintsOf(err)...), "; ")
}

// FailLines makes a failure that takes several lines to say.
func FailLines(err error, lines []string, hints ...string) error {
	return &HintError{err.Error(), lines, hints, err}
}

// FileError is a file with problems, to be told line by line.
type FileError struct {
	Summary  string
	Problems []desired.Problem
}

func (m *FileError) Error() string { return m.Summary }

// PipeHint is what to try where a program before a pipe has written nothing.
const PipeHint = "check that the command before the pipe writes to its standard output; with set -o pipefail the shell says where it failed"

// Usage is a failure of the command line itself.
func Usage(format string, args ...any) error {
	return Fail(fmt.Errorf(format, args...), "seawall --help lists the commands, and --help after a command its flags")
}

// ExitError ends the program with a code and without another word: everything
// was said already.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// ExitAttention is the exit code where a command has done what it could, and something is left
// for a person: refused, unknown, or not to be read.
const ExitAttention = ExitError(4) //nolint:errname // it is a code first

// Attention ends a command with [ExitAttention] where that is needed.
func Attention(needed bool) error {
	if needed {
		return ExitAttention
	}
	return nil
}

// ExitWith ends a command that has said everything; 0 is success.
func ExitWith(code int) error {
	if code == 0 {
		return nil
	}
	return ExitError(code)
}

// OneOf checks a flag that takes one of a few words.
func OneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return Fail(fmt.Errorf("%s %q is not one of %s", flag, value, strings.Join(words, ", ")))
}

// NetworkCause strips an error of the net package of the words around its cause.
func NetworkCause(err error) error {
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

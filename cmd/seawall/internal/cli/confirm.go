package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxAnswer bounds what a person may answer to a question, in bytes.
const maxAnswer = 256

// errDeclined: a person has answered no.
var errDeclined = errors.New("not confirmed")

// Confirm asks a person, on a terminal, whether to go on. It returns nil for "yes" and
// for yes, which stands for --yes. Where standard input or standard error is no
// terminal there is no one to ask, and it returns nil as well: a script that calls the
// command has decided. Any other answer, and the end of the input, is an error; so is
// the end of the context, at once.
func Confirm(ctx context.Context, t *Terminal, question string, yes bool) error {
	if yes || !t.Interactive() {
		return nil
	}
	t.screen.show("")
	fmt.Fprintf(t.Err, "%s Enter \"yes\" to continue: ", OneLine(question))
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(t.In, maxAnswer)).ReadString('\n')
		answer <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.Err)
		return context.Cause(ctx)
	case line := <-answer:
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(t.Err)
		}
		t.screen.answered()
		if strings.TrimSpace(line) == "yes" {
			return nil
		}
		return Fail(errDeclined, "nothing was written; --yes skips the question")
	}
}

// Interactive reports whether a person can be asked.
func (t *Terminal) Interactive() bool { return t.inTTY && t.screen != nil }

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// errDeclined: the answer to a question was not yes. Nothing was sent.
var errDeclined = errors.New("nothing was sent: the answer was not yes")

// confirm asks a question on the terminal and returns nil for yes. With yes it does not ask;
// without a terminal to ask on it fails.
func confirm(ui *terminal, question string, yes bool) error {
	if yes {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) || !ui.errTTY {
		return fail(errors.New("nothing was sent: there is no terminal to ask on"), "look at the plan, then say --yes")
	}
	fmt.Fprintf(ui.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return nil
	}
	if err != nil {
		fmt.Fprintln(ui.err)
	}
	return errDeclined
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"mvdan.cc/sh/v3/shell"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

// session is the script command of that name. A process takes far longer to start than most
// commands take to refuse a flag.
func session(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 1, 1, "session FILE")
	ts.Check(ts.Exec("seawall-session", args[0]))
}

// sessionMain runs the commands of a file in this process.
func sessionMain() {
	if err := runSession(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runSession(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	commands, before := 0, ""
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "# ") {
			fmt.Print(before, line)
		}
		words, found := strings.CutPrefix(line, "$ seawall")
		if !found {
			continue
		}
		fmt.Print(line)
		args, err := shell.Fields(words, os.Getenv)
		if err != nil {
			return err
		}
		if err := sessionStep(args); err != nil {
			return err
		}
		commands, before = commands+1, "\n"
	}
	if commands == 0 {
		return fmt.Errorf("%s has no line that begins with $ seawall", file)
	}
	return nil
}

// sessionStep runs a command. What it writes to standard error is an error: anything else
// there could not be told from the result.
func sessionStep(args []string) error {
	var out, err bytes.Buffer
	code := execute(&cli.Terminal{In: strings.NewReader(""), Out: &out, Err: &err}, args)
	fmt.Printf("%s%s", &out, &err)
	switch {
	case err.Len() > 0 && (code != 1 || out.Len() > 0 || !strings.Contains("\n"+err.String(), "\nseawall: error: ")):
		return fmt.Errorf("exit code %d, with text on standard error that is no error or not all: run it apart from the session", code)
	case err.Len() == 0 && code != 0:
		fmt.Printf("exit code %d\n", code)
	}
	return nil
}

package main

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"mvdan.cc/sh/v3/shell"
)

// session is the script command of that name.
func session(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 1, 1, "session FILE")
	text := ts.ReadFile(args[0])
	commands, before := 0, ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# ") {
			fmt.Fprint(ts.Stdout(), before, line)
		}
		words, found := strings.CutPrefix(line, "$ seawall")
		if !found {
			continue
		}
		fmt.Fprint(ts.Stdout(), line)
		args, err := shell.Fields(words, ts.Getenv)
		ts.Check(err)
		sessionStep(ts, args)
		commands, before = commands+1, "\n"
	}
	if commands == 0 {
		ts.Fatalf("%s has no line that begins with $ seawall", args[0])
	}
}

// sessionStep runs a command. What it writes to standard error is an error: anything else
// there could not be told from the result.
func sessionStep(ts *testscript.TestScript, args []string) {
	r := stageOf(ts).run(ts, args)
	fmt.Fprint(ts.Stdout(), r.Out, r.Err)
	switch {
	case r.Err != "" && (r.Code != 1 || r.Out != "" || !strings.Contains("\n"+r.Err, "\nseawall: error: ")):
		ts.Fatalf("exit code %d, with text on standard error that is no error or not all: run it apart from the session", r.Code)
	case r.Err == "" && r.Code != 0:
		fmt.Fprintf(ts.Stdout(), "exit code %d\n", r.Code)
	}
}

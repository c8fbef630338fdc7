package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

// untilSays asks the daemon again and again, until its answer matches.
func untilSays(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, many, "until REGEXP ARG…")
	ts.Check(ts.Exec("seawall-until", args...))
}

// untilMain is untilSays in a process of its own, which has the environment of the script.
func untilMain() {
	want := regexp.MustCompile("(?m)" + os.Args[1])
	late := time.Now().Add(patience)
	for pause := 50 * time.Millisecond; ; time.Sleep(pause) {
		var answer bytes.Buffer
		execute(&cli.Terminal{In: strings.NewReader(""), Out: &answer, Err: &answer}, os.Args[2:]) // its exit code is part of what it says
		if want.Match(answer.Bytes()) {
			return
		}
		if time.Now().After(late) {
			fmt.Fprintf(os.Stderr, "no answer matched %q; the last was:\n%s", want, &answer)
			os.Exit(1)
		}
		pause = min(2*pause, time.Second)
	}
}

// listening waits until a daemon says at which address it serves, as it does at its start
// and after each reload.
func listening(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "listening NAME VARIABLE")
	said := regexp.MustCompile(`"msg":"serving","address":"([^"]+)"`)
	late := time.After(patience)
	for {
		select {
		case line, open := <-theDaemon(ts, args[0]).lines:
			if found := said.FindStringSubmatch(line); found != nil {
				ts.Setenv(args[1], found[1])
				return
			}
			if !open {
				ts.Fatalf("it ended")
			}
		case <-late:
			ts.Fatalf("it does not say where it serves")
		}
	}
}

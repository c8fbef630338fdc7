package main

import (
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// untilSays asks the daemon again and again, until its answer matches. The exit code is
// not part of it.
func untilSays(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, many, "until REGEXP ARG…")
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	late := time.Now().Add(patience)
	for pause := 50 * time.Millisecond; ; time.Sleep(pause) {
		r := stageOf(ts).run(ts, args[1:])
		if want.MatchString(r.Out + r.Err) {
			return
		}
		if time.Now().After(late) {
			ts.Fatalf("no answer matched %q; the last was:\n%s%s", want, r.Out, r.Err)
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

package main

import (
	"os/exec"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// untilSays asks the daemon again and again, until its answer matches.
func untilSays(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, many, "until REGEXP ARG…")
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for late := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		cmd := exec.Command("seawall", args[1:]...)
		cmd.Dir = ts.MkAbs(".")
		cmd.Env = append(cmd.Environ(), "HOME="+ts.Getenv("HOME"), "SEAWALL_CONFIG="+ts.Getenv("SEAWALL_CONFIG"), "GORACE="+ts.Getenv("GORACE"))
		out, _ := cmd.CombinedOutput() // its exit code is part of what it says
		if want.Match(out) {
			return
		}
		if time.Now().After(late) {
			ts.Fatalf("no answer matched %q; the last was:\n%s", want, out)
		}
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

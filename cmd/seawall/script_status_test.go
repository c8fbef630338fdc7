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

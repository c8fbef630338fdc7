package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/edge/sim"
)

var update = flag.Bool("update", false, "rewrite golden files and the outputs in scripts")

func TestMain(m *testing.M) {
	worker.Main(jobs)
	testscript.Main(m, map[string]func(){
		"seawall": func() {
			worker.Main(jobs)
			os.Exit(Main())
		},
	})
}

// TestScript runs the scripts that specify the command line. Beside the
// commands of testscript there are:
//
//	sim [NAME=VALUE…]     start a simulator with quirks; sets BASE_URL, CONTROL
//	                      and SEAWALL_RULESETS_TOKEN
//	transcript FILE       write the requests so far, one a line, and forget them
//	put PATH FILE         PUT a file to the simulator's control
//	commit DIR MESSAGE    commit all of a folder, which becomes a repository
//	replace OLD NEW FILE  replace text in a file
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"sim":        startSim,
			"transcript": writeTranscript,
			"put":        put,
			"commit":     commit,
			"replace":    replace,
		},
	})
}

// running are the simulators of the scripts, by work folder.
var running syncMap

func startSim(ts *testscript.TestScript, _ bool, args []string) {
	s, err := sim.Start(sim.Config{Quirks: args})
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	running.Store(ts.Getenv("WORK"), s)
	ts.Setenv("BASE_URL", s.BaseURL)
	ts.Setenv("CONTROL", s.ControlURL())
	ts.Setenv("SEAWALL_RULESETS_TOKEN", s.RulesetsToken.Reveal())
}

func theSim(ts *testscript.TestScript) *sim.Running {
	s, ok := running.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("no simulator runs: say sim first")
	}
	return s
}

func writeTranscript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: transcript FILE")
	}
	var b strings.Builder
	for _, entry := range theSim(ts).Transcript() {
		fmt.Fprintln(&b, entry.Call())
	}
	theSim(ts).ClearTranscript()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
}

func put(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: put PATH FILE")
	}
	req, err := http.NewRequest(http.MethodPut, theSim(ts).ControlURL()+args[0], bytes.NewReader([]byte(ts.ReadFile(args[1]))))
	ts.Check(err)
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		var body bytes.Buffer
		_, _ = body.ReadFrom(resp.Body)
		ts.Fatalf("PUT %s: %s: %s", args[0], resp.Status, body.String())
	}
}

func commit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: commit DIR MESSAGE")
	}
	dir := ts.MkAbs(args[0])
	git := func(arg ...string) {
		cmd := exec.Command("git", arg...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
			"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.com",
			"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			ts.Fatalf("git %v: %v\n%s", arg, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		git("init", "--quiet", "--initial-branch=main")
	}
	git("add", "--all")
	git("commit", "--quiet", "--allow-empty", "--message", args[1])
}

func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	text := ts.ReadFile(args[2])
	if !strings.Contains(text, args[0]) {
		ts.Fatalf("%s does not contain %q", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.ReplaceAll(text, args[0], args[1])), 0o644))
}

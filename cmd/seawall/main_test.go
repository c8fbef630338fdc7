package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/desired/worker/sandbox/restrict"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
)

var update = flag.Bool("update", false, "rewrite golden files and the outputs in scripts")

// briefTests are run as [soak.Main] says.
type briefTests struct{ *testing.M }

func (m briefTests) Run() int { return soak.Main(withDatabase(m), 0) }

// withDatabase ends the PostgreSQL and the hosts that tests have started.
type withDatabase struct{ *testing.M }

func (m withDatabase) Run() int {
	defer closeHosts()
	return pgtest.Main(m.M)
}

func TestMain(m *testing.M) {
	worker.Main(evaluate.Jobs, restrict.Process)
	// Many scripts wait for a daemon or for a slow platform; -parallel still has the last word.
	if err := flag.Set("test.parallel", "10"); err != nil {
		panic(err)
	}
	testscript.Main(briefTests{m}, map[string]func(){
		"seawall": func() {
			worker.Main(evaluate.Jobs, restrict.Process)
			os.Exit(Main(context.Background()))
		},
		"seawall-host": func() {
			hostMain()
		},
	})
}

// quickExit keeps a binary built with -race from sleeping a second at its end.
const quickExit = "atexit_sleep_ms=0"

// fewCollections is GOGC for a command, which ends before it would pay to collect.
// Daemons keep their own.
const fewCollections = "400"

// waiting are the scripts that mostly wait: for a timeout, a backoff or a slow platform. The longest
// begins first.
var waiting = []string{
	"incidents-platform", "apply-unproved", "apply-interrupted", "doctor", "incidents", "status-drift", "platform-zones", "platform",
	"platform-unreachable", "guard-default", "import-beside", "status", "history-lost", "guard-limit-padding", "guard-hold",
}

// scripts are the files of all scripts, those of waiting first: the others run meanwhile.
func scripts(t *testing.T) (files []string) {
	t.Helper()
	for _, name := range waiting {
		files = append(files, filepath.Join("testdata", "script", name+".txtar"))
	}
	all, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	must.Do(t, err)
	for _, file := range all {
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// TestScript runs the scripts that specify the command line. Beside the
// commands of testscript there are:
//
//	exits CODE PROGRAM ARG…   run a program and hold it to its exit code; seawall runs in
//	                          the host, one process for all commands of the script
//	fails PROGRAM ARG…        the same with 1, silence on stdout, and on stderr one
//	                          line "seawall: error: …" with hints, nothing else
//	process CODE PROGRAM ARG… like exits, in a process of its own, which reads stdin;
//	                          CODE "fails" is like fails
//	session FILE              run each line "$ seawall ARG…" of FILE in the host, and
//	                          write them with their output, which is for: cmp stdout FILE.
//	                          An error is on stderr, with 1 and silence on stdout; another
//	                          code than 0 has a line of its own
//	sim [seed=FILE|fleet=N|tiers=N] [QUIRK…]
//	                          start a simulator; sets BASE_URL, CONTROL and the
//	                          SEAWALL_…_TOKEN variables; tiers=N are zones tuned by
//	                          hand, see tieredFleet
//	transcript FILE [sorted]  write the requests so far, one a line, and forget them;
//	                          reads of several zones have no order of their own
//	put PATH FILE             PUT a file to the simulator's control
//	get PATH FILE             GET from the simulator's control into a file
//	wide FILE N               write a CUE file with N zones, one a line
//	commit DIR MESSAGE        commit all of a folder, which becomes a repository
//	replace OLD NEW FILE      replace text in a file; "\r", "\n" and the like are escapes
//	scrub FILE OUT            write FILE without what differs from run to run
//	capture NAME REGEXP FILE  set a variable to what the group of REGEXP matches
//	vault start|seal|unseal|calls FILE|kept PATH FILE
//	                          a Vault, which repeats in errors what it was sent; sets
//	                          VAULT_URL and VAULT_CREDENTIAL
//	cluster start FILE|down|up|put NAME [LABEL=VALUE]|calls FILE|kept NAME FILE
//	                          a Kubernetes API server, the same; FILE is a kubeconfig;
//	                          sets KUBE_CREDENTIAL
//	mode FILE MODE            hold a file to its permissions, such as 0600
//	daemon NAME REGEXP ARG…   start seawall and wait until a line it writes matches
//	await NAME REGEXP…        wait for further lines of a daemon, in any order
//	signal NAME SIGNAL        send a daemon a signal
//	until REGEXP ARG…         run seawall in the host, until what it writes matches
//	listening NAME VARIABLE   wait until a daemon serves, and set a variable to its address
//	end NAME SIGNAL CODE      send a daemon a signal and hold it to its exit code;
//	                          leaves NAME.out and NAME.err
//	tty CODE AFTER INPUT ARG… run seawall on a terminal, type INPUT once it shows
//	                          AFTER, hold it to its exit code; leaves tty.out
//	writes N                  wait until the simulator has received N writes
//	fleet FILE N PARANOIA     declare the N zones of sim fleet=N
//
// The condition [soak] is true in a soak, for what takes long.
func TestScript(t *testing.T) {
	t.Parallel()
	runScripts(t, scripts(t), "")
}

// TestPostgresScript runs the scripts of several machines, each with an empty database in DATABASE.
func TestPostgresScript(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/postgres/*.txtar")
	must.Do(t, err)
	for _, file := range files {
		testscript.RunT(here{t}, scriptParams(t, []string{file}, pgtest.Database(t)))
	}
}

// here runs scripts one after the other in their test: a parallel one of its own would begin after all
// others that wait for their turn.
type here struct{ *testing.T }

// Parallel implements [testscript.T].
func (here) Parallel() {}

// Run implements [testscript.T].
func (h here) Run(name string, script func(testscript.T)) {
	h.T.Run(name, func(t *testing.T) { script(here{t}) })
}

// Verbose implements [testscript.T].
func (here) Verbose() bool { return testing.Verbose() }

func runScripts(t *testing.T, files []string, database string) {
	t.Helper()
	testscript.Run(t, scriptParams(t, files, database))
}

// scriptParams are how scripts are run.
func scriptParams(t *testing.T, files []string, database string) testscript.Params {
	t.Helper()
	terraform, err := filepath.Abs("../../desired/terraform/testdata")
	must.Do(t, err)
	return testscript.Params{
		Files:               files,
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("DATABASE", database)
			env.Setenv("GORACE", quickExit)
			env.Setenv("GOGC", fewCollections)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TERRAFORM", terraform)
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
			s := &stage{daemons: map[string]*daemonProcess{}}
			for _, pair := range env.Vars {
				name, _, _ := strings.Cut(pair, "=")
				s.start = append(s.start, name)
			}
			env.Values[stageKey{}] = s
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "soak" {
				return false, fmt.Errorf("there is no condition %s", name)
			}
			return soak.On, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"fails":      fails,
			"process":    process,
			"session":    session,
			"sim":        startSim,
			"transcript": writeTranscript,
			"put":        put,
			"get":        get,
			"wide":       wide,
			"commit":     commit,
			"replace":    replace,
			"scrub":      scrub,
			"capture":    capture,
			"mode":       mode,
			"vault":      vaultCommand,
			"cluster":    clusterCommand,
			"daemon":     startDaemon,
			"await":      awaitDaemon,
			"signal":     signalDaemon,
			"end":        endDaemon,
			"until":      untilSays,
			"listening":  listening,
			"cert":       writeCertificate,
			"tty":        ttyCommand,
			"writes":     awaitWrites,
			"fleet":      fleetCommand,
		},
	}
}

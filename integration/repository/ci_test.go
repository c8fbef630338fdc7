package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// programs is a folder with programs, by their names: scripts that stand in for those of the
// machine.
func programs(t *testing.T, scripts map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range scripts {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755))
	}
	return folder
}

// pathOf is the variable by which the programs of a folder are found before others.
func pathOf(folder string) string { return "PATH=" + folder + ":" + os.Getenv("PATH") }

// vulncheck runs .ci/vulncheck with a program named go that says what it was called with
// and what govulncheck says, and ends as it ends.
func vulncheck(t *testing.T, says, ends string, env ...string) (out string, err error) {
	t.Helper()
	script := harness.ReadText(t, filepath.Join(harness.Root, ".ci", "vulncheck"))
	folder := programs(t, map[string]string{"go": "#!/bin/sh\necho \"$*\"\ncat <<'END'\n" + says + "\nEND\nexit " + ends + "\n"})
	command := exec.Command("bash", "-c", script, "vulncheck", "./...")
	command.Env = append(env, pathOf(folder), "GOVULNCHECK=tool@v1")
	told, err := command.CombinedOutput()
	return string(told), err
}

// TestCIVulncheckHidesNothing runs .ci/vulncheck with a program named go that
// says what govulncheck says, and ends as it ends.
func TestCIVulncheckHidesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		says string
		ends string
		ok   bool
		out  string
	}{
		"clean":       {"No vulnerabilities found.", "0", true, "No vulnerabilities found."},
		"found":       {"Vulnerability #1: GO-2026-0001", "1", false, "GO-2026-0001"},
		"not built":   {"main.go:13:2: reading https://proxy.test/x.zip: 403 Forbidden", "1", false, "403 Forbidden"},
		"no name":     {`govulncheck: fetching vulnerabilities: Get "https://vuln.test/index": dial tcp: lookup vuln.test: no such host`, "1", true, "cannot be reached"},
		"no route":    {`govulncheck: fetching vulnerabilities: Get "https://vuln.test/index": dial tcp 192.0.2.1:443: connect: connection refused`, "1", true, "cannot be reached"},
		"bad answer":  {"govulncheck: fetching vulnerabilities: HTTP GET https://vuln.test returned unexpected status: 500", "1", false, "unexpected status"},
		"bad message": {"a finding that mentions dial tcp: no such host", "1", false, "a finding"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := vulncheck(t, test.says, test.ends)
			if (err == nil) != test.ok || !strings.Contains(out, test.out) {
				t.Errorf("ended with %v and said %q, want %q in it", err, out, test.out)
			}
		})
	}
}

// TestCIVulncheckUsesAGivenDatabase: govulncheck gets the database that GOVULNDB names, and
// one that cannot be reached is a failure then.
func TestCIVulncheckUsesAGivenDatabase(t *testing.T) {
	database := "file://" + t.TempDir()
	for name, test := range map[string]struct {
		database, says, ends string
		ok                   bool
		out                  string
	}{
		"a folder":       {database, "fine", "0", true, "run tool@v1 -db " + database + " ./..."},
		"none":           {"", "fine", "0", true, "run tool@v1 ./..."},
		"no folder":      {database + "/missing", "fine", "0", false, "is not a folder"},
		"another scheme": {"/srv/vulndb", "fine", "0", false, "must begin with file:// or https://"},
		"unreachable":    {"https://vuln.test", `govulncheck: fetching vulnerabilities: Get "https://vuln.test/index": dial tcp: lookup vuln.test: no such host`, "1", false, "no such host"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := vulncheck(t, test.says, test.ends, "GOVULNDB="+test.database)
			if (err == nil) != test.ok || !strings.Contains(out, test.out) {
				t.Errorf("ended with %v and said %q, want %q in it", err, out, test.out)
			}
		})
	}
}

// TestCIRunsWhatIsPromised: what looks at the code, and each package's tests once:
// with the race detector or without. None of it may fail unseen.
func TestCIRunsWhatIsPromised(t *testing.T) {
	t.Parallel()
	script := harness.ReadText(t, filepath.Join(harness.Root, ".ci", "run"))
	for _, want := range []string{"\nset -euo pipefail\n", "\n\tmake tools check\n", "\n\tmake race\n", "\n\tmake plain\n"} {
		if strings.Count(script, want) != 1 {
			t.Errorf(".ci/run does not say %q once", want)
		}
	}
	if strings.Contains(script, "|| true") {
		t.Error(".ci/run lets a failure pass")
	}
	tested := map[string]int{}
	for target, names := range map[string][]string{"race": racing(t), "plain": testedBy(t, "plain")} {
		if len(names) == 0 {
			t.Errorf("make %s runs no tests", target)
		}
		for _, name := range names {
			tested[name]++
		}
	}
	for _, name := range packageNames(t, "./...") {
		if tested[name] != 1 {
			t.Errorf("CI runs the tests of %s %d times", name, tested[name])
		}
		delete(tested, name)
	}
	for name := range tested {
		t.Errorf("CI runs tests of %s, which go test ./... does not", name)
	}
	for _, name := range testedBy(t, "check") {
		t.Errorf("make check runs the tests of %s once more", name)
	}
}

// testedBy returns the packages whose tests a target of the Makefile runs. It does
// so with a program in place of the go command that writes them down.
func testedBy(t *testing.T, target string) []string {
	t.Helper()
	folder := programs(t, map[string]string{"golangci-lint": "#!/bin/sh\n", "go": `#!/bin/sh
case "$1 $2" in list*) shift; exec "$LISTS/list" "$@" ;; test*|*gotestsum*) ;; *) exit ;; esac
case " $* " in *' -run '*) exit ;; esac # some tests of a package, not the package
for arg; do case $arg in
./*|` + module + `*) packages="$packages $arg" ;;
--packages=*) packages="$packages ${arg#*=}" ;;
esac; done
case $packages in *...*) "$LISTS/list" $packages ;; *) printf '%s\n' $packages ;; esac >>"$LIST"
`})
	list := filepath.Join(folder, "packages")
	realGo, err := exec.LookPath("go")
	must.Do(t, err)
	command := exec.Command("make", "--no-print-directory", target,
		"GO="+filepath.Join(folder, "go"), "GOLANGCI_LINT="+filepath.Join(folder, "golangci-lint"))
	command.Dir = harness.Root
	command.Env = append(os.Environ(), pathOf(folder), "REAL_GO="+realGo, "LIST="+list, "LISTS="+lists())
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", target, err, out)
	}
	names, _ := os.ReadFile(list) // none where no tests run
	return strings.Fields(string(names))
}

// listsFolder is that of lists, once it was made. TestMain removes it.
var listsFolder string

// lists is the folder of a program "list", which says what go list does, and of what it has said:
// to ask go takes a second of processor time.
var lists = sync.OnceValue(func() string {
	folder, err := os.MkdirTemp("", "seawall-lists-")
	listsFolder = folder
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "list"), []byte(`#!/bin/sh
known=${0%/*}/$(printf %s "$*" | cksum | tr ' ' -)
[ -f "$known" ] || { "${REAL_GO:-go}" list "$@" >"$known.$$" && mv "$known.$$" "$known"; } || exit
exec cat "$known"
`), 0o700)
	}
	if err != nil {
		panic(err)
	}
	return folder
})

// racing are the packages of make race, asked for once.
func racing(t *testing.T) []string {
	t.Helper()
	raceOnce.Do(func() { raced = testedBy(t, "race") })
	if len(raced) == 0 {
		t.Fatal("make race runs no tests")
	}
	return raced
}

var (
	raceOnce sync.Once
	raced    []string
)

func packageNames(t *testing.T, pattern string) []string {
	t.Helper()
	command := exec.Command(filepath.Join(lists(), "list"), pattern)
	command.Dir = harness.Root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Fields(string(out))
}

// withoutRace names the packages that start goroutines and are not tested under the
// race detector by CI, and why.
var withoutRace = map[string]string{
	"./desired/evaluate":    "its tests start processes over CUE: make soak has the detector in all",
	"./desired/gitrepo":     "its tests unpack gigabytes: make soak has the detector in all",
	"./integration/chaos":   "as the next",
	"./integration/faults":  "it measures, which the detector would falsify",
	"./integration/harness": "it has no tests; under the detector the program that it starts has it too",
}

// TestCIHasTheRaceDetectorWhereGoroutinesMeet: a package that starts goroutines is
// among those of make race.
func TestCIHasTheRaceDetectorWhereGoroutinesMeet(t *testing.T) {
	t.Parallel()
	under := racing(t)
	packages := readSource(t)
	for name := range withoutRace {
		if packages[name] == nil || len(packages[name].goroutines) == 0 {
			t.Errorf("%s starts no goroutines", name)
		}
	}
	for name, p := range packages {
		full := module + strings.TrimPrefix(name, ".")
		if len(p.goroutines) > 0 && withoutRace[name] == "" && !slices.Contains(under, full) {
			t.Errorf("%s: a goroutine begins in %s, which is not in RACE of the Makefile", p.goroutines[0], name)
		}
	}
}

// Package harness is what tests of the real program share: the program itself, run to its end
// or as a daemon, the simulated platform behind a socket, and desired state for it.
package harness

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/soak"
)

// ofTests is how the variables of tests begin. The program knows none of them.
const ofTests = "SEAWALL_TEST_"

// Main is the TestMain of a package whose tests start the program: it returns the exit
// code. What only a soak runs is a name and the test that is red before it.
func Main(m *testing.M, soakOnly map[string]string) int {
	gittest.Isolate()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "SEAWALL_") && !strings.HasPrefix(name, ofTests) || name == "CREDENTIALS_DIRECTORY" {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	// Under the race detector every process that ends would wait for a second.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	// Most of these tests wait for a daemon; -parallel still has the last word.
	if err := flag.Set("test.parallel", strconv.Itoa(AtOnce)); err != nil {
		panic(err)
	}
	flag.Parse()
	if err := briefly(soakOnly); err != nil {
		panic(err)
	}
	built.within = os.TempDir() // on the disk: see Build
	code := soak.Main(m, 15)    // each draw has a platform, a ledger and processes
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // it is in the folder for temporary files
	}
	return code
}

// briefly leaves out what only a soak does. Flags are parsed.
func briefly(soakOnly map[string]string) error {
	if soak.On {
		return nil
	}
	if len(soakOnly) == 0 || flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" {
		return nil
	}
	var names []string
	for name := range soakOnly {
		names = append(names, "^"+name+"$")
	}
	return flag.Set("test.skip", strings.Join(names, "|"))
}

// built is the program as people run it, made once and only when a test asks for it.
var built struct {
	once        sync.Once
	within, dir string
	file        string
	err         error
}

// Seawall returns the path of the built program. It has the race detector when
// the tests have it.
func Seawall(t testing.TB) string {
	t.Helper()
	built.once.Do(func() { built.file, built.err = program() })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.file
}

// program builds the program, unless another package of the same "go test" has: to find that nothing is
// to be done takes Go a second of processor time.
func program() (file string, err error) {
	all := ofAll()
	common := filepath.Join(all, "program-of-all", "seawall")
	if all != "" && isFile(common) {
		return common, nil
	}
	if built.dir, err = os.MkdirTemp(cmp.Or(all, built.within), "seawall-integration-"); err != nil {
		return "", err
	}
	file = filepath.Join(built.dir, "seawall")
	if err := Build(file, BuildFlags...); err != nil || all == "" {
		return file, err
	}
	if err := os.MkdirAll(filepath.Dir(common), 0o700); err != nil {
		return "", err
	}
	return common, os.Rename(file, common) // who did the same meanwhile has the same
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ofAll is the folder that one "go test" has for the test binaries of all packages, and removes at its
// end; empty: this one was not started by it.
func ofAll() string {
	own := filepath.Dir(os.Args[0])
	if all := filepath.Dir(own); strings.HasPrefix(filepath.Base(all), "go-build") && strings.HasPrefix(filepath.Base(own), "b") {
		return all
	}
	return ""
}

// Build writes the program to a file, built with these flags. Of all packages that ask, the
// first has it linked: "go run" keeps the result in Go's cache, and "go build" does not. What
// it would run is copied instead, in pieces of 64 MiB: Linux then keeps it in large pages, and
// a start of it takes a quarter less processor time than one of a file that cp has written.
func Build(file string, flags ...string) error {
	copied := `sh -c 'dd bs=67108864 if="$0" of="` + file + `" && chmod +x "` + file + `"'`
	args := slices.Concat([]string{"run", "-exec", copied}, flags, []string{"github.com/seawall-dev/seawall/cmd/seawall"})
	build := exec.Command("go", args...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return nil
}

// Outcome is what a command left behind.
type Outcome struct {
	Code           int
	Stdout, Stderr string
}

// Run runs the program to its end, with variables beside those of the process.
func Run(t testing.TB, env []string, args ...string) Outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Seawall(t), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+cmd.Dir) // runs share no budget
	cmd.Env = append(cmd.Env, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("seawall %s: %v", strings.Join(args, " "), err)
	}
	return Outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// Want checks the exit code, and that text stands in what was told.
func (o Outcome) Want(t testing.TB, code int, texts ...string) {
	t.Helper()
	if o.Code != code {
		t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", o.Code, code, o.Stdout, o.Stderr)
	}
	for _, text := range texts {
		if !strings.Contains(o.Stdout+o.Stderr, text) {
			t.Errorf("nothing says %q\nstdout: %s\nstderr: %s", text, o.Stdout, o.Stderr)
		}
	}
}

// WantNo checks that none of the texts stands in what was told.
func (o Outcome) WantNo(t testing.TB, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(o.Stdout+o.Stderr, secret) {
			t.Errorf("the output contains %q\nstdout: %s\nstderr: %s", secret, o.Stdout, o.Stderr)
		}
	}
}

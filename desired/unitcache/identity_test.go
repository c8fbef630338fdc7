package unitcache

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/integration/must"
)

// Two builds of different code have different ids, by either way to tell, and a
// build whose id was taken away is told by its content.
func TestProgramID(t *testing.T) {
	dir := t.TempDir()
	build := func(name, text, flags string) string {
		source, program := filepath.Join(dir, name+".go"), filepath.Join(dir, name)
		must.Do(t, os.WriteFile(source, []byte(text), 0o600))
		cmd := exec.Command("go", "build", "-o", program, "-ldflags=-s -w "+flags, source) // without what debuggers read it links faster
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return program
	}
	const one, two = "package main\nfunc main() { println(1) }\n", "package main\nfunc main() { println(2) }\n"
	a, b := build("a", one, ""), build("b", two, "")
	none, fixed := build("none", one, "-buildid="), build("fixed", one, "-buildid=redacted")
	if runtime.GOOS == "linux" {
		if buildID(a) == "" || buildID(a) == buildID(b) {
			t.Errorf("build ids %q and %q", buildID(a), buildID(b))
		}
	}
	for _, program := range []string{none, fixed} {
		if id := buildID(program); id != "" {
			t.Errorf("%s: id %q is not of go build's making", filepath.Base(program), id)
		}
	}
	idA, errA := contentID(a)
	idB, errB := contentID(b)
	if errA != nil || errB != nil || idA == idB {
		t.Errorf("content ids %q, %v and %q, %v", idA, errA, idB, errB)
	}
}

// Another program, or another limit, finds nothing of what this one kept.
func TestIdentityIsInTheAddress(t *testing.T) {
	limits := compile.DefaultLimits
	t.Cleanup(func() { compile.DefaultLimits = limits })
	first, err := identity()
	must.Do(t, err)
	compile.DefaultLimits.MaxDeclarations++
	second, err := identity()
	if err != nil || first == second {
		t.Errorf("%q and %q, %v", first, second, err)
	}
	prints := compile.Prints{".": "1", "a": "2"}
	if prints.Address(first, "a") == prints.Address(second, "a") {
		t.Error("two programs have one address")
	}
}

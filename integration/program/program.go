// Package program builds the program for tests that start it.
package program

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Built is the path of the program, for this test alone. Of all packages that ask, the
// first has it linked: "go run" keeps the result in Go's cache, and "go build" does not.
func Built(t testing.TB) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "seawall")
	build := exec.Command("go", "run", "-exec", `sh -c 'cp "$0" "`+binary+`"'`, "github.com/seawall-dev/seawall/cmd/seawall")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return binary
}

// Package program builds the program for tests that start it.
package program

import (
	"fmt"
	"os/exec"
)

// Build writes the program to a file. Of all packages that ask, the first has it linked:
// "go run" keeps the result in Go's cache, and "go build" does not. What it would run is
// copied instead.
func Build(file string) error {
	build := exec.Command("go", "run", "-exec", `sh -c 'cp "$0" "`+file+`"'`, "github.com/seawall-dev/seawall/cmd/seawall")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return nil
}

// Package program builds the program for tests that start it.
package program

import (
	"fmt"
	"os/exec"
	"slices"
)

// Build writes the program to a file, built with these flags. Of all packages that ask, the
// first has it linked: "go run" keeps the result in Go's cache, and "go build" does not. What
// it would run is copied instead.
func Build(file string, flags ...string) error {
	args := slices.Concat([]string{"run", "-exec", `sh -c 'cp "$0" "` + file + `"'`}, flags, []string{"github.com/seawall-dev/seawall/cmd/seawall"})
	build := exec.Command("go", args...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return nil
}

// Package program builds the program for tests that start it.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// Build writes the program to a file, built with these flags. Of all packages that ask, the
// first has it linked: "go run" keeps the result in Go's cache, and "go build" does not. What
// it would run is copied instead, in one piece; see inOnePiece.
func Build(file string, flags ...string) error {
	args := slices.Concat([]string{"run", "-exec", `sh -c 'cp "$0" "` + file + `"'`}, flags, []string{"github.com/seawall-dev/seawall/cmd/seawall"})
	build := exec.Command("go", args...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return inOnePiece(file)
}

// inOnePiece writes a program's file again with a single write. Linux then keeps it in large
// pages, and a start of the program takes a quarter less processor time than one of a copy
// that was written in pieces. Nothing may run it meanwhile.
func inOnePiece(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o755)
}

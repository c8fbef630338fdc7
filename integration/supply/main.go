// Command supply says what a build of Seawall is made of.
//
//	go run ./integration/supply sbom seawall    # CycloneDX 1.6, as JSON, from what Go recorded in the binary
//	go run ./integration/supply licences        # docs/licences.md
//
// It reads licences from the module cache, so the modules must be downloaded.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "sbom":
		return writeSBOM(os.Stdout, args[1])
	case len(args) == 1 && args[0] == "licences":
		page, err := licencesPage()
		if err != nil {
			return err
		}
		return os.WriteFile("docs/licences.md", page, 0o644)
	}
	return errors.New("usage: supply sbom BINARY, or supply licences")
}

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/examples"
)

// leaningDay is the day as of which the demo judges: some rules are past their
// end on it and others are announced.
const leaningDay = "2025-05-01"

// lean shows who of the example's integrations leans on what goes away.
func (d *demo) lean(ctx context.Context) error {
	d.title("seawall deprecations check --at %s: which programs break, and when", leaningDay)
	files, err := fs.Sub(examples.Files, "integrations")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.path("integrations"), files); err != nil {
		return err
	}
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	c := checking{terminal: d.terminal, almanac: almanac{at: leaningDay, dir: d.path("integrations"), output: "text", outputs: []string{"text"}}}
	err = c.run(cmd, nil)
	var code exitStatus
	if err != nil && !errors.As(err, &code) {
		return err
	}
	return expect(code == 4, "an integration uses what has ended without replacement")
}

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/moby/sys/atomicwriter"
	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// jsonSchemas are those of what is printed as JSON.
var jsonSchemas = map[string][]byte{
	"plan": render.Schema, "radar": radar.Schema, "status": inspect.StatusSchema, "zone": inspect.ZoneSchema,
}

func newSchema(t *cli.Terminal) *cobra.Command {
	var export string
	cmd := &cobra.Command{
		Use:   "schema [cue|plan|radar|status|zone]",
		Short: "Print or export the schemas",
		Long: `Print the CUE schema of desired state and of the daemon's configuration (cue, the
default), or a JSON Schema: of a plan (plan), of what seawall radar -o json prints
(radar), of what seawall status -o json prints (status), and of what it prints with a
zone (zone). With --export the CUE schema is
written to a folder as a package, for editors and for its helpers.`,
		Example:   "  seawall schema\n  seawall schema plan > plan.schema.json\n  seawall schema --export my-edge/seawall",
		Args:      oneWord,
		ValidArgs: []string{"cue", "plan", "radar", "status", "zone"},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case export != "":
				return exportSchema(export)
			case len(args) == 1 && jsonSchemas[args[0]] != nil:
				_, err := t.Out.Write(jsonSchemas[args[0]])
				return err
			}
			files := schema.Export()
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if _, err := t.Out.Write(append([]byte("// "+name+"\n\n"), files[name]...)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&export, "export", "", "write the CUE package to this `DIR` instead")
	return cmd
}

// exportSchema writes the schema's package. Files of an earlier export are
// replaced; nothing else in the folder is touched.
func exportSchema(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range schema.Export() {
		if err := atomicwriter.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.Close()
}

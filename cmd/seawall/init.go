package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/examples"
)

func newInit(t *cli.Terminal) *cobra.Command {
	var module string
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Create a repository of desired state",
		Long: `Write a small, valid repository into DIR (default: the current folder): a CUE
module, one account with one zone to edit, and the schema as a package of the
module, so that editors complete and ` + "`cue vet`" + ` finds most mistakes.
Only ` + "`seawall validate`" + ` finds all of them.

Existing files are never overwritten, but the schema's own folder is updated.`,
		Example: "  seawall init my-edge && seawall validate my-edge",
		Args:    oneFolder,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return initialise(t, dir, module)
		},
	}
	cmd.Flags().StringVar(&module, "module", "edge.example/desired", "`PATH` of the CUE module")
	return cmd
}

var modulePath = lazyregexp.New(`^[a-z0-9][a-z0-9.-]*\.[a-z]+(/[A-Za-z0-9_.-]+)*$`)

func checkModule(module string) error {
	if modulePath().MatchString(module) {
		return nil
	}
	return cli.Fail(fmt.Errorf("--module %q is not a CUE module path", module), "such a path starts with a domain, for example example.com/edge")
}

func initialise(t *cli.Terminal, dir, module string) error {
	if err := checkModule(module); err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return cli.Fail(fmt.Errorf("%s is not a folder", dir), "name the folder for the new repository")
	}
	for _, file := range examples.Starter(module) {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		switch err := writeNew(path, file.Content); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(t.Err, "kept     %s\n", path)
		case err != nil:
			return err
		default:
			fmt.Fprintf(t.Err, "written  %s\n", path)
		}
	}
	schemaDir := filepath.Join(dir, "seawall")
	if err := exportSchema(schemaDir); err != nil {
		return err
	}
	fmt.Fprintf(t.Err, "written  %s\n", schemaDir)
	_, err := fmt.Fprintf(t.Out, "Next: edit %s, then run: seawall validate %s\n", cli.Quoted(filepath.Join(dir, "edge.cue")), cli.Quoted(dir))
	return err
}

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
	var config configFlags
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Create a repository of desired state",
		Long: `Write a small, valid repository into DIR (default: the current folder): a CUE
module, one account with one zone to edit, and the schema as a package of the
module, so that editors complete and ` + "`cue vet`" + ` finds most mistakes.
Only ` + "`seawall validate`" + ` finds all of them.

Existing files are never overwritten, but the schema's own folder is updated.

With --config FILE it writes no repository, but a configuration of seawall run for the
git repository in DIR: its origin, or DIR itself, and the branch that is checked out.
The configuration observes only, needs no root, and has a comment for each part.`,
		Example: `  seawall init my-edge && seawall validate my-edge
  seawall init --config config.cue my-edge`,
		Args: perhapsFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if config.Config != "" {
				return writeConfig(cmd.Context(), t, config, dir)
			}
			for _, name := range []string{"source", "base-url", "profile"} {
				if cmd.Flags().Changed(name) {
					return cli.Fail(fmt.Errorf("--%s is for a configuration", name), "name the file to write with --config FILE")
				}
			}
			return initialise(t, dir, module)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&module, "module", "edge.example/desired", "`PATH` of the CUE module")
	flags.StringVar(&config.Config, "config", "", "write a configuration to `FILE` instead of a repository")
	flags.StringVar(&config.source, "source", "", "with --config: `URL` of the repository, instead of what git says of DIR")
	flags.StringVar(&config.BaseURL, "base-url", "", "with --config: base URL of the platform's API (default Cloudflare's)")
	flags.StringVar(&config.Profile, "profile", "", "with --config and --base-url: documented or extended: which calls the platform offers")
	_ = cmd.MarkFlagFilename("config", "cue")
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

// Command seawall makes an Edge Platform agree with a git repository of desired
// state written in CUE, and proves that it does. See `seawall --help`.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
	"github.com/seawall-dev/seawall/desired/worker/sandbox/restrict"
)

func main() {
	worker.Main(evaluate.Jobs, restrict.Process) // a worker process never comes back from here
	os.Exit(Main(context.Background()))
}

// Main runs the command line with the process's arguments and returns its exit
// code. It is apart from main so that scripts in tests can run it.
func Main(ctx context.Context) int {
	t := cli.NewTerminal(os.Stdin, os.Stdout, os.Stderr)
	ctx, stop := cli.UntilSignal(ctx, t)
	defer stop()
	root := newRoot(t) //nolint:contextcheck // commands get it from cobra
	root.SetArgs(os.Args[1:])
	mistaken := helpOfKnown(root)
	return cli.ExitCodeOf(ctx, t, cmp.Or(root.ExecuteContext(ctx), *mistaken))
}

func newVersion(t *cli.Terminal) *cobra.Command {
	var output string
	var verbose bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  seawall version\n  seawall version -o json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := cli.ThisVersion()
			if verbose {
				v.Sandbox = sandboxLine(sandbox.Here())
			}
			if output == "json" {
				return json.NewEncoder(t.Out).Encode(v)
			}
			_, err := fmt.Fprint(t.Out, v.Line())
			return err
		},
	}
	cli.AddOutput(cmd, &output, "text", "json")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also print the sandbox that this machine offers to workers")
	return cmd
}

// sandboxLine is what there is for a sandbox, and what is missing.
func sandboxLine(here sandbox.Support) string {
	if missing := here.Missing(); len(missing) > 0 {
		return here.String() + "; missing: " + strings.Join(missing, ", ")
	}
	return here.String()
}

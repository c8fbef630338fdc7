// Command seawall makes an Edge Platform agree with a git repository of desired
// state written in CUE, and proves that it does. See `seawall --help`.
package main

import (
	"context"
	"os"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/worker"
)

func main() {
	worker.Main(evaluate.Jobs) // a worker process never comes back from here
	os.Exit(Main())
}

// Main runs the command line with the process's arguments and returns its exit
// code. It is apart from main so that scripts in tests can run it.
func Main() int {
	t := cli.NewTerminal(os.Stdin, os.Stdout, os.Stderr)
	ctx, until, stop := cli.UntilSignal(context.Background(), t)
	defer stop()
	err := newRoot(t).ExecuteContext(ctx)
	by, was := until()
	return cli.ExitCodeOf(t, err, by, was)
}

// Command seawall makes an Edge Platform agree with a git repository of desired
// state written in CUE, and proves that it does. See `seawall --help`.
package main

import (
	"context"
	"os"

	"github.com/seawall-dev/seawall/desired/worker"
)

func main() {
	worker.Main(jobs) // a worker process never comes back from here
	os.Exit(Main())
}

// Main runs the command line with the process's arguments and returns its exit
// code. It is apart from main so that scripts in tests can run it.
func Main() int {
	t := newTerminal(os.Stdin, os.Stdout, os.Stderr)
	ctx, until, stop := untilSignal(context.Background(), t)
	defer stop()
	err := newRoot(t).ExecuteContext(ctx)
	by, was := until()
	return exitCodeOf(t, err, by, was)
}

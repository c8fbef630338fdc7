// Command faults shows what Seawall does when what it depends on misbehaves.
//
//	go run ./integration/faults -binary ./seawall
//	go run ./integration/faults -binary ./seawall -only git-silent -keep
//	go run ./integration/faults -binary ./seawall -soak 30m
//	go run ./integration/faults -binary ./seawall -soak 10m -zones 10000
//
// Each row has a daemon of its own: the real binary, a repository over smart
// HTTP, and the simulated platform. First everything is well for a while, and it
// measures how soon planted drift is healed and pushed commits are live. Then the
// fault is on, and the same is measured in zones that have nothing to do with it.
// Then the fault is over, and the daemon has to recover without a restart. What
// counts is the ratio of the two measurements, not the seconds.
//
// With -soak, one daemon runs for long: through faults that come and go, or, with -zones, over a
// large fleet in which nothing fails, and then pushes may not become slower nor the daemon larger.
//
// The result is a table in Markdown on standard output, each row as soon as it is known; what
// goes on is on standard error. The exit code is 1 when
// a row misses its aim: see docs/reliability.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	binary string
	only   string
	quick  bool
	long   bool
	jobs   int
	keep   bool
	write  string
	soak   time.Duration
	zones  int
	list   bool
}

var errMissed = errors.New("aims are missed")

func main() {
	o := parse(os.Args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		stop()
		os.Exit(1)
	}
}

func parse(args []string) options {
	var o options
	flags := flag.NewFlagSet("faults", flag.ExitOnError)
	flags.StringVar(&o.binary, "binary", "./seawall", "the program to look at")
	flags.StringVar(&o.only, "only", "", "run the rows whose names begin with one of these words, with commas between them")
	flags.BoolVar(&o.quick, "quick", false, "plant half as much drift")
	flags.BoolVar(&o.long, "long", false, "wait up to 20 minutes where recovery is slow")
	flags.IntVar(&o.jobs, "jobs", 3, "rows at a time")
	flags.BoolVar(&o.keep, "keep", false, "keep the folders with the daemons' logs and say where they are")
	flags.StringVar(&o.write, "write", "", "write the result into this page, docs/reliability.md, too; with -only, the log lines alone")
	flags.DurationVar(&o.soak, "soak", 0, "run one daemon for that long through faults that come and go, in place of the rows")
	flags.IntVar(&o.zones, "zones", 0, "with -soak: a fleet of so many zones, in which nothing fails")
	flags.BoolVar(&o.list, "list", false, "list the rows")
	_ = flags.Parse(args) // it exits by itself
	return o
}

func (o options) run(ctx context.Context) error {
	switch {
	case o.list:
		return o.listRows()
	case o.soak > 0:
		return o.runSoak(ctx)
	default:
		return o.runRows(ctx)
	}
}

func (o options) listRows() error {
	for _, s := range o.chosen() {
		fmt.Printf("%-24s %s\n", s.name, s.fault)
	}
	return nil
}

// chosen are the rows that -only names, or all.
func (o options) chosen() []scenario {
	if o.only == "" {
		return scenarios()
	}
	var list []scenario
	for _, s := range scenarios() {
		for word := range strings.SplitSeq(o.only, ",") {
			if strings.HasPrefix(s.name, word) {
				list = append(list, s)
				break
			}
		}
	}
	return list
}

func (o options) runRows(ctx context.Context) error {
	chosen := o.chosen()
	if len(chosen) == 0 {
		return fmt.Errorf("-only %s names no row; -list lists them", o.only)
	}
	dir, err := os.MkdirTemp("", "seawall-faults-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Fprintln(os.Stderr, "the folders are below", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	rows := o.measureAll(ctx, chosen, dir)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := table(rows) + notRun
	fmt.Print(notRun)
	if o.write != "" {
		shown := func(before string) string { return linesPart(before, rows, scenarios()) }
		if err := rewriteFile(o.write, markLines, shown); err != nil {
			return err
		}
	}
	if o.write != "" && o.only == "" {
		if err := rewriteFile(o.write, markFaults, func(string) string { return text }); err != nil {
			return err
		}
	}
	if names := missed(rows); len(names) > 0 {
		return fmt.Errorf("%w: %s", errMissed, strings.Join(names, ", "))
	}
	return nil
}

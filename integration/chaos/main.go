//go:build linux

// Command chaos shows that several processes over one PostgreSQL do each piece of work once,
// whatever is done to them.
//
//	go run ./integration/chaos -binary ./seawall -for 20m
//	go run ./integration/chaos -binary ./seawall -for 2m -zones 300 -seed 7
//	go run ./integration/chaos -binary ./seawall -for 2m -zones 300 -embedded
//
// It starts a PostgreSQL, the simulated platform with a credential for each account, a git
// repository, and three daemons. Then, at random moments, daemons are killed, ended and paused for
// longer than a lease, the database is stopped and connections to it are cut, commits are pushed,
// zones drift, tokens are declared and rotated. In the end it looks at every request that the
// platform got, at the ledger and at the platform: see laws.go for what must hold.
//
// The seed says what happens and in which order, not at which moment of the work: that is the
// machine's. What goes on is on standard error, the result on standard output. The exit code is 1
// when a law is broken.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

// options are the flags.
type options struct {
	binary      string
	length      time.Duration
	seed        uint64
	zones       int
	credentials int
	replicas    int
	sweep       time.Duration
	embedded    bool // one daemon with a ledger of its own
	standby     bool // the database has one, for a failover
	keep        bool

	log io.Writer
}

var errBroken = errors.New("laws are broken")

func main() {
	o := parse(os.Args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func parse(args []string) options {
	o := options{log: os.Stderr}
	flags := flag.NewFlagSet("chaos", flag.ExitOnError)
	flags.StringVar(&o.binary, "binary", "./seawall", "the program to look at")
	flags.DurationVar(&o.length, "for", 20*time.Minute, "for how long it is disturbed")
	flags.Uint64Var(&o.seed, "seed", 0, "of what happens; 0: another each time")
	flags.IntVar(&o.zones, "zones", 3000, "zones of the fleet")
	flags.IntVar(&o.credentials, "credentials", 6, "accounts, each with a credential of its own")
	flags.IntVar(&o.replicas, "replicas", 3, "daemons")
	flags.DurationVar(&o.sweep, "sweep", 30*time.Second, "the interval in which each zone is looked at")
	flags.BoolVar(&o.embedded, "embedded", false, "one daemon with a ledger of its own, without PostgreSQL")
	flags.BoolVar(&o.keep, "keep", false, "keep the folder with the daemons' logs and say where it is")
	_ = flags.Parse(args) // it exits by itself
	return o
}

func (o options) run(ctx context.Context) error {
	gittest.Isolate()
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	if o.embedded {
		o.replicas = 1
	}
	var err error
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "seawall-chaos-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Fprintln(o.log, "the folder is", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	fmt.Fprintf(o.log, "seed %d\n", o.seed)
	f, err := newFixture(ctx, o, dir)
	if err != nil {
		return err
	}
	defer f.stop()
	if err := f.disturbed(ctx); err != nil {
		return err
	}
	result, err := f.end(ctx)
	if err != nil {
		return err
	}
	fmt.Print(result.text(o))
	if len(result.broken) > 0 {
		return fmt.Errorf("%w (seed %d):\n%s", errBroken, o.seed, strings.Join(result.broken, "\n"))
	}
	return nil
}

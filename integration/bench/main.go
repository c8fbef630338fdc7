//go:build linux

// Command bench measures Seawall beside the least that could do the same work.
//
//	go run ./integration/bench -binary ./seawall -zones 100,1000 -latency 0,20ms
//	go run ./integration/bench -binary ./seawall -record integration/bench/record.json
//	go run ./integration/bench -binary ./seawall -compare integration/bench/record.json
//	go run ./integration/bench -binary ./seawall -zones 100000 -latency 20ms -postgres -replicas 3 -credentials 25
//
// For each size and latency it starts a simulated platform, in its own process, and lets the real binary plan, heal, sweep and prove a push. The floor is
// a bare keep-alive HTTP client that asks for the same entry points, as many at a
// time, and decodes them. Everything of one table is measured in one run, on one
// machine: the ratios count, not the seconds.
//
// Requests are read from the simulator's transcript. CPU time is user and system
// time of the process and the children it waited for; the peak of memory is that
// of the largest of them, both as Linux tells them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	binary      string
	zones       []int
	latencies   []time.Duration
	concurrency int
	repeat      int
	resting     time.Duration // for how long replicas are measured that have nothing to do
	setup       setup
	record      string // file to write; empty writes none
	compare     string // record to compare with; empty compares with none

	out io.Writer // gets each row as soon as it is measured; nil: nothing is shown
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		exitOn(floorMain(os.Args[2:]))
		return
	}
	o, err := parse(os.Args[1:])
	exitOn(err)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o.out = os.Stdout
	exitOn(o.run(ctx))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	o := options{resting: 10 * time.Second}
	var zones, latencies string
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.StringVar(&o.binary, "binary", "./seawall", "the program to measure")
	flags.StringVar(&zones, "zones", "100,1000", "sizes of fleets")
	flags.StringVar(&latencies, "latency", "0,20ms", "how long the platform takes for each answer")
	flags.IntVar(&o.concurrency, "concurrency", 50, "requests in flight")
	flags.IntVar(&o.repeat, "repeat", 3, "how often each is measured; the median is shown")
	postgres := flags.Bool("postgres", false, "the daemon has its state in a PostgreSQL of this machine")
	flags.IntVar(&o.setup.Replicas, "replicas", 1, "how many daemons share it")
	flags.IntVar(&o.setup.Credentials, "credentials", 1, "how many credentials there are, each with an account of its own")
	flags.StringVar(&o.record, "record", "", "write the ratios to this file, as JSON; it keeps those of other sizes and latencies")
	flags.StringVar(&o.compare, "compare", "", "fail where the run is worse than the record in this file")
	_ = flags.Parse(args) // it exits by itself
	for word := range strings.SplitSeq(zones, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-zones: %q is not a number of zones", word)
		}
		o.zones = append(o.zones, n)
	}
	for word := range strings.SplitSeq(latencies, ",") {
		d, err := time.ParseDuration(word)
		if err != nil || d < 0 {
			return o, fmt.Errorf("-latency: %q is not a length of time", word)
		}
		o.latencies = append(o.latencies, d)
	}
	if o.repeat < 1 || o.setup.Replicas < 1 || o.setup.Credentials < 1 {
		return o, errors.New("-repeat, -replicas and -credentials are at least one")
	}
	if o.setup.Postgres = *postgres; !o.setup.Postgres && o.setup.Replicas > 1 {
		return o, errors.New("-replicas: several need -postgres")
	}
	path, err := filepath.Abs(o.binary)
	o.binary = path
	return o, err
}

func (o options) run(ctx context.Context) error {
	var kept record
	if o.compare != "" {
		var err error
		if kept, err = readRecord(o.compare); err != nil {
			return err
		}
	}
	tables, err := o.measureAll(ctx)
	if err != nil {
		return err
	}
	now := newRecord(tables, time.Now())
	if o.record != "" {
		earlier, _ := readRecord(o.record) // what cannot be read is written anew
		if err := now.after(earlier).write(o.record); err != nil {
			return fmt.Errorf("writing the record: %w", err)
		}
	}
	if o.compare != "" {
		return kept.report(os.Stdout, now)
	}
	return nil
}

// measureAll fills and shows a table for each size and latency.
func (o options) measureAll(ctx context.Context) (tables []table, err error) {
	for _, zones := range o.zones {
		for _, latency := range o.latencies {
			table, err := o.measure(ctx, zones, latency)
			if err != nil {
				return nil, fmt.Errorf("%d zones at %s: %w", zones, latency, err)
			}
			tables = append(tables, table)
		}
	}
	return tables, nil
}

// measure fills one table, in a folder that is gone afterwards.
func (o options) measure(ctx context.Context, zones int, latency time.Duration) (_ table, err error) {
	dir, err := os.MkdirTemp("", "seawall-bench-")
	if err != nil {
		return table{}, err
	}
	defer os.RemoveAll(dir)
	o.progress("%d zones at %s: generating the fleet", zones, latency)
	s := scene{options: o}
	if s.fleet, err = newFleet(ctx, dir, zones, o.setup.Credentials); err != nil {
		return table{}, fmt.Errorf("generating the fleet: %w", err)
	}
	if s.platform, err = startPlatform(s.fleet, latency); err != nil {
		return table{}, fmt.Errorf("starting the platform: %w", err)
	}
	defer s.platform.Close()
	if o.setup.Postgres {
		if s.database, err = startDatabase(); err != nil {
			return table{}, fmt.Errorf("starting PostgreSQL: %w", err)
		}
		defer s.database.Close()
	}
	t := table{zones: zones, latency: latency, concurrency: o.concurrency, setup: o.setup, out: o.out}
	for _, step := range s.steps() {
		o.progress("%d zones at %s: %s", zones, latency, step.name)
		if err := step.do(ctx, &t); err != nil {
			return t, err
		}
	}
	return t, nil
}

// step is a part of a measurement.
type step struct {
	name string
	do   func(context.Context, *table) error
}

// steps are all parts, of which the last leaves another fleet. What has no state is measured once.
func (s scene) steps() []step {
	if s.setup.Replicas > 1 {
		return []step{{"making all zones as they are declared", s.seed}, {"measuring the floor", s.floor}, {"running the replicas", s.together}}
	}
	steps := []step{{"healing all zones", s.heal}, {"measuring the floor", s.floor}}
	if !s.setup.Postgres {
		steps = append(steps, step{"validating", s.compile}, step{"planning", s.plan})
	}
	return append(steps,
		step{"sweeping", s.sweeps},
		step{"healing in the daemon", s.healAll},
		step{"pushing to one zone", s.pushesAtRest},
		step{"pushing beside sweeps", s.pushesBesideSweeps},
		step{"pushing to all zones", s.pushToAll})
}

// progress says on standard error what goes on.
func (o options) progress(format string, args ...any) {
	if o.out != nil {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
)

// floorCommand is the first argument of the process that is the floor.
const floorCommand = "floor"

// floorMain reads a fleet once and prints how long that took, in nanoseconds: the
// floor is not charged for the start of a process.
func floorMain(args []string) error {
	var base string
	var zones, concurrency int
	flags := flag.NewFlagSet(floorCommand, flag.ExitOnError)
	flags.StringVar(&base, "base-url", "", "")
	flags.IntVar(&zones, "zones", 0, "")
	flags.IntVar(&concurrency, "concurrency", 0, "")
	_ = flags.Parse(args) // it exits by itself
	bare := harness.NewBareClient(base, os.Getenv(tokenVariable), concurrency)
	begin := time.Now()
	if err := bare.ReadFleet(zones); err != nil {
		return err
	}
	_, err := fmt.Println(time.Since(begin).Nanoseconds())
	return err
}

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// usage is what a daemon holds at one time.
type usage struct {
	memory     int64 // resident, bytes
	files      int   // open
	goroutines int
}

// use looks at the daemon, as its own metrics tell.
func (d *daemon) use(ctx context.Context) (usage, error) {
	values, err := d.metrics(ctx)
	u := usage{
		memory:     int64(values["process_resident_memory_bytes"]),
		files:      int(values["process_open_fds"]),
		goroutines: int(values["go_goroutines"]),
	}
	if err == nil && (u.memory == 0 || u.files == 0 || u.goroutines == 0) {
		err = fmt.Errorf("/metrics says of the process %+v alone", u)
	}
	return u, err
}

// growth compares a member's median in the second quarter of a list with that in
// the last one. The first quarter is for warming up.
func growth(list []usage, member func(usage) int64) (from, to int64) {
	middle := func(part []usage) int64 {
		if len(part) == 0 {
			return 0
		}
		values := make([]int64, len(part))
		for i, u := range part {
			values[i] = member(u)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	quarter := len(list) / 4
	return middle(list[quarter : 2*quarter]), middle(list[len(list)-quarter:])
}

// flat reports whether something grew by no more than a share and an amount.
func flat(from, to int64, share float64, amount int64) bool {
	return to <= from+int64(float64(from)*share)+amount
}

// waitedForProcessors is for how long, since the machine was started, at least one process has waited
// for a processor; false where the kernel does not tell.
func waitedForProcessors() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0, false
	}
	return pressureTotal(string(text))
}

// pressureTotal is the total of a file of pressure.
func pressureTotal(text string) (time.Duration, bool) {
	some, _, _ := strings.Cut(text, "\n")
	_, total, _ := strings.Cut(some, "total=")
	d, err := time.ParseDuration(total + "us")
	return d, err == nil && strings.HasPrefix(some, "some ")
}

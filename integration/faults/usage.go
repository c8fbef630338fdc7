package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usage is what a daemon holds at one time.
type usage struct {
	at         time.Duration // since the soak began
	memory     int64         // resident, bytes
	files      int           // open
	goroutines int
}

// use looks at the daemon, as Linux and its own metrics tell.
func (d *daemon) use(ctx context.Context) (usage, error) {
	var u usage
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.cmd.Process.Pid))
	if err != nil {
		return u, err
	}
	u.files = len(entries)
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", d.cmd.Process.Pid))
	if err != nil {
		return u, err
	}
	members := strings.Fields(string(data))
	if len(members) < 2 {
		return u, fmt.Errorf("/proc/%d/statm is %q", d.cmd.Process.Pid, data)
	}
	pages, err := strconv.ParseInt(members[1], 10, 64)
	if err != nil {
		return u, err
	}
	u.memory = pages * int64(os.Getpagesize())
	goroutines, err := d.metric(ctx, "go_goroutines")
	u.goroutines = int(goroutines)
	return u, err
}

// metric reads one value that has no labels.
func (d *daemon) metric(ctx context.Context, name string) (float64, error) {
	_, page, err := d.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(page)); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
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

//go:build linux

package main

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

// table is what was measured of one fleet at one latency.
type table struct {
	zones, concurrency int
	latency            time.Duration
	floor              cost
	rows               []row

	out   io.Writer // nil: nothing is shown
	shown int       // rows, with the floor
}

type row struct {
	name string
	cost cost
}

// add adds a row, and shows it.
func (t *table) add(name string, c cost) {
	t.rows = append(t.rows, row{name, c})
	t.show()
}

// format are the columns of a table: a row is shown before the next one is measured, which
// in a large fleet takes minutes.
const format = "%-38s  %10s  %7s  %10s  %7s  %9s  %8s\n"

// show writes the rows that were not shown yet. Ratios wait for the floor.
func (t *table) show() {
	if t.floor.wall == 0 || t.out == nil {
		return
	}
	if t.shown == 0 {
		fmt.Fprintf(t.out, "\n%d zones, %s of latency, %d requests at a time\n", t.zones, t.latency, t.concurrency)
		fmt.Fprintf(t.out, format, "", "wall", "/ floor", "CPU", "/ floor", "peak", "requests")
	}
	all := append([]row{{"floor: a bare client reads and decodes", t.floor}}, t.rows...)
	for _, r := range all[t.shown:] {
		fmt.Fprintf(t.out, format, r.name, r.cost.wall.Round(time.Millisecond), ratio(r.cost.wall, t.floor.wall),
			r.cost.cpu.Round(time.Millisecond), ratio(r.cost.cpu, t.floor.cpu), mebibytes(r.cost.peak), strconv.Itoa(r.cost.requests))
	}
	t.shown = len(all)
}

func ratio(a, b time.Duration) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}

func mebibytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

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
	setup              setup
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
// in a large fleet takes minutes. What the database has done comes after them.
const format = "%-46s  %10s  %7s  %10s  %7s  %9s  %9s  %8s%s\n"

// show writes the rows that were not shown yet. Ratios wait for the floor.
func (t *table) show() {
	if t.floor.wall == 0 || t.out == nil {
		return
	}
	if t.shown == 0 {
		database := ""
		if t.setup.Postgres {
			database = fmt.Sprintf("  %8s  %10s  %10s", "database", "statements", "log, KiB")
		}
		fmt.Fprintf(t.out, "\n%d zones, %s of latency, %d requests at a time%s\n", t.zones, t.latency, t.concurrency, t.setup)
		fmt.Fprintf(t.out, format, "", "wall", "/ floor", "CPU", "/ floor", "peak", "at rest", "requests", database)
	}
	all := append([]row{{"floor: a bare client reads and decodes", t.floor}}, t.rows...)
	for _, r := range all[t.shown:] {
		c, database := r.cost, ""
		if t.setup.Postgres {
			database = fmt.Sprintf("  %8s  %10d  %10d", c.database.cpu.Round(time.Millisecond), c.database.statements, c.database.log>>10)
		}
		fmt.Fprintf(t.out, format, r.name, c.wall.Round(time.Millisecond), ratio(c.wall, t.floor.wall),
			c.cpu.Round(time.Millisecond), ratio(c.cpu, t.floor.cpu), mebibytes(c.peak), mebibytes(c.rest), strconv.Itoa(c.requests), database)
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

//go:build linux

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// table is what was measured of one fleet at one latency.
type table struct {
	zones, concurrency int
	latency            time.Duration
	floor              cost
	rows               []row
}

type row struct {
	name string
	cost cost
}

func (t *table) add(name string, c cost) { t.rows = append(t.rows, row{name, c}) }

func (t table) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "\n%d zones, %s of latency, %d requests at a time\n", t.zones, t.latency, t.concurrency)
	if err != nil {
		return err
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "\twall\t/ floor\tCPU\t/ floor\tpeak\trequests")
	for _, r := range append([]row{{"floor: a bare client reads and decodes", t.floor}}, t.rows...) {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", r.name,
			r.cost.wall.Round(time.Millisecond), ratio(r.cost.wall, t.floor.wall),
			r.cost.cpu.Round(time.Millisecond), ratio(r.cost.cpu, t.floor.cpu), mebibytes(r.cost.peak), r.cost.requests)
	}
	return columns.Flush()
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

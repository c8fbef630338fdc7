//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/moby/sys/atomicwriter"
)

// record is what is kept of runs: of each size and latency, the last one. Times are ratios to the floor of the same run, because
// seconds say more about a machine than about a program.
type record struct {
	Version  int           `json:"version"`
	Date     string        `json:"date"` // of the last run, in UTC
	Go       string        `json:"go"`
	Platform string        `json:"platform"`
	CPUs     int           `json:"cpus"`
	Tables   []recordTable `json:"tables"`
}

type recordTable struct {
	Zones       int         `json:"zones"`
	Latency     string      `json:"latency"`
	Concurrency int         `json:"concurrency"`
	Setup       *setup      `json:"setup,omitempty"` // nil: one daemon with a file and one credential
	Rows        []recordRow `json:"rows"`
}

// setup is how the program runs.
type setup struct {
	Postgres    bool `json:"postgres"`
	Replicas    int  `json:"replicas"`
	Credentials int  `json:"credentials"`
}

func (s setup) String() (text string) {
	if s.Postgres {
		text += ", PostgreSQL"
	}
	if s.Replicas > 1 {
		text += fmt.Sprintf(", %d replicas", s.Replicas)
	}
	if s.Credentials > 1 {
		text += fmt.Sprintf(", %d credentials", s.Credentials)
	}
	return text
}

// kept is how a record has it: nil where nothing is special.
func (s setup) kept() *setup {
	if s.String() == "" {
		return nil
	}
	return &s
}

type recordRow struct {
	Name     string  `json:"name"`
	Wall     float64 `json:"wall"`               // floors
	CPU      float64 `json:"cpu"`                // floors
	PeakMiB  int64   `json:"peak_mib,omitempty"` // zero where it was not measured
	Requests int     `json:"requests"`

	Shared *shared `json:"shared,omitempty"` // nil: the state is a file
}

// shared is what is kept of work with PostgreSQL, where the targets are times.
type shared struct {
	Seconds     float64 `json:"seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`          // of all replicas
	DatabaseCPU float64 `json:"database_cpu_seconds"` // of PostgreSQL
	RestMiB     int64   `json:"rest_mib,omitempty"`   // of the largest replica, afterwards
	// Statements and bytes of the write-ahead log, for each zone that is written; of all where none is.
	Statements float64 `json:"statements"`
	LogBytes   float64 `json:"log_bytes"`
}

func newShared(c cost) *shared {
	zones := float64(max(1, c.written))
	return &shared{
		Seconds: rounded(c.wall.Seconds()), CPUSeconds: rounded(c.cpu.Seconds()), DatabaseCPU: rounded(c.database.cpu.Seconds()), RestMiB: c.rest >> 20,
		Statements: rounded(float64(c.database.statements) / zones), LogBytes: math.Round(float64(c.database.log) / zones),
	}
}

// rounded is a number with two digits after the point.
func rounded(n float64) float64 { return math.Round(100*n) / 100 }

const recordVersion = 1

func newRecord(tables []table, now time.Time) record {
	r := record{
		Version: recordVersion, Date: now.UTC().Format(time.DateOnly), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
	}
	for _, t := range tables {
		kept := recordTable{Zones: t.zones, Latency: t.latency.String(), Concurrency: t.concurrency, Setup: t.setup.kept()}
		for _, row := range t.rows {
			measured := recordRow{
				Name: row.name, Wall: floors(row.cost.wall, t.floor.wall), CPU: floors(row.cost.cpu, t.floor.cpu),
				PeakMiB: row.cost.peak >> 20, Requests: row.cost.requests,
			}
			if t.setup.Postgres {
				measured.Shared = newShared(row.cost)
			}
			kept.Rows = append(kept.Rows, measured)
		}
		r.Tables = append(r.Tables, kept)
	}
	return r
}

// floors is a ratio to two digits; zero where the floor is not known.
func floors(a, floor time.Duration) float64 {
	if floor <= 0 {
		return 0
	}
	return rounded(float64(a) / float64(floor))
}

// after is a record with those tables of an earlier one that it has not measured itself.
func (r record) after(earlier record) record {
	for _, t := range earlier.Tables {
		if !slices.ContainsFunc(r.Tables, t.measures) {
			r.Tables = append(r.Tables, t)
		}
	}
	slices.SortFunc(r.Tables, func(a, b recordTable) int {
		return cmp.Or(strings.Compare(a.setup().String(), b.setup().String()), a.Zones-b.Zones, cmp.Compare(a.latency(), b.latency()), a.Concurrency-b.Concurrency)
	})
	return r
}

func (t recordTable) latency() time.Duration {
	d, _ := time.ParseDuration(t.Latency)
	return d
}

func (t recordTable) setup() (s setup) {
	if t.Setup != nil {
		s = *t.Setup
	}
	return s
}

// measures reports whether two tables are of the same size, latency, concurrency and setup.
func (t recordTable) measures(o recordTable) bool {
	return t.Zones == o.Zones && t.Latency == o.Latency && t.Concurrency == o.Concurrency && t.setup() == o.setup()
}

func (r record) write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicwriter.WriteFile(path, append(data, '\n'), 0o644)
}

func readRecord(path string) (record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return record{}, fmt.Errorf("reading the record: %w; make bench writes one", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("reading the record %s: %w", path, err)
	}
	if r.Version != recordVersion {
		return record{}, fmt.Errorf("the record %s has version %d, not %d; make bench writes it again", path, r.Version, recordVersion)
	}
	return r, nil
}

// How much worse a run may be than the record: measurements of the same program differ by
// this much on a machine that does other work.
const (
	worseTimes    = 1.5 // times the ratio of record
	worseAdded    = 0.5 // floors on top of that, for rows that take less than a floor
	worsePeak     = 1.25
	worseRequests = 2 // the list of rulesets is read again after a minute
)

// finding is a cell that is worse than the record allows.
type finding struct {
	where, row, cell string
	was, is, most    float64
}

// compare holds a run to the record. Rows that only one of them has are left out, but at
// least one must be in both; and so is wall time on a machine with another number of processors.
func (r record) compare(now record) (findings []finding, compared int) {
	for _, t := range now.Tables {
		for _, row := range t.Rows {
			was, ok := r.find(t, row.Name)
			if !ok {
				continue
			}
			compared++
			for _, c := range []finding{
				{cell: "wall", was: was.Wall, is: row.Wall, most: was.Wall*worseTimes + worseAdded},
				{cell: "CPU", was: was.CPU, is: row.CPU, most: was.CPU*worseTimes + worseAdded},
				{cell: "peak MiB", was: float64(was.PeakMiB), is: float64(row.PeakMiB), most: float64(was.PeakMiB) * worsePeak},
				{cell: "requests", was: float64(was.Requests), is: float64(row.Requests), most: float64(was.Requests + worseRequests)},
			} {
				if c.is > c.most && (c.cell != "wall" || r.CPUs == now.CPUs) {
					c.where, c.row = fmt.Sprintf("%d zones, %s", t.Zones, t.Latency), row.Name
					findings = append(findings, c)
				}
			}
		}
	}
	return findings, compared
}

func (r record) find(of recordTable, name string) (recordRow, bool) {
	for _, t := range r.Tables {
		if !t.measures(of) {
			continue
		}
		for _, row := range t.Rows {
			if row.Name == name {
				return row, true
			}
		}
	}
	return recordRow{}, false
}

// report writes what is worse than the record. The error says that something is.
func (r record) report(w io.Writer, now record) error {
	findings, compared := r.compare(now)
	if compared == 0 {
		return errors.New("the record has none of the measured sizes and latencies; make bench writes it again")
	}
	if len(findings) == 0 {
		_, err := fmt.Fprintf(w, "\n%d rows are no worse than the record of %s\n", compared, r.Date)
		return err
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(columns, "\nworse than the record of %s:\n\t\t\trecord\tnow\tat most\n", r.Date)
	for _, f := range findings {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%.2f\t%.2f\t%.2f\n", f.where, f.row, f.cell, f.was, f.is, f.most)
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	return fmt.Errorf("%d cells are worse than the record", len(findings))
}

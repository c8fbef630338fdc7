//go:build linux

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
)

// A run is no worse than its own record, and each cell that gets worse is named.
func TestRecordFindsWhatIsWorse(t *testing.T) {
	measured := table{
		zones: 10, concurrency: 2, latency: time.Millisecond, floor: cost{wall: time.Second, cpu: time.Second, requests: 10},
		rows: []row{{"sweep", cost{wall: 2 * time.Second, cpu: 3 * time.Second, peak: 60 << 20, requests: 11}}},
	}
	path := filepath.Join(t.TempDir(), "record.json")
	must.Do(t, newRecord([]table{measured}, time.Unix(0, 0)).write(path))
	kept, err := readRecord(path)
	must.Do(t, err)
	for name, change := range map[string]func(*cost){
		"":         func(c *cost) { c.wall, c.cpu = 3*time.Second, 4*time.Second },
		"wall":     func(c *cost) { c.wall *= 2 },
		"CPU":      func(c *cost) { c.cpu *= 2 },
		"peak MiB": func(c *cost) { c.peak *= 2 },
		"requests": func(c *cost) { c.requests += 3 },
	} {
		now := measured
		now.rows = []row{measured.rows[0]}
		change(&now.rows[0].cost)
		var out bytes.Buffer
		err := kept.report(&out, newRecord([]table{now}, time.Unix(0, 0)))
		if name == "" && err != nil || name != "" && (err == nil || !strings.Contains(out.String(), name)) {
			t.Errorf("worse in %q: %v\n%s", name, err, out.String())
		}
	}
	other := measured
	other.zones = 11
	if err := kept.report(&bytes.Buffer{}, newRecord([]table{other}, time.Unix(0, 0))); err == nil {
		t.Error("a record of other sizes counts as a comparison")
	}
}

// A run takes the place of what was measured of the same fleet before, and leaves the others.
func TestRecordKeepsOtherFleets(t *testing.T) {
	of := func(zones int, latency time.Duration, wall time.Duration) table {
		return table{zones: zones, concurrency: 2, latency: latency, floor: cost{wall: time.Second}, rows: []row{{"sweep", cost{wall: wall}}}}
	}
	earlier := newRecord([]table{of(10, 0, time.Second), of(10, time.Second, time.Second), of(1000, 0, time.Second)}, time.Unix(0, 0))
	now := newRecord([]table{of(10, time.Second, 2*time.Second), of(100, 0, 2*time.Second)}, time.Unix(0, 0)).after(earlier)
	var got []string
	for _, t := range now.Tables {
		got = append(got, fmt.Sprint(t.Zones, " ", t.Latency, " ", t.Rows[0].Wall))
	}
	if want := []string{"10 0s 1", "10 1s 2", "100 0s 2", "1000 0s 1"}; !slices.Equal(got, want) {
		t.Errorf("the record has %q, want %q", got, want)
	}
}

// The committed record can be read, and has the sizes that make bench measures.
func TestCommittedRecord(t *testing.T) {
	r, err := readRecord("record.json")
	must.Do(t, err)
	if len(r.Tables) == 0 || len(r.Tables[0].Rows) < 8 {
		t.Errorf("the record has %d tables", len(r.Tables))
	}
}

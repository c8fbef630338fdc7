//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
)

// The whole measurement, on a fleet of three: each row is there, and the
// requests are those that docs/performance.md promises.
func TestRequestsOfEachRow(t *testing.T) {
	t.Parallel()
	binary := harness.Seawall(t)
	o := options{binary: binary, concurrency: 2, repeat: 1}
	got, err := o.measure(t.Context(), 3, time.Millisecond)
	must.Do(t, err)
	const besideSweeps = 7
	want := []row{
		{"heal all, a process", cost{requests: 2 + 3*3}},
		{"validate, a process", cost{requests: 0}},
		{"cold plan of a folder, a process", cost{requests: 2 + 3}},
		{"cold plan of git, a process", cost{requests: 2 + 3}},
		{"steady sweep, in the daemon", cost{requests: 1 + 3}},
		{"heal all, in the daemon", cost{requests: 1 + 3*3}},
		{"push to proof of one zone", cost{requests: 1 + 2}},
		{"the same beside sweeps, the slowest", cost{requests: 1 + 2}},
		{"push to proof of all zones", cost{requests: 3 * 3}},
	}
	if got.floor.requests != 3 || got.floor.wall <= 0 || len(got.rows) != len(want) {
		t.Fatalf("the floor is %+v, and there are %d rows", got.floor, len(got.rows))
	}
	for i, r := range got.rows {
		same := r.cost.requests == want[i].cost.requests
		if i == besideSweeps { // which may ask, too, before the push is proved
			same = r.cost.requests >= want[i].cost.requests
		}
		if r.name != want[i].name || !same || r.cost.wall <= 0 {
			t.Errorf("row %d is %+v, want %+v", i, r, want[i])
		}
	}
}

// The same with PostgreSQL, by one daemon and by two that share it: zones are written, and each row
// tells what that costs the database.
func TestRowsWithPostgres(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	binary := harness.Seawall(t)
	for _, how := range []setup{{Postgres: true, Replicas: 1, Credentials: 1}, {Postgres: true, Replicas: 2, Credentials: 4}} {
		t.Run(fmt.Sprint(how.Replicas), func(t *testing.T) {
			t.Parallel()
			got, err := options{binary: binary, concurrency: 4, repeat: 1, resting: time.Second, setup: how}.measure(t.Context(), 40, time.Millisecond)
			must.Do(t, err)
			push := got.rows[slices.IndexFunc(got.rows, func(r row) bool { return r.name == "push to proof of one zone" })]
			if c := push.cost; c.requests < 3 || c.rest == 0 || c.database.statements == 0 || c.database.log == 0 {
				t.Errorf("%+v: the push is %+v", how, c)
			}
			kept := newRecord([]table{got}, time.Now()).Tables[0]
			if kept.setup() != how || kept.Rows[0].Shared == nil {
				t.Errorf("the record has %+v", kept)
			}
		})
	}
}

// Each row is shown before the next is measured; the first waits for the floor.
func TestRowsAsTheyCome(t *testing.T) {
	var out strings.Builder
	shown := func() (rows []string) {
		for line := range strings.Lines(out.String()) {
			if name, _, ok := strings.Cut(line, "  "); ok && name != "" {
				rows = append(rows, name)
			}
		}
		return rows
	}
	of := table{zones: 3, out: &out}
	of.add("heal", cost{wall: time.Second})
	if out.Len() > 0 {
		t.Errorf("shown without a floor: %s", &out)
	}
	of.floor = cost{wall: time.Second}
	of.show()
	want := []string{"floor: a bare client reads and decodes", "heal"}
	for _, name := range []string{"plan", "sweep"} {
		of.add(name, cost{wall: time.Minute})
		if want = append(want, name); !slices.Equal(shown(), want) {
			t.Errorf("shown are %q, want %q", shown(), want)
		}
	}
}

// TestMain lets the test's own binary be the floor's process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		exitOn(floorMain(os.Args[2:]))
		os.Exit(0)
	}
	os.Exit(harness.Main(m, nil))
}

func TestMedians(t *testing.T) {
	got := medians([]cost{{wall: 3, cpu: 10, peak: 5, requests: 7}, {wall: 1, cpu: 30, peak: 9, requests: 7}, {wall: 2, cpu: 20, peak: 1, requests: 7}})
	if want := (cost{wall: 2, cpu: 20, peak: 9, requests: 7}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestCPUCounts(t *testing.T) {
	before, err := cpu(os.Getpid())
	must.Do(t, err)
	for begin := time.Now(); time.Since(begin) < 20*time.Second; {
		if after, err := cpu(os.Getpid()); err == nil && after > before {
			return
		}
	}
	t.Error("twenty seconds of work are none")
}

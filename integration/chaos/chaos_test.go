//go:build linux

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m, nil)) }

// small is a fleet for tests.
func small(t *testing.T) options {
	return options{binary: harness.Seawall(t), length: 15 * time.Second, seed: rand.Uint64(), zones: 60, credentials: 3, sweep: 5 * time.Second}
}

// holds runs it in short, and fails where a law is broken.
func holds(t *testing.T, o options) result {
	t.Helper()
	var log bytes.Buffer
	o.log = &log
	f, err := newFixture(t.Context(), o, t.TempDir())
	must.Do(t, err)
	defer f.stop()
	err = f.disturbed(t.Context())
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", o.seed, err, log.String())
	}
	return f.wantLaws(t, log.String())
}

// wantLaws fails where a law is broken.
func (f *fixture) wantLaws(t *testing.T, log string) result {
	t.Helper()
	r, err := f.end(t.Context())
	must.Do(t, err)
	if len(r.broken) > 0 {
		t.Errorf("seed %d:\n%s\n%s%s", f.seed, strings.Join(r.broken, "\n"), log, r.text(f.options))
	}
	t.Log(r.text(f.options))
	return r
}

// Three daemons over one PostgreSQL: for a moment, in which each disturbance comes once, or for as
// long as SEAWALL_TEST_CHAOS says, as in CI.
func TestChaos(t *testing.T) {
	t.Parallel()
	o := shared(t)
	o.length = 20 * time.Second
	// It is asked for here, or "go test" takes the result of another length from its cache.
	if lasts := os.Getenv("SEAWALL_TEST_CHAOS"); lasts != "" {
		var err error
		o.length, err = time.ParseDuration(lasts)
		must.Do(t, err)
		o.zones, o.credentials, o.sweep = 300, 6, 15*time.Second
	}
	r := holds(t, o)
	if r.takeovers == 0 || r.pushes == 0 || r.drifts == 0 || r.writes == 0 {
		t.Errorf("nothing has happened: %+v", r)
	}
	for _, d := range disturbances(o.embedded) {
		if r.done[d.name] == 0 {
			t.Errorf("%s did not come: %v", d.name, r.done)
		}
	}
}

// shared are three daemons.
func shared(t *testing.T) options {
	t.Helper()
	pgtest.Need(t)
	o := small(t)
	o.replicas = 3
	return o
}

// One daemon with a ledger of its own, which is killed, ended and paused.
func TestChaosOfOneDaemon(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.embedded, o.replicas = true, 1
	if r := holds(t, o); r.pushes+r.drifts == 0 || r.writes == 0 {
		t.Errorf("nothing has happened: %+v", r)
	}
}

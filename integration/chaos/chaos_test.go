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
	must.Do(t, f.disturbed(t.Context()))
	r, err := f.end(t.Context())
	must.Do(t, err)
	if len(r.broken) > 0 {
		t.Errorf("seed %d:\n%s\n%s%s", o.seed, strings.Join(r.broken, "\n"), log.String(), r.text(o))
	}
	t.Log(r.text(o))
	return r
}

// One daemon with a ledger of its own, which is killed, ended and paused.
func TestChaosOfOneDaemon(t *testing.T) {
	o := small(t)
	o.embedded, o.replicas = true, 1
	if r := holds(t, o); r.pushes+r.drifts == 0 || r.writes == 0 {
		t.Errorf("nothing has happened: %+v", r)
	}
}

//go:build linux

package main

import (
	"bytes"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
)

// mostHandingOver bounds how long an idle daemon takes to give its leases back, and to end: 2 seconds are
// promised, and a machine may be slow.
const mostHandingOver = 4 * time.Second

// TestAnIdleDaemonHandsOver: a daemon that is told to end, and has nothing in flight, gives its leases
// back at once, and ends, also where clients keep connections to it ready.
func TestAnIdleDaemonHandsOver(t *testing.T) {
	t.Parallel()
	o := shared(t)
	o.replicas, o.sweep = 2, time.Hour
	var log bytes.Buffer
	o.log = &log
	f, err := newFixture(t.Context(), o, t.TempDir())
	must.Do(t, err)
	defer f.stop()
	of := f.replicas[0]
	for round := range 2 {
		must.Do(t, f.await(t.Context(), "it has its share of the leases", func() bool { return len(f.heldBy(t, of)) >= 2 }))
		waits, err := net.Dial("tcp", of.daemon.Address) // as browsers and load balancers do: the server waits for its request
		must.Do(t, err)
		given, taken, ended := f.handOver(t, of)
		must.Do(t, waits.Close())
		t.Logf("leases were given back within %s of the signal, the other replica had them within %s, and the process ended within %s", given, taken, ended)
		if given > mostHandingOver || ended > mostHandingOver {
			t.Errorf("leases were given back %s after the signal, and the process ended after %s", given, ended)
		}
		must.Do(t, f.commit(t.Context(), "change a zone", f.fleet.change(map[int]int{1: 100 + round})))
		f.poke(t.Context(), rand.New(rand.NewPCG(f.seed, 4)))
		must.Do(t, f.await(t.Context(), "the other replica goes on", func() bool { return f.platform.live(1) == 100+round }))
		must.Do(t, of.start(t.Context()))
	}
}

// heldBy are the leases of a replica, with their epochs.
func (f *fixture) heldBy(t *testing.T, r *replica) map[string]lease {
	t.Helper()
	held, err := f.database.leases(t.Context())
	must.Do(t, err)
	for name, l := range held {
		if l.replica != r.name {
			delete(held, name)
		}
	}
	return held
}

// handOver ends a replica, and says how long after the signal it has given its leases back, others had them, and it ended.
func (f *fixture) handOver(t *testing.T, r *replica) (given, taken, ended time.Duration) {
	t.Helper()
	before := f.heldBy(t, r)
	daemon, sent := r.forget(), time.Now()
	must.Do(t, daemon.Process.Signal(syscall.SIGTERM))
	done := make(chan struct{})
	go func() { <-daemon.Ended; ended = time.Since(sent); close(done) }()
	must.Do(t, f.await(t.Context(), "its leases are given back", func() bool { return len(f.heldBy(t, r)) == 0 }))
	given = time.Since(sent)
	must.Do(t, f.await(t.Context(), "others have them", func() bool {
		now, err := f.database.leases(t.Context())
		must.Do(t, err)
		for name := range before {
			if _, there := now[name]; !there {
				return false
			}
		}
		return true
	}))
	taken = time.Since(sent)
	<-done
	if code := daemon.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %s", daemon.ProcessState)
	}
	return given, taken, ended
}

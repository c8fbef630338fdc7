//go:build linux

package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestWhatAPausedMachineCanStillDo: a daemon is paused while one of its requests is on its way, in
// the kernel or in the network. Another takes over and writes what a newer commit says. Then the
// old request arrives. Nothing can prevent that, as the platform knows no epochs: it is one PATCH,
// which says what a commit of the repository said, and the next look at the zone puts it right.
// The daemon that was paused sends no more under its old epoch.
func TestWhatAPausedMachineCanStillDo(t *testing.T) {
	t.Parallel()
	o := shared(t)
	o.replicas, o.zones, o.sweep = 2, 12, 2*time.Second
	var log bytes.Buffer
	o.log = &log
	f, err := newFixture(t.Context(), o, t.TempDir())
	must.Do(t, err)
	defer f.stop()
	const zone, old, newer = 1, 111, 222
	change := func(score int) {
		must.Do(t, f.commit(t.Context(), "change a zone", f.fleet.change(map[int]int{zone: score})))
		f.poke(t.Context(), rand.New(rand.NewPCG(f.seed, 4)))
	}
	// Who is paused while it creates a token leaves one whose outcome a person must say.
	onRecord := func() bool { _, ok := f.recordedTokens(t.Context()); return ok }
	must.Do(t, awaitEach(t.Context(), asking, "the tokens are on record", onRecord))
	released := make(chan struct{})
	var caught atomic.Pointer[request]
	f.platform.holding(func(r request) <-chan struct{} {
		if r.method == http.MethodPatch && strings.Contains(r.path, mem.FleetZone(zone).ID) && caught.CompareAndSwap(nil, &r) {
			return released
		}
		return nil
	})
	change(old)
	must.Do(t, f.await(t.Context(), "a write is on its way", func() bool { return caught.Load() != nil }))
	paused := f.named(caught.Load().replica)
	must.Do(t, paused.daemon.Process.Signal(syscall.SIGSTOP))
	defer func() { _ = paused.daemon.Process.Signal(syscall.SIGCONT) }()
	paused.setPaused(true)

	must.Do(t, f.await(t.Context(), "another has taken over and written", func() bool { return f.platform.live(zone) == old }))
	change(newer)
	must.Do(t, f.await(t.Context(), "the newer commit is live", func() bool { return f.platform.live(zone) == newer }))
	close(released)
	must.Do(t, f.await(t.Context(), "what was on its way has arrived", func() bool { return f.arrived(*caught.Load()) }))
	must.Do(t, f.await(t.Context(), "a sweep puts it right", func() bool { return f.platform.live(zone) == newer }))
	must.Do(t, paused.daemon.Process.Signal(syscall.SIGCONT))
	paused.setPaused(false)

	must.Do(t, f.while(t.Context(), func(ctx context.Context) error { sleep(ctx, f.sweep); return nil }))
	var stale []request
	for _, r := range f.platform.record() {
		if r.write() && r.credential == caught.Load().credential && r.epoch <= caught.Load().epoch && r.at.After(caught.Load().at) {
			stale = append(stale, r)
		}
	}
	if len(stale) != 1 || stale[0].method != http.MethodPatch || stale[0].status != http.StatusOK {
		t.Errorf("the machine that was paused has still done %+v, want one PATCH", stale)
	}
	if broken, err := f.endInSync(t.Context()); err != nil || len(broken) > 0 {
		t.Errorf("%v %q\n%s", err, broken, log.String())
	}
}

// named is the replica with a name.
func (f *fixture) named(name string) *replica {
	for _, r := range f.replicas {
		if r.name == name {
			return r
		}
	}
	panic("no replica has the name " + name)
}

// arrived reports whether the platform has answered a request that was held.
func (f *fixture) arrived(held request) bool {
	for _, r := range f.platform.record() {
		if r.at.After(held.at) && r.method == held.method && r.path == held.path && r.epoch == held.epoch && r.credential == held.credential && r.status != 0 {
			return true
		}
	}
	return false
}

package daemon

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/soak"
)

// bulkWatch is what happens after a commit that changes half of a fleet.
type bulkWatch struct {
	*dayPlatform
	mu     sync.Mutex
	before int                  // requests before the first PATCH
	patch  bool                 // there was one
	zone   string               // of the urgent push
	own    int                  // requests for it
	proved time.Time            // when it was read after its PATCH
	sent   bool                 // its PATCH
	healed map[string]time.Time // zones that were written
}

func (b *bulkWatch) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.dayPlatform.RoundTrip(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	_, path, _ := strings.Cut(r.URL.Path, "/zones/")
	zone, _, _ := strings.Cut(path, "/")
	write := r.Method == http.MethodPatch
	b.patch = b.patch || write
	if !b.patch {
		b.before++
	}
	if write {
		b.healed[zone] = time.Now()
	}
	if zone != "" && zone == b.zone && b.proved.IsZero() {
		b.own++
		if b.sent && !write {
			b.proved = time.Now()
		}
		b.sent = b.sent || write
	}
	return res, err
}

// begin counts requests until the first PATCH anew.
func (b *bulkWatch) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before, b.patch = 0, false
}

// first returns how many requests came before the first PATCH, and whether there was one.
func (b *bulkWatch) first() (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.before, b.patch
}

func (b *bulkWatch) written() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.healed)
}

// watch begins to watch for the push of a zone.
func (b *bulkWatch) watch(zone string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.zone, b.own, b.proved, b.sent = zone, 0, time.Time{}, false
}

func (b *bulkWatch) healedSince(zone string, since time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.healed[zone].After(since)
}

// TestACommitThatChangesHalfOfALargeFleet: the first zone is written at once; whoever
// pushes one zone waits for none of the others; drift elsewhere is healed, and nothing
// there goes unseen; and so it is when the commit is reverted half-way.
func TestACommitThatChangesHalfOfALargeFleet(t *testing.T) {
	t.Parallel()
	zones, requests := 1000, 120
	if soak.On {
		zones, requests = 10_000, 1200
	}
	synctest.Test(t, func(t *testing.T) {
		w := newDay(t, zones, requests)
		watch := &bulkWatch{dayPlatform: w.dayPlatform, healed: map[string]time.Time{}}
		w.transport(watch)
		chance := rand.New(rand.NewPCG(3, 4))
		ctx, stop := context.WithCancel(t.Context())
		wait := w.run(ctx)
		time.Sleep(time.Hour + 50*time.Minute)
		synctest.Wait()
		if len(w.seen) != zones {
			t.Fatalf("%d zones were looked at in the first hour", len(w.seen))
		}
		half := chance.Perm(zones)
		half, rest := half[:zones/2], half[zones/2:]
		w.mu.Lock()
		w.since = time.Now()
		for _, i := range half { // whose turn it is waits for what the commit has to do
			w.longest[mem.FleetZone(i+1).String()] = 2 * dayInterval
		}
		w.mu.Unlock()
		watch.begin()
		w.shelf.push(half)
		w.git.Poke()
		time.Sleep(time.Minute)
		workers := 2 * requests / perConcurrent // at most; as many zones may be at work
		if n, written := watch.first(); n > workers || !written {
			t.Errorf("%d requests of %d workers before the first PATCH", n, workers)
		}
		drifted := map[string]time.Time{}
		urgent := func(i int) {
			t.Helper()
			zone := mem.FleetZone(i + 1).String()
			w.mu.Lock()
			w.longest[zone] = 2 * dayInterval // the revert has it wait, too
			w.mu.Unlock()
			watch.watch(zone)
			pushed := time.Now()
			w.shelf.push([]int{i})
			w.git.Poke()
			time.Sleep(time.Minute)
			watch.mu.Lock()
			defer watch.mu.Unlock()
			if watch.proved.IsZero() || watch.own > 10 {
				t.Errorf("%v after an urgent push: %d requests of its own, proved %v", time.Since(pushed), watch.own, watch.proved.Sub(pushed))
			}
		}
		drift := func(i int) {
			w.vandalise(i)
			drifted[mem.FleetZone(i+1).String()] = time.Now()
		}
		for round := range 12 {
			time.Sleep(4 * time.Minute)
			urgent(rest[round])
			drift(rest[100+round])
		}
		done := watch.written()
		if done < zones/20 || done > zones/2 {
			t.Errorf("%d zones are written after an hour", done)
		}
		w.shelf.revert(zones) // what the pushes changed, too
		w.git.Poke()
		for round := range 12 {
			time.Sleep(4 * time.Minute)
			drift(rest[200+round])
			urgent(rest[300+round])
		}
		time.Sleep(3 * dayInterval / 2)
		synctest.Wait()
		stop()
		wait()
		for zone, since := range drifted {
			if !watch.healedSince(zone, since) {
				t.Errorf("drift in %s is not healed after one and a half intervals", zone)
			}
		}
		now := time.Now()
		for _, zone := range w.server.Platform.State().Zones {
			w.gone(string(zone.ID), now)
		}
		t.Logf("%d zones were written in the first hour; %d requests", done, w.total)
	})
}

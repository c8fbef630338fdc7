// Package lease says which of several processes does what, by rows in PostgreSQL.
//
//	h := lease.New(lease.Config{DB: db, Names: names, Replica: "pod-1"})
//	go h.Run(ctx)                            // gets leases, renews them; gives all back once ctx ends
//
//	l, end, ok := h.Begin(reconcile.LeaseCommits)
//	if !ok { … }                             // another process has it: wait for <-h.Changed()
//	defer end()
//	ctx = reconcile.Under(ctx, l)            // the ledger refuses writes once another has the lease
//	ctx, cancel := context.WithTimeout(ctx, h.Left(l)) // of each request that is sent
//
// Time. A lease lasts for 12 seconds, is renewed every 4, and is anyone's when it is over by the
// clock of the database alone: at once where it was given up, and 2 seconds after its end where it
// was not, for what a server may still be doing. A process counts its end from before it has sent
// the statement, by a clock of its own that runs on while the machine is suspended, and holds it for
// over a second earlier. So clocks need not agree; they must run equally fast, to a twelfth. The
// clock of the database must not be set forward by steps. Where it is, as with a failover to a
// machine whose clock is ahead, two processes may think for as long that they have a lease; then
// the epoch keeps them apart in the ledger, and the claims on zones at the platform.
//
// Epochs. Each process that gets a lease gets it under an epoch that is one higher. Writes to the
// ledger compare it in their transaction. A statement whose answer was lost has not worked: a lease
// that may have been got, or renewed, is not used.
//
// Hand-over. When a lease is to go to another process, or this one ends, it is ending: Held and
// Begin say no, while it is renewed and Left goes on for what has begun. With the last end() it is
// given up, and the next process has it within about a second: within four where a request that
// writes was cut, as it may still be at work. Work that goes on for more than half a
// minute is cut: the lease is not renewed any more, and runs out.
//
// Names are those of [reconcile.LeaseOf]: a process takes those that it knows. One that no process knows
// any more keeps its row, and so its epoch.
//
// Spreading. A free lease is taken at once by a process that has less than its share, and by any
// two seconds later. A process that has at least two fewer than another asks it for one; there is one
// such move at a time (move.go).
//
// What the statements do (statements.go) is in the tests once more, as functions over a row and a
// time: they are held together, and the rules tried with clocks that drift, pauses and lost answers.
package lease

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Config is what a [Holder] is made from. DB, Names and Replica are required.
type Config struct {
	DB    *sql.DB               // best with connections of its own: no one else's keep a renewal waiting
	Names []reconcile.LeaseName // to be held where they are free
	// Replica names this process for people, and tells it from the others that run.
	Replica string
	Version string       // of the program, for people
	Log     *slog.Logger // nil discards
	// Looked is told every second what the last look at the database has shown, and why it does not
	// answer now, where it does not: who else wants to know that does not ask. It must not wait; nil is
	// not told.
	Looked func(Look, error)

	// Forgot is called when a look shows that the database has forgotten entries of the history: it was
	// put back to an earlier time. Until it returns no error no lease is taken, held or renewed. times is how
	// often that is on record: with fewer, it was put back once more. Nil is not called.
	Forgot func(context.Context, *sql.DB) (times int64, err error)

	clock  func() time.Duration // nil: the machine's
	within time.Duration        // bounds a renewal; zero: answerWithin
}

// Holder has the leases of this process. It is a [reconcile.Leases], and safe for concurrent use.
type Holder struct {
	Config
	wake reconcile.Pokes // something may be given up now

	mu      sync.Mutex
	own     map[reconcile.LeaseName]*owned
	changed chan struct{}
	told    map[reconcile.LeaseName]int64 // the epochs of what was held when it was closed last
	// withheld: Forgot has failed, or goes on, so that nothing is held.
	withheld bool

	loop
}

// owned is what a process knows of a lease that it has, by its own clock.
type owned struct {
	name   reconcile.LeaseName
	epoch  int64
	until  time.Duration
	begun  int           // what is in flight
	ending bool          // is to be given up once nothing is
	endBy  time.Duration // if ending: it is not renewed after that
	quiet  time.Duration // from then on nothing is at work that was cut before
	given  bool          // away, as far as this process is concerned
}

// margin is how much earlier than its end a lease is used for the last time.
const margin = time.Second

func (o *owned) left(now time.Duration) time.Duration {
	if o.given {
		return 0
	}
	return max(0, o.until-margin-now)
}

func (o *owned) held(now time.Duration) bool { return !o.ending && o.left(now) > 0 }

// cut notes that a request was ended without an answer: a server may still be at work on it for a while.
func (o *owned) cut(now time.Duration) { o.quiet = now + rest + margin }

// give reports whether it may be given up in good order, and has it not be used from then on.
func (o *owned) give(now time.Duration) bool {
	o.given = o.given || o.ending && o.begun == 0 && now >= o.quiet
	return o.given
}

// New returns a holder that has nothing before it runs.
func New(c Config) *Holder {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Looked == nil {
		c.Looked = func(Look, error) {}
	}
	if c.Forgot == nil {
		c.Forgot = func(context.Context, *sql.DB) (int64, error) { return 0, nil }
	}
	if c.clock == nil {
		c.clock = sinceBoot
	}
	if c.within == 0 {
		c.within = answerWithin
	}
	c.Names = slices.Compact(slices.Sorted(slices.Values(c.Names)))
	return &Holder{
		Config: c, wake: reconcile.NewPokes(), own: map[reconcile.LeaseName]*owned{}, changed: make(chan struct{}),
	}
}

// LookNow has the database looked at now, and not with the next turn.
func (h *Holder) LookNow() { h.wake.Poke() }

// Held implements [reconcile.Leases].
func (h *Holder) Held(name reconcile.LeaseName) (reconcile.Lease, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, lease, ok := h.held(name)
	return lease, ok
}

func (h *Holder) held(name reconcile.LeaseName) (*owned, reconcile.Lease, bool) {
	o := h.own[name]
	if o == nil || h.withheld || !o.held(h.clock()) {
		return nil, reconcile.Lease{}, false
	}
	return o, reconcile.Lease{Name: name, Epoch: o.epoch}, true
}

// Begin implements [reconcile.Leases].
func (h *Holder) Begin(name reconcile.LeaseName) (reconcile.Lease, func(), bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o, lease, ok := h.held(name)
	if !ok {
		return lease, func() {}, false
	}
	o.begun++
	return lease, sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if o.begun--; o.ending && o.begun == 0 {
			h.wake.Poke()
		}
	}), true
}

// end has a lease be given up once nothing is in flight under it.
func (h *Holder) end(o *owned) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !o.ending {
		o.ending, o.endBy = true, h.clock()+endWithin
	}
}

// Left implements [reconcile.Leases].
func (h *Holder) Left(lease reconcile.Lease) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.own[lease.Name]
	if o == nil || h.withheld || o.epoch != lease.Epoch {
		return 0
	}
	return o.left(h.clock())
}

// Cut implements [reconcile.Leases].
func (h *Holder) Cut(lease reconcile.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o := h.own[lease.Name]; o != nil && o.epoch == lease.Epoch {
		o.cut(h.clock())
	}
}

// Changed implements [reconcile.Leases].
func (h *Holder) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// tell forgets what is over, and closes the channel of [Holder.Changed] where something else is held
// than before.
func (h *Holder) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, held := h.clock(), map[reconcile.LeaseName]int64{}
	maps.DeleteFunc(h.own, func(_ reconcile.LeaseName, o *owned) bool { return now >= o.until })
	for name, o := range h.own {
		if !h.withheld && o.held(now) {
			held[name] = o.epoch
		}
	}
	if maps.Equal(held, h.told) {
		return
	}
	h.Log.Info("this replica has other leases than before", "leases", listed(held))
	h.told = held
	close(h.changed)
	h.changed = make(chan struct{})
	h.wake.Poke() // who has what is to be seen now
}

// listed are leases for people, each with its epoch.
func listed(held map[reconcile.LeaseName]int64) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(held)) {
		all = append(all, fmt.Sprintf("%s (epoch %d)", name, held[name]))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// all are the leases of this process.
func (h *Holder) all() []*owned {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.own))
}

// Package control turns what people said, and the clock, into decisions: which commit
// is in force, and what may be written.
//
//	decision, err := c.Propose(ctx, proposal)   // a commit is accepted, or held
//	generation := c.Current()                   // what workers act on
//	plan, err := c.Guard(generation, zone, plan)
//	next, err := c.Note(ctx, outcome)           // what became of a zone
//	released, err := c.Tick(ctx)                // holds, freezes, waves, other processes
//
// What comes in are evaluated commits, outcomes, and the records of
// [reconcile.Records]; what goes out are generations, guarded plans, and which zones
// need not wait any longer. It owns the record of ownership, proofs, waves, limits and
// waiting zones, and nobody else changes them. It sends nothing to the platform, and
// knows neither git nor CUE.
package control

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Config is what a [Control] is made from. Records and Now are required.
type Config struct {
	Records Records
	Guards  reconcile.Guards
	Now     func() time.Time
	// Foresee plans a zone from what was last seen of it, false where it was not seen;
	// nil has seen nothing.
	Foresee func(zone.Task) (diff.Plan, bool)
	// CheckSink reports why a sink could not take a secret; nil takes any.
	CheckSink func(desired.Sink) error
	// DriftFor is how long a drift counts for limits; zero is two hours.
	DriftFor time.Duration
	Log      *slog.Logger // nil discards
}

// Records is what control keeps on record.
type Records interface {
	reconcile.Records
	reconcile.Control
}

// Control decides. It is safe for concurrent use. Make it with [New].
type Control struct {
	Config
	current  atomic.Pointer[Generation]
	deciding sync.Mutex // held by who decides about commits and waves: one at a time

	mu        sync.Mutex
	accepted  reconcile.Accepted // without its state
	accepting string             // the commit that is about to be put on record; empty for none
	zones     map[edge.ZoneID]*zoneRecord
	swept     time.Time
	words     words
	writes    reconcile.Writes
	reverted  map[edge.ZoneID]diff.Hold // holds of reverts that were told of
	wrote     uint64                    // counts what was written of what [Records] has standing
	agreed    agreements
	limits    limits
	rollout   rollout
	waiting   map[edge.ZoneID]wishes
	// tokensWait says that a guard holds something about tokens back, and frozen that a
	// freeze was in force at the last tick.
	tokensWait, frozen bool
	labels             map[edge.ZoneID]diff.Labels // last proved, of zones that are declared with others
}

// New returns a control over what is on record. Where a commit was accepted and its
// declarations are on record, it is in force.
func New(ctx context.Context, config Config) (*Control, error) {
	if config.Foresee == nil {
		config.Foresee = func(zone.Task) (diff.Plan, bool) { return diff.Plan{}, false }
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.DriftFor == 0 {
		config.DriftFor = 2 * time.Hour
	}
	c := &Control{Config: config, zones: map[edge.ZoneID]*zoneRecord{}, waiting: map[edge.ZoneID]wishes{}}
	if err := c.resume(ctx); err != nil {
		return c, err
	}
	_, err := c.restore(ctx)
	return c, err
}

// resume takes the writes of which an earlier process recorded no result. A look at their
// zones that finds them as declared proves them.
func (c *Control) resume(ctx context.Context) error {
	unfinished, err := c.Records.Unfinished(ctx)
	if err != nil {
		return fmt.Errorf("recalling writes without a result: %w", err)
	}
	c.writes.Resume(unfinished)
	return nil
}

// Current returns what is in force, nil while nothing is.
func (c *Control) Current() *Generation { return c.current.Load() }

// InForce returns the state in force, false while there is none. It must not be
// changed.
func (c *Control) InForce() (desired.State, bool) {
	g := c.Current()
	if g == nil {
		return desired.State{}, false
	}
	return g.State, true
}

// restore takes everything on record, and what was in force there. It returns the zones
// that must be looked at before any of its commit work is written.
func (c *Control) restore(ctx context.Context) (look []edge.ZoneID, err error) {
	record, err := c.Records.Restore(ctx)
	if err != nil {
		return nil, fmt.Errorf("recalling earlier runs: %w", err)
	}
	state, err := decodeState(record.Accepted.State)
	if err != nil {
		c.Log.WarnContext(ctx, "the accepted commit's declarations on record cannot be used; they are evaluated again",
			"commit", record.Accepted.Commit, "error", err.Error())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(record)
	if len(record.Accepted.State) == 0 || err != nil {
		return nil, nil
	}
	g := newGeneration(state, c.Current())
	c.publish(g, record.Drifts)
	return c.judge(g), nil
}

// take makes a record the one that is worked with; the caller holds the lock.
func (c *Control) take(record reconcile.Record) {
	c.accepted, c.swept = record.Accepted, record.Swept
	c.accepted.State = nil
	c.zones = zoneRecords(record, c.Now())
	c.words = wordsOf(record)
	c.words.overtaken = c.foreign(record.Accepted.Commit)
	c.rollout = rollout{have: record.Rollout, outcomes: map[edge.ZoneID]reconcile.ZoneOutcome{}}
	c.limits.drifts = record.Drifts // they count for the next generation, wherever its declarations come from
}

// publish makes a generation the one in force, while some drifts count; the caller holds
// the lock.
func (c *Control) publish(g *Generation, drifts []reconcile.Drift) {
	c.current.Store(g)
	c.words.overtaken = ""
	for id := range c.waiting {
		if !g.Declares(id) {
			delete(c.waiting, id)
		}
	}
	c.labels = map[edge.ZoneID]diff.Labels{}
	for id, z := range c.zones {
		if labels, declared := g.labels[id]; declared && z.proof.Fingerprint != "" && !maps.Equal(labels, z.proof.Labels) {
			c.labels[id] = z.proof.Labels
		}
	}
	facts := c.facts(g)
	facts.LabelsBefore = maps.Clone(c.labels) // what was counted by a label stays counted by it
	c.limits = newLimits(facts, drifts, c.Now().Add(-c.DriftFor))
}

// Swept is up to when each turn of the sweep was taken by an earlier process; zero
// where that is not known.
func (c *Control) Swept() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.swept
}

// Accepted returns the commit that is on record as accepted, whether or not its
// declarations are at hand; empty for none.
func (c *Control) Accepted() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.accepted.Commit
}

// CommitWork reports whether a zone's declaration is another one than was last
// proved there. What differs in a zone where it is the same is drift.
func (c *Control) CommitWork(g *Generation, id edge.ZoneID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isCommitWork(g, id)
}

func (c *Control) isCommitWork(g *Generation, id edge.ZoneID) bool {
	return c.zone(id).proof.Fingerprint != g.prints[id]
}

// Task is a zone as a generation declares it, with what of it is owned.
func (c *Control) Task(g *Generation, id edge.ZoneID) (zone.Task, bool) {
	t, ok := g.Task(id)
	if !ok {
		return t, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Applied = c.zone(id).applied
	return t, true
}

// zone returns the record of a zone; the caller holds the lock.
func (c *Control) zone(id edge.ZoneID) *zoneRecord {
	z := c.zones[id]
	if z == nil {
		z = &zoneRecord{}
		c.zones[id] = z
	}
	return z
}

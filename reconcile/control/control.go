// Package control turns what people said, and the clock, into decisions: which commit
// is in force, and what may be written.
//
//	decision, err := c.Propose(ctx, proposal)   // a commit is accepted, or held
//	generation := c.Current()                   // what workers act on
//	plan, verdict := c.Guard(generation, zone, plan)
//	next, err := c.Note(ctx, outcome)           // what became of a zone
//	ticked, err := c.Tick(ctx)                  // holds, freezes, waves, other processes
//
// What comes in are evaluated commits, outcomes, and the records of
// [reconcile.Records]; what goes out are generations, guarded plans, and which zones
// need not wait any longer. It is the only owner of the record of ownership, proofs,
// waves, limits and waiting zones. It sends nothing to the platform, and knows neither
// git nor CUE.
//
// [Control] reads and writes the records and holds the lock; what it decides by is in
// state.go, with a part for each thing that is owned: zones.go, approvals.go, holds.go,
// limits.go, rollout.go and waiting.go. moved.go says which zones a new generation is looked at for.
package control

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
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
	// Within is what of a state is acted on; nil is all of it.
	Within func(desired.State) desired.State
	// CheckSink reports why a sink could not take a secret; nil takes any.
	CheckSink func(desired.Sink) error
	// Ruleset returns the id of a managed ruleset that goes by its name, empty where that is
	// not known; nil knows none.
	Ruleset func(desired.Account, desired.RulesetRef) edge.RulesetID
	// DriftFor is how long a drift counts for limits; zero is two hours.
	DriftFor time.Duration

	// Shared says that other processes change zones under the same limits. Theirs reports whether
	// one of them works on a zone of a generation; nil: none does.
	Shared bool
	Theirs func(g *Generation, id edge.Scope) bool
	// Leads returns the lease under which this process decides about commits; false where another
	// one does. Nil: there is no other.
	Leads func() (reconcile.Lease, bool)
	// News returns what a look at the records has shown a moment ago; false where they do not answer.
	// Nil: each tick reads them.
	News func() (reconcile.News, bool)

	// Told is called when the last proof of a zone has become another one; of any zone, where
	// the scope is the zero one. It may ask the control. Nil is told nothing.
	Told func(edge.Scope)
	Log  *slog.Logger // nil discards
}

// Records is what control keeps on record.
type Records interface {
	reconcile.Records
	reconcile.Control
}

// Control decides. It is safe for concurrent use. Make it with [New].
type Control struct {
	Config
	Gate                // of the daemon, which decides by state
	process  string     // names this process where it counts for limits
	deciding sync.Mutex // held while a commit or the waves are decided about: one at a time
	wholes   sync.Mutex // held while it is put on record how much a commit changes: the last counts

	told toldSkipRules

	saving sync.Mutex // guards saved
	saved  encoder    // of what was put on record, or read from there

	mu    sync.Mutex // guards state; never held while records are read or written
	state state
}

// New returns a control over what is on record. Where a commit was accepted and its
// declarations are on record, it is in force.
func New(ctx context.Context, config Config) (*Control, error) {
	if config.Foresee == nil {
		config.Foresee = func(zone.Task) (diff.Plan, bool) { return diff.Plan{}, false }
	}
	if config.News == nil {
		config.News = func() (reconcile.News, bool) { return reconcile.News{}, false }
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Within == nil {
		config.Within = func(s desired.State) desired.State { return s }
	}
	if config.DriftFor == 0 {
		config.DriftFor = 2 * time.Hour
	}
	c := &Control{Config: config, process: rand.Text()}
	c.Gate.rules, c.Gate.records, c.Gate.now = c, config.Records, config.Now
	c.state.init(config)
	unfinished, err := c.Records.Unfinished(ctx)
	if err != nil {
		return c, fmt.Errorf("loading writes without a result: %w", err)
	}
	c.writes.Resume(unfinished) // a read of their zones that finds them as declared proves them
	_, err = c.restore(ctx, new(taken))
	return c, err
}

// Current returns what is in force, nil while nothing is.
func (c *Control) Current() *Generation { return c.state.current.Load() }

// InForce returns the state in force, false while there is none. It must not be
// changed.
func (c *Control) InForce() (desired.State, bool) {
	g := c.Current()
	if g == nil {
		return desired.State{}, false
	}
	return g.State, true
}

// restore takes everything on record, or what is new there since it was taken last, and what was in
// force there. It returns the zones that must be read before any of its commit work is written,
// and notes which zones may have another proof by that.
func (c *Control) restore(ctx context.Context, of *taken) (look []edge.Scope, err error) {
	news, known := c.News() // before they are read
	if c.recordsPutBack() {
		c.Anew() // what this process has put on record may be there no more
	}
	var tallied []reconcile.Count
	if c.Shared { // before the rest, which is taken in once it is read
		if tallied, err = c.Records.Tallied(ctx, 0); err != nil {
			return nil, fmt.Errorf("reading what counts for limits: %w", err)
		}
	}
	record, declared, stateErr, err := c.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("recalling earlier runs: %w", err)
	}
	if within := c.Within(declared); len(within.Accounts) != len(declared.Accounts) {
		declared, record.Accepted.Size = within, sizeOf(within) // what was left out since has not shrunk
	}
	if stateErr != nil {
		c.Log.WarnContext(ctx, "the accepted commit's declarations on record cannot be used; they are evaluated again",
			"commit", record.Accepted.Commit, "error", stateErr.Error())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.Current()
	of.all = record.Only == nil
	of.zones = c.state.restore(record)
	if known {
		c.state.putBack = news.PutBack
	}
	if len(record.Accepted.State)+len(record.Accepted.Parts) == 0 || stateErr != nil {
		return nil, nil
	}
	g := newGeneration(declared, before)
	g.earlier = record.Accepted.Earlier
	known, fresh := c.state.limits.ours(c.process), c.state.limits.fresh
	c.state.limits.whole = nil // it is on record, or is to be put there again
	c.state.publish(g)
	c.state.join(tallied, g.State.Commit, c.process)
	switch {
	case before == nil || before.State.Commit != g.State.Commit:
		c.state.limits.fresh = false // whoever called has all that is due looked at
	case known && c.state.limits.ours(c.process):
		c.state.limits.fresh = fresh // it is no news
	}
	return c.state.judge(g), nil
}

// Swept is up to when each turn of the sweep was taken by an earlier process, of the zones under
// a lease; zero where that is not known.
func (c *Control) Swept(lease reconcile.Lease) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lease.Epoch == 0 {
		return c.state.swept
	}
	return c.state.sweptUnder[lease.Name]
}

// Accepted returns the commit that is on record as accepted, whether or not its
// declarations are at hand; empty for none.
func (c *Control) Accepted() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.accepted.Commit
}

// CommitWork reports whether a zone's declaration is another one than was last
// proved there. What differs in a zone where it is the same is drift.
func (c *Control) CommitWork(g *Generation, id edge.Scope) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.zones.unproved(g, id)
}

// Labels are those of a zone: as the commit in force declares them, and as they were when the
// zone was proved last; nil where it is not declared, or was never proved.
func (c *Control) Labels(id edge.Scope) (declared, proved map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.Current(); g != nil && g.Declares(id) {
		return g.labels[id], c.state.zones.of(id).proof.Labels
	}
	return nil, nil
}

// Task is a zone as a generation declares it, with what of it is owned.
func (c *Control) Task(g *Generation, id edge.Scope) (zone.Task, bool) {
	if !g.Declares(id) {
		return zone.Task{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.zones.task(g, id), true
}

package control

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// wish is what a zone waits for that a guard holds back.
type wish struct {
	guard string
	until time.Time // when it ends by itself; zero where it does not, or nobody knows
}

// timely reports whether it comes with time, and not with somebody's word: that may
// never come.
func (w wish) timely() bool { return !w.word() }

func (w wish) word() bool { return w.guard == guardLimit || w.guard == guardApproval }

// wishes are all that a zone waits for.
type wishes []wish

func (w wishes) timely() bool      { return slices.ContainsFunc(w, wish.timely) }
func (w wishes) forSomebody() bool { return slices.ContainsFunc(w, wish.word) }

// until is when the first of them ends by itself; zero where none does.
func (w wishes) until() (at time.Time) {
	for _, wish := range w {
		if !wish.until.IsZero() && (at.IsZero() || wish.until.Before(at)) {
			at = wish.until
		}
	}
	return at
}

// The guards that a zone waits for, as diff calls them.
const (
	guardLimit    = "limit"
	guardApproval = "approval"
	guardHold     = "hold"
	guardFreeze   = "freeze"
	guardWave     = "wave"

	guardOvertaken = "overtaken" // of this package: another process has accepted a commit
)

// Outcome is what became of one look at a zone.
type Outcome struct {
	Zone edge.ZoneID
	// Fingerprint is that of the declaration that was worked on. What became of one that is
	// not in force any more says nothing about the waves.
	Fingerprint string
	Plan        diff.Plan // guarded
	Results     []reconcile.Result
}

// Next says when a zone is to be looked at again, beside its turn in the sweep.
type Next struct {
	At    time.Time // zero: not before its turn
	Waits bool      // for a guard, and not because anything failed
}

// Note takes in what became of a zone: what it waits for, how its wave goes on, and
// which approvals are spent.
func (c *Control) Note(ctx context.Context, o Outcome) (Next, error) {
	c.mu.Lock()
	next := c.note(o)
	c.mu.Unlock()
	return next, errors.Join(c.recordFailed(ctx, o.Results), c.spendOn(ctx, o))
}

// NoteTokens takes in what became of the tokens. What they wait for is theirs alone: a
// hold or a wave is about zones.
func (c *Control) NoteTokens(ctx context.Context, o Outcome) error {
	waits := false
	for _, change := range refusedChanges(o) {
		switch change.Refused.Guard {
		case guardLimit, guardApproval, guardFreeze:
			waits = true
		}
	}
	c.mu.Lock()
	c.tokensWait = waits
	c.mu.Unlock()
	return c.spendOn(ctx, o)
}

// spendOn ends the approvals of changes that were made. A result has the change as it
// was sent, worked out from a newer read; what was agreed to is the one of the plan.
func (c *Control) spendOn(ctx context.Context, o Outcome) error {
	done := map[string]diff.Change{}
	for _, result := range o.Results {
		if result.Outcome == reconcile.Converged {
			done[result.Change.Name()] = result.Change
		}
	}
	var spent []string
	for _, change := range o.Plan.Changes {
		if made, ok := done[change.Name()]; ok && change.Approved {
			spent = append(spent, change.ApprovalDigest(), made.ApprovalDigest())
		}
	}
	slices.Sort(spent)
	return c.spend(ctx, slices.Compact(spent))
}

func (c *Control) note(o Outcome) Next {
	delete(c.waiting, o.Zone)
	var waiting wishes
	for _, change := range refusedChanges(o) {
		switch change.Refused.Guard {
		case guardLimit, guardApproval, guardHold, guardFreeze, guardWave, guardOvertaken:
			waiting = append(waiting, wish{change.Refused.Guard, change.Refused.Until})
		}
	}
	if len(waiting) > 0 {
		c.waiting[o.Zone] = waiting
	}
	if g := c.Current(); g != nil && g.prints[o.Zone] == o.Fingerprint && waits(c.rollout.have, o.Zone) {
		if outcome := zoneOutcome(o); outcome != reconcile.ZonePending {
			c.rollout.outcomes[o.Zone] = outcome
		}
	}
	next := Next{At: c.zone(o.Zone).again(c.Now()), Waits: len(waiting) > 0}
	if until := waiting.until(); !until.IsZero() && (next.At.IsZero() || until.Before(next.At)) {
		next.At = until
	}
	return next
}

// refusedChanges are those that a guard holds back, before the write or at the last
// moment.
func refusedChanges(o Outcome) (refused []diff.Change) {
	for _, change := range o.Plan.Changes {
		if change.Refused != nil {
			refused = append(refused, change)
		}
	}
	for _, result := range o.Results {
		if result.Change.Refused != nil {
			refused = append(refused, result.Change)
		}
	}
	return refused
}

// severity orders the outcomes of the deployments of one zone: the last counts. A
// zone that waits for anything is not done, and one that failed has failed whatever
// else it waits for.
var severity = []reconcile.ZoneOutcome{
	reconcile.ZoneDone, reconcile.ZoneSkipped, reconcile.ZonePending, reconcile.ZoneFailed, reconcile.ZoneNonConvergent,
}

// zoneOutcome is what has become of a zone, for its wave.
func zoneOutcome(o Outcome) reconcile.ZoneOutcome {
	worst := reconcile.ZoneDone
	note := func(outcome reconcile.ZoneOutcome) {
		if slices.Index(severity, outcome) > slices.Index(severity, worst) {
			worst = outcome
		}
	}
	for _, problem := range o.Plan.Problems {
		if problem.State.Unread() {
			note(reconcile.ZoneFailed)
		} else {
			note(reconcile.ZoneSkipped)
		}
	}
	results := map[string]reconcile.Outcome{}
	for _, result := range o.Results {
		results[result.Change.Name()] = result.Outcome
	}
	for _, change := range o.Plan.Changes {
		note(ofChange(change, results[change.Name()]))
	}
	return worst
}

func ofChange(c diff.Change, outcome reconcile.Outcome) reconcile.ZoneOutcome {
	if c.Refused != nil {
		switch c.Refused.Guard {
		case guardLimit, guardApproval, guardFreeze, guardWave:
			return reconcile.ZonePending
		}
		return reconcile.ZoneSkipped
	}
	switch outcome {
	case reconcile.Converged:
		return reconcile.ZoneDone
	case reconcile.Failed:
		return reconcile.ZoneFailed
	case reconcile.NonConvergent:
		return reconcile.ZoneNonConvergent
	}
	return reconcile.ZonePending
}

// Waiting counts the zones that a guard holds back, and those of them that wait for a
// time, and not for somebody's word.
func (c *Control) Waiting() (all, timely int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waiting {
		if w.timely() {
			timely++
		}
	}
	return len(c.waiting), timely
}

// Holds are those in force.
func (c *Control) Holds() []diff.Hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds()
}

// holds are those in force; the caller holds the lock.
func (c *Control) holds() []diff.Hold {
	g := c.Current()
	if g == nil {
		return diff.Active(c.words.holds, c.Now(), nil)
	}
	return diff.Active(c.words.holds, c.Now(), g.declaration)
}

// Rollout says how far the waves have come, nil where there are none on their way.
func (c *Control) Rollout() *diff.Rollout {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.rollout.have
	if len(c.Guards.Waves) == 0 || len(o.Zones) == 0 {
		return nil
	}
	f := &diff.Rollout{Waves: len(c.Guards.Waves) + 1, Halted: o.Halted}
	f.Open, f.Next = open(o, c.Guards.Waves, c.Now())
	return f
}

// Ticked is what time and other processes have brought.
type Ticked struct {
	// Released are zones that need not wait any longer.
	Released []edge.ZoneID
	// Tokens says that they may need not wait any longer.
	Tokens bool
	// Overtaken is a commit that another process has accepted, and that is to come into
	// force here: empty for none. Reload brings it where its declarations are on record.
	Overtaken string
}

// Tick takes in what people and other processes have said since, what has become of
// zones in waves, and the time.
func (c *Control) Tick(ctx context.Context) (t Ticked, err error) {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	if t.Released, err = c.follow(ctx); err != nil {
		return t, err
	}
	if err := c.listen(ctx); err != nil {
		return t, err
	}
	c.mu.Lock()
	rolled, approved := c.words.rolled, c.words.fresh
	c.mu.Unlock()
	t.Released = append(t.Released, c.tellReverted(ctx)...)
	if rolled {
		if err := c.reroll(ctx); err != nil {
			return t, err
		}
	}
	if approved {
		c.rejudge()
	}
	err = c.recordAgreements(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words.fresh = c.words.fresh && !approved
	t.Released = append(t.Released, c.released(approved)...)
	if by := c.words.overtaken; by != c.accepted.Commit {
		t.Overtaken = by
	}
	frozen := len(c.freezes(c.Now())) > 0
	t.Tokens = c.tokensWait && (approved || c.frozen && !frozen)
	c.frozen = frozen
	return t, err
}

// released returns the zones that need not wait any longer, for one thing at least, and
// has them wait no more; the caller holds the lock.
func (c *Control) released(approved bool) (ids []edge.ZoneID) {
	g, now := c.Current(), c.Now()
	if g == nil || len(c.waiting) == 0 {
		return nil
	}
	holds := c.holds()
	wave, _ := open(c.rollout.have, c.Guards.Waves, now)
	for id, waiting := range c.waiting {
		granted := func(w wish) bool {
			switch w.guard {
			case guardHold:
				at := g.places[id]
				_, held := diff.HoldOn(holds, g.State.Accounts[at.account].Zones[at.zone].Key, id)
				return !held
			case guardFreeze:
				return !now.Before(w.until)
			case guardWave:
				return !c.rollout.delays(id, c.Guards.Waves, wave)
			case guardOvertaken:
				return c.words.overtaken == ""
			}
			return approved
		}
		if slices.ContainsFunc(waiting, granted) {
			ids = append(ids, id)
			delete(c.waiting, id)
		}
	}
	return ids
}

// reroll takes the rollout on record in the place of the one that was known: a person
// has let it go on, or another process has come further.
func (c *Control) reroll(ctx context.Context) error {
	return c.Records.Roll(ctx, func(have reconcile.Rollout) reconcile.Rollout {
		c.mu.Lock()
		defer c.mu.Unlock()
		have.Zones = maps.Clone(have.Zones)
		c.rollout.have = have
		return have
	})
}

// rejudge counts the commit in force anew: somebody has agreed to something since.
func (c *Control) rejudge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.Current(); g != nil && c.limits.on && !c.limits.counting() {
		c.weigh(g, c.foreseen(g, c.commitWork(g)))
	}
}

// Reload takes everything on record anew, after another process has accepted a commit.
// Where what that declares is on record it is in force now; else nothing is accepted,
// and it is to be proposed.
func (c *Control) Reload(ctx context.Context) (Decision, error) {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	before := c.Current()
	look, err := c.restore(ctx)
	if err != nil {
		return Decision{}, err
	}
	g := c.Current()
	if g == before {
		return Decision{}, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.between(before, g)
	d.Look = look
	return d, nil
}

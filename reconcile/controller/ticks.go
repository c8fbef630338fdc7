package controller

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// ticks is what time and people bring: once in a while control is asked for it, and what it
// answers goes into the queues.
type ticks struct {
	control *control.Control
	commits *commits
	records control.Records
	lanes   *lanes
	tokens  *queue.Queue[struct{}]
	retries *retries
	reports *reports
	outages *outage.Tracker
	every   time.Duration
	asked   <-chan os.Signal // asks for a look at every zone now
	poked   reconcile.Pokes  // a person has put something on record
	began   time.Time
	shown   *parts

	state  stateTries
	looks  gitLooks
	unread bool      // what is on record was to be read, and could not be
	named  time.Time // when it was asked whether zones have other ids
	// caughtUp is when it was asked how much other processes have put on record.
	caughtUp time.Time
	last     glance
}

// tickEvery is how often control is asked what time and people have brought, unless the
// configuration says otherwise.
const tickEvery = time.Second

// sweptEvery is how often it is recorded how far the sweep has come.
const sweptEvery = time.Minute

// atWorkFor is for how long a look that was begun may go on: a process that ends may
// not have come to its end.
const atWorkFor = 30 * time.Second

// recordSwept records how far the sweep has come: to the oldest turn that is due, or
// may be at work.
func (t *ticks) recordSwept(ctx context.Context) {
	t.reports.state(ctx, "swept", t.swept(ctx, time.Now()))
}

// swept is recordSwept, of each lane whose lease this process has. Where it has none, the records are
// asked for anything.
func (t *ticks) swept(ctx context.Context, now time.Time) (err error) {
	shared := false // some lane is this process's by a lease
	for _, lane := range t.lanes.all {
		lease := lane.held.Load()
		switch {
		case lease == nil:
		case lease.Epoch == 0: // there is no other process
			return t.records.Swept(ctx, t.sweptUntil(now))
		default:
			shared = true
			if failed := t.records.Swept(reconcile.Under(ctx, *lease), lane.sweptUntil(now)); !anotherDoes(failed) {
				err = errors.Join(err, failed)
			}
		}
	}
	if !shared {
		_, err = t.records.Standing(ctx)
	}
	return err
}

func (t *ticks) sweptUntil(now time.Time) time.Time {
	until := now.Add(-atWorkFor)
	if oldest := t.lanes.stats()[queue.Sweep].Oldest; !oldest.IsZero() && oldest.Before(until) {
		until = oldest
	}
	return until
}

// run asks for that until ctx ends.
func (t *ticks) run(ctx context.Context) {
	ticker := time.NewTicker(t.every)
	defer ticker.Stop()
	last, swept := "", time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-t.poked:
		}
		if now := time.Now(); now.Sub(swept) >= sweptEvery {
			swept = now
			t.recordSwept(ctx)
		}
		for _, lane := range t.lanes.all {
			lane.admission.turnsWaiting.Store(int64(lane.queue.Stats()[queue.Sweep].Waiting))
		}
		ticked, err := t.control.Tick(ctx)
		switch {
		case err == nil:
			last = ""
			t.outages.Worked(reconcile.OutageState, "", "tick")
		case ctx.Err() == nil && outage.Cause(err) != last:
			last = outage.Cause(err)
			t.reports.state(ctx, "tick", err)
		case ctx.Err() == nil:
			t.outages.Failed(reconcile.OutageState, "", "tick", err)
		}
		t.tryState(ctx, time.Now())
		t.outages.Tick()
		t.countAway(ctx, time.Now())
		t.reports.soFar(ctx, time.Now())
		if t.last.changed(t.shown.view().glance()) {
			t.shown.fleet.changes.Note()
		}
		t.lanes.sooner(t.control.Current(), itemsOf(ticked.Released, queue.Released, "the wait is over")...)
		if ticked.Tokens {
			t.tokens.Set(queue.Item[struct{}]{Reason: "something was released"})
		}
		t.takeIn(ctx, ticked)
	}
}

// namesEvery is how often a process that does not look up names asks whether another one has found
// some.
const namesEvery = 5 * time.Second

// follows reports whether what another process has decided is to be taken in, though no other commit
// was accepted: its declarations may be on record only now, or zones may have other ids.
func (t *ticks) follows(ctx context.Context) bool {
	if t.commits.leads() {
		return false
	}
	if t.control.Behind() {
		return true
	}
	if now := time.Now(); now.Sub(t.named) >= namesEvery {
		t.named = now
		return t.commits.renamed(ctx)
	}
	return false
}

// takeIn takes in what other processes have put on record.
func (t *ticks) takeIn(ctx context.Context, ticked control.Ticked) {
	if ticked.PutBack { // tokens may be unknown now
		t.tokens.Set(queue.Item[struct{}]{Reason: "the database was put back to an earlier time"})
	}
	switch {
	case ticked.PutBack || ticked.Overtaken != "" || t.unread || t.follows(ctx):
		t.unread = !t.commits.reload(ctx)
	default:
		t.catchUp(ctx, time.Now())
	}
	t.lookAtGit(ticked.PutBack, time.Now())
}

// gitLooks is how git was asked for while nothing is written before it was looked at.
type gitLooks struct {
	unlooked int64 // the [control.Control.Unlooked] because of which
	times    int
	next     time.Time // not before
}

// lookAtGit has git looked at where the records are of an earlier time, and what they have was taken in:
// the accepted commit may be an older one than before. It asks at once, and then ever more slowly.
func (t *ticks) lookAtGit(putBack bool, now time.Time) {
	unlooked := t.control.Unlooked()
	switch {
	case !t.commits.leads() || unlooked == 0 && !putBack:
		t.looks = gitLooks{}
		return
	case unlooked != t.looks.unlooked:
		t.looks = gitLooks{unlooked: unlooked}
	case now.Before(t.looks.next):
		return
	}
	t.looks.times++
	t.looks.next = now.Add(retry.Unlooked.Delay(t.looks.times))
	t.commits.source.Poke()
}

// catchUpEvery is how often it is asked how much other processes have put on record of their zones.
const catchUpEvery = 3 * time.Second

// catchUp takes that in where it is so much that the next commit would wait for it. What is wrong with the
// records the tick itself has told, and the commit tells of what is wrong with these.
func (t *ticks) catchUp(ctx context.Context, now time.Time) {
	if now.Sub(t.caughtUp) < catchUpEvery || t.control.Current() == nil {
		return
	}
	t.caughtUp = now
	if behind, err := t.control.FallsBehind(ctx); err == nil && behind {
		_ = t.control.CatchUp(ctx)
	}
}

// stateTries is how the state folder was found by the last tick.
type stateTries struct {
	next  time.Time // when it is tried again
	tries int       // in a row that found it to work, while something fails all the same
	lasts bool      // its outage
}

// tryState writes to the ledger while the state folder fails. Once its outage has ended, all
// that has failed is due at once. Where the ledger can be written and something fails all the
// same, it is tried ever more slowly: not every zone is to be asked again and again.
func (t *ticks) tryState(ctx context.Context, now time.Time) {
	s := &t.state
	lasts, fails := t.outages.State()
	if fails && !now.Before(s.next) {
		s.next = now.Add(retry.Ledger.First)
		if err := t.swept(ctx, now); err != nil {
			t.outages.Failed(reconcile.OutageState, "", "swept", err)
		} else {
			t.outages.Worked(reconcile.OutageState, "", "swept")
			if full := t.outages.StateWorks(); full {
				t.commits.source.Poke() // git may have found no space
			} else {
				s.tries++
				s.next = now.Add(retry.Ledger.Delay(s.tries))
				t.stateAgain()
			}
			lasts, _ = t.outages.State()
		}
	}
	if s.lasts && !lasts {
		s.tries = 0
		t.stateAgain()
	}
	s.lasts = lasts
}

// stateAgain has everything tried that may have failed of the state folder.
func (t *ticks) stateAgain() {
	const reason = "the state folder may work again"
	t.tokens.Sooner(queue.Item[struct{}]{Priority: queue.Retry, Reason: reason})
	t.lanes.sooner(t.control.Current(), itemsOf(t.retries.failing(), queue.Retry, reason)...)
}

// lookNow has every zone read when that is asked for.
func (t *ticks) lookNow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.asked:
		}
		t.commits.source.Poke()
		g := t.control.Current()
		if g == nil {
			continue
		}
		t.lanes.ask(time.Now())
		for _, lane := range t.lanes.all {
			lane.admission.breaker.hurry()
			lane.accounts.Hurry()
		}
		ids := slices.Collect(g.Zones())
		t.control.TryUnkept(ids)
		t.reports.round(g)
		t.lanes.sooner(g, itemsOf(ids, queue.Sweep, "requested")...)
		t.tokens.Set(queue.Item[struct{}]{Reason: "requested"})
		t.commits.names.Poke()
	}
}

// countAway has a commit counted without the zones of lanes that are away, or that another process
// works on: they count when they are about to be written. Who decides about commits reads the
// latter, for as long as that is to be expected.
func (t *ticks) countAway(ctx context.Context, now time.Time) {
	g := t.control.Current()
	if g == nil || len(t.lanes.all) == 1 && t.lanes.all[0].works() {
		return
	}
	for _, id := range control.Uncounted(t.control) {
		lane := t.lanes.at(g, id)
		switch {
		case lane == nil:
			continue
		case lane.works():
			if lane.away(now, lane.lastProgress(t.began)) == "" {
				continue
			}
		case t.commits.leads() && lane.away(now, latest(lane.lastProgress(t.began), t.countsSince())) == "":
			// What a commit changes is counted as a whole, whoever makes it.
			lane.queue.Sooner(itemsOf([]edge.Scope{id}, queue.Bulk, "counting the changes of the commit")...)
			continue
		}
		t.looked(ctx, g, id)
	}
}

// countsSince is since when this process counts the commit in force for all others.
func (t *ticks) countsSince() time.Time {
	return time.Unix(0, max(t.lanes.placedAt.Load(), t.commits.led.Load()))
}

// looked has a commit counted without a zone.
func (t *ticks) looked(ctx context.Context, g *control.Generation, id edge.Scope) {
	due, err := t.control.Looked(ctx, id)
	t.reports.state(ctx, "looked", err)
	t.lanes.counted(g, due)
}

package controller

import (
	"fmt"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// outcomes keeps what the last look at each zone has come to, for those who ask, and what else
// the work has come to. Nothing is decided by it.
type outcomes struct {
	began time.Time
	zones *fleetIndex

	mu       sync.Mutex
	observed time.Time // when a zone was read last
	held     *inspect.Held
	changes  commitChanges
	tokens   inspect.Tokens
}

// lastLook is what is kept of a zone: of one that is as declared two times, and more only of
// one that stands out. The times are since the process began.
type lastLook struct {
	at      time.Duration
	written time.Duration // when a write was proved last; zero: none was
	notable *notable      // nil: as declared
}

// notable is what is kept of a zone that is not as declared.
type notable struct {
	decisions []inspect.Decision // at least one
	differs   time.Time          // since when something is known to differ; zero: nothing is
	drift     bool
}

// mostDecisions bounds what is kept of one zone.
const mostDecisions = 8

func newOutcomes(now time.Time, zones *fleetIndex) *outcomes {
	return &outcomes{began: now, zones: zones}
}

// note keeps what a look has come to.
func (o *outcomes) note(l *look, now time.Time) {
	decisions, differs := decide(l)
	l.tellSpan(decisions)
	o.mu.Lock()
	if l.observed() {
		o.observed = now
	}
	if l.commit {
		o.changes.note(l.generation.State.Commit, l.item.Key, l.plan.Changes)
	}
	o.mu.Unlock()
	o.zones.looked(l.item.Key, func(before lastLook) lastLook {
		after := lastLook{at: now.Sub(o.began), written: before.written}
		for _, r := range l.results {
			if r.Outcome == reconcile.Converged {
				after.written = after.at
			}
		}
		if len(decisions) > 0 {
			after.notable = before.notable.then(decisions, differs, !l.commit, now)
			if !differs && !l.observed() { // it may differ as it did
				after.notable.differs, after.notable.drift = before.notable.differed()
			}
		}
		return after
	})
}

// then is what is kept after decisions: one that was taken before keeps its time.
func (n *notable) then(decisions []inspect.Decision, differs, drift bool, now time.Time) *notable {
	after := &notable{decisions: decisions[:min(len(decisions), mostDecisions)]}
	for i := range after.decisions {
		after.decisions[i].Since = n.since(after.decisions[i], now)
	}
	if differs {
		after.differs, after.drift = now, drift
		if since, before := n.differed(); !since.IsZero() && before == drift {
			after.differs = since
		}
	}
	return after
}

// since is when a decision was taken first, of those that followed each other.
func (n *notable) since(d inspect.Decision, now time.Time) time.Time {
	if n == nil {
		return now
	}
	for _, before := range n.decisions {
		if before.Kind == d.Kind && before.Deployment == d.Deployment && before.Stage == d.Stage && before.Outcome == d.Outcome && before.Guard == d.Guard {
			return before.Since
		}
	}
	return now
}

// worst is the first of the decisions that has the outcome of the zone; false where there is none.
func (n *notable) worst(outcome inspect.Outcome) (inspect.Decision, bool) {
	if n != nil {
		for _, d := range n.decisions {
			if d.Outcome == outcome {
				return d, true
			}
		}
	}
	return inspect.Decision{}, false
}

// differed is since when something was known to differ, and whether it was drift.
func (n *notable) differed() (time.Time, bool) {
	if n == nil {
		return time.Time{}, false
	}
	return n.differs, n.drift
}

// lastObserved is when a zone was read last.
func (o *outcomes) lastObserved() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.observed
}

// time is a time that a lastLook holds; the zero time for none.
func (o *outcomes) time(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return o.began.Add(d)
}

// decided keeps why the newest commit is held. Where git could not be fetched, what was
// decided before is so still.
func (o *outcomes) decided(p reconcile.Proposal, d control.Decision, now time.Time) {
	if p.Err != nil && p.Commit == "" {
		return
	}
	defer o.zones.changes.Note()
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.held
	if o.held = nil; d.Held == nil {
		return
	}
	o.held = &inspect.Held{Commit: p.Commit, Author: bounded(p.Author), Reason: bounded(d.Held.Reason), Fix: fixOf(p, *d.Held), Since: now}
	for _, p := range d.Held.Problems[:min(len(d.Held.Problems), mostDecisions)] {
		o.held.Problems = append(o.held.Problems, bounded(fmt.Sprintf("%s: %s", p.Origin, p.Message)))
	}
	if before != nil && before.Reason == o.held.Reason {
		o.held.Since = before.Since
	}
}

// commitChanges keep what the newest commit that zones were looked at for does to each of them.
type commitChanges struct {
	commit string
	zones  map[edge.Scope]diff.Direction
}

// note keeps what a look because of a commit has planned for a zone; a look that found it
// as declared leaves what was planned before.
func (c *commitChanges) note(commit string, zone edge.Scope, planned []diff.Change) {
	if c.commit != commit {
		*c = commitChanges{commit, map[edge.Scope]diff.Direction{}}
	}
	for _, change := range planned {
		c.zones[zone] = diff.Combine(c.zones[zone], change.Direction)
	}
}

// count counts the zones of a commit; nil where none is known.
func (c *commitChanges) count(commit string) *inspect.Changes {
	if commit != c.commit || len(c.zones) == 0 {
		return nil
	}
	n := &inspect.Changes{Zones: len(c.zones)}
	for _, direction := range c.zones {
		switch direction {
		case diff.Weakens:
			n.Weakened++
		case diff.Strengthens:
			n.Strengthened++
		default: // neither
		}
	}
	return n
}

// expiringWithin is how long before its end a token without a successor is reported.
const expiringWithin = 30 * 24 * time.Hour

// worked keeps what work on tokens has come to.
func (o *outcomes) worked(w token.Outcome, now time.Time) {
	tokens := inspect.Tokens{LookedAt: now, Findings: []inspect.Token{}, Expiring: []diff.Expiry{}}
	for _, p := range w.Plan.Problems {
		tokens.Findings = append(tokens.Findings, inspect.Token{
			Token: p.Token, Outcome: ofToken(p.State), Reason: bounded(p.Reason), Fix: bounded(p.Hint), Lasts: p.Lasts,
		})
	}
	done, failed := map[string]bool{}, map[string]error{}
	for _, r := range w.Results {
		done[r.Change.Token], failed[r.Change.Token] = r.Outcome == reconcile.Converged, r.Err
	}
	for _, c := range w.Plan.Changes {
		switch {
		case done[c.Token]:
		case c.Refused != nil:
			d := ofRefusal(inspect.Decision{}, *c.Refused)
			tokens.Findings = append(tokens.Findings, inspect.Token{Token: c.Token, Outcome: d.Outcome, Reason: d.Reason, Fix: d.Release})
		case c.Sends():
			reason := string(c.Action()) + " is not done"
			if err := failed[c.Token]; err != nil {
				reason += ": " + err.Error()
			}
			tokens.Findings = append(tokens.Findings, inspect.Token{Token: c.Token, Outcome: inspect.Pending, Reason: bounded(reason)})
		}
	}
	report := reconcile.Report{Plan: w.Plan, Results: w.Results, Finished: now}
	tokens.Expiring = append(tokens.Expiring, report.Expiring(expiringWithin)...)
	defer o.zones.changes.Note()
	o.mu.Lock()
	defer o.mu.Unlock()
	tokens.Findings = dated(tokens.Findings, o.tokens.Findings, now)
	o.tokens = tokens
}

// leaveTokens forgets what is known of tokens.
func (o *outcomes) leaveTokens() {
	defer o.zones.changes.Note()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tokens = inspect.Tokens{}
}

// leaveCommits forgets why a commit is held: another process has decided about commits since.
func (o *outcomes) leaveCommits() {
	defer o.zones.changes.Note()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = nil
}

// dated says since when tokens have their outcomes: as long as they had them before.
func dated(findings, before []inspect.Token, now time.Time) []inspect.Token {
	since := map[string]inspect.Token{}
	for _, b := range before {
		since[b.Token] = b
	}
	for i, f := range findings {
		findings[i].Since = now
		if b := since[f.Token]; b.Token != "" && b.Outcome == f.Outcome {
			findings[i].Since = b.Since
		}
	}
	return findings
}

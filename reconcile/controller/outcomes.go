package controller

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// outcomes keeps what the last look at each zone has come to, for those who ask: of one
// that is as declared two times, and more only of one that stands out. Nothing is decided
// by it.
type outcomes struct {
	began time.Time

	mu       sync.Mutex
	zones    map[edge.Scope]lastLook
	observed time.Time // when a zone was read last
	held     *inspect.Held
	changes  changes
	tokens   inspect.Tokens
}

// lastLook is what is kept of a zone. Its times are since the process began.
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

// mostDecisions bounds what is kept of one zone, and mostText how long a reason may be,
// in characters: errors may hold what a server has answered.
const (
	mostDecisions = 8
	mostText      = 1000
)

func newOutcomes(now time.Time) *outcomes {
	return &outcomes{began: now, zones: map[edge.Scope]lastLook{}}
}

// note keeps what a look has come to.
func (o *outcomes) note(l *look, now time.Time) {
	decisions, differs := decide(l)
	o.mu.Lock()
	defer o.mu.Unlock()
	if l.observed() {
		o.observed = now
	}
	before := o.zones[l.item.Key]
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
	o.zones[l.item.Key] = after
	if l.commit {
		o.changes.note(l.generation.State.Commit, l.item.Key, l.plan.Changes)
	}
}

// observed reports whether the zone itself could be read.
func (l *look) observed() bool {
	err := l.sight.EntryPoint.Err
	return !l.sight.At.IsZero() && (err == nil || errors.Is(err, edge.ErrEntryPointNotFound))
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
		if before.Deployment == d.Deployment && before.Stage == d.Stage && before.Outcome == d.Outcome && before.Guard == d.Guard {
			return before.Since
		}
	}
	return now
}

// differed is since when something was known to differ, and whether it was drift.
func (n *notable) differed() (time.Time, bool) {
	if n == nil {
		return time.Time{}, false
	}
	return n.differs, n.drift
}

// decide says what was decided in a look: nothing where the zone is as declared now.
// differs says that something is known not to be.
func decide(l *look) (decisions []inspect.Decision, differs bool) {
	if l.counting {
		return []inspect.Decision{{
			Stage: inspect.StageGuard, Outcome: inspect.Pending, Guard: diff.GuardLimit,
			Reason: "Seawall reads and counts all zones of the commit before it writes any",
		}}, len(l.plan.Changes) > 0
	}
	if err := l.sight.EntryPoint.Err; errors.Is(err, edge.ErrUnauthenticated) {
		return []inspect.Decision{{Stage: inspect.StageRead, Outcome: inspect.Unknown, Reason: bounded(err.Error())}}, false
	}
	for _, p := range l.plan.Problems {
		decisions = append(decisions, ofProblem(p))
	}
	results := map[string]reconcile.Result{}
	for _, r := range l.results {
		results[r.Change.Deployment] = r
	}
	for _, c := range l.plan.Changes {
		result, sent := results[c.Deployment]
		if sent && result.Outcome == reconcile.Converged {
			continue
		}
		differs = true
		decisions = append(decisions, ofChange(c, result, sent))
	}
	if l.unrecorded != nil {
		decisions = append(decisions, inspect.Decision{
			Stage: inspect.StageProve, Outcome: inspect.Failed, Reason: bounded("the result could not be recorded: " + l.unrecorded.Error()),
		})
	}
	return decisions, differs
}

// ofProblem is what was decided where no change could be planned.
func ofProblem(p diff.Problem) inspect.Decision {
	d := inspect.Decision{
		Deployment: p.Deployment, Stage: inspect.StagePlan, Outcome: inspect.Blocked, Reason: bounded(p.Line()), Release: bounded(p.Hint),
	}
	switch p.State {
	case diff.Unknown:
		d.Stage, d.Outcome = inspect.StageRead, inspect.Unknown
	case diff.Forbidden:
		d.Stage, d.Outcome = inspect.StageRead, inspect.Forbidden
	case diff.NotDeployed:
		d.Outcome = inspect.NotDeployed
	case diff.Undecided:
		d.Outcome = inspect.Undecided
	case diff.Refused:
		d.Stage, d.Outcome = inspect.StageGuard, inspect.Refused
	default: // blocked
	}
	return d
}

// ofChange is what was decided about a change that was not made, or not proved.
func ofChange(c diff.Change, result reconcile.Result, sent bool) inspect.Decision {
	d := inspect.Decision{Deployment: c.Deployment, Stage: inspect.StageWrite, Outcome: inspect.Pending}
	switch {
	case c.Refused != nil:
		return ofRefusal(d, *c.Refused)
	case !sent:
		d.Reason = "the change was planned but not sent"
	case result.Outcome == reconcile.NonConvergent:
		d.Stage, d.Outcome = inspect.StageProve, inspect.NonConvergent
		d.Reason, d.Release = diff.NotKept(result.Left)
		d.Reason, d.Release = bounded(d.Reason), bounded(d.Release)
		if !result.Next.IsZero() {
			d.Reason += "; next try at " + result.Next.UTC().Format(time.RFC3339)
		}
	case errors.Is(result.Err, reconcile.ErrSuperseded):
		d.Reason = "a newer commit changes it; nothing was sent"
	case result.Outcome == reconcile.NotStarted && result.Err != nil:
		d.Reason = bounded(result.Err.Error())
	case result.Outcome == reconcile.NotStarted:
		d.Reason = "the daemon was stopped before the change was sent"
	default:
		d.Outcome, d.Reason = inspect.Failed, "the change failed or could not be proved"
	}
	if result.Err != nil && d.Outcome == inspect.Failed {
		d.Reason = bounded(result.Err.Error())
	}
	return d
}

// ofRefusal is what a guard has decided.
func ofRefusal(d inspect.Decision, r diff.Refusal) inspect.Decision {
	d.Stage, d.Guard, d.Reason, d.Release = inspect.StageGuard, r.Guard, bounded(r.Reason), bounded(r.Release)
	d.Approve, d.Until, d.Outcome = r.Digest, r.Until, inspect.Refused
	switch {
	case r.Guard == diff.GuardNonConvergent:
		d.Outcome = inspect.NonConvergent
	case r.Observed():
		d.Outcome = inspect.Observed
	case r.PutBack():
		d.Outcome = inspect.PutBack
	case r.Guard == diff.GuardOvertaken, r.WaitsForTime():
		d.Outcome = inspect.Waiting
	}
	return d
}

func bounded(text string) string {
	runes := []rune(text)
	if len(runes) <= mostText {
		return text
	}
	return string(runes[:mostText]) + "…"
}

// of returns what is kept of a zone, with its times; false where it was not read.
func (o *outcomes) of(id edge.Scope) (lastLook, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l, ok := o.zones[id]
	return l, ok
}

// knows reports whether a zone was looked at.
func (o *outcomes) knows(id edge.Scope) bool {
	_, ok := o.of(id)
	return ok
}

// time is a time that a lastLook holds; the zero time for none.
func (o *outcomes) time(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return o.began.Add(d)
}

// keep forgets zones that are not declared.
func (o *outcomes) keep(declared func(edge.Scope) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.zones, func(id edge.Scope, _ lastLook) bool { return !declared(id) })
}

// decided keeps why the newest commit is held. Where git could not be fetched, what was
// decided before is so still.
func (o *outcomes) decided(p reconcile.Proposal, d control.Decision, now time.Time) {
	if p.Err != nil && p.Commit == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.held
	if o.held = nil; d.Held == nil {
		return
	}
	o.held = &inspect.Held{Author: bounded(p.Author), Reason: bounded(d.Held.Reason), Fix: fixOf(p, *d.Held), Since: now}
	for _, p := range d.Held.Problems[:min(len(d.Held.Problems), mostDecisions)] {
		o.held.Problems = append(o.held.Problems, bounded(fmt.Sprintf("%s: %s", p.Origin, p.Message)))
	}
	if before != nil && before.Reason == o.held.Reason {
		o.held.Since = before.Since
	}
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
	done := map[string]bool{}
	for _, r := range w.Results {
		done[r.Change.Token] = r.Outcome == reconcile.Converged
	}
	for _, c := range w.Plan.Changes {
		switch {
		case done[c.Token]:
		case c.Refused != nil:
			d := ofRefusal(inspect.Decision{}, *c.Refused)
			tokens.Findings = append(tokens.Findings, inspect.Token{Token: c.Token, Outcome: d.Outcome, Reason: d.Reason, Fix: d.Release})
		case c.Sends():
			tokens.Findings = append(tokens.Findings, inspect.Token{Token: c.Token, Outcome: inspect.Pending, Reason: string(c.Action()) + " is not done"})
		}
	}
	report := reconcile.Report{Plan: w.Plan, Results: w.Results, Finished: now}
	tokens.Expiring = append(tokens.Expiring, report.Expiring(expiringWithin)...)
	o.mu.Lock()
	defer o.mu.Unlock()
	tokens.Findings = dated(tokens.Findings, o.tokens.Findings, now)
	o.tokens = tokens
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

// ofToken is the outcome of a token about which nothing can be planned: the word that a plan
// has for it.
func ofToken(s diff.ProblemState) inspect.Outcome {
	switch s {
	case diff.Unknown, diff.Forbidden, diff.Undelivered, diff.Blocked, diff.Quarantined:
		return inspect.Outcome(s)
	default: // a person decides
		return inspect.Refused
	}
}

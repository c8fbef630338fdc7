package reconcile

import (
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// picture is what the latest look at each zone and token has found. It holds only
// what stands out: nothing of a zone that agrees.
type picture struct {
	begun    time.Time // when the first slice since the last sum did; zero before
	busy     time.Duration
	requests int64 // of slices
	err      error // why one of them has failed, at least in part

	changes  []diff.Change
	problems []diff.Problem
	results  []Result
	tokens   diff.Plan // what the last runs have to say that is about no zone, or no token
	last     Report    // the last run
}

// begin forgets the slices since the last sum, as parts of it.
func (p *picture) begin() { p.begun, p.busy, p.requests, p.err = time.Time{}, 0, 0, nil }

// add takes a run in: what it has looked at is as it says.
func (p *picture) add(r Report) {
	p.last = r
	p.last.Plan.Settled = nil
	if r.Slice {
		if p.begun.IsZero() {
			p.begun = r.Started
		}
		p.busy += r.Finished.Sub(r.Started)
		p.requests += r.Requests
		if r.looked && r.Err != nil { // one that was not over is made again
			p.err = r.Err
		}
	}
	if r.Full {
		*p = picture{last: p.last}
	}
	if r.Tokens {
		p.tokens.Findings, p.tokens.Expiries = r.Plan.Findings, r.Plan.Expiries
		if r.Full || r.Slice {
			p.tokens.Deprecations = r.Plan.Deprecations
		}
	}
	if r.Err == nil {
		p.tokens.Holds = r.Plan.Holds
	}
	looked := lookedAt(r)
	p.changes = append(keepIf(p.changes, func(c diff.Change) bool { return !looked.has(c.ZoneID, c.Token) }), r.Plan.Changes...)
	p.problems = append(keepIf(p.problems, func(q diff.Problem) bool { return !looked.has(q.ZoneID, q.Token) }), r.Plan.Problems...)
	p.results = append(keepIf(p.results, func(q Result) bool { return !looked.has(q.Change.ZoneID, q.Change.Token) }), r.Results...)
}

// looked are the zones and tokens that a run says anything of.
type looked struct {
	zones     map[edge.ZoneID]bool
	tokens    map[string]bool
	allTokens bool
}

func lookedAt(r Report) looked {
	l := looked{map[edge.ZoneID]bool{}, r.tokens, r.Tokens}
	for _, s := range r.Plan.Settled {
		l.zones[s.ID.Zone] = true
	}
	for _, c := range r.Plan.Changes {
		l.zones[c.ZoneID] = true
	}
	for _, q := range r.Plan.Problems {
		l.zones[q.ZoneID] = true
	}
	return l
}

// has reports whether something is about what was looked at; one of zone and token
// is empty, or both are where it is about the whole.
func (l looked) has(zone edge.ZoneID, token string) bool {
	switch {
	case token != "":
		return l.allTokens || l.tokens[token]
	case zone != "":
		return l.zones[zone]
	}
	return true
}

// keepIf keeps what passes, in place.
func keepIf[T any](all []T, pass func(T) bool) []T {
	kept := all[:0]
	for _, one := range all {
		if pass(one) {
			kept = append(kept, one)
		}
	}
	clear(all[len(kept):])
	return kept
}

// sum is the report that the slices since the last one were parts of.
func (p *picture) sum(r *Reconciler) Report {
	state, _ := r.InForce()
	declared := r.fleetOf(state).declares
	sum := p.last
	sum.Trigger, sum.Started, sum.Finished = TriggerSweep, p.begun, r.Now()
	sum.Full, sum.Tokens, sum.Slice, sum.Sum = true, true, false, true
	sum.Commit, sum.Held, sum.Problems, sum.Err = state.Commit, nil, nil, p.err
	sum.Declared, sum.Sweep, sum.Unfinished = state.Zones(), sweepRequests(state), r.unfinished()
	sum.Busy, sum.Requests = p.busy, p.requests
	if r.held != nil {
		held := *r.held
		held.Again = true
		sum.Held = &held
	}
	p.changes = keepIf(p.changes, func(c diff.Change) bool { return c.ZoneID == "" || declared(c.ZoneID) })
	p.problems = keepIf(p.problems, func(q diff.Problem) bool { return q.ZoneID == "" || declared(q.ZoneID) })
	p.results = keepIf(p.results, func(q Result) bool { return q.Change.ZoneID == "" || declared(q.Change.ZoneID) })
	sum.Results = append([]Result{}, p.results...)
	plan := diff.Gather(state.Commit, state.Zones(), len(state.Tokens), p.changes, p.problems)
	plan.GeneratedAt = sum.Finished.UTC()
	plan.Requests.Used, plan.Requests.Overload = sum.Requests, r.Budget.Overload(sum.Declared, sum.Sweep, r.Interval)
	plan.Deprecations, plan.Findings, plan.Expiries = p.tokens.Deprecations, p.tokens.Findings, p.tokens.Expiries
	plan.Holds = p.tokens.Holds
	sum.Plan = plan
	p.begin()
	return sum
}

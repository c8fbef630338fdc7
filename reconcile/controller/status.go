package controller

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// status says how everything is.
func (v view) status() inspect.Status {
	s := inspect.Status{
		Version: inspect.Version, At: v.now, Started: v.outcomes.began, Commit: v.commit(), Source: v.git(), Zones: v.zones(),
		Queue: v.queue(), Work: v.work(), Holds: append([]diff.Hold{}, v.control.Holds()...), Freezes: v.freezes(), Tokens: v.tokensFound(),
		Outages: v.lasting(), Reasons: []string{}, NotReady: []string{}, Replicas: v.shared(),
	}
	for _, lane := range v.lanes.all {
		if !lane.works() && s.Replicas != nil { // the replica that works with it knows more
			continue
		}
		s.Budget.Requests += lane.Budget.Requests
		s.Budget.PerSeconds = max(s.Budget.PerSeconds, lane.Budget.Per.Seconds())
		s.Budget.WaitedSeconds += lane.admission.waited.sum().Seconds()
	}
	s.Work.Credentials = v.credentials(s.Replicas)
	if r := v.control.Rollout(); r != nil {
		s.Rollout = &inspect.Rollout{Waves: r.Waves, Open: r.Open, Next: r.Next, Halted: r.Halted}
	}
	return s
}

func (v view) git() inspect.Source {
	p := v.source.Progress()
	s := inspect.Source{
		LastSuccess: p.Success, AgeSeconds: inspect.Age(p.Success, v.now), Failures: p.Failures, Looking: p.Looking,
		LookingSeconds: inspect.Age(p.Looking, v.now), Next: p.Next, Overdue: v.source.Overdue(v.now),
	}
	if !leads(v.leases) { // another process looks at git
		s.AgeSeconds = 0
	} else if p.Success.IsZero() {
		s.AgeSeconds = inspect.Age(v.outcomes.began, v.now)
	}
	if p.Err != nil {
		s.Error = bounded(p.Err.Error())
	}
	return s
}

// zones says how many declared zones have which outcome, and names those that stand out most.
// It costs a look at each of those that are not as declared.
func (v view) zones() inspect.Zones {
	rows := v.fleet.rlock()
	defer v.fleet.mu.RUnlock()
	all := inspect.Zones{Observed: v.outcomes.lastObserved(), Notable: []inspect.Notable{}}
	all.Declared, all.Outcomes = byOutcome(rows.counts)
	if v.lanes.shared() { // who works on the rest knows more of it
		here, outcomes := byOutcome(v.count(rows, (*lane).works))
		all.Here = outcomes
		all.Outcomes = maps.Clone(all.Here)
		all.Outcomes[inspect.NotRead] += all.Declared - here
	}
	all.Turned = v.turned()
	var drift time.Time
	for r := range rows.notables() {
		outcome := r.as()
		if outcome == inspect.PutBack { // those have a line of their own
			continue
		}
		all.Notable = insert(all.Notable, r.notable(outcome))
		if n := r.last.notable; n.drift && !n.differs.IsZero() && (drift.IsZero() || n.differs.Before(drift)) {
			drift = n.differs
			all.Drift = &inspect.Drift{Zone: r.zone.Key, Scope: r.zone.Scope, Since: drift, AgeSeconds: inspect.Age(drift, v.now)}
		}
	}
	return all
}

// turned is until when an earlier process has taken the turn of each zone that this one works on; zero
// where that is not known.
func (v view) turned() (first time.Time) {
	some := false
	for _, lane := range v.lanes.all {
		lease := lane.held.Load()
		if lease == nil {
			continue
		}
		if swept := v.control.Swept(*lease); !some || swept.Before(first) {
			first, some = swept, true
		}
	}
	return first
}

// notable is a zone that stands out, with the most severe of its decisions.
func (r *row) notable(outcome inspect.Outcome) inspect.Notable {
	d, _ := r.last.notable.worst(outcome)
	return inspect.Notable{
		Zone: r.zone.Key, Scope: desired.KnownScope(r.zone.Scope), Account: r.account.Key, Outcome: outcome, Reason: d.Reason, Since: d.Since,
	}
}

// insert puts a zone among those that stand out: the most severe first, then the oldest.
// It keeps the first of them.
func insert(all []inspect.Notable, n inspect.Notable) []inspect.Notable {
	at, _ := slices.BinarySearchFunc(all, n, func(a, b inspect.Notable) int {
		return cmp.Or(b.Outcome.Severity()-a.Outcome.Severity(), a.Since.Compare(b.Since), a.Scope.Compare(b.Scope))
	})
	if at == inspect.MostListed {
		return all
	}
	all = slices.Insert(all, at, n)
	return all[:min(len(all), inspect.MostListed)]
}

func (v view) queue() []inspect.Priority {
	lines := []inspect.Priority{}
	for p, n := range v.lanes.stats() {
		lines = append(lines, inspect.Priority{
			Priority: queue.Priority(p).String(), Waiting: n.Waiting, Due: n.Due, AtWork: n.AtWork, Oldest: n.Oldest,
			OldestSeconds: inspect.Age(n.Oldest, v.now),
		})
	}
	return lines
}

// shared says which replicas do what, with the number of zones under each lease; nil where there is
// only this process.
func (v view) shared() *inspect.Replicas {
	r := v.replicas()
	if r == nil || v.g == nil {
		return r
	}
	shown := *r
	shown.Leases = slices.Clone(r.Leases)
	for i, part := range v.lanes.of.Part(v.g.State) {
		for j := range shown.Leases {
			if shown.Leases[j].Name == string(v.lanes.all[i].lease) {
				shown.Leases[j].Zones = part.Zones()
			}
		}
	}
	return &shown
}

// worker is another replica that works on the zones of a lane; empty for none.
func (v view) worker(of *lane, r *inspect.Replicas) string {
	if of == nil || of.works() {
		return ""
	}
	return r.Other(of.lease)
}

// credentials says how each credential is, where there are several.
func (v view) credentials(r *inspect.Replicas) (list []inspect.Credential) {
	if len(v.lanes.all) == 1 {
		return nil
	}
	var parts []desired.State
	if v.g != nil {
		parts = v.lanes.of.Part(v.g.State)
	}
	for i, lane := range v.lanes.all {
		c := inspect.Credential{
			Name: lane.Name, Credential: lane.Credential, Accounts: []string{}, Replica: v.worker(lane, r),
			Budget: inspect.Budget{
				Requests: lane.Budget.Requests, PerSeconds: lane.Budget.Per.Seconds(), WaitedSeconds: lane.admission.waited.sum().Seconds(),
			},
		}
		if parts != nil {
			c.Zones = parts[i].Zones()
			for _, account := range parts[i].Accounts {
				c.Accounts = append(c.Accounts, account.Key)
			}
		}
		c.Observed = lane.lastProgress(time.Time{})
		if down := lane.admission.breaker.downSince(); down.cause != nil {
			c.Down, c.Since = bounded(down.cause.Error()), down.since
		}
		for _, n := range lane.queue.Stats() {
			c.Due += n.Due
			c.AtWork += n.AtWork
			if !n.Oldest.IsZero() && (c.OldestDue.IsZero() || n.Oldest.Before(c.OldestDue)) {
				c.OldestDue = n.Oldest
			}
		}
		list = append(list, c)
	}
	return list
}

// work is what workers are at.
func (v view) work() inspect.Work {
	w := inspect.Work{Retried: v.retries.len()}
	for _, lane := range v.lanes.all {
		down, _ := lane.admission.breaker.state()
		w.Workers += lane.places()
		w.PlatformDown = w.PlatformDown || down
	}
	for _, n := range v.lanes.stats() {
		w.AtWork += n.AtWork
	}
	if longest, ok := v.lanes.longest(); ok {
		w.On, w.Oldest = v.nameOf(longest.Key), longest.Began
	}
	w.OldestSeconds = inspect.Age(w.Oldest, v.now)
	return w
}

// nameOf is the name of a zone, or its id where it is not declared any more.
func (v view) nameOf(id edge.Scope) string {
	if v.g != nil {
		if t, ok := v.g.Task(id); ok {
			return t.Zone().Key
		}
	}
	return id.String()
}

func (v view) tokensFound() inspect.Tokens {
	v.outcomes.mu.Lock()
	tokens := v.outcomes.tokens
	v.outcomes.mu.Unlock()
	if v.g != nil {
		tokens.Declared = len(v.g.State.Tokens)
	}
	tokens.Findings, tokens.Expiring = append([]inspect.Token{}, tokens.Findings...), append([]diff.Expiry{}, tokens.Expiring...)
	return tokens
}

func (v view) freezes() []inspect.Freeze {
	freezes := []inspect.Freeze{}
	inForce, _ := reconcile.FreezesAt(v.control.Guards.Freezes, v.now, false)
	for _, f := range inForce {
		freezes = append(freezes, inspect.Freeze{Name: f.Name, Until: f.Until})
	}
	return freezes
}

package controller

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// Status says how the daemon is, as far as the controller knows: the caller adds the mode, what is
// left of the budget, and what /readyz says. It sends nothing, and costs a look
// at each zone in memory.
func (c *Controller) Status() inspect.Status {
	v := viewOf(c)
	s := inspect.Status{
		Version: inspect.Version, At: v.now, Started: c.outcomes.began, Commit: v.commit(), Source: v.source(), Zones: v.zones(),
		Queue: v.queue(), Work: v.work(), Holds: append([]diff.Hold{}, c.control.Holds()...), Freezes: v.freezes(), Tokens: v.tokens(),
		Outages: v.outages(), Reasons: []string{}, NotReady: []string{},
	}
	for _, lane := range c.lanes.all {
		s.Budget.Requests += lane.Budget.Requests
		s.Budget.PerSeconds = max(s.Budget.PerSeconds, lane.Budget.Per.Seconds())
		s.Budget.WaitedSeconds += lane.admission.waited.sum().Seconds()
	}
	s.Work.Credentials = v.credentials()
	if r := c.control.Rollout(); r != nil {
		s.Rollout = &inspect.Rollout{Waves: r.Waves, Open: r.Open, Next: r.Next, Halted: r.Halted}
	}
	return s
}

// Zones says what is known of the zones that a word means: those declared by this name, or
// the one with this id. Where there are none, near is a name that may have been meant,
// empty for none.
func (c *Controller) Zones(word string) (list inspect.ZoneList, near string) {
	v := viewOf(c)
	list = inspect.ZoneList{Version: inspect.Version, At: v.now, Zones: []inspect.Zone{}}
	if v.g == nil {
		return list, ""
	}
	var names []string
	for _, account := range v.g.State.Accounts {
		for _, z := range account.Zones {
			if z.Key == word || z.Scope.String() == word {
				list.Zones = append(list.Zones, v.zone(account, z))
			}
			names = append(names, z.Key)
		}
	}
	if len(list.Zones) == 0 {
		near = nearest.Word(word, names)
	}
	return list, near
}

// view looks at a controller at one moment.
type view struct {
	c   *Controller
	g   *control.Generation // nil while nothing is in force
	now time.Time
}

func viewOf(c *Controller) view { return view{c, c.control.Current(), time.Now()} }

func (v view) commit() inspect.Commit {
	commit := inspect.Commit{Wanted: v.c.Source.Progress().Commit}
	if v.g != nil {
		commit.InForce = v.g.State.Commit
	}
	v.c.outcomes.mu.Lock()
	defer v.c.outcomes.mu.Unlock()
	if held := v.c.outcomes.held; held != nil {
		commit.Held = new(*held)
	}
	commit.Changes = v.c.outcomes.changes.count(commit.InForce)
	return commit
}

func (v view) source() inspect.Source {
	p := v.c.Source.Progress()
	s := inspect.Source{
		LastSuccess: p.Success, AgeSeconds: inspect.Age(p.Success, v.now), Failures: p.Failures, Looking: p.Looking,
		LookingSeconds: inspect.Age(p.Looking, v.now), Next: p.Next,
	}
	if p.Success.IsZero() {
		s.AgeSeconds = inspect.Age(v.c.outcomes.began, v.now)
	}
	if p.Err != nil {
		s.Error = bounded(p.Err.Error())
	}
	return s
}

// zones counts the declared zones by outcome, and names those that stand out most.
func (v view) zones() inspect.Zones {
	all := inspect.Zones{Outcomes: map[inspect.Outcome]int{}, Notable: []inspect.Notable{}}
	for _, outcome := range inspect.Outcomes() {
		all.Outcomes[outcome] = 0
	}
	v.c.outcomes.mu.Lock()
	all.Observed = v.c.outcomes.observed
	known := maps.Clone(v.c.outcomes.zones)
	v.c.outcomes.mu.Unlock()
	if v.g == nil {
		return all
	}
	var drift time.Time
	for _, account := range v.g.State.Accounts {
		for _, z := range account.Zones {
			last, looked := known[z.Scope]
			outcome := v.outcome(z.Scope, last, looked)
			all.Declared++
			all.Outcomes[outcome]++
			if last.notable == nil || outcome == inspect.PutBack { // those have a line of their own
				continue
			}
			all.Notable = insert(all.Notable, notableOf(account, z, outcome, last.notable))
			if n := last.notable; n.drift && !n.differs.IsZero() && (drift.IsZero() || n.differs.Before(drift)) {
				drift = n.differs
				all.Drift = &inspect.Drift{Zone: z.Key, Scope: z.Scope, Since: drift, AgeSeconds: inspect.Age(drift, v.now)}
			}
		}
	}
	return all
}

// outcome is that of a zone. One that a commit declares otherwise than was proved, and
// that was not read since, is pending.
func (v view) outcome(id edge.Scope, last lastLook, looked bool) inspect.Outcome {
	switch {
	case last.notable != nil:
		return inspect.Worst(last.notable.decisions)
	case v.c.control.CommitWork(v.g, id):
		return inspect.Pending
	case !looked:
		return inspect.NotRead
	}
	return inspect.InSync
}

// notableOf is a zone that stands out, with the most severe of its decisions.
func notableOf(account desired.Account, z desired.Zone, outcome inspect.Outcome, n *notable) inspect.Notable {
	named := inspect.Notable{Zone: z.Key, Scope: desired.KnownScope(z.Scope), Account: account.Key, Outcome: outcome}
	for _, d := range n.decisions {
		if d.Outcome == outcome {
			named.Reason, named.Since = d.Reason, d.Since
			break
		}
	}
	return named
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
	for p, n := range v.c.lanes.stats() {
		lines = append(lines, inspect.Priority{
			Priority: queue.Priority(p).String(), Waiting: n.Waiting, Due: n.Due, AtWork: n.AtWork, Oldest: n.Oldest,
			OldestSeconds: inspect.Age(n.Oldest, v.now),
		})
	}
	return lines
}

// credentials says how each credential is, where there are several.
func (v view) credentials() (list []inspect.Credential) {
	if len(v.c.lanes.all) == 1 {
		return nil
	}
	var parts []desired.State
	if v.g != nil {
		parts = v.c.Lanes.Part(v.g.State)
	}
	for i, lane := range v.c.lanes.all {
		c := inspect.Credential{
			Name: lane.Name, Credential: lane.Credential, Accounts: []string{},
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
		c.Observed = lane.work.lastProgress(time.Time{})
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
	w := inspect.Work{Retried: v.c.retries.len()}
	for _, lane := range v.c.lanes.all {
		down, _ := lane.admission.breaker.state()
		w.Workers += lane.AtOnce()
		w.PlatformDown = w.PlatformDown || down
	}
	for _, n := range v.c.lanes.stats() {
		w.AtWork += n.AtWork
	}
	if longest, ok := v.c.lanes.longest(); ok {
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

func (v view) tokens() inspect.Tokens {
	v.c.outcomes.mu.Lock()
	tokens := v.c.outcomes.tokens
	v.c.outcomes.mu.Unlock()
	if v.g != nil {
		tokens.Declared = len(v.g.State.Tokens)
	}
	tokens.Findings, tokens.Expiring = append([]inspect.Token{}, tokens.Findings...), append([]diff.Expiry{}, tokens.Expiring...)
	return tokens
}

func (v view) freezes() []inspect.Freeze {
	freezes := []inspect.Freeze{}
	inForce, _ := reconcile.FreezesAt(v.c.control.Guards.Freezes, v.now, false)
	for _, f := range inForce {
		freezes = append(freezes, inspect.Freeze{Name: f.Name, Until: f.Until})
	}
	return freezes
}

// zone says what is known of a zone.
func (v view) zone(account desired.Account, declared desired.Zone) inspect.Zone {
	last, looked := v.c.outcomes.of(declared.Scope)
	z := inspect.Zone{
		Zone: declared.Key, Scope: desired.KnownScope(declared.Scope), Account: account.Key, Origin: declared.Origin, Commit: v.g.State.Commit,
		Declares: inspect.DeclaredOf(declared),
		Outcome:  v.outcome(declared.Scope, last, looked), Decisions: []inspect.Decision{},
		LookedAt: v.c.outcomes.time(last.at), WrittenAt: v.c.outcomes.time(last.written),
	}
	if n := last.notable; n != nil {
		z.Decisions = append(z.Decisions, n.decisions...)
		z.Differs, z.Drift = n.differs, n.drift && z.Outcome != inspect.PutBack
	} else if z.Outcome == inspect.Pending {
		z.Decisions = append(z.Decisions, v.undecided(declared.Scope))
	}
	v.fields(&z, declared.Scope)
	z.Outages, z.Newer = v.outagesOf(account.Key), v.commit().Newer()
	for _, h := range v.c.control.Holds() {
		if h.Zone == declared.Key {
			z.Hold = new(h)
		}
	}
	next, work := v.c.lanes.find(declared.Scope)
	if work != nil {
		z.AtWork = &inspect.AtWork{
			Began: work.Began, Seconds: inspect.Age(work.Began, v.now), Priority: work.Priority.String(), Reason: work.Reason,
		}
	}
	if next != nil {
		z.Next = v.next(v.c.lanes.account(account.Key), *next, work != nil)
	}
	z.Why = z.Sentences(v.now)
	return z
}

// undecided is what is to be said of a zone that a commit declares otherwise, and that
// was not read since.
func (v view) undecided(id edge.Scope) inspect.Decision {
	d := inspect.Decision{
		Stage: inspect.StageQueue, Outcome: inspect.Pending, Reason: "a commit changes it, and it was not checked since",
		Since: v.now,
	}
	if next, work := v.c.lanes.find(id); work != nil {
		d.Since = work.Began
	} else if next != nil && next.Since.Before(v.now) {
		d.Since = next.Since
	}
	return d
}

// fields adds those that differ, from what was seen of the zone last.
func (v view) fields(z *inspect.Zone, id edge.Scope) {
	z.Fields = []inspect.Field{}
	t, ok := v.c.control.Task(v.g, id)
	if !ok {
		z.Unread = "the zone is not declared"
		return
	}
	plan, seen := v.c.lanes.foresee(t)
	if !seen {
		z.Unread = "the zone, or its account, was not read since the start, or the last read failed"
		return
	}
	for _, c := range plan.Changes {
		for _, f := range c.Fields {
			z.Fields = append(z.Fields, inspect.Field{
				Deployment: c.Deployment, Path: string(f.Path), Live: f.Old, Declared: f.New, Direction: f.Direction, Note: f.NoteText(),
			})
		}
	}
	for _, p := range plan.Problems {
		for _, l := range p.Unmanaged {
			z.Undecided = append(z.Undecided, inspect.Leftover{Deployment: p.Deployment, Path: string(l.Path), Live: l.Value, Was: l.Was, Note: l.Note})
		}
	}
}

// next is when an item is handed out, and if it is due, what it waits for.
func (v view) next(of *lane, item queue.Item[edge.Scope], atWork bool) *inspect.Next {
	n := &inspect.Next{Due: item.Due, Seconds: item.Due.Sub(v.now).Seconds(), Priority: item.Priority.String(), Reason: item.Reason}
	if item.Due.After(v.now) || atWork || of == nil {
		return n
	}
	n.WaitsFor = inspect.WaitsWorker
	pause := of.Pause()
	switch down, next := of.admission.breaker.state(); {
	case down && next.After(v.now):
		cause := of.admission.breaker.downSince().cause
		n.WaitsFor, n.WaitsUntil, n.WaitsCause = waitsForBreaker(cause), next, outage.Cause(cause)
	case pause > 0:
		n.WaitsFor, n.WaitsUntil = inspect.WaitsAsked, v.now.Add(pause)
	case item.Priority != queue.Push && of.Room(requestClass(item.Priority), of.admission.shares.kept()) < requestsPerZone:
		n.WaitsFor = inspect.WaitsBudget
	}
	return n
}

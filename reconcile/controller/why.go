package controller

import (
	"errors"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// named is what is known of the zones that a word means, and a name that may have been meant.
func (v view) named(word string) (list inspect.ZoneList, near string) {
	list = inspect.ZoneList{Version: inspect.Version, At: v.now, Zones: []inspect.Zone{}}
	if v.g == nil {
		return list, ""
	}
	for account, z := range v.g.State.EachZone() {
		if z.Key == word || z.Scope.String() == word {
			list.Zones = append(list.Zones, v.zone(account, z))
		}
	}
	if len(list.Zones) > 0 {
		return list, ""
	}
	var names []string
	for _, z := range v.g.State.EachZone() {
		names = append(names, z.Key)
	}
	return list, nearest.Word(word, names)
}

// zone says what is known of a zone.
func (v view) zone(account desired.Account, declared desired.Zone) inspect.Zone {
	r, _ := v.fleet.of(declared.Scope)
	last := r.last
	z := inspect.Zone{
		Zone: declared.Key, Scope: desired.KnownScope(declared.Scope), Account: account.Key, Origin: declared.Origin.At(v.g.State.Commit), Commit: v.g.State.Commit,
		Declares: inspect.DeclaredOf(declared),
		Outcome:  r.as(), Decisions: []inspect.Decision{},
		LookedAt: v.outcomes.time(last.at), WrittenAt: v.outcomes.time(last.written),
		Replica: v.worker(v.lanes.account(account.Key), v.replicas()),
	}
	if of := v.lanes.account(account.Key); of != nil && !of.works() {
		z.NoReplica = z.Replica == ""
	}
	if t, ok := v.control.Task(v.g, declared.Scope); ok {
		z.Fingerprint = t.Fingerprint
	}
	if n := last.notable; n != nil {
		z.Decisions = append(z.Decisions, n.decisions...)
		z.Differs, z.Drift = n.differs, n.drift && z.Outcome != inspect.PutBack
	} else if z.Outcome == inspect.Pending {
		z.Decisions = append(z.Decisions, v.undecided(declared.Scope))
	}
	v.fields(&z, declared.Scope)
	z.Outages, z.Newer = v.outagesOf(account.Key), v.commit().Newer()
	if h, held := diff.HoldOn(v.control.Holds(), declared.Key, declared.Scope); held {
		z.Hold = &h
	}
	next, work := v.lanes.find(declared.Scope)
	if work != nil {
		z.AtWork = &inspect.AtWork{
			Began: work.Began, Seconds: inspect.Age(work.Began, v.now), Priority: work.Priority.String(), Reason: work.Reason,
		}
	}
	if next != nil {
		z.Next = v.next(v.lanes.account(account.Key), *next, work != nil)
	}
	z.Why = z.Sentences(v.now)
	return z
}

// notChecked is why a zone is pending that was not read since a commit changed it.
const notChecked = "a commit changes it, and it was not checked since"

// undecided is what is to be said of a zone that a commit declares otherwise, and that
// was not read since.
func (v view) undecided(id edge.Scope) inspect.Decision {
	d := inspect.Decision{
		Stage: inspect.StageQueue, Outcome: inspect.Pending, Reason: notChecked,
		Since: v.now,
	}
	if next, work := v.lanes.find(id); work != nil {
		d.Since = work.Began
	} else if next != nil && next.Since.Before(v.now) {
		d.Since = next.Since
	}
	return d
}

// fields adds those that differ, from what was seen of the zone last.
func (v view) fields(z *inspect.Zone, id edge.Scope) {
	z.Fields = []inspect.Field{}
	t, ok := v.control.Task(v.g, id)
	if !ok {
		z.Unread = "the zone is not declared"
		return
	}
	plan, seen := v.seen.plan(t)
	switch {
	case z.Replica != "": // it may have written there since it was seen here
		z.Unread = "replica " + z.Replica + " works on the zone, and knows them"
		return
	case z.NoReplica:
		z.Unread = "no replica works on the zone now"
		return
	case !seen:
		z.Unread = notSeen
		return
	}
	for _, c := range plan.Changes {
		z.Fields = append(z.Fields, fieldsOf(c)...)
	}
	z.Bypasses, z.NotLookedAt = plan.Bypasses, plan.NotLookedAt
	if sight, seen := v.seen.sight(t); seen && len(t.Zone().Deployments) > 0 {
		z.Looked = lookedAt(sight)
	}
	for _, p := range plan.Problems {
		for _, l := range p.Unmanaged {
			z.Undecided = append(z.Undecided, inspect.Leftover{
				Kind: p.Kind, Deployment: p.Deployment, Path: string(l.Path), Live: l.Value, Was: l.Was, Note: l.Note,
			})
		}
	}
}

// notSeen is why nothing is known of what is live.
const notSeen = "the zone, or its account, was not read since the start, or the last read failed"

// fieldsOf are the fields of a change.
func fieldsOf(c diff.Change) (fields []inspect.Field) {
	for _, f := range c.Fields {
		fields = append(fields, inspect.Field{
			Kind: c.ID().Kind, Deployment: c.Deployment, Path: string(f.Path), Live: f.Old, Declared: f.New, Direction: f.Direction, Note: f.NoteText(),
		})
	}
	return fields
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

// waitsForBreaker is what an item waits for while only probes are sent.
func waitsForBreaker(cause error) string {
	if errors.Is(cause, edge.ErrUnauthenticated) || errors.Is(cause, edge.ErrForbidden) {
		return inspect.WaitsCredential
	}
	return inspect.WaitsPlatform
}

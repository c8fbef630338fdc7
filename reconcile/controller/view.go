package controller

import (
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// view looks at the parts of a controller at one moment. It sends nothing, and costs a look
// at each zone in memory.
type view struct {
	*parts
	g   *control.Generation // nil while nothing is in force
	now time.Time
}

// parts are what a view looks at.
type parts struct {
	control  *control.Control
	source   *source.Source
	lanes    *lanes
	seen     *lastSeen
	tokens   *queue.Queue[struct{}]
	retries  *retries
	outcomes *outcomes
	outages  *outage.Tracker
	fleet    *fleetIndex
	leases   reconcile.Leases
	replicas func() *inspect.Replicas // see [Config]
}

func (p *parts) view() view { return view{p, p.control.Current(), time.Now()} }

func (v view) commit() inspect.Commit {
	commit := inspect.Commit{Wanted: v.source.Progress().Commit, LedgerPutBack: v.control.Unlooked() != 0}
	if v.g != nil {
		commit.InForce = v.g.State.Commit
	}
	if !leads(v.leases) { // another process looks at git
		commit.Wanted = commit.InForce
	}
	v.outcomes.mu.Lock()
	defer v.outcomes.mu.Unlock()
	if held := v.outcomes.held; held != nil {
		commit.Held = new(*held)
	}
	commit.Changes = v.outcomes.changes.count(commit.InForce)
	return commit
}

// lasting are the outages that last, each with the time of its next try where that is known.
func (v view) lasting() []reconcile.Outage {
	list := append([]reconcile.Outage{}, v.outages.Outages()...)
	for i := range list {
		list[i].Next = v.nextTry(list[i])
	}
	return list
}

// nextTry is when what an outage is of is tried next; zero where that is not known, or now.
func (v view) nextTry(o reconcile.Outage) time.Time {
	var next time.Time
	switch o.Subject {
	case reconcile.OutageGit:
		next = v.source.Progress().Next
	case reconcile.OutagePlatform, reconcile.OutageCredential:
		for _, lane := range v.lanes.all {
			if v.lanes.concerns(lane, o) {
				next = lane.nextTry(v.now)
			}
		}
		if o.Name == outage.CredentialTokens {
			if item, _ := v.tokens.Of(struct{}{}); item != nil {
				next = item.Due
			}
		}
	default: // each zone, sink and forge has a time of its own
	}
	if !next.After(v.now) {
		return time.Time{}
	}
	return next
}

// outagesOf are those that keep Seawall from knowing how a zone is, or should be.
func (v view) outagesOf(account string) []reconcile.Outage {
	lane := v.lanes.account(account)
	list := []reconcile.Outage{}
	for _, o := range v.lasting() {
		switch o.Subject {
		case reconcile.OutageGit, reconcile.OutageState:
		case reconcile.OutageAccount:
			if o.Name != account {
				continue
			}
		default:
			if lane == nil || !v.lanes.concerns(lane, o) {
				continue
			}
		}
		if o.Works.IsZero() {
			list = append(list, o)
		}
	}
	return list
}

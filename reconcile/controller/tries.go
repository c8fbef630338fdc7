package controller

import (
	"errors"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

// outages are those that last, each with the time of its next try where that is known.
func (v view) outages() []reconcile.Outage {
	list := append([]reconcile.Outage{}, v.c.Outages.Outages()...)
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
		next = v.c.Source.Progress().Next
	case reconcile.OutagePlatform, reconcile.OutageCredential:
		for _, lane := range v.c.lanes.all {
			if v.c.lanes.concerns(lane, o) {
				next = lane.nextTry(v.now)
			}
		}
		if o.Name == outage.CredentialTokens {
			if item, _ := v.c.tokens.Of(struct{}{}); item != nil {
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

// nextTry is when a zone is read next with a credential that fails, or that is throttled.
func (l *lane) nextTry(now time.Time) time.Time {
	_, next := l.admission.breaker.state()
	if paused := now.Add(l.Pause()); paused.After(next) {
		return paused
	}
	return next
}

// concerns reports whether an outage of the platform or of a credential is one of a lane.
func (l *lanes) concerns(of *lane, o reconcile.Outage) bool {
	switch o.Subject {
	case reconcile.OutagePlatform:
		return len(l.all) == 1 || o.Name == of.Name
	case reconcile.OutageCredential:
		return o.Name == of.Credential || len(l.all) == 1 && o.Name == outage.CredentialZones
	default:
		return false
	}
}

// outagesOf are those that keep Seawall from knowing how a zone is, or should be.
func (v view) outagesOf(account string) []reconcile.Outage {
	lane := v.c.lanes.account(account)
	list := []reconcile.Outage{}
	for _, o := range v.outages() {
		switch o.Subject {
		case reconcile.OutageGit, reconcile.OutageState:
		case reconcile.OutageAccount:
			if o.Name != account {
				continue
			}
		default:
			if lane == nil || !v.c.lanes.concerns(lane, o) {
				continue
			}
		}
		if o.Works.IsZero() {
			list = append(list, o)
		}
	}
	return list
}

// waitsForBreaker is what an item waits for while only probes are sent.
func waitsForBreaker(cause error) string {
	if errors.Is(cause, edge.ErrUnauthenticated) || errors.Is(cause, edge.ErrForbidden) {
		return inspect.WaitsCredential
	}
	return inspect.WaitsPlatform
}

package outage

import (
	"maps"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What follows is for several processes that share the work: an outage of what another process does
// by now is that one's to tell of, and its end, too. So it is forgotten here, and nothing is told.

// OfZones reports whether an outage is known to who works on zones alone.
func OfZones(o reconcile.Outage) bool {
	switch o.Subject {
	case reconcile.OutagePlatform, reconcile.OutageAccount, reconcile.OutageZone:
		return true
	case reconcile.OutageCredential:
		return o.Name != CredentialTokens
	default:
		return false
	}
}

// OfTokens reports whether an outage is known to who works on tokens alone.
func OfTokens(o reconcile.Outage) bool {
	return o.Subject == reconcile.OutageSink || o.Subject == reconcile.OutageCredential && o.Name == CredentialTokens
}

// Forget forgets outages.
func (t *Tracker) Forget(which func(reconcile.Outage) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.keys() {
		if i := t.open[k]; which(i.outage()) {
			t.drop(i)
		}
	}
}

// LeaveZones forgets what fails of zones that another process works on; t is the tracker of their
// credential.
func (t *Tracker) LeaveZones(theirs func(edge.Scope) bool) {
	t.Forget(OfZones)
	t.mu.Lock()
	clear(t.of)
	t.hear()
	t.mu.Unlock()
	whole := t
	if t.whole != nil {
		whole = t.whole
	}
	whole.mu.Lock()
	defer whole.mu.Unlock()
	i := whole.open[key(reconcile.OutageState, "")]
	if i == nil {
		return
	}
	now := whole.config.Now()
	for of := range i.failing { // no look at them will say that it works again
		if of.zone != (edge.Scope{}) && theirs(of.zone) {
			i.work(of, now)
		}
	}
	whole.judge(now)
}

// continued is how long an outage of before a reload waits for a try: longer than any pause between two.
// Without one, what failed is not configured any more.
const continued = 20 * time.Minute

// Continue has the daemon after a reload go on with the outages that last: it tells of events from now
// on. What nothing is heard of any more, such as of a route that was removed, ends after a while.
func (t *Tracker) Continue(tell func(Event)) {
	for _, part := range lanesOf(t) {
		part.Continue(tell)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.config.Tell = tell
	for _, i := range t.open {
		i.continued, i.before = t.config.Now(), maps.Clone(i.failing)
	}
}

// lapse lets go of what has failed before a reload and was not tried since, such as git for reviews that
// are not configured any more: it would keep an outage whose other parts work. Zones are let go of by
// [Tracker.Declare].
func (i *incident) lapse(now time.Time) {
	if i.before == nil || now.Sub(i.continued) < continued {
		return
	}
	for of := range i.before {
		if _, fails := i.failing[of]; fails && of.zone == (edge.Scope{}) {
			i.work(of, now)
		}
	}
	i.before = nil
}

// unheard reports whether an outage is from before a reload, and was not tried since.
func (i *incident) unheard(now time.Time) bool {
	return !i.continued.IsZero() && i.worked.IsZero() && !i.failed.After(i.continued) && now.Sub(i.continued) >= continued
}

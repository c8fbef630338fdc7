package outage

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Lane returns a tracker for the zones of one of several credentials: whether it is the
// platform that fails, or the credential, is judged by these zones alone. Its outages are
// among those of t, under the name of the lane or of the credential. One that there is already, from
// before a [Tracker.Continue], goes on.
func (t *Tracker) Lane(name, credential string) *Tracker {
	for _, part := range lanesOf(t) {
		if part.platform == name && part.credential == credential {
			return part
		}
	}
	part := New(t.config)
	part.whole, part.platform, part.credential = t, name, credential
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts = append(t.parts, part)
	return part
}

// stateFailed and stateWorked note what a look at a zone says of the state folder; the
// caller holds the lock of a part, and not that of the whole.
func stateFailed(t *Tracker, z Zone, c cause, now time.Time) {
	if t.whole == nil {
		t.plain(reconcile.OutageState, "").failZone(z, c, now)
		return
	}
	t.whole.mu.Lock()
	defer t.whole.mu.Unlock()
	stateFailed(t.whole, z, c, now)
	t.whole.judge(now)
}

func stateWorked(t *Tracker, z Zone, now time.Time) {
	if t.whole == nil {
		if i := t.open[key(reconcile.OutageState, "")]; i != nil {
			i.work(part{zone: z.Scope}, now)
		}
		return
	}
	t.whole.mu.Lock()
	defer t.whole.mu.Unlock()
	stateWorked(t.whole, z, now)
	t.whole.judge(now)
}

// lanesOf are the trackers of single credentials.
func lanesOf(t *Tracker) []*Tracker {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.parts)
}

package outage

import (
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Zone notes how a look at a zone has ended: with an error where the zone could not be
// read or written, nil where it could.
func (t *Tracker) Zone(z Zone, err error) {
	if err != nil && Stopped(err) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.config.Now()
	if err == nil {
		t.zoneWorked(z, now)
	} else {
		t.zoneFailed(z, causeOf(err), now)
	}
	t.judge(now)
}

// Down says that the platform, or the credential, fails for whatever is asked: nothing is
// gathered any longer.
func (t *Tracker) Down(err error) {
	if err == nil || Stopped(err) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.config.Now()
	switch c := causeOf(err); c.class {
	case unanswered:
		t.widen(reconcile.OutagePlatform, t.platform, unanswered)
	case denied:
		t.widen(reconcile.OutageCredential, t.credential, denied)
	default: // of one zone alone, until others fail too
	}
	t.judge(now)
}

func (t *Tracker) zoneWorked(z Zone, now time.Time) {
	asked := z.asked(now)
	t.worked = later(t.worked, asked)
	t.platformAnswered(asked, now)
	for _, k := range []string{key(reconcile.OutageCredential, t.credential), key(reconcile.OutageAccount, z.Account)} {
		if i := t.open[k]; i != nil && !asked.Before(i.since) {
			t.recover(i, now)
		}
	}
	stateWorked(t, z, now)
	t.leave(z, now)
}

// asked is when the request was sent that the platform has answered last.
func (z Zone) asked(now time.Time) time.Time {
	if z.Asked.IsZero() || z.Asked.After(now) {
		return now
	}
	return z.Asked
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// platformAnswered notes that the platform works, whatever it has answered to what it was asked
// then.
func (t *Tracker) platformAnswered(asked, now time.Time) {
	t.answered = later(t.answered, asked)
	if len(t.streak) > 0 && asked.Before(t.silentSince()) {
		return
	}
	t.hear()
	if i := t.open[key(reconcile.OutagePlatform, t.platform)]; i != nil && !asked.Before(i.since) {
		t.recover(i, now)
	}
}

// recover notes that a wide outage is over for one of its zones, so for all.
func (t *Tracker) recover(i *incident, now time.Time) {
	for of := range i.failing {
		if t.of[of.zone] == i {
			delete(t.of, of.zone)
		}
	}
	i.works(now)
	if !i.began {
		t.drop(i)
	}
}

// leave takes a zone out of the outage of zones that it is in.
func (t *Tracker) leave(z Zone, now time.Time) {
	i := t.of[z.Scope]
	if i == nil {
		return
	}
	delete(t.of, z.Scope)
	if i.work(part{zone: z.Scope}, now); len(i.failing) == 0 && !i.began {
		t.drop(i)
	}
}

func (t *Tracker) zoneFailed(z Zone, c cause, now time.Time) {
	switch c.class {
	case ofState:
		stateFailed(t, z, c, now)
		return
	case rejected:
		t.platformAnswered(now, now)
		t.plain(reconcile.OutageCredential, t.credential).failZone(z, c, now)
		return
	case unanswered:
		if z.Answered {
			break
		}
		t.unanswered(z, now)
	default:
		t.platformAnswered(now, now)
	}
	if z.Answered {
		t.platformAnswered(z.asked(now), now)
	}
	if i := t.of[z.Scope]; i != nil && i.began {
		i.failZone(z, c, now)
		return
	}
	if wide := t.wide(z, c); wide != nil {
		t.leave(z, now)
		t.of[z.Scope] = wide
		wide.failZone(z, c, now)
		return
	}
	i := t.gathering(z, c)
	if before := t.of[z.Scope]; before != nil && before != i {
		t.leave(z, now)
	}
	t.of[z.Scope] = i
	i.failZone(z, c, now)
}

// wide returns the outage that explains the failure of a zone; nil where none does.
func (t *Tracker) wide(z Zone, c cause) *incident {
	var keys []string
	switch c.class {
	case unanswered:
		if !z.Answered {
			keys = []string{key(reconcile.OutagePlatform, t.platform)}
		}
	case denied:
		keys = []string{key(reconcile.OutageCredential, t.credential)}
	default: // its account at most
	}
	if z.OfAccount {
		keys = append(keys, key(reconcile.OutageAccount, z.Account))
	}
	for _, k := range keys {
		if i := t.open[k]; i != nil && i.began {
			return i
		}
	}
	return nil
}

// various is what zones fail of whose causes are too many to tell.
var various = cause{text: "various causes", class: unanswered}

// gathering returns where a failure of a zone is gathered: with others of the same cause.
func (t *Tracker) gathering(z Zone, c cause) *incident {
	subject, name := reconcile.OutageZone, c.text
	if z.OfAccount {
		subject, name = reconcile.OutageAccount, z.Account
	}
	k := key(subject, name)
	if i := t.open[k]; i != nil {
		return i
	}
	if len(t.open) >= mostOpen {
		subject, name = reconcile.OutageZone, various.text
		k = key(subject, name)
		if i := t.open[k]; i != nil {
			return i
		}
	}
	i := newIncident(k, subject, name)
	i.pending = true
	t.open[k] = i
	return i
}

// decide says whose outage it is that was gathered, once that is known.
func (t *Tracker) decide(i *incident, now time.Time) {
	away := i.cause.class == unanswered
	switch {
	case now.Sub(i.since) < gather:
	case away && t.silent() && t.silentSince().Sub(i.since) < gather:
		// A request under way was answered after the first one failed: whether it is the platform
		// is known a moment later.
	case i.subject == reconcile.OutageAccount && (!away || t.answered.After(i.since)):
		t.begin(i)
	case t.evidence(i).After(i.since), now.Sub(i.since) >= patience:
		t.begin(i)
	}
}

// evidence is when something last worked that does not fit a wider outage than i.
func (t *Tracker) evidence(i *incident) time.Time {
	if i.cause.class == unanswered {
		return t.answered
	}
	return t.worked
}

// widen begins an outage of everything, with what was gathered of a class.
func (t *Tracker) widen(subject reconcile.OutageSubject, name string, of class) {
	wide := t.plain(subject, name)
	for _, k := range t.keys() {
		i := t.open[k]
		if !i.pending || i.began || i.cause.class != of {
			continue
		}
		t.drop(i)
		wide.takeIn(i)
		for of := range i.failing {
			if of.zone != (edge.Scope{}) {
				t.of[of.zone] = wide
			}
		}
	}
	if wide.since.IsZero() { // nothing was gathered: the next failure begins it
		delete(t.open, wide.key)
		return
	}
	if !wide.began {
		t.begin(wide)
	}
}

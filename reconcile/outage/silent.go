package outage

import (
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// silent reports whether the platform answers about nothing any more: it has not about several
// zones in a row that no outage of zones or of an account explains, or about none of all.
func (t *Tracker) silent() bool {
	need := few
	if t.fleet > 0 {
		need = min(few, t.fleet)
	}
	return t.unexplained >= need || t.fleet > 0 && len(t.streak) >= t.fleet
}

// unanswered notes that the platform has not answered about a zone.
func (t *Tracker) unanswered(z Zone, now time.Time) {
	if len(t.streak) == 0 {
		t.streakSince = now
	}
	was, unexplained := t.streak[z.Scope], !t.explained(z)
	t.streak[z.Scope] = was || unexplained
	if unexplained && !was {
		if t.unexplained == 0 {
			t.newSince = now
		}
		t.unexplained++
	}
}

// silentSince is when the streak began, without what a narrow outage has explained: that says
// nothing of when the platform fell silent.
func (t *Tracker) silentSince() time.Time {
	if t.unexplained > 0 {
		return t.newSince
	}
	return t.streakSince
}

// hear notes that the platform has answered.
func (t *Tracker) hear() {
	clear(t.streak)
	t.unexplained = 0
}

// explained reports whether a zone is in an outage of zones, or of its account, that lasts.
func (t *Tracker) explained(z Zone) bool {
	i := t.of[z.Scope]
	return i != nil && i.began && i.narrow()
}

// narrow reports whether an outage is one of some zones, or of an account.
func (i *incident) narrow() bool {
	return i.subject == reconcile.OutageZone || i.subject == reconcile.OutageAccount
}

// fallSilent begins the outage of the platform, or has it go on: what has worked in between was not
// the end.
func (t *Tracker) fallSilent(now time.Time) {
	over := t.rejoin()
	t.widen(reconcile.OutagePlatform, t.platform, unanswered)
	if wide := t.open[key(reconcile.OutagePlatform, t.platform)]; wide != nil {
		wide.fails()
	}
	for _, i := range over { // after what has taken its place was told
		i.worked = now
		t.end(i, now)
	}
}

// rejoin moves zones from narrow outages that were told into that of the platform, which it turned out
// to be, and returns those in which none is left. All of one go that has begun shortly before the
// platform fell silent, as that was the beginning of the same; of an older one what came to it since.
func (t *Tracker) rejoin() (over []*incident) {
	for _, k := range t.keys() {
		i := t.open[k]
		if !i.narrow() || !i.began || i.cause.class != unanswered || i.news { // news are told first
			continue
		}
		since, young := t.silentSince(), t.streakSince.Sub(i.since) < patience
		if young {
			since = later(i.since, t.streakSince)
		}
		moves := map[part]string{}
		for of, name := range i.failing {
			if unexplained, silent := t.streak[of.zone]; silent && (unexplained || young) {
				moves[of] = name
			}
		}
		if len(moves) == 0 {
			continue
		}
		if t.move(moves, i, since); len(i.failing) == 0 {
			over = append(over, i)
		}
	}
	return over
}

// move moves failing zones of an outage into that of the platform, which has lasted since then. An
// outage that all leave ends as what it was.
func (t *Tracker) move(moves map[part]string, i *incident, since time.Time) {
	wide := t.plain(reconcile.OutagePlatform, t.platform)
	if wide.since.IsZero() || !wide.began && since.Before(wide.since) {
		wide.since, wide.cause, wide.detail = since, i.cause, i.detail
	}
	wide.causes[i.cause.text], wide.failed = true, later(wide.failed, i.failed)
	wide.tries += len(moves) // each has failed
	some := len(moves) < len(i.failing)
	for of, name := range moves {
		delete(i.failing, of)
		wide.failing[of], wide.affected[of.zone] = name, true
		t.of[of.zone] = wide
		if some {
			delete(i.affected, of.zone)
			i.first = slices.DeleteFunc(i.first, func(n string) bool { return n == name })
		}
	}
	for _, name := range slices.Sorted(maps.Values(i.failing)) { // it is named after who stays
		if len(i.first) < mostNamed && !slices.Contains(i.first, name) {
			i.first = append(i.first, name)
		}
	}
}

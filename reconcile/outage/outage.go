// Package outage decides when an outage begins and ends, from the failures and the
// successes of single tries:
//
//	t := outage.New(outage.Config{Now: time.Now, Tell: outage.Log(log)})
//	t.Failed(reconcile.OutageGit, "", "fetch", err)   // a try has failed
//	t.Worked(reconcile.OutageGit, "", "fetch")        // one has not
//	t.Zone(outage.Zone{ID: id, Name: "shop.example"}, err)
//	t.Tick()                                          // time has passed
//	t.Outages()                                       // those that last
//
// Each outage is told when it begins, when its cause changes, at most twice, and when it
// ends: however many zones it affects, and however often it is tried again.
//
// Zones that fail are gathered for a while first. Where every zone fails, it is the
// platform's outage; where the list of rulesets of an account does, the account's; where
// zones beside them work, theirs: one outage for all zones with the same cause. One of zones or of an
// account that was told, and turns out to be the platform's, ends where that of the platform begins.
//
// An outage ends once nothing has failed for some time after a success, the first one of
// the state folder at once. Something that fails again soon has to work for longer each time, up to about ten minutes, so that
// what works and fails in turns writes few lines.
package outage

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

const (
	// gather is how long failures of zones are gathered before they count as an outage.
	gather = 10 * time.Second
	// patience is how long a zone that fails waits for another zone to show whether it is
	// the platform.
	patience = 2 * time.Minute
	// settle is how long nothing may fail before an outage has ended. It doubles with each
	// outage of the same that ended within quiet, at most mostDoubled times.
	settle      = 10 * time.Second
	mostDoubled = 6
	quiet       = time.Hour
	// mixed is after how many times settle an outage of the platform, in which successes and
	// failures take turns, has ended: what still fails is single zones.
	mixed = 12
	// few is how many zones must fail in a row for an outage of the platform; in a smaller
	// fleet all of them.
	few = 3

	mostCauses = 3   // causes of one outage that are told
	mostEnded  = 20  // outages that are kept once they ended
	mostOpen   = 50  // outages of zones at once; further causes share one
	mostMemory = 500 // ends that are remembered, for settle
)

// Config is what a [Tracker] is made from.
type Config struct {
	Now func() time.Time // required
	// Tell is called with each event, in order, while the tracker is locked: it must not
	// call the tracker. Nil discards.
	Tell func(Event)
}

// Zone is a zone that was read.
type Zone struct {
	Scope   edge.Scope
	Name    string // as it is declared
	Account string // the key of its account
	// OfAccount says that a failure is of what all zones of the account share, Answered
	// that the platform has answered something else about the zone in the same look.
	OfAccount, Answered bool
	// Asked is when the platform was sent the last request that it has answered; zero is now.
	// What was under way when something else failed says nothing of the time since.
	Asked time.Time
	// Cached says that nothing was asked: the failure is that of a try just before.
	Cached bool
}

// Tracker keeps what fails. It is safe for concurrent use, and its memory is bounded by
// the number of zones declared. Make it with [New].
type Tracker struct {
	config Config

	mu    sync.Mutex
	open  map[string]*incident     // by key, with those that are gathered
	of    map[edge.Scope]*incident // the one that a zone is in
	fleet int                      // how many zones are declared; zero is not known
	ended []reconcile.Outage       // the last ones, the newest last
	ends  map[string]ending        // by key, for settle

	// A tracker of one credential of several has names of its own for what it alone may
	// fail of, and tells the state folder's failures to the whole.
	whole      *Tracker // nil: it is the whole itself
	platform   string
	credential string
	parts      []*Tracker

	worked   time.Time // when a zone that worked was asked for last
	answered time.Time // when what the platform has answered about a zone was asked for last, if only to be refused
	// streak are the zones that the platform has not answered about since then; true are those
	// that no outage of zones or of an account has explained before.
	streak      map[edge.Scope]bool
	unexplained int // how many of the streak are true
	streakSince time.Time
	newSince    time.Time // when the first of the streak that is true came to it
}

// ending is how often an outage has ended lately.
type ending struct {
	times int
	last  time.Time
}

// New returns a tracker to which nothing has happened.
func New(c Config) *Tracker {
	if c.Tell == nil {
		c.Tell = func(Event) {}
	}
	return &Tracker{
		config: c, open: map[string]*incident{}, of: map[edge.Scope]*incident{}, ends: map[string]ending{},
		streak: map[edge.Scope]bool{}, credential: CredentialZones,
	}
}

// CredentialZones and CredentialTokens are the names of the credentials in outages.
const (
	CredentialZones  = "credentials.rulesets"
	CredentialTokens = "credentials.tokens"
)

// Failed notes a failure of something that is not a zone. name tells several of a subject
// apart, and what that of it which was tried: it works again once each part that failed does.
// A full disk, and what is a failure of [reconcile.ErrState], is an outage of the state
// folder whatever the subject. The end of a context is no failure.
func (t *Tracker) Failed(subject reconcile.OutageSubject, name, what string, err error) {
	if err == nil || Stopped(err) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.config.Now()
	c := causeOf(err)
	own := key(subject, name)
	if c.class == ofState && subject != reconcile.OutageState {
		t.plain(reconcile.OutageState, "").fail(part{name: own + what}, "", c, now)
	} else {
		t.plain(subject, name).fail(part{name: what}, "", c, now)
	}
	t.judge(now)
}

// Worked notes that it did not fail.
func (t *Tracker) Worked(subject reconcile.OutageSubject, name, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.config.Now()
	own := key(subject, name)
	if i := t.open[own]; i != nil {
		i.work(part{name: what}, now)
	}
	if i := t.open[key(reconcile.OutageState, "")]; i != nil {
		i.work(part{name: own + what}, now)
	}
	t.judge(now)
}

// StateWorks notes that the state folder could be written again. After a full disk, what
// failed in zones and in the ledger counts as mended by that; another subject that could not
// write there, and what failed for another cause, has to work itself. It reports whether the
// disk was full.
func (t *Tracker) StateWorks() (full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.open[key(reconcile.OutageState, "")]
	if i == nil || i.cause.text != diskFull {
		return false
	}
	now := t.config.Now()
	for of := range i.failing {
		if !strings.Contains(of.name, "|") { // see key
			i.work(of, now)
		}
	}
	t.judge(now)
	return true
}

// State reports whether an outage of the state folder lasts, and whether something has
// failed there and not worked since.
func (t *Tracker) State() (lasts, fails bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.open[key(reconcile.OutageState, "")]
	return i != nil, i != nil && len(i.failing) > 0
}

// Only notes what of a subject fails, by name: all others of it work.
func (t *Tracker) Only(subject reconcile.OutageSubject, part string, failing map[string]error) {
	t.mu.Lock()
	var working []string
	for _, i := range t.open {
		if i.subject == subject && failing[i.name] == nil {
			working = append(working, i.name)
		}
	}
	t.mu.Unlock()
	for _, name := range working {
		t.Worked(subject, name, part)
	}
	for name, err := range failing {
		t.Failed(subject, name, part, err)
	}
}

// Declare says how many zones are declared, and which: the others are forgotten.
func (t *Tracker) Declare(zones int, declares func(edge.Scope) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.config.Now()
	t.fleet = zones
	for _, i := range t.open {
		for of := range i.failing {
			if of.zone != (edge.Scope{}) && !declares(of.zone) {
				i.work(of, now)
				delete(t.of, of.zone)
			}
		}
		if i.pending && !i.began && len(i.failing) == 0 {
			t.drop(i)
		}
	}
	for id, unexplained := range t.streak {
		if !declares(id) {
			delete(t.streak, id)
			if unexplained {
				t.unexplained--
			}
		}
	}
	t.judge(now)
}

// Tick has what follows from time alone happen; once a second is often enough.
func (t *Tracker) Tick() {
	for _, part := range lanesOf(t) {
		part.Tick()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.judge(t.config.Now())
}

// Outages returns those that last, sorted by subject, then by when they began, then by
// name. Until is zero in each.
func (t *Tracker) Outages() []reconcile.Outage {
	list := []reconcile.Outage{}
	for _, part := range lanesOf(t) {
		list = append(list, part.Outages()...)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range t.open {
		if i.began {
			list = append(list, t.tell(i))
		}
	}
	slices.SortFunc(list, func(a, b reconcile.Outage) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cause, b.Cause))
	})
	return list
}

// Ended returns the outages that ended last, at most 20, the newest last.
func (t *Tracker) Ended() []reconcile.Outage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.ended)
}

// key names an outage. Those of zones are named by their cause.
func key(subject reconcile.OutageSubject, name string) string { return string(subject) + "|" + name }

// plain returns the outage of something, which begins with its first failure; the caller
// holds the lock.
func (t *Tracker) plain(subject reconcile.OutageSubject, name string) *incident {
	k := key(subject, name)
	if t.open[k] == nil {
		t.open[k] = newIncident(k, subject, name)
	}
	return t.open[k]
}

// judge begins and ends what is due; the caller holds the lock.
func (t *Tracker) judge(now time.Time) {
	if t.silent() && now.Sub(t.silentSince()) >= gather {
		t.fallSilent(now)
	}
	for _, k := range t.keys() {
		i, open := t.open[k]
		if open {
			i.lapse(now)
		}
		switch {
		case !open: // another has taken it in
		case !i.began && i.pending:
			t.decide(i, now)
		case !i.began:
			t.begin(i)
		case i.unheard(now):
			i.works(now)
			t.end(i, now)
		case i.over(now, t.settle(i)):
			t.end(i, now)
		case i.news:
			i.news = false
			t.config.Tell(Event{Changed, t.tell(i), i.detail, i.key})
		}
	}
}

// keys are in the order of time, so that events are.
func (t *Tracker) keys() []string {
	if len(t.open) == 0 { // as mostly
		return nil
	}
	return slices.SortedFunc(maps.Keys(t.open), func(a, b string) int {
		return cmp.Or(t.open[a].since.Compare(t.open[b].since), cmp.Compare(a, b))
	})
}

func (t *Tracker) begin(i *incident) {
	i.began, i.news, i.pending = true, false, false
	t.config.Tell(Event{Began, t.tell(i), i.detail, i.key})
}

func (t *Tracker) end(i *incident, now time.Time) {
	t.drop(i)
	o := t.tell(i)
	o.Until = i.worked
	t.ended = append(t.ended, o)
	t.ended = t.ended[max(0, len(t.ended)-mostEnded):]
	e := t.ends[i.key]
	if i.since.Sub(e.last) > quiet {
		e.times = 0
	}
	t.ends[i.key] = ending{min(e.times+1, mostDoubled), now}
	t.forgetEnds(now)
	t.config.Tell(Event{Ended, o, "", i.key})
}

// tell is an outage as it is told: one of the platform, or of the credential for zones,
// affects all that are declared.
func (t *Tracker) tell(i *incident) reconcile.Outage {
	o := i.outage()
	if i.subject == reconcile.OutagePlatform || i.subject == reconcile.OutageCredential && i.name == t.credential {
		o.Zones = max(o.Zones, t.fleet)
	}
	return o
}

// drop forgets an outage and which zones are in it.
func (t *Tracker) drop(i *incident) {
	delete(t.open, i.key)
	for of := range i.failing {
		if t.of[of.zone] == i {
			delete(t.of, of.zone)
		}
	}
}

// forgetEnds bounds what is remembered of ends.
func (t *Tracker) forgetEnds(now time.Time) {
	for k, e := range t.ends {
		if t.open[k] == nil && (now.Sub(e.last) > quiet || len(t.ends) > mostMemory) {
			delete(t.ends, k)
		}
	}
}

// settle is how long nothing may fail until an outage has ended. That of the state folder
// ends at once the first time: it is tried each few seconds, and the daemon is not ready
// while it lasts.
func (t *Tracker) settle(i *incident) time.Duration {
	e, times := t.ends[i.key], 0
	if i.since.Sub(e.last) <= quiet {
		times = e.times
	}
	if i.subject == reconcile.OutageState {
		if times == 0 {
			return 0
		}
		times--
	}
	return settle << times
}

// Stopped reports whether an error only says that everything was told to stop.
func Stopped(err error) bool { return errors.Is(err, context.Canceled) }

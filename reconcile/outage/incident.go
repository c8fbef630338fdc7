package outage

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// incident is an outage with what decides about it, or failures of zones that are
// gathered and may become one.
type incident struct {
	key     string
	subject reconcile.OutageSubject
	name    string
	cause   cause // the one that is told
	detail  string

	pending bool // it is gathered
	began   bool // it was told
	news    bool // its cause is another one, which is to be told

	since, failed  time.Time // the first failure and the last
	worked, partly time.Time // the first success since, and of all; zero for none
	continued      time.Time // when a reload has taken it over; zero: none has

	failing  map[part]string // what fails, with its name where it is a zone
	before   map[part]string // of these, what a reload has taken over and has not failed since
	affected map[edge.Scope]bool
	first    []string // names of the first zones affected
	causes   map[string]bool
	tries    int
}

func newIncident(k string, subject reconcile.OutageSubject, name string) *incident {
	return &incident{
		key: k, subject: subject, name: name,
		failing: map[part]string{}, affected: map[edge.Scope]bool{}, causes: map[string]bool{},
	}
}

// mostNamed is how many zones an outage of several names.
const mostNamed = 3

// part is what an outage is about: a zone, or another part by its name.
type part struct {
	zone edge.Scope
	name string
}

// fail notes a failure of a part, which has a name where it is a zone.
func (i *incident) fail(of part, name string, c cause, now time.Time) {
	if i.since.IsZero() {
		i.since, i.cause, i.detail = now, c, c.detail
		i.causes[c.text] = true
	}
	i.failing[of] = name
	delete(i.before, of)
	i.failed, i.worked = now, time.Time{}
	i.tries++
	if id := of.zone; id != (edge.Scope{}) && !i.affected[id] {
		i.affected[id] = true
		if len(i.first) < mostNamed {
			i.first = append(i.first, name)
		}
	}
	if i.began && !i.causes[c.text] && len(i.failing) == 1 && len(i.causes) < mostCauses {
		i.causes[c.text], i.cause, i.detail, i.news = true, c, c.detail, true
	}
}

// failZone notes a failure of a zone.
func (i *incident) failZone(z Zone, c cause, now time.Time) {
	if i.fail(part{zone: z.Scope}, z.Name, c, now); z.Cached {
		i.tries--
	}
}

// work notes a success of a part.
func (i *incident) work(of part, now time.Time) {
	delete(i.failing, of)
	if len(i.failing) == 0 {
		i.works(now)
	}
}

// works notes that all of it works.
func (i *incident) works(now time.Time) {
	clear(i.failing)
	if i.worked.IsZero() {
		i.worked = now
	}
	if i.partly.IsZero() {
		i.partly = now
	}
}

// over reports whether it has ended, where nothing may have failed for so long.
func (i *incident) over(now time.Time, settle time.Duration) bool {
	if i.worked.IsZero() {
		return false
	}
	wide := i.subject == reconcile.OutagePlatform || i.subject == reconcile.OutageAccount
	return now.Sub(i.worked) >= settle || wide && now.Sub(i.partly) >= mixed*settle
}

// fails notes that it does not work again yet, whatever has worked in between.
func (i *incident) fails() { i.worked, i.partly = time.Time{}, time.Time{} }

// takeIn adds what was gathered elsewhere.
func (i *incident) takeIn(other *incident) {
	if i.since.IsZero() || !i.began && other.since.Before(i.since) {
		i.since, i.cause, i.detail = other.since, other.cause, other.detail
	}
	if other.failed.After(i.failed) {
		i.failed = other.failed
	}
	i.tries += other.tries
	i.causes[other.cause.text] = true
	maps.Copy(i.failing, other.failing)
	maps.Copy(i.affected, other.affected)
}

// outage is it as it is reported.
func (i *incident) outage() reconcile.Outage {
	o := reconcile.Outage{
		Subject: i.subject, Name: i.name, Cause: i.cause.text, Since: i.since, Zones: len(i.affected), Tries: i.tries, Works: i.worked,
	}
	if i.subject == reconcile.OutageZone {
		o.Name = strings.Join(i.first, ", ")
		if more := len(i.affected) - len(i.first); more > 0 {
			o.Name += fmt.Sprintf(" and %d more", more)
		}
	}
	o.Fix = fix(o, i.cause)
	return o
}

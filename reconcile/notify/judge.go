package notify

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

const (
	// steady is for how long zones must need a person, or must not any more, before that is
	// reported: a zone that is refused is often approved or corrected within the minute.
	steady = time.Minute
	// patience is how long an outage lasts before it is reported: a fetch that fails once is no
	// reason to wake anyone.
	patience = 15 * time.Second
	// unsure is that time for an end while some zones are not known: what needs a person may be
	// one of these, as after an outage, until each zone is read again.
	unsure = time.Hour
	// inherited is how long after the start an outage that an earlier process has reported is
	// believed without a sign of it: by then it would have been found again (see package outage).
	inherited = 5 * time.Minute
	// remembered is for how long it is known when a cause has ended.
	remembered = 7 * 24 * time.Hour
)

// judge decides what a route gets next.
type judge struct {
	route string
	least Severity
	open  map[string]Open
	// since is when a cause that is not reported was seen first, gone when one that is
	// reported was missed first.
	since, gone map[string]time.Time
	// ended is when a cause that was reported has ended, of the last days.
	ended map[string]time.Time
	// before are the causes that an earlier process has reported and this one has not seen.
	before map[string]bool
}

func newJudge(route string, least Severity, open []Open) *judge {
	j := &judge{
		route: route, least: least, open: map[string]Open{}, since: map[string]time.Time{}, gone: map[string]time.Time{},
		ended: map[string]time.Time{}, before: map[string]bool{},
	}
	for _, o := range open {
		j.open[o.Cause] = o
		j.before[o.Cause] = true
	}
	return j
}

// adopt has the route know of what was reported by others who do not look for it any more.
func (j *judge) adopt(open []Open) {
	for _, o := range open {
		if _, known := j.open[o.Cause]; !known {
			j.open[o.Cause], j.before[o.Cause] = o, true
		}
	}
}

// next are the messages about what has begun and ended as of a status. What they say is known
// to the route from now on.
func (j *judge) next(s inspect.Status, causes []Cause) []Message {
	covered := coveredBy(s, causes)
	present := map[string]bool{}
	var messages []Message
	for _, c := range causes {
		if !c.Severity.reaches(j.least) || c.Key == keyOfOutage(reconcile.OutageRoute, j.route) {
			continue // a route cannot report that it does not work
		}
		present[c.Key] = true
		delete(j.gone, c.Key)
		delete(j.before, c.Key)
		if j.begins(c, covered, s.At) {
			messages = append(messages, j.begin(c, s.At))
		}
	}
	maps.DeleteFunc(j.ended, func(_ string, at time.Time) bool { return s.At.Sub(at) > remembered })
	maps.DeleteFunc(j.since, func(key string, _ time.Time) bool { return !present[key] })
	for _, key := range slices.Sorted(maps.Keys(j.open)) {
		if !present[key] && j.ends(j.open[key], covered, s) {
			messages = append(messages, j.end(j.open[key], s.At))
		}
	}
	return messages
}

// begins reports whether a cause is to be reported now.
func (j *judge) begins(c Cause, covered func(About) bool, now time.Time) bool {
	_, known := j.open[c.Key]
	brief := c.About == AboutOutage && now.Sub(c.Since) < patience
	return !known && !covered(c.About) && !brief && lasts(j.since, c.Key, c.About, now, steady)
}

// begin has the route know of a cause.
func (j *judge) begin(c Cause, now time.Time) Message {
	delete(j.since, c.Key)
	if ended, before := j.ended[c.Key]; before && !c.Since.After(ended) {
		c.Since = now // another time, with ids of its own
	}
	o := Open{Cause: c.Key, About: c.About, Severity: c.Severity, Title: c.Title, Text: c.Text, Since: c.Since, Zones: c.Zones}
	j.open[c.Key] = o
	m := o.begins(j.route)
	m.At = now
	return m
}

// ends reports whether a cause that is not there any more is to be reported as ended now.
func (j *judge) ends(o Open, covered func(About) bool, s inspect.Status) bool {
	calm := steady
	if unread(s.Zones) > 0 {
		calm = unsure
	}
	return !covered(o.About) && (!j.before[o.Cause] || seenOver(o, s)) && lasts(j.gone, o.Cause, o.About, s.At, calm)
}

// end has the route forget a cause.
func (j *judge) end(o Open, now time.Time) Message {
	delete(j.open, o.Cause)
	delete(j.gone, o.Cause)
	delete(j.before, o.Cause)
	j.ended[o.Cause] = now
	return Message{
		ID: idOf(j.route, o.Cause, Ends, o.Since), Route: j.route, Cause: o.Cause, About: o.About, State: Ends, Severity: o.Severity,
		Title: o.Title, Text: "It lasted " + now.Sub(o.Since).Round(time.Second).String() + ".", Since: o.Since, At: now,
	}
}

// lasts reports whether something was seen for long enough, and notes when it was seen first.
func lasts(first map[string]time.Time, key string, about About, now time.Time, long time.Duration) bool {
	if about != AboutZones {
		return true // an outage has its own time to settle, and a person decides the rest
	}
	if _, ok := first[key]; !ok {
		first[key] = now
	}
	return now.Sub(first[key]) >= long
}

// coveredBy says which causes follow from an outage that lasts, so that they neither begin
// nor end meanwhile: of zones and tokens while the platform, an account or the credential is
// away, of the newest commit while git is. Where there are several credentials, an outage of
// one says nothing of the zones of the others, and covers none.
func coveredBy(s inspect.Status, causes []Cause) func(About) bool {
	var git, platform bool
	for _, c := range causes {
		if c.About != AboutOutage {
			continue
		}
		subject, _, _ := strings.Cut(strings.TrimPrefix(c.Key, "outage/"), "/")
		switch reconcile.OutageSubject(subject) {
		case reconcile.OutageGit:
			git = true
		case reconcile.OutagePlatform, reconcile.OutageAccount, reconcile.OutageCredential:
			platform = len(s.Work.Credentials) == 0
		default:
		}
	}
	return func(about About) bool {
		switch about {
		case AboutCommit, AboutWaves:
			return git
		case AboutZones, AboutToken:
			return platform
		default:
			return false
		}
	}
}

// seenOver reports whether this process has seen enough to say that what an earlier one has
// reported is over.
func seenOver(o Open, s inspect.Status) bool {
	settled := s.At.Sub(s.Started) >= inherited
	fetched := !s.Source.LastSuccess.IsZero() && !s.Source.LastSuccess.Before(s.Started)
	switch o.About {
	case AboutOutage:
		if strings.HasPrefix(o.Cause, "outage/git/") {
			return fetched
		}
		return settled && !s.Zones.Observed.Before(s.Started)
	case AboutCommit: // what was fetched is decided once that look has ended; another may go on by now
		return fetched && (s.Source.Looking.IsZero() || s.Source.Looking.After(s.Source.LastSuccess))
	case AboutZones:
		return s.Zones.Declared > 0 && unread(s.Zones) == 0
	case AboutToken:
		return settled && !s.Tokens.LookedAt.Before(s.Started)
	default:
		return settled
	}
}

// unread is how many zones are not known as they are now.
func unread(z inspect.Zones) int {
	return z.Outcomes[inspect.NotRead] + z.Outcomes[inspect.Pending] + z.Outcomes[inspect.Unknown]
}

package directory

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/retry"
)

// believed is how long a name counts before it is asked for again.
const believed = 6 * time.Hour

// question is what the platform is asked about one zone or account: which id a name has,
// or which name a declared id has.
type question struct {
	byName   bool
	name, id string // the name is folded
}

func questionOf(byName bool, name, id string) question {
	return question{byName: byName, name: desired.FoldName(name), id: id}
}

// subject is what is asked for.
func (q question) subject() string {
	if q.byName {
		return q.name
	}
	return q.id
}

// usable reports whether the answer to a question is one id with the name asked for.
func (l *list) usable(q question) bool {
	if q.byName {
		return l.found(q.name) != ""
	}
	known, ok := l.ids[q.id]
	return ok && !known.gone && known.name == q.name
}

// noteAll notes what became of questions.
func (l *list) noteAll(questions []question, at time.Time) {
	for _, q := range questions {
		l.note(q.subject(), l.usable(q), at)
	}
}

// learnID takes in what an id is named: none where it is not seen.
func (l *list) learnID(id string, all []named, at time.Time) {
	if len(all) == 0 {
		l.gone(id)
	}
	for _, n := range all {
		l.put(n, at)
	}
	l.failed = failure{}
}

// due is when a question is to be asked. One that was never asked is due at once, which is
// the zero time.
func (l *list) due(q question) time.Time {
	var at time.Time
	asked, before := l.asked[q.subject()]
	known, listed := l.ids[q.id]
	switch {
	case q.byName && l.found(q.name) != "":
		at = l.ids[l.found(q.name)].at.Add(believed)
	case l.usable(q):
		at = known.at.Add(believed)
	case before && !q.byName && (!listed || known.gone): // a declared id that is not seen counts as it is
		at = asked.at.Add(believed)
	case before:
		at = asked.at.Add(retry.Unfound.Delay(asked.strikes))
	}
	if l.failed.err != nil {
		if again := l.failed.at.Add(retry.Names.Delay(l.failed.strikes)); again.After(at) {
			at = again
		}
	}
	return at
}

// dueAccount is when an account is to be asked for, false for never.
func (f *facts) dueAccount(a desired.Account) (time.Time, bool) {
	if a.Name == "" || f.onlyUndeclared && !a.ByName {
		return time.Time{}, false
	}
	return f.accountsOf(a.Key).due(questionOf(a.ByName, a.Name, string(a.ID))), true
}

// questions are those about an account's zones that are due at a time.
func (f *facts) questions(a desired.Account, now time.Time) (due []question) {
	f.each(a, func(q question, at time.Time) {
		if !at.After(now) {
			due = append(due, q)
		}
	})
	return due
}

// each calls with each question about an account's zones, and when it is due.
func (f *facts) each(a desired.Account, call func(question, time.Time)) {
	if desired.Sought(a.ID) {
		return
	}
	l := f.zonesOf(a.ID)
	for _, z := range a.Zones {
		if z.Name != "" && (z.ByName || !f.onlyUndeclared) {
			q := questionOf(z.ByName, z.Name, z.Scope.ID)
			call(q, l.due(q))
		}
	}
}

// next is when the first question about a state is due; zero for never.
func (f *facts) next(state desired.State, asks func(desired.Account) bool) (next time.Time) {
	earlier := func(at time.Time) {
		if at.IsZero() {
			at = at.Add(1) // at once
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, a := range state.Accounts {
		if !asks(a) {
			continue
		}
		if at, wanted := f.dueAccount(a); wanted {
			earlier(at)
		}
		f.each(a, func(_ question, at time.Time) { earlier(at) })
	}
	return next
}

// doubt has the name of a zone be asked for again, unless that was just done.
func (f *facts) doubt(a desired.Account, z desired.Zone, now time.Time) bool {
	l := f.zonesOf(a.ID)
	known, ok := l.ids[z.Scope.ID]
	if !ok || known.gone || now.Sub(known.at) < fresh {
		return false
	}
	known.at = time.Time{}
	l.ids[z.Scope.ID] = known
	return true
}

package deprecation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// State is what a rule means on a day.
type State string

// The states. Days count from 00:00 UTC, the day itself included.
const (
	Announced  State = "announced"  // the day is still to come
	Deprecated State = "deprecated" // the day has come, the end of life has not
	PastEnd    State = "past_end"
)

// Notice says that something uses what a rule is about.
type Notice struct {
	Rule      string `json:"rule"`
	Title     string `json:"title"`
	State     State  `json:"state"`
	Date      Date   `json:"date"`
	Extended  Date   `json:"extended"` // set where the form that was met has a later day
	EndOfLife End    `json:"end_of_life"`
	// DaysLeft counts to the day the state follows: to the end of life once
	// deprecated with a dated one, else to the date or the extended date. It is 0
	// on the day and negative after it.
	DaysLeft int `json:"days_left"`
	// Info: the call stays. It changes on that day, and nothing in the request
	// shows whether that matters. It does not count for exit codes.
	Info bool `json:"info"`
	// Detail is what was met, for people: "GET /zones/:zone_id/rate_limits".
	Detail        string `json:"detail,omitempty"`
	Replacement   string `json:"replacement"`
	NoReplacement bool   `json:"no_replacement"`
	// Rewrite is the request without what is deprecated, where the reference says
	// what becomes of it. Where it takes several requests it is nil and Rewrites
	// has them all.
	Rewrite  *Rewrite  `json:"rewrite"`
	Rewrites []Rewrite `json:"rewrites,omitempty"`
	Where    Where     `json:"where"`
}

// Rewrite is a request that takes the place of another. Method and URL are
// empty where the reference names a field and shows no path to it.
type Rewrite struct {
	Method string          `json:"method"`
	URL    string          `json:"url"`
	Body   json.RawMessage `json:"body"` // nil: none, or none is known
	// Field is the field that takes over; Body, where there is one, sets it.
	Field string `json:"field,omitempty"`
}

// Where is the place that a notice is about, filled in by whoever asked.
type Where struct {
	File        string `json:"file,omitempty"`
	Line        int    `json:"line,omitempty"`
	Integration string `json:"integration,omitempty"`
}

// Standing says how the rule stands, in words that follow what was met: "is past
// its end since 2025-06-15", "ends on 2027-01-31, in 71 days". What an answer
// announces may have no day.
func (n Notice) Standing() string {
	day, last := max(n.Date, n.Extended), n.EndOfLife.Date()
	switch {
	case n.State == Announced && (n.EndOfLife == "" || day == ""):
		return "ends on " + n.coming(cmp.Or(day, last))
	case n.State == Announced: // the end of life is another day
		return "is deprecated from " + n.coming(day)
	case n.State == Deprecated && last != "":
		return "is deprecated" + since(day) + ", and ends on " + n.coming(last)
	case n.State == Deprecated:
		return "is deprecated" + since(day)
	default:
		return "is past its end" + since(cmp.Or(last, day))
	}
}

// coming is the day that DaysLeft counts to.
func (n Notice) coming(day Date) string {
	switch n.DaysLeft {
	case 0:
		return string(day) + ", today"
	case 1:
		return string(day) + ", tomorrow"
	}
	return fmt.Sprintf("%s, in %d days", day, n.DaysLeft)
}

func since(day Date) string {
	if day == "" {
		return ""
	}
	return " since " + string(day)
}

// Instead is what takes the place, in words for people.
func (n Notice) Instead() string {
	switch {
	case n.NoReplacement && !strings.HasPrefix(n.Replacement, "None;"):
		return "nothing; there is no replacement"
	case n.Replacement == "":
		return "not documented"
	}
	return n.Replacement
}

// ExitCode is what a notice alone makes a command return (contract: 0 none,
// 2 deprecated, 3 past its end, 4 past its end without replacement).
func (n Notice) ExitCode() int {
	switch {
	case n.Info || n.State == Announced:
		return 0
	case n.State == Deprecated:
		return 2
	case n.NoReplacement:
		return 4
	}
	return 3
}

// Notice says how a rule stands at an instant, whoever may use it. The
// rule's extended date counts only where it holds for all of the rule.
func (r *Rule) Notice(at time.Time) Notice { return r.notice(at, r.extendedForAll()) }

// extendedForAll: no query form claims the extended date for itself.
func (r *Rule) extendedForAll() bool {
	for _, q := range r.Query {
		if q.Extended {
			return false
		}
	}
	return true
}

func (r *Rule) notice(at time.Time, extended bool) Notice {
	n := Notice{
		Rule: r.ID, Title: r.Title, Date: r.Date, EndOfLife: r.EndOfLife,
		Replacement: r.Replacement.Text, NoReplacement: r.Replacement.None,
	}
	if extended {
		n.Extended = r.Extended
	}
	n.State, n.DaysLeft = standing(DateOf(at), max(n.Date, n.Extended), n.EndOfLife)
	return n
}

// standing: before the day announced, from it on past the end, unless an end of
// life is told apart and still to come.
func standing(today, day Date, end End) (State, int) {
	switch last := end.Date(); {
	case today < day:
		return Announced, day.DaysAfter(today)
	case end == "":
		return PastEnd, day.DaysAfter(today)
	case end == NotDated:
		return Deprecated, day.DaysAfter(today)
	case today < last:
		return Deprecated, last.DaysAfter(today)
	default:
		return PastEnd, last.DaysAfter(today)
	}
}

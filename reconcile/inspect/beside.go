package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// reason is why a verdict is not healthy.
type reason struct {
	text string
	fix  string    // what a person can do; empty where the text says it, or nothing is known
	next time.Time // when it is tried next; zero: not known, or now
}

// plainly are reasons without a fix of their own.
func plainly(texts ...string) (reasons []reason) {
	for _, text := range texts {
		reasons = append(reasons, reason{text: text})
	}
	return reasons
}

// advice is the fix and the next try on a line, as of a moment; empty where there is neither.
func (r reason) advice(now time.Time) string {
	text := ""
	if r.fix != "" {
		text = "fix: " + r.fix
	}
	if r.next.After(now) {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("next try in %s, at %s", Span(r.next.Sub(now).Seconds()), instant(r.next))
	}
	return text
}

// String is all of it on a line, without what counts down.
func (r reason) String() string {
	if r.fix == "" {
		return r.text
	}
	return r.text + "; fix: " + r.fix
}

// reasonOf is an outage as a reason.
func reasonOf(o reconcile.Outage) reason { return reason{OutageText(o), o.Fix, o.Next} }

// text says which commit is held, whose it is, and why.
func (n Newer) text() string {
	by := ""
	if n.Author != "" {
		by = " by " + n.Author
	}
	return fmt.Sprintf("commit %s%s is held: %s", Short(n.Commit), by, n.Reason)
}

// beside says what keeps Seawall from knowing how a zone is now, or should be.
func (z Zone) beside(now time.Time) (lines []string) {
	add := func(r reason) {
		lines = append(lines, r.text)
		if advice := r.advice(now); advice != "" {
			lines = append(lines, strings.ToUpper(advice[:1])+advice[1:]+".")
		}
	}
	for _, o := range z.Outages {
		so := "so this is as of the last read"
		if o.Subject == reconcile.OutageGit {
			so = "so newer commits are not seen, and this is of commit " + Short(z.Commit)
		}
		r := reasonOf(o)
		r.text = fmt.Sprintf("Outage: %s; %s.", r.text, so)
		add(r)
	}
	if z.Newer != nil {
		add(reason{text: fmt.Sprintf("This is of commit %s: %s.", Short(z.Commit), z.Newer.text()), fix: z.Newer.Fix})
	}
	return lines
}

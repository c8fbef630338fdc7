package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// Verdict sums a status up, for scripts.
type Verdict string

// The verdicts.
const (
	Healthy   Verdict = "healthy"   // in sync, and nothing lasts that is wrong
	Working   Verdict = "working"   // changes are pending, and nothing needs a person
	Attention Verdict = "attention" // something needs a person, or an outage lasts
)

// lasting is for how long a zone or a token may fail before that needs a person: as long as the
// longest pause between two tries.
const lasting = 15 * time.Minute

// endsSoon is how long before its end a token that nothing follows needs a person.
const endsSoon = 7 * 24 * time.Hour

// Judged is a status with its verdict, and the reasons for it.
func (s Status) Judged() Status {
	s.Version = Version
	attention, working := s.attention(), s.working()
	switch {
	case len(attention) > 0:
		s.Verdict = Attention
	case len(working) > 0:
		s.Verdict = Working
	default:
		s.Verdict = Healthy
	}
	s.Reasons = []string{}
	for _, r := range append(attention, working...) {
		s.Reasons = append(s.Reasons, r.String())
	}
	return s
}

// Because is a reason for a verdict, and what a person can do or what is tried next; empty
// where neither is known.
type Because struct{ Text, Advice string }

// Because says why the verdict is not healthy.
func (s Status) Because() (all []Because) {
	for _, r := range append(s.attention(), s.working()...) {
		all = append(all, Because{r.text, r.advice(s.At)})
	}
	return all
}

// attention says what needs a person, or lasts.
func (s Status) attention() (reasons []reason) {
	git := false
	for _, o := range s.Outages {
		git = git || o.Subject == reconcile.OutageGit
		if o.Works.IsZero() { // else it is about to be over
			r := reasonOf(o)
			r.text = "current outage: " + r.text
			reasons = append(reasons, r)
		}
	}
	reasons = append(append(reasons, s.unanswered()...), s.Replicas.free(s.At)...)
	if f := s.ClockForward(); f != nil {
		reasons = append(reasons, reason{text: f.Text(), fix: ForwardFix})
	}
	if !git {
		reasons = append(reasons, s.Source.bad()...)
	}
	if s.Commit.LedgerPutBack {
		reasons = append(reasons, reason{text: diff.ReasonPutBack + ": nothing is written until " + diff.ReleasePutBack, next: s.Source.Next})
	}
	if newer := s.Commit.Newer(); newer != nil {
		reasons = append(reasons, reason{text: newer.text(), fix: newer.Fix})
	}
	if s.Rollout != nil && s.Rollout.Halted != "" {
		reasons = append(reasons, reason{text: "the rollout is halted: " + s.Rollout.Halted, fix: "seawall revert --commit " + Short(s.Commit.InForce) + ", or, once the reason is gone, " + diff.ReleaseHalted})
	}
	reverts, _ := diff.PutBacks(s.Holds)
	for _, r := range reverts {
		reasons = append(reasons, reason{text: r.String()})
	}
	reasons = append(append(reasons, plainly(s.badZones()...)...), s.badTokens()...)
	for _, what := range s.NotReady {
		if !s.tellsOf(what) {
			reasons = append(reasons, reason{text: "not ready: " + what})
		}
	}
	return reasons
}

// bad says what is wrong with git, where no outage does.
func (s Source) bad() (reasons []reason) {
	if s.Error != "" {
		reasons = append(reasons, reason{text: "git cannot be fetched: " + s.Error, next: s.Next})
	}
	if s.Overdue {
		reasons = append(reasons, reason{
			text: "the look at git that began at " + instant(s.Looking) + " takes far too long",
			fix:  "look for what keeps the processes that fetch and evaluate from running, or for a commit that is very large",
		})
	}
	return reasons
}

// tellsOf reports whether an outage says already why the daemon is not ready.
func (s Status) tellsOf(what string) bool {
	return slices.ContainsFunc(s.Outages, func(o reconcile.Outage) bool { return o.Works.IsZero() && strings.HasSuffix(what, ": "+o.Cause) })
}

// badZones says which zones need attention, or have failed for long.
func (s Status) badZones() (reasons []string) {
	for _, outcome := range severity {
		if n := s.Zones.Outcomes[outcome]; n > 0 && outcome.NeedsPerson() {
			reasons = append(reasons, s.Zones.text(n, outcome))
		}
	}
	for _, z := range s.Zones.Notable {
		if (z.Outcome == Unknown || z.Outcome == Failed) && s.At.Sub(z.Since) >= lasting {
			return append(reasons, fmt.Sprintf("%s has been %s since %s", z.Zone, z.Outcome, instant(z.Since))) // the oldest stands for all
		}
	}
	return reasons
}

// badTokens says which tokens need attention, or end soon.
func (s Status) badTokens() (reasons []reason) {
	for _, t := range s.Tokens.Findings {
		if t.needsPerson(s.At) {
			reasons = append(reasons, reason{text: fmt.Sprintf("token %s: %s", t.Token, t.Reason), fix: t.Fix})
		}
	}
	for _, e := range s.Tokens.Expiring {
		if e.At.Sub(s.At) <= endsSoon {
			reasons = append(reasons, reason{text: fmt.Sprintf("token %s %s", e.Token, e.When(s.At))})
		}
	}
	return reasons
}

// needsPerson reports whether a token needs a person: for its outcome, or for how long it has
// this one.
func (t Token) needsPerson(now time.Time) bool {
	return t.Lasts || t.Outcome.NeedsPerson() || (t.Outcome == Unknown || t.Outcome == Undelivered) && now.Sub(t.Since) >= lasting
}

// working says which changes are pending.
func (s Status) working() []reason {
	var reasons []string
	for _, outcome := range severity {
		if n := s.Zones.Outcomes[outcome]; n > 0 && outcome != InSync && outcome != NotRead && outcome != PutBack && !outcome.NeedsPerson() {
			reasons = append(reasons, s.Zones.text(n, outcome))
		}
	}
	if s.Rollout != nil && s.Rollout.Halted == "" {
		reasons = append(reasons, fmt.Sprintf("a rollout is at wave %d of %d", s.Rollout.Open, s.Rollout.Waves))
	}
	for _, t := range s.Tokens.Findings {
		if !t.needsPerson(s.At) {
			reasons = append(reasons, fmt.Sprintf("token %s: %s", t.Token, t.Reason))
		}
	}
	return append(append(s.throttled(len(reasons) > 0), plainly(reasons...)...), s.Replicas.behind()...)
}

// throttled says that the platform has asked to wait, where something waits for it.
func (s Status) throttled(waits bool) []reason {
	waits = waits || slices.ContainsFunc(s.Queue, func(p Priority) bool { return p.Due > 0 })
	until := s.At.Add(time.Duration(s.Budget.PausedSeconds * float64(time.Second)))
	if !waits || s.Budget.PausedSeconds <= 0 {
		return nil
	}
	return []reason{{
		text: "the platform asked to wait (429, Retry-After) until " + instant(until),
		fix:  "nothing, unless it lasts: then lower budget in the configuration, or find what else uses the credential",
	}}
}

// Verdict sums the zones up that a name means.
func (l ZoneList) Verdict() Verdict {
	verdict := Healthy
	for _, z := range l.Zones {
		switch {
		case z.Outcome.NeedsPerson(), z.Outcome == PutBack, (z.Outcome == Unknown || z.Outcome == Failed) && z.lasts(l.At):
			return Attention
		case z.Outcome != InSync && z.Outcome != NotRead:
			verdict = Working
		}
	}
	return verdict
}

// lasts reports whether a decision about a zone is as old as needs a person.
func (z Zone) lasts(now time.Time) bool {
	for _, d := range z.Decisions {
		if now.Sub(d.Since) >= lasting {
			return true
		}
	}
	return false
}

// text says how many zones have an outcome, and names the first of them.
func (z Zones) text(n int, outcome Outcome) string {
	text := fmt.Sprintf("%d zones are %s", n, Words(outcome))
	if n == 1 {
		text = "1 zone is " + Words(outcome)
	}
	for _, notable := range z.Notable {
		if notable.Outcome == outcome {
			text += map[bool]string{true: ": ", false: ", the oldest "}[n == 1] + notable.Zone
			if outcome == Unknown || outcome == Failed {
				text += " (" + notable.Reason + ")"
			}
			return text
		}
	}
	return text
}

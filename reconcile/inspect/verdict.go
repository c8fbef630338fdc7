package inspect

import (
	"fmt"
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
		s.Verdict, s.Reasons = Attention, append(attention, working...)
	case len(working) > 0:
		s.Verdict, s.Reasons = Working, working
	default:
		s.Verdict, s.Reasons = Healthy, []string{}
	}
	return s
}

// attention says what needs a person, or lasts.
func (s Status) attention() (reasons []string) {
	git := false
	for _, o := range s.Outages {
		reasons = append(reasons, "current outage: "+outageText(o))
		git = git || o.Subject == reconcile.OutageGit
	}
	if s.Source.Error != "" && !git {
		reasons = append(reasons, "git cannot be fetched: "+s.Source.Error)
	}
	if s.Commit.Held != nil {
		reasons = append(reasons, fmt.Sprintf("commit %s is held: %s", short(s.Commit.Wanted), s.Commit.Held.Reason))
	}
	if s.Rollout != nil && s.Rollout.Halted != "" {
		reasons = append(reasons, "the rollout is halted: "+s.Rollout.Halted)
	}
	reverts, _ := diff.PutBacks(s.Holds)
	for _, r := range reverts {
		reasons = append(reasons, r.String())
	}
	reasons = append(append(reasons, s.badZones()...), s.badTokens()...)
	for _, reason := range s.NotReady {
		reasons = append(reasons, "not ready: "+reason)
	}
	return reasons
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
func (s Status) badTokens() (reasons []string) {
	for _, t := range s.Tokens.Findings {
		if t.needsPerson(s.At) {
			reasons = append(reasons, fmt.Sprintf("token %s: %s", t.Token, t.Reason))
		}
	}
	for _, e := range s.Tokens.Expiring {
		if e.At.Sub(s.At) <= endsSoon {
			reasons = append(reasons, fmt.Sprintf("token %s %s", e.Token, e.When(s.At)))
		}
	}
	return reasons
}

// needsPerson reports whether a token needs a person: for its outcome, or for how long it has
// this one.
func (t Token) needsPerson(now time.Time) bool {
	return t.Outcome.NeedsPerson() || (t.Outcome == Unknown || t.Outcome == Failed) && now.Sub(t.Since) >= lasting
}

// working says which changes are pending.
func (s Status) working() (reasons []string) {
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
	return reasons
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
	text := fmt.Sprintf("%d zones are %s", n, words(outcome))
	if n == 1 {
		text = "1 zone is " + words(outcome)
	}
	for _, notable := range z.Notable {
		if notable.Outcome == outcome {
			return text + map[bool]string{true: ": ", false: ", the oldest "}[n == 1] + notable.Zone
		}
	}
	return text
}

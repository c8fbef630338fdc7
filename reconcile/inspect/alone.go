package inspect

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// Who may see some zones only learns nothing of the others: not their names, and not how many
// there are.

// Alone is what is known of a zone, without what that says of other zones, as of a moment.
func (z Zone) Alone(now time.Time) Zone {
	z.Decisions = slices.Clone(z.Decisions)
	for i := range z.Decisions {
		z.Decisions[i] = z.Decisions[i].Alone()
	}
	z.Outages = slices.Clone(z.Outages)
	for i := range z.Outages {
		z.Outages[i].Zones = 0
	}
	if z.Newer != nil {
		z.Newer = &Newer{z.Newer.Commit, Held{Commit: z.Newer.Held.Commit, Author: z.Newer.Author, Reason: "it is not put in force as it is", Since: z.Newer.Since}}
	}
	if z.Hold != nil {
		hold := *z.Hold
		hold.Scopes = nil
		z.Hold = &hold
	}
	z.Bypasses, z.NotLookedAt = aloneBypasses(z.Bypasses), aloneNotLooked(z.NotLookedAt)
	z.Why = z.Sentences(now)
	return z
}

// Alone is the same of the page of a zone.
func (p ZonePage) Alone(now time.Time) ZonePage {
	p.Zone = p.Zone.Alone(now)
	p.History = slices.Clone(p.History)
	for i := range p.History {
		p.History[i] = aloneEntry(p.History[i])
	}
	p.Waiting = slices.Clone(p.Waiting)
	for i := range p.Waiting {
		p.Waiting[i].Reason = aloneReason(p.Waiting[i].Guard, p.Waiting[i].Reason)
	}
	return p
}

// Alone is the same of a decision.
func (d Decision) Alone() Decision {
	d.Reason = aloneReason(d.Guard, d.Reason)
	if d.Outcome == Bypassed {
		d.Reason, d.Release = bypassedAlone, releaseAlone
	}
	return d
}

// aloneReason is why a guard holds a change back, without numbers of other zones.
func aloneReason(guard diff.Guard, reason string) string {
	switch guard {
	case diff.GuardLimit, diff.GuardShrink:
		return "it is one of more changes than guards allow at once"
	case diff.GuardWave:
		return "it is in a wave of the rollout that has not begun, or is halted"
	default:
		return reason
	}
}

package reconcile

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// delayed are the zones and tokens that a guard holds back for a while. The first
// sync after that looks at them again: they need not wait for a sweep.
type delayed struct {
	zones  map[edge.ZoneID]wish
	tokens map[string]wish
}

// wish is what a zone or token waits for.
type wish struct {
	guard    string
	until    time.Time // of a freeze
	approved string    // of a limit or an approval: what was approved when it was refused
	weakens  bool
}

// delayedAfter returns who waits after a run over scope.
func (r *Reconciler) delayedAfter(report *Report, state, scoped desired.State, facts diff.Facts) delayed {
	next := delayed{
		keep(r.delayed.zones, r.fleetOf(state).declares, among(zoneIDs(scoped))),
		keep(r.delayed.tokens, has(tokenKeys(state)), has(tokenKeys(scoped))),
	}
	for _, c := range report.Plan.Changes {
		if c.Refused == nil {
			continue
		}
		wish := wish{c.Refused.Guard, c.Refused.Until, wordsOf(facts), c.Direction == diff.Weakens}
		switch c.Refused.Guard {
		case guardLimit, guardApproval, guardHold, guardFreeze, guardWave:
		default:
			continue
		}
		if c.Kind == diff.KindToken {
			next.tokens[c.Token] = wish
		} else {
			next.zones[c.ZoneID] = wish
		}
	}
	return next
}

// keep takes over who waits, is declared, and was not looked at.
func keep[K comparable](before map[K]wish, declared, looked func(K) bool) map[K]wish {
	next := map[K]wish{}
	for k, wish := range before {
		if declared(k) && !looked(k) {
			next[k] = wish
		}
	}
	return next
}

// timely counts those that wait for a time, and not for somebody's word: that may
// never come.
func (w delayed) timely() (n int) {
	for _, wishes := range []iter.Seq[wish]{maps.Values(w.zones), maps.Values(w.tokens)} {
		for wish := range wishes {
			if wish.guard != guardLimit && wish.guard != guardApproval {
				n++
			}
		}
	}
	return n
}

// due returns the zones that need not wait any longer.
func (w delayed) due(state desired.State, facts diff.Facts) map[edge.ZoneID]bool {
	due := map[edge.ZoneID]bool{}
	for _, account := range state.Accounts {
		for _, zone := range account.Zones {
			if wish, ok := w.zones[zone.ID]; ok && wish.granted(zone, facts) {
				due[zone.ID] = true
			}
		}
	}
	return due
}

func (w delayed) dueToken(key string, facts diff.Facts) bool {
	wish, ok := w.tokens[key]
	return ok && wish.granted(desired.Zone{}, facts)
}

// granted reports whether what a zone waits for has come.
func (w wish) granted(zone desired.Zone, facts diff.Facts) bool {
	switch w.guard {
	case guardHold:
		return !slices.ContainsFunc(facts.Holds, func(h diff.Hold) bool { return h.Zone == zone.Key })
	case guardFreeze:
		return !facts.Now.Before(w.until)
	case guardWave:
		return !facts.Rollout.Delays(zone.ID)
	}
	return w.approved != wordsOf(facts)
}

// overLimit returns the zones that a limit holds back, and whether their changes
// weaken. They are looked at together with whatever else changes, or what is too
// much at once would come in parts that are not.
func (w delayed) overLimit() map[edge.ZoneID]bool {
	zones := map[edge.ZoneID]bool{}
	for id, wish := range w.zones {
		if wish.guard == guardLimit {
			zones[id] = wish.weakens
		}
	}
	return zones
}

// lookAgain has the next sync look at all that waits for somebody's word, together,
// and reports whether anything does: a sweep has come to it in parts, and what was
// approved may be the whole.
func (w delayed) lookAgain() bool {
	zones, tokens := again(w.zones), again(w.tokens)
	return zones || tokens
}

func again[K comparable](waiting map[K]wish) (any bool) {
	for k, wish := range waiting {
		if wish.guard == guardLimit || wish.guard == guardApproval {
			wish.approved = unasked
			waiting[k], any = wish, true
		}
	}
	return any
}

// unasked stands for no approvals that there can be.
const unasked = "\x00"

// wordsOf stands for all that was approved.
func wordsOf(facts diff.Facts) string {
	return strings.Join(slices.Sorted(maps.Keys(facts.Approved)), " ")
}

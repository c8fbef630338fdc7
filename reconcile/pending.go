package reconcile

import (
	"iter"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// pending are the zones, or the tokens by their keys, that a run left unfinished:
// unreadable, failed or not reached. The next sync looks at such a one again,
// then the second after that, then the fourth, and so on until it works; a sweep
// looks at all of them anyway.
type pending[K comparable] map[K]wait

// wait counts syncs.
type wait struct {
	gap  int // between the last try and the next
	left int // until the next; 1 is the coming one
}

// longestGap bounds how many syncs may pass between two tries.
const longestGap = 64

// due reports whether the coming sync should look at a zone or token.
func (p pending[K]) due(k K) bool { return p[k].left == 1 }

// after returns what is pending, of all that is declared, after a run over scope.
func (p pending[K]) after(declared, inScope func(K) bool, unfinished map[K]bool, sync bool) pending[K] {
	left := pending[K]{}
	for k, w := range p {
		switch {
		case !declared(k):
		case inScope(k):
			if !unfinished[k] {
				continue
			}
			if sync && p.due(k) {
				gap := min(2*w.gap, longestGap)
				w = wait{gap: gap, left: gap}
			}
			left[k] = w
		default:
			if sync && w.left > 1 {
				w.left--
			}
			left[k] = w
		}
	}
	for k := range unfinished {
		if _, known := p[k]; !known && declared(k) && inScope(k) {
			left[k] = wait{gap: 1, left: 1}
		}
	}
	return left
}

// postpone notes what a run left unfinished.
func (r *Reconciler) postpone(report *Report, state, scoped desired.State, sync bool) {
	zones, tokens := leftOver(report)
	inScope, all, asked := among(zoneIDs(scoped)), tokenKeys(state), tokenKeys(scoped)
	r.pending = r.pending.after(r.fleetOf(state).declares, inScope, zones, sync)
	r.pendingTokens = r.pendingTokens.after(has(all), has(asked), tokens, sync)
}

// among returns whether something is one of some.
func among[K comparable](some iter.Seq[K]) func(K) bool {
	set := map[K]bool{}
	for k := range some {
		set[k] = true
	}
	return has(set)
}

func has[K comparable](set map[K]bool) func(K) bool { return func(k K) bool { return set[k] } }

// leftOver returns the zones and tokens of a report that another try may help.
func leftOver(report *Report) (zones map[edge.ZoneID]bool, tokens map[string]bool) {
	zones, tokens = map[edge.ZoneID]bool{}, map[string]bool{}
	for _, problem := range report.Plan.Problems {
		if problem.State.Unread() || problem.State == diff.Undelivered {
			zones[problem.ZoneID], tokens[problem.Token] = true, true
		}
	}
	for _, result := range report.Results {
		if result.Outcome == Failed || result.Outcome == NotStarted {
			zones[result.Change.ZoneID], tokens[result.Change.Token] = true, true
		}
	}
	return zones, tokens
}

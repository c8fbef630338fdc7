package reconcile

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// pending are the zones that a run left unfinished: unreadable, failed or not
// reached. The next sync looks at such a zone again, then the second after that,
// then the fourth, and so on until it works; a sweep looks at all of them anyway.
type pending map[edge.ZoneID]wait

// wait counts syncs.
type wait struct {
	gap  int // between the last try and the next
	left int // until the next; 1 is the coming one
}

// longestGap bounds how many syncs may pass between two tries.
const longestGap = 64

// due reports whether the coming sync should look at a zone.
func (p pending) due(zone edge.ZoneID) bool { return p[zone].left == 1 }

// after returns what is pending after a run over scoped, a part of state.
func (p pending) after(report *Report, state, scoped desired.State, sync bool) pending {
	unfinished := unfinished(report)
	inScope := map[edge.ZoneID]bool{}
	for zone := range zoneIDs(scoped) {
		inScope[zone] = true
	}
	left := pending{}
	for zone := range zoneIDs(state) {
		w, known := p[zone]
		switch {
		case !inScope[zone]:
			if sync && w.left > 1 {
				w.left--
			}
		case !unfinished[zone]:
			known = false
		case !known:
			w, known = wait{gap: 1, left: 1}, true
		case sync && p.due(zone):
			gap := min(2*w.gap, longestGap)
			w = wait{gap: gap, left: gap}
		}
		if known {
			left[zone] = w
		}
	}
	return left
}

// unfinished returns the zones of a report that another try may help.
func unfinished(report *Report) map[edge.ZoneID]bool {
	zones := map[edge.ZoneID]bool{}
	for _, problem := range report.Plan.Problems {
		if problem.State == diff.Unknown && problem.ZoneID != "" {
			zones[problem.ZoneID] = true
		}
	}
	for _, result := range report.Results {
		if result.Outcome == Failed || result.Outcome == NotStarted {
			zones[result.Change.ZoneID] = true
		}
	}
	return zones
}

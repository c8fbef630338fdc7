package status

import (
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// The states of declared tokens, and orphans beside them.
const (
	tokenInSync   = "in_sync"
	tokenToCreate = "to_create"
	tokenRefused  = "refused"
	tokenOrphan   = "orphan"
)

var tokenStates = []string{
	tokenInSync, tokenToCreate, tokenRefused,
	string(diff.Unknown), string(diff.Quarantined), string(diff.Undelivered), tokenOrphan,
}

// tokenCounts counts tokens by what a run left them as.
func tokenCounts(r reconcile.Report) map[string]int {
	counts := map[string]int{}
	attention := 0
	for _, p := range r.Plan.Problems {
		if p.Level() == edge.LevelCredential {
			counts[string(p.State)]++
			attention++
		}
	}
	planned := map[string]bool{}
	for _, c := range r.Plan.Changes {
		switch {
		case c.Level() != edge.LevelCredential:
		case c.Action() == diff.ActionOrphan:
			counts[tokenOrphan]++
		case c.Refused != nil:
			counts[tokenRefused]++
			attention++
		default:
			planned[c.Token] = true
			counts[tokenToCreate]++
		}
	}
	for _, result := range r.Results {
		if result.Change.Level() != edge.LevelCredential || !planned[result.Change.Token] {
			continue
		}
		switch result.Outcome {
		case reconcile.Converged:
			counts[tokenToCreate]--
		case reconcile.Quarantined:
			counts[tokenToCreate]--
			counts[string(diff.Quarantined)]++
			attention++
		default: // it is still to be created
		}
	}
	counts[tokenInSync] = r.Plan.Summary.Tokens - attention - counts[tokenToCreate]
	return counts
}

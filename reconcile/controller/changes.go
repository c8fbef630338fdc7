package controller

import (
	"errors"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// changes keeps what the newest commit that zones were looked at for does to each of them.
type changes struct {
	commit string
	zones  map[edge.Scope]diff.Direction
}

// note keeps what a look because of a commit has planned for a zone; a look that found it
// as declared leaves what was planned before.
func (c *changes) note(commit string, zone edge.Scope, planned []diff.Change) {
	if c.commit != commit {
		*c = changes{commit, map[edge.Scope]diff.Direction{}}
	}
	for _, change := range planned {
		c.zones[zone] = diff.Combine(c.zones[zone], change.Direction)
	}
}

// count counts the zones of a commit; nil where none is known.
func (c *changes) count(commit string) *inspect.Changes {
	if commit != c.commit || len(c.zones) == 0 {
		return nil
	}
	n := &inspect.Changes{Zones: len(c.zones)}
	for _, direction := range c.zones {
		switch direction {
		case diff.Weakens:
			n.Weakened++
		case diff.Strengthens:
			n.Strengthened++
		default: // neither
		}
	}
	return n
}

// fixOf is what a person can do about a commit that is held: what the error advises, or to
// take the commit back.
func fixOf(p reconcile.Proposal, held reconcile.Held) string {
	var advised interface{ Advice() string }
	if errors.As(p.Err, &advised) && advised.Advice() != "" {
		return bounded(advised.Advice())
	}
	if p.Commit == "" {
		return ""
	}
	fix := "git revert " + p.Commit[:min(len(p.Commit), 12)] + " and push, or "
	if p.Err == nil && len(held.Problems) == 0 { // it declares too little
		return fix + "release it: seawall apply --allow-shrink"
	}
	return fix + "push a commit that corrects it"
}

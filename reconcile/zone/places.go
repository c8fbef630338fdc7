package zone

import (
	"context"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

// Places are the entry points of a zone, by phase. That of deployments has a place of its own
// in a [Sight]: it is read of each zone. Of the others only those are read in which something
// is declared, or is to be removed, one after another.
type Places map[edge.Phase]diff.Observed[edge.Ruleset]

// otherPhases are those of a zone beside the one of deployments.
func otherPhases(z desired.Zone, removable diff.Pruning) []edge.Phase {
	return planner.Phases(z, removable)[1:]
}

// readPlaces reads the entry points of phases. The error is the end of the context.
func readPlaces(ctx context.Context, r edge.Reader, scope edge.Scope, phases []edge.Phase) (Places, error) {
	if len(phases) == 0 {
		return nil, nil
	}
	places := Places{}
	for _, phase := range phases {
		value, err := r.EntryPoint(ctx, scope, phase)
		if err != nil && ctx.Err() != nil {
			return places, context.Cause(ctx)
		}
		places[phase] = diff.Observed[edge.Ruleset]{Value: value, Err: err}
	}
	return places, nil
}

// Live is a sight of a zone as what a plan is made from.
func (s Sight) Live(account edge.AccountID, scope edge.Scope) diff.Live {
	live := diff.Live{
		Accounts:    map[edge.AccountID]diff.AccountLive{account: s.Account},
		EntryPoints: map[edge.Place]diff.Observed[edge.Ruleset]{scope.At(edge.PhaseFirewallManaged): s.EntryPoint},
	}
	for phase, observed := range s.Others {
		live.EntryPoints[scope.At(phase)] = observed
	}
	return live
}

// Covers reports whether all entry points were read that a plan of a zone needs: a newer
// declaration may need more of them.
func (s Sight) Covers(z desired.Zone, removable diff.Pruning) bool {
	return !slices.ContainsFunc(otherPhases(z, removable), func(phase edge.Phase) bool {
		_, read := s.Others[phase]
		return !read
	})
}

// sightOf is what was seen of a zone, among many.
func (a All) sightOf(account edge.AccountID, z desired.Zone, removable diff.Pruning) Sight {
	s := Sight{Account: a.Live.Accounts[account], EntryPoint: a.Live.EntryPoints[z.Scope.At(edge.PhaseFirewallManaged)], At: a.At[z.Scope]}
	for _, phase := range otherPhases(z, removable) {
		if observed, read := a.Live.EntryPoints[z.Scope.At(phase)]; read {
			s.set(phase, observed)
		}
	}
	return s
}

// at is the entry point of a phase.
func (s Sight) at(phase edge.Phase) diff.Observed[edge.Ruleset] {
	if phase == "" || phase == edge.PhaseFirewallManaged {
		return s.EntryPoint
	}
	return s.Others[phase]
}

// set has another entry point in the place of what was seen, in no other sight.
func (s *Sight) set(phase edge.Phase, observed diff.Observed[edge.Ruleset]) {
	if phase == "" || phase == edge.PhaseFirewallManaged {
		s.EntryPoint = observed
		return
	}
	s.Others = maps.Clone(s.Others)
	if s.Others == nil {
		s.Others = Places{}
	}
	s.Others[phase] = observed
}

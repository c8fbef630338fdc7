package zone

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Seen is what was seen of the entry point of a phase.
type Seen struct {
	Phase edge.Phase
	diff.Observed[edge.Ruleset]
	// At is when it was asked for; zero: not at all, or not since it was written to.
	At time.Time
}

// Places are what was seen of a zone: one for each of [planner.Phases], in this order.
type Places []Seen

// Of is what was seen of a phase; false where it was not looked at.
func (p Places) Of(phase edge.Phase) (Seen, bool) {
	for _, seen := range p {
		if seen.Phase == phase {
			return seen, true
		}
	}
	return Seen{}, false
}

// Answered reports whether an entry point was read, or is known not to be there.
func Answered(err error) bool { return err == nil || errors.Is(err, edge.ErrEntryPointNotFound) }

// unread are entry points that were not asked for, and why.
func unread(phases []edge.Phase, err error) Places {
	places := make(Places, len(phases))
	for i, phase := range phases {
		places[i] = Seen{Phase: phase, Observed: diff.Observed[edge.Ruleset]{Err: err}}
	}
	return places
}

// readPlaces reads the entry points of phases, one after another. Where one cannot be read the
// others are not asked for: most often that is for the whole zone. The error is the end of the
// context.
func readPlaces(ctx context.Context, r edge.Reader, scope edge.Scope, phases []edge.Phase, now func() time.Time) (Places, error) {
	places := make(Places, 0, len(phases))
	for i, phase := range phases {
		at := now()
		value, err := r.EntryPoint(ctx, scope, phase)
		if err != nil && ctx.Err() != nil {
			return places, context.Cause(ctx)
		}
		places = append(places, Seen{phase, diff.Observed[edge.Ruleset]{Value: value, Err: err}, at})
		if !Answered(err) {
			return append(places, unread(phases[i+1:], err)...), nil
		}
	}
	return places, nil
}

// Err is why not all of a zone is known; nil where the platform has answered for each place.
func (s Sight) Err() error { return s.Places.err() }

func (p Places) err() error {
	for _, seen := range p {
		if !Answered(seen.Err) {
			return seen.Err
		}
	}
	return nil
}

// Failed is why nothing of a zone is known; nil where the platform has answered for a place.
func (s Sight) Failed() error { return s.Places.failed() }

func (p Places) failed() error {
	for _, seen := range p {
		if Answered(seen.Err) {
			return nil
		}
	}
	return p.err()
}

// Whole reports whether all of a zone was read, and nothing was written to it since.
func (s Sight) Whole() bool {
	for _, seen := range s.Places {
		if seen.At.IsZero() {
			return false
		}
	}
	return s.Err() == nil
}

// Covers reports whether all entry points were read that a plan of a zone needs: a newer
// declaration may need more of them.
func (s Sight) Covers(z desired.Zone, removable diff.Pruning) bool {
	return !slices.ContainsFunc(planner.Phases(z, removable), func(phase edge.Phase) bool {
		_, read := s.Places.Of(phase)
		return !read
	})
}

// Live is a sight of a zone as what a plan is made from.
func (s Sight) Live(account edge.AccountID, scope edge.Scope) diff.Live {
	live := newLive()
	s.into(&live, account, scope)
	return live
}

// lives are spare ones, to plan single zones with: a map has room for eight, also for one zone.
var lives = sync.Pool{New: func() any { live := newLive(); return &live }}

func newLive() diff.Live {
	return diff.Live{Accounts: map[edge.AccountID]diff.AccountLive{}, EntryPoints: map[edge.Place]diff.Observed[edge.Ruleset]{}, Plans: map[edge.Scope]string{}}
}

// into fills in an empty one.
func (s Sight) into(live *diff.Live, account edge.AccountID, scope edge.Scope) {
	live.Accounts[account], live.Ahead = s.Account, s.Ahead
	for _, seen := range s.Places {
		live.EntryPoints[scope.At(seen.Phase)] = seen.Observed
	}
	if s.Plan != "" {
		live.Plans[scope] = s.Plan
	}
}

// spare gives one back that nothing has any more.
func spare(live *diff.Live) {
	clear(live.Accounts)
	clear(live.EntryPoints)
	clear(live.Plans)
	live.Ahead = nil
	lives.Put(live)
}

// set has another entry point in the place of what was seen, in no other sight.
func (s *Sight) set(seen Seen) {
	s.Places = slices.DeleteFunc(slices.Clone(s.Places), func(other Seen) bool { return other.Phase == seen.Phase })
	s.Places = append(s.Places, seen)
}

// sightOf is what was seen of a zone, among many.
func (a All) sightOf(account edge.AccountID, z desired.Zone, removable diff.Pruning) Sight {
	s := Sight{Account: a.Live.Accounts[account], Plan: a.Live.Plans[z.Scope], Ahead: a.ahead(account, z)}
	for _, phase := range planner.Phases(z, removable) {
		if observed, read := a.Live.EntryPoints[z.Scope.At(phase)]; read {
			s.Places = append(s.Places, Seen{phase, observed, a.At[z.Scope.At(phase)]})
		}
	}
	return s
}

// Read reports whether the platform has answered for all that a plan of a zone needs.
func (a All) Read(z desired.Zone, removable diff.Pruning) bool {
	s := a.sightOf("", z, removable)
	return s.Covers(z, removable) && s.Err() == nil
}

// Unread notes why nothing of a zone is known.
func (a All) Unread(z desired.Zone, removable diff.Pruning, err error) {
	a.put(z.Scope, unread(planner.Phases(z, removable), err))
}

// drop forgets what entry points of a zone were before its changes were made: nothing is planned
// from that any more. That the platform has answered for them stays.
func (a All) drop(scope edge.Scope, made []reconcile.Result) {
	for _, result := range made {
		at := scope.At(ruleOf(result.Change).Target.Phase)
		if seen, read := a.Live.EntryPoints[at]; read {
			a.Live.EntryPoints[at] = diff.Observed[edge.Ruleset]{Err: seen.Err}
		}
	}
}

func (a All) put(scope edge.Scope, places Places) {
	for _, seen := range places {
		at := scope.At(seen.Phase)
		a.Live.EntryPoints[at], a.At[at] = seen.Observed, seen.At
	}
}

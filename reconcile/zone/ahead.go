package zone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
)

// Looks has what was seen of the phases of zones that run before those of their deployments. It
// is the ground for no write, and no failure of it is one of a zone. Of a zone without rules
// that matter it keeps when it was looked at. It is safe for concurrent use; make it with
// [NewLooks]. A nil one knows of no phase.
type Looks struct {
	looking reconcile.Looking
	now     func() time.Time

	mu    sync.Mutex
	zones map[edge.Scope]looked
	// The platform did not answer so many looks in a row, the last for this reason. Where those
	// are too many, no one looks before a time.
	down   int
	failed error
	until  time.Time
}

// looked is what was seen of one zone.
type looked struct {
	// at is when all of it was looked at; zero where that is still to be done.
	at time.Time
	// places are phases with rules that matter, those that could not be read, and those that
	// were read at another time; nil for none.
	places map[edge.Phase]diff.Ahead
}

// mostDown is after how many looks in a row without an answer of the platform it is spared more
// of them for a while: each takes all its retries.
const mostDown = 4

// NewLooks returns one that has looked nowhere yet.
func NewLooks(looking reconcile.Looking, now func() time.Time) *Looks {
	return &Looks{looking: looking, now: now, zones: map[edge.Scope]looked{}}
}

// Of is what was seen of a zone: an entry for each phase that is looked at. It asks nothing.
func (l *Looks) Of(zone desired.Zone) map[edge.Place]diff.Ahead {
	if l == nil {
		return nil
	}
	phases := l.looking.At(zone)
	if len(phases) == 0 {
		return nil
	}
	all := make(map[edge.Place]diff.Ahead, len(phases)+1) // and that of the account
	for _, phase := range phases {
		all[zone.Scope.At(phase)], _ = l.At(zone.Scope.At(phase))
	}
	return all
}

// At is what was seen of a place of a zone with deployments, or why nothing was; false where no
// one looks there. It asks nothing.
func (l *Looks) At(place edge.Place) (seen diff.Ahead, looked bool) {
	if !slices.Contains(l.looking.Phases, place.Phase) {
		return seen, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.zones[place.Scope]
	seen, own := known.places[place.Phase]
	switch {
	case own:
	case !known.at.IsZero():
		seen.At = known.at
	case l.failed != nil && l.now().Before(l.until):
		seen.Err = fmt.Errorf("not asked after %d unavailable answers in a row: %w", l.down, l.failed)
	default:
		seen.Err = diff.ErrNotYet
	}
	return seen, true
}

// Forget forgets zones; see [Forget].
func (l *Looks) Forget(gone []edge.Scope, most int, declared func(edge.Scope) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	Forget(l.zones, gone, most, declared)
}

// Forget takes zones that are gone out of what is known of zones. Where that is more than there may
// be, it takes out all that are not declared: a look may have put one there that was gone by then.
func Forget[T any](known map[edge.Scope]T, gone []edge.Scope, most int, declared func(edge.Scope) bool) {
	for _, id := range gone {
		delete(known, id)
	}
	if len(known) > most {
		maps.DeleteFunc(known, func(id edge.Scope, _ T) bool { return !declared(id) })
	}
}

// due reports whether a zone was not looked at since a time, and may be now.
func (l *Looks) due(zone desired.Zone, since time.Time) bool {
	if l == nil || len(l.looking.At(zone)) == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.zones[zone.Scope].at.Before(since) && !l.now().Before(l.until)
}

// look looks at a zone where that was not done since a time, and returns how many requests it
// has made. What could not be read keeps what was seen of it before. The error is the end of
// the context.
func (l *Looks) look(ctx context.Context, r edge.Reader, zone desired.Zone, since time.Time) (asked int, err error) {
	if !l.due(zone, since) {
		return 0, nil
	}
	places, err := readPlaces(ctx, r, zone.Scope, l.looking.At(zone), l.now)
	if err != nil {
		return 0, err
	}
	before, failed := l.Of(zone), places.err()
	found := map[edge.Phase]diff.Ahead{}
	for _, place := range places {
		if !place.At.IsZero() {
			asked++
		}
		seen := diff.Ahead{Observed: diff.Observed[edge.Ruleset]{Err: place.Err}}
		if Answered(place.Err) {
			var err error
			seen, err = mattering(place.Value, before[zone.Scope.At(place.Phase)], func(id edge.RulesetID) (edge.Ruleset, error) {
				asked++
				return r.Ruleset(ctx, zone.Scope, id)
			})
			seen.At, failed = place.At, cmp.Or(failed, err)
		}
		if ctx.Err() != nil {
			return asked, context.Cause(ctx)
		}
		found[place.Phase] = seen
	}
	l.put(zone.Scope, found, failed)
	return asked, nil
}

// put keeps what was seen. What failed and may pass is looked at again with the next sweep.
func (l *Looks) put(id edge.Scope, found map[edge.Phase]diff.Ahead, failed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	passing := failed != nil && !lasting(failed)
	if l.failed = failed; !errors.Is(failed, edge.ErrUnavailable) {
		l.down, l.failed = 0, nil
	} else if l.down++; l.down >= mostDown {
		l.until = now.Add(retry.Account.Most)
	}
	before := l.zones[id]
	after := looked{at: now}
	if passing {
		after.at = before.at
	}
	for phase, seen := range found {
		if seen.Err != nil {
			seen = before.kept(phase, seen.Err)
		} else if len(seen.Value.Rules) == 0 && !passing {
			continue // it has the time of the zone
		}
		if after.places == nil {
			after.places = map[edge.Phase]diff.Ahead{}
		}
		after.places[phase] = seen
	}
	l.zones[id] = after
}

// kept is what was seen of a phase before, with why it could not be read again.
func (k looked) kept(phase edge.Phase, err error) diff.Ahead {
	seen, own := k.places[phase]
	if !own && !k.at.IsZero() {
		seen.At = k.at
	}
	return unreadAgain(seen, err)
}

// unreadAgain is what was seen, with why it could not be read again; the error alone where it
// was never read.
func unreadAgain(seen diff.Ahead, err error) diff.Ahead {
	if seen.At.IsZero() {
		return diff.Ahead{Observed: diff.Observed[edge.Ruleset]{Err: err}}
	}
	seen.Since = err
	return seen
}

// lasting reports whether the same will be answered until a person does something.
func lasting(err error) bool {
	for _, is := range []error{edge.ErrForbidden, edge.ErrNotOffered, edge.ErrNotFound, edge.ErrInvalid} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// PlaceAhead reads what matters of an earlier phase of a zone, for who asks once.
func PlaceAhead(ctx context.Context, r edge.Reader, at edge.Place) (seen diff.Ahead) {
	entry, err := r.EntryPoint(ctx, at.Scope, at.Phase)
	if !Answered(err) {
		seen.Err = err
		return seen
	}
	seen, _ = mattering(entry, seen, func(id edge.RulesetID) (edge.Ruleset, error) { return r.Ruleset(ctx, at.Scope, id) })
	return seen
}

// mattering is what of an entry point may turn off what comes later. read reads a ruleset that
// it executes: one without such rules is left out, and one that cannot be read is as it was
// before. The error is why.
func mattering(entry edge.Ruleset, before diff.Ahead, read func(edge.RulesetID) (edge.Ruleset, error)) (seen diff.Ahead, failed error) {
	seen = diff.Ahead{Observed: diff.Observed[edge.Ruleset]{Value: entry}}
	seen.Value.Rules = nil
	executed := map[edge.RulesetID]diff.Observed[edge.Ruleset]{}
	for _, rule := range entry.Rules {
		if turnsOff(rule) {
			seen.Value.Rules = append(seen.Value.Rules, rule)
			continue
		}
		if rule.Action != edge.ActionExecute || !rule.IsEnabled() || rule.ActionParameters == nil {
			continue
		}
		id := rule.ActionParameters.ID
		full, known := executed[id]
		if !known {
			if full.Value, full.Err = read(id); full.Err != nil {
				failed = cmp.Or(failed, full.Err)
				if was, known := before.Executed[id]; known {
					full = was
				}
			}
			full.Value.Rules = slices.DeleteFunc(slices.Clone(full.Value.Rules), func(r edge.Rule) bool { return !turnsOff(r) })
			executed[id] = full
		}
		if full.Err != nil || len(full.Value.Rules) > 0 {
			seen.Value.Rules = append(seen.Value.Rules, rule)
		}
	}
	maps.DeleteFunc(executed, func(_ edge.RulesetID, o diff.Observed[edge.Ruleset]) bool {
		return o.Err == nil && len(o.Value.Rules) == 0
	})
	if len(executed) > 0 {
		seen.Executed = executed
	}
	if failed != nil {
		seen.Since = fmt.Errorf("a ruleset that is executed there: %w", failed)
	}
	return seen, failed
}

// turnsOff reports whether a rule of an earlier phase may turn deployments off. One whose
// parameters are of no known form may.
func turnsOff(rule edge.Rule) bool {
	skip, is, err := rule.Skip()
	return is && (err != nil || skip.SkipsPhase(edge.PhaseFirewallManaged))
}

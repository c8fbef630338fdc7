package zone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
)

// accountAhead is what was seen of an account's own custom phase, which runs before the
// deployments of its zones. read is of who has the turn, and all else is under the lock of the
// account.
type accountAhead struct {
	turn *turn
	read map[edge.RulesetID]edge.Ruleset // what was read, each again only when the list has another version of it

	seen   diff.Ahead
	alone  map[edge.Place]diff.Ahead // seen at its place, for all zones; nil: not made since seen was set
	by     time.Time                 // when the list was asked for that this is by; zero: not looked at
	errAt  time.Time                 // when it failed last; zero: it did not, or not in a way that passes
	strike int                       // failures in a row
}

// errOwnList: an account's entry points are known from its own list alone.
var errOwnList = fmt.Errorf("the account's rulesets may not be listed: %w", edge.ErrForbidden)

// Look reads the entry point of an account's custom phase, and the rulesets that it executes:
// once for all zones, where the account's list as last read has such an entry point, and only
// what has another version than before. Without one it asks nothing. It returns how many
// requests it has made. What could not be read is in [Accounts.Ahead]; the error is the end of
// the context. While another zone is at it for long, what was seen before counts.
func (a *Accounts) Look(ctx context.Context, id edge.AccountID) (asked int, err error) {
	known := a.of(id)
	if !known.lookDue(a.now()) {
		return 0, nil
	}
	switch err := known.ahead.turn.take(ctx, a.now); {
	case errors.Is(err, ErrBusy):
		return 0, nil
	case err != nil:
		return 0, err
	}
	defer known.ahead.turn.give()
	if !known.lookDue(a.now()) { // it was done meanwhile
		return 0, nil
	}
	known.mu.Lock()
	listed, by, byZone := known.listed, known.at, known.byZone
	known.mu.Unlock()
	seen, failed := diff.Ahead{}, errOwnList
	if !byZone {
		seen, failed = known.ahead.readFrom(listed, func(of edge.RulesetID) (edge.Ruleset, error) {
			asked++
			return a.reader.Ruleset(ctx, edge.AccountScope(id), of)
		})
	}
	if ctx.Err() != nil {
		return asked, context.Cause(ctx)
	}
	known.noteAhead(seen, failed, asked > 0, by, a.now())
	return asked, nil
}

// lookDue reports whether there is a list that was not looked through yet, or a failure that
// is to be tried again.
func (known *account) lookDue(now time.Time) bool {
	known.mu.Lock()
	defer known.mu.Unlock()
	switch ahead := &known.ahead; {
	case known.at.IsZero():
		return false
	case !ahead.by.Equal(known.at):
		return true
	default:
		return !ahead.errAt.IsZero() && now.Sub(ahead.errAt) >= retry.Account.Delay(ahead.strike)
	}
}

// noteAhead keeps what was seen by a list, and why not all of it could be. fresh says that
// something was read for it: else it stays the same value, by which plans know that nothing
// differs.
func (known *account) noteAhead(seen diff.Ahead, failed error, fresh bool, by, now time.Time) {
	known.mu.Lock()
	defer known.mu.Unlock()
	ahead := &known.ahead
	ahead.alone = nil
	switch {
	case failed == nil && !fresh && ahead.seen.Err == nil && ahead.seen.Since == nil && len(ahead.seen.Value.Rules) == len(seen.Value.Rules):
		ahead.seen.At = by
	case failed == nil || seen.Since != nil:
		ahead.seen, ahead.seen.At = seen, by
	default:
		ahead.seen = unreadAgain(ahead.seen, failed)
	}
	ahead.by, ahead.errAt = by, time.Time{}
	if failed == nil {
		ahead.strike = 0
	} else if !lasting(failed) {
		ahead.errAt, ahead.strike = now, ahead.strike+1
	}
}

// readFrom is what matters of the custom phase of an account with such a list. read reads one
// ruleset; who calls it has the turn.
func (a *accountAhead) readFrom(listed []edge.Ruleset, read func(edge.RulesetID) (edge.Ruleset, error)) (seen diff.Ahead, failed error) {
	i := slices.IndexFunc(listed, func(r edge.Ruleset) bool {
		return r.Kind == edge.KindRoot && r.Phase == edge.PhaseFirewallCustom
	})
	if i < 0 {
		a.read = nil
		return seen, nil
	}
	versions := map[edge.RulesetID]string{}
	for _, r := range listed {
		versions[r.ID] = r.Version
	}
	kept := map[edge.RulesetID]edge.Ruleset{}
	once := func(id edge.RulesetID) (edge.Ruleset, error) {
		full, known := a.read[id]
		if !known || full.Version != versions[id] || full.Version == "" {
			var err error
			if full, err = read(id); err != nil {
				return full, err
			}
			full.Rules = slices.DeleteFunc(slices.Clone(full.Rules), func(r edge.Rule) bool { return !turnsOff(r) && r.Action != edge.ActionExecute })
		}
		kept[id] = full
		return full, nil
	}
	entry, err := once(listed[i].ID)
	if err != nil {
		return seen, err
	}
	seen, failed = mattering(entry, a.seen, once)
	a.read = kept
	return seen, failed
}

// AccountAhead reads what matters of an account's custom phase, by its list of rulesets, for who
// asks once.
func AccountAhead(ctx context.Context, r edge.Reader, id edge.AccountID, listed []edge.Ruleset) diff.Ahead {
	var none accountAhead
	seen, failed := none.readFrom(listed, func(of edge.RulesetID) (edge.Ruleset, error) { return r.Ruleset(ctx, edge.AccountScope(id), of) })
	if seen.Since == nil {
		seen.Err = failed
	}
	return seen
}

// Ahead is what was seen of an account's custom phase; [diff.ErrNotYet] where nobody has looked.
// It asks nothing.
func (a *Accounts) Ahead(id edge.AccountID) diff.Ahead {
	known := a.of(id)
	known.mu.Lock()
	defer known.mu.Unlock()
	return known.ahead.last()
}

// last is what was seen; the caller holds the lock of the account.
func (a *accountAhead) last() diff.Ahead {
	if a.by.IsZero() {
		return diff.Ahead{Observed: diff.Observed[edge.Ruleset]{Err: diff.ErrNotYet}}
	}
	return a.seen
}

// WithAhead adds what was seen of an account's custom phase to what was seen of a zone's. Where
// that is nil, all zones share what it returns, and no one may write to it.
func (a *Accounts) WithAhead(id edge.AccountID, all map[edge.Place]diff.Ahead) map[edge.Place]diff.Ahead {
	place := edge.AccountScope(id).At(edge.PhaseFirewallCustom)
	known := a.of(id)
	known.mu.Lock()
	defer known.mu.Unlock()
	if all != nil {
		all[place] = known.ahead.last()
		return all
	}
	if known.ahead.alone == nil {
		known.ahead.alone = map[edge.Place]diff.Ahead{place: known.ahead.last()}
	}
	return known.ahead.alone
}

package controller

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
)

// rulesetLoop records the versions of managed rulesets that workers have read, and tells what a
// new one means, in a goroutine of its own: to compare ten thousand zones takes longer than a
// zone may wait.
type rulesetLoop struct {
	radar   reconcile.Radar
	control *control.Control
	reports *reports
	lanes   *lanes
	poked   reconcile.Pokes

	mu      sync.Mutex
	current map[rulesetKey]rulesetRead // what was read last
	pending map[rulesetKey]bool        // that are to be recorded; true: another version was read before
}

type rulesetKey struct {
	account edge.AccountID
	ruleset edge.RulesetID
}

// rulesetRead is a managed ruleset as it was read.
type rulesetRead struct {
	ruleset edge.Ruleset
	listed  []edge.Ruleset // of the account
	at      time.Time
}

// same reports whether two reads are one: workers share what was read, and its rules with it.
func (r rulesetRead) same(o edge.Ruleset) bool {
	a, b := r.ruleset.Rules, o.Rules
	return r.ruleset.Version == o.Version && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// note takes in what a look at a zone has found of its account. It costs next to nothing where
// that is known.
func (l *rulesetLoop) note(account edge.AccountID, live diff.AccountLive, now time.Time) {
	if l.radar.Memory == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, read := range live.Managed {
		key := rulesetKey{account, id}
		before, known := l.current[key]
		if read.Err != nil || known && before.same(read.Value) {
			continue
		}
		l.current[key] = rulesetRead{read.Value, live.Listed.Value, now}
		l.pending[key] = l.pending[key] || known && before.ruleset.Version != read.Value.Version
		l.poked.Poke()
	}
}

// run records what was read until ctx ends. What cannot be recorded is tried again.
func (l *rulesetLoop) run(ctx context.Context) {
	failed := 0
	for ctx.Err() == nil {
		var again <-chan time.Time
		if failed > 0 {
			again = time.After(retry.Ledger.Delay(failed))
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-l.poked:
		}
		failed++
		if l.record(ctx) {
			failed = 0
		}
	}
}

// record records all that is to be, and reports whether it could.
func (l *rulesetLoop) record(ctx context.Context) (all bool) {
	g := l.control.Current()
	if g == nil {
		return true
	}
	for _, key := range l.due(g.State) {
		l.mu.Lock()
		read, fresh := l.current[key], l.pending[key]
		delete(l.pending, key)
		l.mu.Unlock()
		i := slices.IndexFunc(g.State.Accounts, func(a desired.Account) bool { return a.ID == key.account })
		// What is told of it names the commit with each place.
		account := desired.MapOrigins(g.State.Accounts[i], func(o desired.Origin) desired.Origin { return o.At(g.State.Commit) })
		err := l.saw(ctx, account, read, fresh)
		if ctx.Err() == nil {
			l.reports.state(ctx, "rulesets", err)
		}
		if err != nil {
			l.mu.Lock()
			l.pending[key] = l.pending[key] || fresh
			l.mu.Unlock()
			return false
		}
	}
	return true
}

// saw records one, unless the zones of its account are another process's by now.
func (l *rulesetLoop) saw(ctx context.Context, account desired.Account, read rulesetRead, fresh bool) error {
	lane := l.lanes.account(account.Key)
	if lane == nil {
		return nil
	}
	ctx, end, mine := lane.begin(ctx)
	defer end()
	if !mine {
		return nil
	}
	return l.radar.Saw(ctx, account, read.listed, read.ruleset, read.at, fresh)
}

// leave forgets what was read of the accounts of a lane that is another process's now: what that one
// tells of must be no news here when this one reads it again.
func (l *rulesetLoop) leave(g *control.Generation, of *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	theirs := map[edge.AccountID]bool{}
	for _, a := range g.State.Accounts {
		theirs[a.ID] = l.lanes.account(a.Key) == of
	}
	maps.DeleteFunc(l.current, func(key rulesetKey, _ rulesetRead) bool { return theirs[key.account] })
	maps.DeleteFunc(l.pending, func(key rulesetKey, _ bool) bool { return theirs[key.account] })
}

// due are those to be recorded, in an order. Accounts that are not declared are forgotten.
func (l *rulesetLoop) due(state desired.State) []rulesetKey {
	declared := map[edge.AccountID]bool{}
	for _, a := range state.Accounts {
		declared[a.ID] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.current, func(key rulesetKey, _ rulesetRead) bool { return !declared[key.account] })
	maps.DeleteFunc(l.pending, func(key rulesetKey, _ bool) bool { return !declared[key.account] })
	return slices.SortedFunc(maps.Keys(l.pending), func(a, b rulesetKey) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.ruleset, b.ruleset))
	})
}

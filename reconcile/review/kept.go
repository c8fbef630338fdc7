package review

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

// kept is what was read, for pull requests that are read in parts. It is safe for
// concurrent use.
type kept struct {
	now func() time.Time

	mu    sync.Mutex
	reads map[readOf]answer
}

// readOf names what was read: the list of rulesets, one of them or a version of it, or the
// entry point of a phase.
type readOf struct {
	scope   edge.Scope
	list    bool
	ruleset edge.RulesetID
	version string
	phase   edge.Phase
}

// answer is what came of a read.
type answer struct {
	at    time.Time // when it was asked for
	value any
	err   error
}

func (k *kept) get(of readOf, since time.Time) (answer, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	have, ok := k.reads[of]
	return have, ok && !have.at.Before(since)
}

func (k *kept) put(of readOf, a answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reads == nil {
		k.reads = map[readOf]answer{}
	}
	k.reads[of] = a
}

// drop drops what was read before a time, or all of it.
func (k *kept) drop(before time.Time, all bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for of, read := range k.reads {
		if all || read.at.Before(before) {
			delete(k.reads, of)
		}
	}
}

// wanted is what is to be read: the entry points of a state's zones, where they declare
// something or have something that may be removed.
type wanted struct {
	desired.State
	removable map[edge.Scope]diff.Pruning
	looking   reconcile.Looking // what is looked at besides
}

// phases are those of the entry points of a zone that are wanted.
func (w wanted) phases(z desired.Zone) []edge.Phase {
	return slices.Concat(planner.Phases(z, w.removable[z.Scope]), w.looking.At(z))
}

// missing counts the entry points that are wanted and were not read since a time.
func (k *kept) missing(w wanted, since time.Time) (n int) {
	for _, z := range w.EachZone() {
		n += k.missingOf(z.Scope, w.phases(z), since)
	}
	return n
}

func (k *kept) missingOf(scope edge.Scope, phases []edge.Phase, since time.Time) (n int) {
	for _, phase := range phases {
		if _, ok := k.get(readOf{scope: scope, phase: phase}, since); !ok {
			n++
		}
	}
	return n
}

// cut is what is wanted of zones of which something is missing, until so many reads are in it;
// all of it where that is enough. The last zone may go past that.
func (k *kept) cut(w wanted, since time.Time, room int) desired.State {
	if room >= k.missing(w, since) {
		return w.State
	}
	return w.Only(func(_ desired.Account, z desired.Zone) bool {
		n := k.missingOf(z.Scope, w.phases(z), since)
		takes := n > 0 && room > 0
		if takes {
			room -= n
		}
		return takes
	})
}

// keeping reads what is not kept since a time, and keeps it.
type keeping struct {
	*kept
	edge.Reader
	since time.Time
}

func (k keeping) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	return keep(ctx, k, readOf{scope: scope, list: true}, func() ([]edge.Ruleset, error) { return k.Reader.Rulesets(ctx, scope) })
}

func (k keeping) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	return keep(ctx, k, readOf{scope: scope, ruleset: id}, func() (edge.Ruleset, error) { return k.Reader.Ruleset(ctx, scope, id) })
}

// RulesetVersion reads a version of the past, where the platform has them. It never
// changes, so it is kept like any other read.
func (k keeping) RulesetVersion(ctx context.Context, scope edge.Scope, id edge.RulesetID, version string) (edge.Ruleset, error) {
	return keep(ctx, k, readOf{scope: scope, ruleset: id, version: version}, func() (edge.Ruleset, error) {
		return k.Reader.RulesetVersion(ctx, scope, id, version)
	})
}

func (k keeping) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	return keep(ctx, k, readOf{scope: scope, phase: phase}, func() (edge.Ruleset, error) { return k.Reader.EntryPoint(ctx, scope, phase) })
}

// keep returns what was read, or reads it now. A failure that may be another one in
// the next round is not kept.
func keep[T any](ctx context.Context, k keeping, of readOf, read func() (T, error)) (T, error) {
	if have, ok := k.get(of, k.since); ok {
		return have.value.(T), have.err
	}
	at := k.now()
	value, err := read()
	passing := ctx.Err() != nil || errors.Is(err, edge.ErrUnavailable) || errors.Is(err, edge.ErrUnauthenticated)
	if err == nil || !passing {
		k.put(of, answer{at, value, err})
	}
	return value, err
}

package review

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// kept is what was read, for pull requests that are read in parts. It is safe for
// concurrent use.
type kept struct {
	now func() time.Time

	mu    sync.Mutex
	reads map[readOf]answer
}

// readOf names what was read: an account's list, one of its rulesets, or a zone's
// entry point; or what a zone can deploy, and one of these.
type readOf struct {
	account edge.AccountID
	ruleset edge.RulesetID
	zone    edge.ZoneID
	version string
	list    bool // of what the zone can deploy
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

// missing counts the zones of a state that were not read since a time.
func (k *kept) missing(state desired.State, since time.Time) (n int) {
	for _, z := range state.EachZone() {
		if _, ok := k.get(readOf{zone: z.ID}, since); !ok {
			n++
		}
	}
	return n
}

// cut is a state with so many of the zones that are missing, and no others; the very
// state where that is all of them.
func (k *kept) cut(state desired.State, since time.Time, room int) desired.State {
	if room >= k.missing(state, since) {
		return state
	}
	accounts := make([]desired.Account, 0, len(state.Accounts))
	for _, account := range state.Accounts {
		var zones []desired.Zone
		for _, z := range account.Zones {
			if _, ok := k.get(readOf{zone: z.ID}, since); !ok && len(zones) < room {
				zones = append(zones, z)
			}
		}
		room -= len(zones)
		if account.Zones = zones; len(zones) > 0 {
			accounts = append(accounts, account)
		}
	}
	state.Accounts = accounts
	return state
}

// keeping reads what is not kept since a time, and keeps it.
type keeping struct {
	*kept
	Reader edge.Reader
	since  time.Time
}

func (k keeping) AccountRulesets(ctx context.Context, account edge.AccountID) ([]edge.Ruleset, error) {
	return keep(ctx, k, readOf{account: account}, func() ([]edge.Ruleset, error) { return k.Reader.AccountRulesets(ctx, account) })
}

func (k keeping) AccountRuleset(ctx context.Context, account edge.AccountID, id edge.RulesetID) (edge.Ruleset, error) {
	return keep(ctx, k, readOf{account: account, ruleset: id}, func() (edge.Ruleset, error) { return k.Reader.AccountRuleset(ctx, account, id) })
}

func (k keeping) EntryPoint(ctx context.Context, id edge.ZoneID) (edge.Ruleset, error) {
	return keep(ctx, k, readOf{zone: id}, func() (edge.Ruleset, error) { return k.Reader.EntryPoint(ctx, id) })
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

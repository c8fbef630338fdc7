package directory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
)

// fresh is how old an answer about a zone may be when the zone is written.
const fresh = time.Minute

// pageOf is how many zones are on a page of a list, at least.
const pageOf = 50

// Confirm is [Names.Check] directly before a write to a zone: where the platform's last
// answer about the zone is older than a minute, it is asked again. A zone that was found
// by its name is not written unless the platform has confirmed it; a declared id that the
// platform cannot be asked about counts as it is declared.
func (n *Names) Confirm(ctx context.Context, a desired.Account, z desired.Zone) error {
	err := n.Check(a, z)
	calls := n.Of(a.Key)
	if err == nil && calls != nil && z.Scope.Level == edge.LevelAccount && a.ByName {
		return n.confirmAccount(ctx, calls, a, z)
	}
	if err != nil || z.Name == "" || calls == nil || n.confirmed(a, z) {
		return err
	}
	turn := n.turn(a.ID)
	select {
	case <-turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { turn <- struct{}{} }()
	var failed error
	if !n.confirmed(a, z) { // who had the turn may have listed all zones
		failed = n.ask(ctx, calls, a, z)
	}
	if err := n.Check(a, z); err != nil {
		n.Poke()
		return err
	}
	if failed != nil && z.ByName {
		return unconfirmed("zone", z.Scope.ID, z.Name, failed)
	}
	return nil
}

// confirmAccount is Confirm of what an account deploys itself, for an account that was
// found by its name.
func (n *Names) confirmAccount(ctx context.Context, calls edge.Directory, a desired.Account, z desired.Zone) error {
	if listed, _ := n.justListed(a); !listed {
		n.listAccounts(ctx, credential{calls: calls, accounts: []desired.Account{a}})
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := n.Check(a, z); err != nil {
		n.Poke()
		return err
	}
	listed, failed := n.justListed(a)
	if listed {
		return nil
	}
	return unconfirmed("account", string(a.ID), a.Name, failed)
}

// justListed reports whether the platform has just listed an account, and why it could not
// be asked last.
func (n *Names) justListed(a desired.Account) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.facts.accountsOf(a.Key)
	known, ok := l.ids[string(a.ID)]
	return ok && !known.gone && n.Now().Sub(known.at) < fresh, l.failed.err
}

// unconfirmed says that a name could not be confirmed, and why.
func unconfirmed(what, id, name string, failed error) error {
	state := diff.Unknown
	if errors.Is(failed, edge.ErrForbidden) {
		state = diff.Forbidden
	}
	return &diff.NameError{State: state, Message: fmt.Sprintf("confirming that %s %s is still named %q", what, id, name), Hint: diff.HintFor(failed), Cause: failed}
}

// confirmed reports whether the platform need not be asked about a zone.
func (n *Names) confirmed(a desired.Account, z desired.Zone) bool {
	if n.OnlyUndeclared && !z.ByName {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l, now := n.facts.zonesOf(a.ID), n.Now()
	if known, ok := l.ids[z.Scope.ID]; ok && !known.gone {
		return now.Sub(known.at) < fresh
	}
	if z.ByName {
		return false
	}
	asked, before := l.asked[z.Scope.ID]
	return before && now.Sub(asked.at) < believed || l.failed.err != nil && now.Sub(l.failed.at) < retry.Names.Most
}

// ask asks about one zone; or about all of the account, once asking one by one has cost
// as many requests as the list.
func (n *Names) ask(ctx context.Context, calls edge.Directory, a desired.Account, z desired.Zone) error {
	if n.manyAsked(a.ID) {
		return n.askAll(ctx, calls, a.ID, nil)
	}
	_, err := n.askOne(ctx, calls, a.ID, question{name: desired.FoldName(z.Name), id: z.Scope.ID})
	return err
}

func (n *Names) manyAsked(account edge.AccountID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	l, now := n.facts.toZones(account), n.Now()
	if now.Sub(l.since) >= fresh {
		l.since, l.single = now, 0
	}
	l.single++
	return l.single > max(few, l.few())
}

// turn is the right to ask about an account before a write.
func (n *Names) turn(account edge.AccountID) chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	turn := n.turns[account]
	if turn == nil {
		turn = make(chan struct{}, 1)
		turn <- struct{}{}
		n.turns[account] = turn
	}
	return turn
}

package directory

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

const (
	// few is up to how many zones of an account of unknown size are asked for one by one;
	// for more, all zones of the account are listed.
	few = 5
	// lookFor bounds the requests about one account. They may wait for the budget.
	lookFor = 10 * time.Minute
	// atOnce is how many accounts are asked about at once.
	atOnce = 8
)

// Look asks the platform for what is not known of a state or was asked for long ago, and
// returns when to look again; the zero time is never. The accounts are asked about side
// by side: one that does not answer costs the others nothing. What could not be asked is
// in [Names.Check] of the zones concerned.
func (n *Names) Look(ctx context.Context, state desired.State) (next time.Time) {
	asked := n.forAccounts(ctx, state)
	state = n.Resolve(state)
	var found atomic.Bool
	n.together(ctx, len(state.Accounts), func(ctx context.Context, i int) {
		a := state.Accounts[i]
		if calls := n.Of(a.Key); calls != nil && n.forZones(ctx, calls, a) {
			found.Store(true)
		}
	})
	if asked || found.Load() {
		n.save(ctx, n.Resolve(state))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	state = n.facts.resolve(state)
	n.facts.keep(state)
	return n.facts.next(state, func(a desired.Account) bool { return n.Of(a.Key) != nil })
}

// together calls do for so many things, several at once, each with a bound of its own.
func (n *Names) together(ctx context.Context, things int, do func(ctx context.Context, i int)) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range things {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, lookFor)
			defer cancel()
			do(ctx, i)
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails
}

// forAccounts asks for the ids, or the names, of accounts: once for all of one credential.
func (n *Names) forAccounts(ctx context.Context, state desired.State) bool {
	var credentials []credential
	for _, a := range state.Accounts {
		calls := n.Of(a.Key)
		if at, wanted := n.dueAccount(a); calls == nil || !wanted || at.After(n.Now()) {
			continue
		}
		i := slices.IndexFunc(credentials, func(c credential) bool { return c.calls == calls })
		if i < 0 {
			i = len(credentials)
			credentials = append(credentials, credential{calls: calls})
		}
		credentials[i].accounts = append(credentials[i].accounts, a)
	}
	n.together(ctx, len(credentials), func(ctx context.Context, i int) { n.listAccounts(ctx, credentials[i]) })
	return len(credentials) > 0
}

// credential is what is asked for with one credential.
type credential struct {
	calls    edge.Directory
	accounts []desired.Account
}

func (n *Names) listAccounts(ctx context.Context, c credential) {
	at := n.Now()
	all, err := c.calls.Accounts(ctx)
	list := make([]named, len(all))
	for i, account := range all {
		list[i] = named{id: string(account.ID), name: account.Name}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range c.accounts {
		l := n.facts.toAccounts(a.Key)
		if err != nil {
			l.fail(err, n.Now())
			continue
		}
		l.learnAll(list, at)
		l.noteAll([]question{questionOf(a.ByName, a.Name, string(a.ID))}, at)
	}
}

func (n *Names) dueAccount(a desired.Account) (time.Time, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.facts.dueAccount(a)
}

// forZones asks for the ids, or the names, of an account's zones.
func (n *Names) forZones(ctx context.Context, calls edge.Directory, a desired.Account) bool {
	n.mu.Lock()
	questions, limit := n.facts.questions(a, n.Now()), n.facts.zonesOf(a.ID).few()
	n.mu.Unlock()
	switch {
	case len(questions) == 0:
		return false
	case len(questions) > limit:
		_ = n.askAll(ctx, calls, a.ID, questions) // noted with the list
		return true
	}
	unknown := false
	for _, q := range questions {
		usable, err := n.askOne(ctx, calls, a.ID, q)
		if err != nil {
			return true
		}
		unknown = unknown || !usable && q.byName
	}
	if unknown && !n.listed(a.ID) { // to name what may be meant
		_ = n.askAll(ctx, calls, a.ID, nil)
	}
	return true
}

// few is up to how many zones are asked for one by one: as many as the list has pages.
func (l *list) few() int {
	if l.whole.IsZero() {
		return few
	}
	return len(l.ids)/pageOf + 1
}

func (n *Names) listed(account edge.AccountID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.facts.zonesOf(account).whole.IsZero()
}

// askAll lists all zones of an account.
func (n *Names) askAll(ctx context.Context, calls edge.Directory, account edge.AccountID, questions []question) error {
	at := n.Now()
	zones, err := calls.Zones(ctx, edge.ZoneFilter{Account: account})
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.facts.toZones(account)
	if err != nil {
		l.fail(err, n.Now())
		return err
	}
	l.learnAll(namedOf(zones, account), at)
	l.noteAll(questions, at)
	return nil
}

// askOne asks one question, and reports whether the answer is an id that can be used.
func (n *Names) askOne(ctx context.Context, calls edge.Directory, account edge.AccountID, q question) (usable bool, err error) {
	at := n.Now()
	var zones []edge.Zone
	if q.byName {
		zones, err = calls.Zones(ctx, edge.ZoneFilter{Name: q.name, Account: account})
	} else {
		zones, err = zoneOf(ctx, calls, q.id)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.facts.toZones(account)
	if err != nil {
		l.fail(err, n.Now())
		return false, err
	}
	list := namedOf(zones, account)
	if q.byName {
		l.learnName(q.name, slices.DeleteFunc(list, func(z named) bool { return desired.FoldName(z.name) != q.name }), at)
	} else {
		l.learnID(q.id, list, at)
	}
	l.noteAll([]question{q}, at)
	return l.usable(q), nil
}

// zoneOf is the zone with an id, none where the credential does not see it.
func zoneOf(ctx context.Context, calls edge.Directory, id string) ([]edge.Zone, error) {
	switch z, err := calls.Zone(ctx, edge.ZoneID(id)); {
	case errors.Is(err, edge.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	default:
		return []edge.Zone{z}, nil
	}
}

// namedOf are zones of an account. A server may not know the filter.
func namedOf(zones []edge.Zone, account edge.AccountID) []named {
	list := make([]named, 0, len(zones))
	for _, z := range zones {
		if z.Account.ID == account {
			list = append(list, named{string(z.ID), z.Name, z.Tier()})
		}
	}
	return list
}

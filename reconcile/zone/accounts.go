package zone

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
)

// Accounts reads what zones of an account share, once for all of them: the list of
// its rulesets, and the managed rulesets that they deploy, each again only when the
// list has another version of it. It is safe for concurrent use. Make it with
// [NewAccounts].
type Accounts struct {
	// Documented is [diff.AccountLive.Documented] of all accounts. Set it before use.
	Documented bool
	// Urgent has what is read here count as urgent: who is in a hurry may have to wait for
	// what another zone has asked for.
	Urgent bool

	reader edge.Reader
	now    func() time.Time

	mu       sync.Mutex
	accounts map[edge.AccountID]*account
}

// account is what was read of one. Who reads the platform holds its turn; its mutex
// is held for moments.
type account struct {
	turn  *turn
	zones map[edge.Scope]bool                                               // whose own lists were asked for since at; of who has the turn
	alone map[edge.RulesetID]map[edge.RulesetID]diff.Observed[edge.Ruleset] // each of managed by itself, as most zones have it; of who has the turn
	ahead accountAhead

	mu      sync.Mutex
	listed  []edge.Ruleset
	at      time.Time // when the list was asked for; zero for never
	byZone  bool      // it has what zones can deploy, and not all of the account
	managed map[edge.RulesetID]edge.Ruleset

	versions map[diff.RulesetVersion]diff.Observed[edge.Ruleset] // of the past

	err    error // why the last try failed; nil where it did not
	errAt  time.Time
	strike int // failures in a row
}

// NewAccounts returns one that has read nothing yet.
func NewAccounts(reader edge.Reader, now func() time.Time) *Accounts {
	return &Accounts{reader: reader, now: now, accounts: map[edge.AccountID]*account{}}
}

// Live returns the rulesets of a zone's account as listed since a time, and when
// they were asked for. A failure is in what it returns, for this zone and for a while
// for others, for whom nothing was asked: the time is zero. An error is [ErrBusy], or
// that the context has ended.
func (a *Accounts) Live(ctx context.Context, of desired.Account, since time.Time) (diff.AccountLive, time.Time, error) {
	ctx = a.hurried(ctx)
	known := a.of(of.ID)
	if err := known.turn.take(ctx, a.now); err != nil {
		return diff.AccountLive{}, time.Time{}, err
	}
	defer known.turn.give()
	listed, at, err := a.list(ctx, known, of, since)
	if err != nil && ctx.Err() != nil {
		return diff.AccountLive{}, time.Time{}, context.Cause(ctx)
	}
	if err == nil {
		listed = a.more(ctx, known, of, listed)
	}
	live := diff.AccountLive{Listed: diff.Observed[[]edge.Ruleset]{Value: listed, Err: err}, Documented: a.Documented}
	if err != nil {
		return live, at, nil
	}
	refs := deployed(of)
	for _, ref := range refs {
		found, err := rulesets.Find(ref, listed)
		if err != nil {
			continue // the plan says so for each zone
		}
		full, err := a.read(ctx, known, of, found)
		if err != nil && ctx.Err() != nil {
			return diff.AccountLive{}, time.Time{}, context.Cause(ctx)
		}
		if err == nil && len(refs) == 1 {
			live.Managed = known.only(found.ID, full)
			break
		}
		if live.Managed == nil {
			live.Managed = map[edge.RulesetID]diff.Observed[edge.Ruleset]{}
		}
		live.Managed[found.ID] = diff.Observed[edge.Ruleset]{Value: full, Err: err}
	}
	return live, at, nil
}

// only is a managed ruleset by itself, for all zones that deploy no other one. The caller has the
// account's turn.
func (known *account) only(id edge.RulesetID, full edge.Ruleset) map[edge.RulesetID]diff.Observed[edge.Ruleset] {
	if known.alone[id] == nil {
		if known.alone == nil {
			known.alone = map[edge.RulesetID]map[edge.RulesetID]diff.Observed[edge.Ruleset]{}
		}
		known.alone[id] = map[edge.RulesetID]diff.Observed[edge.Ruleset]{id: {Value: full}}
	}
	return known.alone[id]
}

func (a *Accounts) hurried(ctx context.Context) context.Context {
	if a.Urgent {
		return edge.WithClass(ctx, edge.Urgent)
	}
	return ctx
}

// Last returns the rulesets of a zone's account as last read, however long ago; false
// where they were not, or not all that the zone deploys. It never waits.
func (a *Accounts) Last(of desired.Account) (diff.AccountLive, bool) {
	known := a.of(of.ID)
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.at.IsZero() {
		return diff.AccountLive{}, false
	}
	live := diff.AccountLive{
		Listed:  diff.Observed[[]edge.Ruleset]{Value: known.listed},
		Managed: map[edge.RulesetID]diff.Observed[edge.Ruleset]{}, Documented: a.Documented,
		Versions: maps.Clone(known.versions),
	}
	for _, ref := range deployed(of) {
		if found, err := rulesets.Find(ref, known.listed); err == nil {
			full, ok := known.managed[found.ID]
			if !ok {
				return diff.AccountLive{}, false
			}
			live.Managed[found.ID] = diff.Observed[edge.Ruleset]{Value: full}
		}
	}
	return live, true
}

// Named returns the id of a managed ruleset in the account's list as last read, empty where
// it is not in it. It never waits.
func (a *Accounts) Named(of desired.Account, ref desired.RulesetRef) edge.RulesetID {
	of.Zones = nil // whatever they deploy
	last, _ := a.Last(of)
	found, err := rulesets.Find(ref, last.Listed.Value)
	if err != nil {
		return ""
	}
	return found.ID
}

func (a *Accounts) of(id edge.AccountID) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, ok := a.accounts[id]
	if !ok {
		known = &account{turn: newTurn(), ahead: accountAhead{turn: newTurn()}, managed: map[edge.RulesetID]edge.Ruleset{}}
		a.accounts[id] = known
	}
	return known
}

// Hurry has accounts whose last read failed read with the next zone: someone has asked.
func (a *Accounts) Hurry() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range a.accounts {
		known.mu.Lock()
		known.err, known.strike = nil, 0
		known.mu.Unlock()
	}
}

// list returns the list of an account: as it was listed since a time, or the failure
// that a try had just before, or read now. The caller has the account's turn.
func (a *Accounts) list(ctx context.Context, known *account, of desired.Account, since time.Time) ([]edge.Ruleset, time.Time, error) {
	now := a.now()
	known.mu.Lock()
	listed, at, failed, failedAt := known.listed, known.at, known.err, known.errAt
	strikes := known.strike
	known.mu.Unlock()
	policy := retry.Account
	if errors.Is(failed, edge.ErrUnavailable) {
		policy = policy.Within(retry.Away)
	}
	if !at.IsZero() && !at.Before(since) {
		return listed, at, nil
	}
	if failed != nil && now.Sub(failedAt) < policy.Delay(strikes) {
		return nil, time.Time{}, failed
	}
	listed, byZone, err := a.listAnew(ctx, of)
	known.zones = map[edge.Scope]bool{}
	for _, z := range of.Zones[:min(len(of.Zones), 1)] {
		known.zones[z.Scope] = byZone
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil && !onlyAccountLevel(of) {
			known.err, known.errAt, known.strike = err, a.now(), known.strike+1
		}
		return nil, now, err
	}
	known.listed, known.byZone, known.at, known.err, known.strike = listed, byZone, now, nil, 0
	for have := range known.managed {
		if !lists(listed, have) {
			delete(known.managed, have)
			delete(known.alone, have)
		}
	}
	return listed, now, nil
}

// onlyAccountLevel reports whether there is no zone to ask in the place of the account, so
// that a failure says nothing about what zones could list.
func onlyAccountLevel(of desired.Account) bool {
	return len(of.Zones) > 0 && !slices.ContainsFunc(of.Zones, func(z desired.Zone) bool { return z.Scope.Level != edge.LevelAccount })
}

func lists(all []edge.Ruleset, id edge.RulesetID) bool {
	for _, r := range all {
		if r.ID == id {
			return true
		}
	}
	return false
}

// read returns a managed ruleset, from memory where the version listed is the one
// that was read. The caller has the account's turn.
func (a *Accounts) read(ctx context.Context, known *account, of desired.Account, listed edge.Ruleset) (edge.Ruleset, error) {
	known.mu.Lock()
	have, ok := known.managed[listed.ID]
	known.mu.Unlock()
	if ok && have.Version == listed.Version && listed.Version != "" {
		return have, nil
	}
	full, err := a.full(ctx, of, listed.ID)
	if err != nil {
		return edge.Ruleset{}, err
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	known.managed[listed.ID] = full
	delete(known.alone, listed.ID)
	return full, nil
}

// Keep drops accounts that a state does not declare.
func (a *Accounts) Keep(state desired.State) {
	declared := map[edge.AccountID]bool{}
	for _, account := range state.Accounts {
		declared[account.ID] = true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.accounts {
		if !declared[id] {
			delete(a.accounts, id)
		}
	}
}

// deployed returns the managed rulesets that at least one zone of an account deploys.
func deployed(account desired.Account) []desired.RulesetRef {
	used := map[string]bool{}
	for _, zone := range account.Zones {
		for _, d := range zone.Deployments {
			used[d.Ruleset] = true
		}
	}
	var refs []desired.RulesetRef
	for _, ref := range account.Rulesets {
		if used[ref.Key] {
			refs = append(refs, ref)
		}
	}
	return refs
}

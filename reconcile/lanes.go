package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Lane is one credential for rulesets, with the platform that it is for and its budget.
type Lane struct {
	// Name names the credential for people: the keys of its accounts, or "default" for the
	// one of the top level. Credential is its path in the configuration.
	Name, Credential string

	Reader edge.Reader
	Writer edge.Writer // not used by a plan
	// DryRunner asks whether a write would be accepted; nil: the platform has no dry run.
	DryRunner edge.DryRunner

	// Concurrency bounds the requests in flight, by the client of Reader and Writer; zero is 16.
	Concurrency int
	// Budget is what requests are held to; zero is not known. Room returns how many requests
	// may be sent at once so that some are kept; nil is as many as anyone likes.
	Budget diff.Budget
	Room   func(c edge.Class, keep int) int
	// Pause returns for how long the platform has asked to send nothing, 0 for not; nil is
	// not known.
	Pause func() time.Duration
}

// Lanes say by which credential each account is read and written. What one of them does or
// suffers has no effect on the others.
type Lanes struct {
	All []Lane // at least one
	// Of is the index in All by the key of an account, and Rest that of the accounts that
	// are not in it; below zero for none.
	Of   map[string]int
	Rest int
	// Skip are the accounts, by key, that are left out.
	Skip map[string]bool
}

// OneLane has one credential for all accounts.
func OneLane(l Lane) Lanes { return Lanes{All: []Lane{l}} }

// usualConcurrency is how many requests are in flight where nothing is said.
const usualConcurrency = 16

// Workers is how many zones are worked on at once: more than there are requests, since a zone
// that is planned, or that waits for the disk, sends none. The client has the others wait.
func (l Lane) Workers() int { return l.AtOnce() + l.AtOnce()/2 }

// AtOnce is how many requests are in flight at the most.
func (l Lane) AtOnce() int {
	if l.Concurrency <= 0 {
		return usualConcurrency
	}
	return l.Concurrency
}

// Index is the lane of an account, by its key; below zero where it has none.
func (l Lanes) Index(account string) int {
	if i, ok := l.Of[account]; ok {
		return i
	}
	return l.Rest
}

// Within is a state without the accounts that are left out.
func (l Lanes) Within(state desired.State) desired.State {
	if len(l.Skip) == 0 {
		return state
	}
	all := state.Accounts
	state.Accounts, state.LeftOut = nil, slices.Clone(state.LeftOut)
	for _, a := range all {
		if l.Skip[a.Key] {
			state.LeftOut = append(state.LeftOut, leftOut(a))
			continue
		}
		state.Accounts = append(state.Accounts, a)
	}
	return state
}

func leftOut(a desired.Account) desired.LeftOut {
	left := desired.LeftOut{Key: a.Key, ID: a.ID}
	for _, z := range a.Zones {
		left.Zones = append(left.Zones, z.Scope)
	}
	return left
}

// Missing returns the accounts that have zones and no lane, and are not left out.
func (l Lanes) Missing(state desired.State) (accounts []desired.Account) {
	for _, account := range state.Accounts {
		if l.Index(account.Key) < 0 && len(account.Zones) > 0 && !l.Skip[account.Key] {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// Check fails where an account that has zones has no lane; the error names the first.
func (l Lanes) Check(state desired.State) error {
	missing := l.Missing(state)
	if len(missing) == 0 {
		return nil
	}
	a := missing[0]
	return fmt.Errorf("%s: account.%s has no credential: set accounts.%s.credentials.rulesets or credentials.rulesets in the configuration, or accounts.%s.skip: true to leave the account out",
		a.Origin, a.Key, a.Key, a.Key)
}

// Part parts a state by lane: each part has the accounts of one lane, in the order of All.
func (l Lanes) Part(state desired.State) []desired.State {
	parts := make([]desired.State, len(l.All))
	for i := range parts {
		parts[i] = state
		parts[i].Accounts = nil
	}
	for _, account := range state.Accounts {
		if i := l.Index(account.Key); i >= 0 {
			parts[i].Accounts = append(parts[i].Accounts, account)
		}
	}
	return parts
}

// SweepRequests is how many requests a look at all zones takes while nothing changes:
// one for each zone, and one for each account that has some.
func SweepRequests(state desired.State) int64 {
	n := int64(0)
	for _, account := range state.Accounts {
		if zones := int64(len(account.Zones)); zones > 0 {
			n += zones + 1
		}
	}
	return n
}

// Overload holds a schedule against the budgets, with what is looked at beside it: it is that
// of the credential whose sweep takes longest, nil where each holds.
func (l Lanes) Overload(state desired.State, looking Looking, interval time.Duration) (worst *diff.Overload) {
	for i, part := range l.Part(state) {
		o := l.All[i].Budget.Overload(part.Zones(), SweepRequests(part)+looking.Requests(part, interval), interval)
		if o != nil && (worst == nil || o.Holds > worst.Holds) {
			worst = o
		}
	}
	return worst
}

// Cost is what applying a plan takes of the budget. Where there are several, it is that of
// the credential with which it takes longest, for its zones alone; nil where there are none.
func (l Lanes) Cost(p diff.Plan) (worst *diff.Cost) {
	if len(l.All) == 1 {
		return l.All[0].Budget.Cost(p.Requests.ToApply)
	}
	for i, lane := range l.All {
		cost := lane.Budget.Cost(p.RequestsFor(func(c diff.Change) bool { return c.Level() != edge.LevelCredential && l.Index(c.Account) == i }))
		if cost == nil || worst != nil && cmp.Or(cmp.Compare(cost.Least, worst.Least), cmp.Compare(cost.Share, worst.Share)) <= 0 {
			continue
		}
		cost.Credential = lane.Name
		worst = cost
	}
	return worst
}

// LongestWindow is the longest time over which a budget counts.
func (l Lanes) LongestWindow() (longest time.Duration) {
	for _, lane := range l.All {
		longest = max(longest, lane.Budget.Per)
	}
	return longest
}

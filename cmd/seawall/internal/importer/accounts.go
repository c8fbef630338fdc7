package importer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Each account is read with its own credential, its lane (reconcile/lanes.go). The
// configuration names accounts by their keys in the repository, the platform by id and
// name. The id of a key comes from the repository or from --account KEY=ID. Otherwise it is
// the account of that name that the key's credential can see, or the only one.

// listing is what one credential can see.
type listing struct {
	asked    bool
	err      error // why nothing could be listed
	zones    []edge.Zone
	accounts []edge.Account // of the zones, each once
}

func (l *listing) add(zones []edge.Zone) {
	l.zones = append(l.zones, zones...)
	for _, z := range zones {
		if z.Account.ID != "" {
			l.accounts = withAccount(l.accounts, z.Account)
		}
	}
}

// withAccount is a list of accounts with another one, each once.
func withAccount(accounts []edge.Account, another edge.Account) []edge.Account {
	if slices.ContainsFunc(accounts, func(a edge.Account) bool { return a.ID == another.ID }) {
		return accounts
	}
	return append(accounts, another)
}

// leftOut is an account that is not imported, and why.
type leftOut struct{ account, why string }

// assignment says which key and which lane accounts have.
type assignment struct {
	keys  map[edge.AccountID]string // that are known; an account of the top level has none
	lanes map[edge.AccountID]int
	left  []leftOut // that the configuration names, and that could not be read
	notes []string  // about accounts that it does not name, or leaves out
}

// assigner makes an assignment.
type assigner struct {
	assignment
	all    reconcile.Lanes
	listed []listing               // of each lane
	taken  map[string]bool         // keys that have an account, or a reason why not
	seen   map[edge.AccountID]bool // accounts that need no lane any more
}

// assign gives accounts their lanes. known are the keys of accounts by their ids.
func assign(all reconcile.Lanes, listed []listing, known map[edge.AccountID]string) assignment {
	a := assigner{all: all, listed: listed, taken: map[string]bool{}, seen: map[edge.AccountID]bool{}}
	a.keys, a.lanes = maps.Clone(known), map[edge.AccountID]int{}
	if a.keys == nil {
		a.keys = map[edge.AccountID]string{}
	}
	for i, l := range listed {
		if l.err != nil {
			a.unreadable(i)
		}
	}
	for id, key := range known {
		a.place(id, key)
	}
	for i := range listed {
		a.byName(i)
	}
	for i := range listed {
		a.theOnly(i)
	}
	a.others()
	slices.SortStableFunc(a.left, func(a, b leftOut) int { return strings.Compare(a.account, b.account) })
	return a.assignment
}

// keysOf are the keys of a lane without an account so far.
func (a *assigner) keysOf(lane int) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(a.all.Of)) {
		if a.all.Of[key] == lane && !a.taken[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// unreadable leaves out the accounts of a lane that could not be asked.
func (a *assigner) unreadable(lane int) {
	why := refused(a.all.All[lane], a.listed[lane].err)
	for _, key := range a.keysOf(lane) {
		a.leave(key, why)
	}
	if lane == a.all.Rest {
		a.left = append(a.left, leftOut{"without an entry in accounts of the configuration", why})
	}
}

// refused says what is wrong with a lane.
func refused(l reconcile.Lane, err error) string {
	if errors.Is(err, edge.ErrUnauthenticated) {
		return fmt.Sprintf("the credential %s does not work: %s", l.Credential, cli.OneLine(err.Error()))
	}
	return cli.OneLine(err.Error())
}

func (a *assigner) leave(key, why string) {
	a.taken[key] = true
	a.left = append(a.left, leftOut{key, why})
}

// place gives an account whose key is known the lane of this key.
func (a *assigner) place(id edge.AccountID, key string) {
	a.seen[id], a.taken[key] = true, true
	switch lane := a.all.Index(key); {
	case a.all.Skip[key]:
		a.notes = append(a.notes, skipped(key))
	case lane < 0:
		a.leave(key, "the configuration has no credential for it")
	case a.listed[lane].err == nil:
		a.lanes[id] = lane
	}
}

func skipped(key string) string {
	return fmt.Sprintf("account %s: left out by accounts.%s.skip of the configuration", key, key)
}

// called reports whether a key says the name of an account.
func called(account edge.Account, key string) bool {
	return account.Name != "" && (desired.FoldName(account.Name) == desired.FoldName(key) || slugOf(account.Name) == key)
}

// free are the accounts that a lane can see, and that have no lane.
func (a *assigner) free(lane int) (free []edge.Account) {
	for _, account := range a.listed[lane].accounts {
		if !a.seen[account.ID] {
			free = append(free, account)
		}
	}
	return free
}

// byName finds the accounts of a lane's keys by their names.
func (a *assigner) byName(lane int) {
	for _, key := range a.keysOf(lane) {
		found := slices.DeleteFunc(a.free(lane), func(account edge.Account) bool { return !called(account, key) })
		if len(found) == 1 {
			a.keys[found[0].ID] = key
			a.place(found[0].ID, key)
		}
	}
}

// theOnly gives the key that is left of a lane the only account that is left.
func (a *assigner) theOnly(lane int) {
	if !a.listed[lane].asked {
		return
	}
	keys, free := a.keysOf(lane), a.free(lane)
	if len(keys) == 1 && len(free) == 1 && lane != a.all.Rest {
		a.keys[free[0].ID] = keys[0]
		a.place(free[0].ID, keys[0])
		return
	}
	for _, key := range keys {
		why := fmt.Sprintf("its credential can see no zone of it; name it: --account %s=ID", key)
		if len(free) > 0 {
			why = fmt.Sprintf("its credential can see %s, and which it is is not known; name it: --account %s=ID", cli.Plural(len(free), "account", "accounts"), key)
		}
		a.leave(key, why)
	}
}

// others are accounts that the configuration does not name. The credential of the top level
// is for them.
func (a *assigner) others() {
	configured := slices.Sorted(maps.Keys(a.all.Of))
	for i := range a.listed {
		for _, account := range a.free(i) {
			a.seen[account.ID] = true
			at := slices.IndexFunc(configured, func(key string) bool { return called(account, key) })
			switch {
			case at >= 0 && a.all.Skip[configured[at]]:
				a.notes = append(a.notes, skipped(configured[at]))
			case at >= 0 && a.all.Of[configured[at]] != i: // its own credential has not seen it
			case a.all.Rest == i:
				a.lanes[account.ID] = i
			case a.all.Rest >= 0 && slices.ContainsFunc(a.listed[a.all.Rest].accounts, func(b edge.Account) bool { return b.ID == account.ID }):
				a.lanes[account.ID] = a.all.Rest
			default:
				a.notes = append(a.notes, fmt.Sprintf("account %s (%s): the configuration has no credential for it", account.Name, account.ID))
			}
		}
	}
}

// placeGiven gives the account of a zone that was given by its id a lane.
func (a *assignment) placeGiven(all reconcile.Lanes, id edge.AccountID) error {
	if _, done := a.lanes[id]; done {
		return nil
	}
	configured := slices.Sorted(maps.Keys(all.Of))
	key, known := a.keys[id]
	lane := all.Index(key)
	switch {
	case known && lane < 0:
		return cli.Fail(fmt.Errorf("the configuration has no credential for account %s", key), "set accounts."+key+".credentials.rulesets in it")
	case known:
	case all.Rest >= 0:
		lane = all.Rest
	case len(configured) == 1 && !all.Skip[configured[0]]:
		a.keys[id], lane = configured[0], all.Of[configured[0]]
	default:
		return cli.Fail(fmt.Errorf("which account of the configuration %s is is not known", id), "name it: --account KEY="+string(id)+", where KEY is one of "+strings.Join(configured, ", "))
	}
	a.lanes[id] = lane
	return nil
}

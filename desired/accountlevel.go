package desired

import (
	"cmp"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Beside its zones, an account has an entry point of its own. What is declared for it is
// a [Zone] among those of the account, with [Zone.AccountLevel], so that it is read,
// planned, guarded, written and proved as they are. There an account may deploy a managed
// ruleset several times: each deployment has a key of its own, and is told from the others
// by the ref of its execute rule, which the platform keeps as it is while the rule changes.

// accountZone begins the key of an account's entry point. No zone may have such a key.
const accountZone = "account:"

// AccountZone is the key of the entry point of the account with a key.
func AccountZone(account string) string { return accountZone + account }

// IsAccountZone reports whether a key is one that [AccountZone] makes.
func IsAccountZone(key string) bool { return strings.HasPrefix(key, accountZone) }

// AccountLevelID is the id of an account's entry point, by what is known of the id of the
// account: a stand-in where that is not known.
func AccountLevelID(a Account) edge.ZoneID {
	if Sought(a.ID) {
		return SoughtZone(a.Key, AccountZone(a.Key))
	}
	return edge.AccountLevel(a.ID)
}

// AccountLevels counts the accounts with deployments of their own. [State.Zones] counts
// them too.
func (s State) AccountLevels() (n int) {
	for _, a := range s.Accounts {
		for _, z := range a.Zones {
			if z.AccountLevel {
				n++
			}
		}
	}
	return n
}

// Name is the key of a deployment: its own, or that of its managed ruleset.
func (d Deployment) Name() string { return cmp.Or(d.Key, d.Ruleset) }

// Owner says in a word what a zone is: a zone, or an account.
func (z Zone) Owner() string {
	if z.AccountLevel {
		return "account"
	}
	return "zone"
}

package desired

import (
	"cmp"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Beside its zones, an account has an entry point of its own. What is declared for it is
// a [Zone] among those of the account, with another level, so that it is read,
// planned, guarded, written and proved as they are. There an account may deploy a managed
// ruleset several times: each deployment has a key of its own, and is told from the others
// by the ref of its execute rule, which the platform keeps as it is while the rule changes.

// accountKey begins the key of an account's entry point. No zone may have such a key.
const accountKey = "account:"

// AccountKey is the key of the entry point of the account with a key.
func AccountKey(account string) string { return accountKey + account }

// IsAccountKey reports whether a key is one that [AccountKey] makes.
func IsAccountKey(key string) bool { return strings.HasPrefix(key, accountKey) }

// AccountScope is the scope of an account, by what is known of its id: with a stand-in where
// that is not known.
func AccountScope(a Account) edge.Scope {
	if Sought(a.ID) {
		return edge.AccountScope(SoughtAccount(a.Key))
	}
	return edge.AccountScope(a.ID)
}

// AccountLevels counts the accounts with deployments of their own. [State.Zones] counts
// them too.
func (s State) AccountLevels() (n int) {
	for _, z := range s.EachZone() {
		if z.Scope.Level == edge.LevelAccount {
			n++
		}
	}
	return n
}

// Name is the key of a deployment: its own, or that of its managed ruleset.
func (d Deployment) Name() string { return cmp.Or(d.Key, d.Ruleset) }

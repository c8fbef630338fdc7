package desired

import "iter"

// EachZone ranges over the declared zones, each with its account.
func (s State) EachZone() iter.Seq2[Account, Zone] {
	return func(yield func(Account, Zone) bool) {
		for _, account := range s.Accounts {
			for _, z := range account.Zones {
				if !yield(account, z) {
					return
				}
			}
		}
	}
}

// ZoneKeys lists the keys of the declared zones, one as often as it is declared.
func (s State) ZoneKeys() (keys []string) {
	for _, z := range s.EachZone() {
		keys = append(keys, z.Key)
	}
	return keys
}

// TokenKeys lists the keys of the declared tokens.
func (s State) TokenKeys() (keys []string) {
	for _, t := range s.Tokens {
		keys = append(keys, t.Key)
	}
	return keys
}

// Only returns the state with those zones alone that pass, asked about one after the other, and
// with the accounts that have some.
func (s State) Only(pass func(Account, Zone) bool) State {
	accounts := make([]Account, 0, len(s.Accounts))
	for _, account := range s.Accounts {
		zones := make([]Zone, 0, len(account.Zones))
		for _, z := range account.Zones {
			if pass(account, z) {
				zones = append(zones, z)
			}
		}
		if account.Zones = zones; len(zones) > 0 {
			accounts = append(accounts, account)
		}
	}
	s.Accounts = accounts
	return s
}

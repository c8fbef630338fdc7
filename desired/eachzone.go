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

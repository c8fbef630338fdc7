package importer

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge"
)

// limit leaves those of the zones of --from that --account, --zone and --zones name; all
// where they name nothing.
func (o Order) limit(wanted accountsWanted, keys map[edge.AccountID]string, byID []target, names []string) (zones []target, err error) {
	for _, word := range wanted.words {
		one := accountsWanted{words: []string{word}}
		if !slices.ContainsFunc(o.Given, func(z edge.Zone) bool { return z.Account.ID == "" || one.has(z.Account, keys[z.Account.ID]) }) {
			return nil, cli.Fail(fmt.Errorf("--from has no zone of account %q", word), "name the account by its id")
		}
	}
	named := map[string]bool{}
	for _, z := range byID {
		named[string(z.ID)] = true
	}
	for _, name := range names {
		named[name] = true
	}
	found := map[string]bool{}
	for _, z := range o.Given {
		if !wanted.all() && z.Account.ID != "" && !wanted.has(z.Account, keys[z.Account.ID]) {
			continue
		}
		if len(named) == 0 || named[z.Name] || named[string(z.ID)] {
			found[z.Name], found[string(z.ID)] = true, true
			zones = append(zones, target{ID: z.ID, Name: z.Name, Account: z.Account.ID})
		}
	}
	for word := range named {
		if !found[word] {
			return nil, cli.Fail(fmt.Errorf("--from has no zone %q, or not in the account of --account", word), "without --zone, all zones of the file are imported")
		}
	}
	return zones, nil
}

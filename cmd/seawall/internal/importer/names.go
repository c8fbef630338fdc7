package importer

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// A zone may be declared by its name alone. What is declared is compared by ids, so states
// are resolved by what the platform lists, as the daemon does (reconcile/directory).

// onRecord are names that are known. It implements reconcile.NameMemory.
type onRecord []reconcile.Name

// Names implements reconcile.NameMemory.
func (r onRecord) Names(context.Context) ([]reconcile.Name, error) { return r, nil }

// SaveNames implements reconcile.NameMemory.
func (r onRecord) SaveNames(context.Context, []reconcile.Name) error { return nil }

// resolve looks up what is declared by name before the import.
func (p *present) resolve(ctx context.Context, names *directory.Names) error {
	if err := names.Recall(ctx); err != nil {
		return err
	}
	names.Look(ctx, p.state)
	p.state = names.Resolve(p.state)
	p.zones, p.named = map[edge.ZoneID]bool{}, map[edge.AccountID][]string{}
	for a, z := range p.state.EachZone() {
		if p.zones[edge.ZoneID(z.Scope.ID)] = true; z.ByName {
			p.named[a.ID] = append(p.named[a.ID], desired.FoldName(z.Name))
		}
	}
	return nil
}

// declares reports whether a zone is declared before the import.
func (p present) declares(z target) bool {
	return p.zones[z.ID] || slices.Contains(p.named[z.Account], desired.FoldName(z.Name))
}

// resolver resolves what is declared after the import.
func resolver(ctx context.Context, p present, found targets) (*directory.Names, error) {
	now := time.Now()
	var rows onRecord
	for _, a := range p.state.Accounts {
		if a.ByName && !desired.Sought(a.ID) {
			rows = append(rows, reconcile.Name{Key: a.Key, ID: string(a.ID), Name: a.Name, At: now})
		}
		for _, z := range a.Zones {
			if z.ByName && !desired.Sought(z.Scope.ID) {
				rows = append(rows, reconcile.Name{Account: a.ID, ID: z.Scope.ID, Name: z.Name, At: now})
			}
		}
	}
	for _, z := range found.listed {
		rows = append(rows, reconcile.Name{Account: z.Account.ID, ID: string(z.ID), Name: z.Name, At: now})
	}
	names := directory.New(directory.Config{Now: time.Now, Memory: rows, ReadOnly: true})
	return names, names.Recall(ctx)
}

// findable are the zones that their names lead to: the platform has listed them, each name
// once in its account.
func (f targets) findable() map[edge.ZoneID]bool {
	type name struct {
		account edge.AccountID
		name    string
	}
	ids := map[name]edge.ZoneID{}
	for _, z := range f.listed {
		at := name{z.Account.ID, desired.FoldName(z.Name)}
		if other, twice := ids[at]; twice && other != z.ID {
			ids[at] = ""
			continue
		}
		ids[at] = z.ID
	}
	found := map[edge.ZoneID]bool{}
	for at, id := range ids {
		found[id] = id != "" && desired.ZoneName(at.name)
	}
	return found
}

package client

import (
	"context"
	"net/url"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// Zones lists the zones that pass the filter, page by page.
func (r rulesetCalls) Zones(ctx context.Context, filter edge.ZoneFilter) ([]edge.Zone, error) {
	zones := reading(edge.CallZones, edge.LevelCredential, edge.ZonesPath())
	zones.query = url.Values{}
	if filter.Name != "" {
		zones.query.Set("name", filter.Name)
	}
	if filter.Account != "" {
		if err := checkID("account", string(filter.Account)); err != nil {
			return nil, err
		}
		zones.query.Set("account.id", string(filter.Account))
	}
	list := listing[edge.Zone]{
		client: r.c, call: zones, pageSize: pageSize,
		decode: wholePage(func(z edge.Zone) bool { return edge.ValidID(string(z.ID)) && z.Name != "" }),
		id:     func(z edge.Zone) string { return string(z.ID) },
	}
	return list.all(ctx)
}

// Zone returns one zone.
func (r rulesetCalls) Zone(ctx context.Context, id edge.ZoneID) (edge.Zone, error) {
	if err := checkID("zone", string(id)); err != nil {
		return edge.Zone{}, err
	}
	request := reading(edge.CallZone, edge.LevelZone, edge.ZonePath(id))
	return ask(ctx, r.c, request, func(r wire.Response) (found edge.Zone, err error) {
		if _, err = r.Decode(&found); err == nil && found.ID != id {
			err = request.unreadable("the answer is about another zone")
		}
		return found, err
	})
}

// Accounts lists the accounts, page by page.
func (r rulesetCalls) Accounts(ctx context.Context) ([]edge.Account, error) {
	list := listing[edge.Account]{
		client: r.c, call: reading(edge.CallAccounts, edge.LevelCredential, edge.AccountsPath()), pageSize: pageSize,
		decode: wholePage(func(a edge.Account) bool { return edge.ValidID(string(a.ID)) }),
		id:     func(a edge.Account) string { return string(a.ID) },
	}
	return list.all(ctx)
}

// wholePage decodes one page of a list, of which every element must be whole.
func wholePage[T any](whole func(T) bool) func(wire.Response) ([]T, wire.Info, error) {
	return func(r wire.Response) (page []T, info wire.Info, err error) {
		if info, err = r.DecodePage(&page); err != nil {
			return nil, info, err
		}
		for _, element := range page {
			if !whole(element) {
				return nil, info, unreadable(r.Call, "the list has an element without its id or its name")
			}
		}
		return page, info, nil
	}
}

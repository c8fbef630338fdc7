package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// Zones lists the zones that pass the filter, page by page.
func (b beyondCalls) Zones(ctx context.Context, filter edge.ZoneFilter) ([]edge.Zone, error) {
	query := url.Values{}
	if filter.Name != "" {
		query.Set("name", filter.Name)
	}
	if filter.Account != "" {
		if err := checkIDs(filter.Account); err != nil {
			return nil, err
		}
		query.Set("account.id", string(filter.Account))
	}
	list := listing[edge.Zone]{
		client: b.client, call: call{class: read, method: http.MethodGet, path: edge.ZonesPath(), query: query}, pageSize: pageSize,
		decode: wholePage(func(z edge.Zone) bool { return edge.ValidID(string(z.ID)) && z.Name != "" }),
		id:     func(z edge.Zone) string { return string(z.ID) },
	}
	return list.all(ctx)
}

// Zone returns one zone.
func (b beyondCalls) Zone(ctx context.Context, id edge.ZoneID) (edge.Zone, error) {
	if err := checkIDs(id); err != nil {
		return edge.Zone{}, err
	}
	get := call{class: read, method: http.MethodGet, path: edge.ZonePath(id)}
	return ask(ctx, b.client, get, func(r wire.Response) (found edge.Zone, err error) {
		if _, err = r.Decode(&found); err == nil && found.ID != id {
			err = get.unreadable("the answer is about another zone")
		}
		return found, err
	})
}

// Accounts lists the accounts, page by page.
func (b beyondCalls) Accounts(ctx context.Context) ([]edge.Account, error) {
	list := listing[edge.Account]{
		client: b.client, call: call{class: read, method: http.MethodGet, path: edge.AccountsPath()}, pageSize: pageSize,
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

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
		call: call{class: read, method: http.MethodGet, path: edge.ZonesPath(), query: query}, pageSize: pageSize,
		page: numbered(b.client, func(z edge.Zone) bool { return edge.ValidID(string(z.ID)) && z.Name != "" }),
		id:   func(z edge.Zone) string { return string(z.ID) },
	}
	return list.all(ctx)
}

// Zone returns one zone.
func (b beyondCalls) Zone(ctx context.Context, id edge.ZoneID) (edge.Zone, error) {
	if err := checkIDs(id); err != nil {
		return edge.Zone{}, err
	}
	get := call{class: read, method: http.MethodGet, path: edge.ZonePath(id)}
	var found edge.Zone
	err := b.client.do(ctx, get, func(r wire.Response) error {
		found = edge.Zone{}
		if _, err := r.Decode(&found); err != nil {
			return err
		}
		if found.ID != id {
			return get.unreadable("the answer is about another zone")
		}
		return nil
	})
	if err != nil {
		return edge.Zone{}, err
	}
	return found, nil
}

// Accounts lists the accounts, page by page.
func (b beyondCalls) Accounts(ctx context.Context) ([]edge.Account, error) {
	list := listing[edge.Account]{
		call: call{class: read, method: http.MethodGet, path: edge.AccountsPath()}, pageSize: pageSize,
		page: numbered(b.client, func(a edge.Account) bool { return edge.ValidID(string(a.ID)) }),
		id:   func(a edge.Account) string { return string(a.ID) },
	}
	return list.all(ctx)
}

// numbered reads one page of a list, of which every element must be whole.
func numbered[T any](c *Client, whole func(T) bool) func(context.Context, call) ([]T, wire.Info, error) {
	return func(ctx context.Context, list call) (page []T, info wire.Info, err error) {
		err = c.do(ctx, list, func(r wire.Response) (err error) {
			page = nil
			if info, err = r.DecodePage(&page); err != nil {
				return err
			}
			for _, element := range page {
				if !whole(element) {
					return list.unreadable("the list has an element without its id or its name")
				}
			}
			return nil
		})
		return page, info, err
	}
}

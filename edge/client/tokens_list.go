package client

import (
	"context"
	"fmt"
	"maps"
	"net/url"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// maxListings bounds how often a list is begun that gets shorter while it is read.
const maxListings = 3

// UserTokens lists the tokens, page by page.
//
// A page that follows another can bring a token once more, which is dropped. But
// where the list got shorter in between, everything after the gap has moved up
// and one may be on no page at all: the list is then read again from its
// beginning.
func (t tokenCalls) UserTokens(ctx context.Context) ([]edge.Token, error) {
	list := listing[edge.Token]{
		client: t.c, call: reading(edge.CallUserTokens, edge.LevelCredential, t.base), pageSize: pageSize, decode: t.c.dialect.DecodeTokens,
		id: func(t edge.Token) string { return string(t.ID) }, holdsID: t.holdsID(),
	}
	return list.all(ctx)
}

// PermissionGroups lists all permission groups. The platform is known to give
// them on one page; should it say that there are more, they are read.
func (t tokenCalls) PermissionGroups(ctx context.Context) ([]edge.PermissionGroup, error) {
	list := listing[edge.PermissionGroup]{
		client: t.c, call: reading(edge.CallPermissionGroups, edge.LevelCredential, t.base+"/permission_groups"), decode: t.c.dialect.DecodeGroups,
		id: func(g edge.PermissionGroup) string { return g.ID }, holdsID: t.holdsID(),
	}
	return list.all(ctx)
}

// listing is a list whose pages have numbers, counted from 1.
type listing[T any] struct {
	client   *Client
	call     call
	pageSize int // what is asked for; zero: nothing is, and one page is all unless the answer says that there are more
	decode   func(wire.Response) ([]T, wire.Info, error)
	id       func(T) string
	holdsID  bool // the address has an id in it, which may be what is not found
}

// all reads the whole list. A list without anything in it is not nil.
func (l listing[T]) all(ctx context.Context) ([]T, error) {
	for range maxListings {
		all, whole, err := l.read(ctx)
		if err != nil && !l.holdsID {
			err = withoutID(err)
		}
		if err != nil {
			return nil, err
		}
		if whole {
			return all, nil
		}
	}
	return nil, l.call.unreadable(fmt.Sprintf("the list changed while it was read, %d times", maxListings))
}

// read reads all pages once. They are not the whole list where it got shorter in
// between.
func (l listing[T]) read(ctx context.Context) (all []T, whole bool, err error) {
	all = []T{}
	seen := map[string]bool{}
	total := 0
	for number := 1; number <= maxPages; number++ {
		page, info, err := l.page(ctx, number)
		if err != nil {
			return nil, false, err
		}
		if info.TotalCount != nil && *info.TotalCount < total {
			return nil, false, nil
		}
		total = said(info.TotalCount, total)
		before := len(all)
		for _, element := range page {
			if id := l.id(element); !seen[id] {
				seen[id] = true
				all = append(all, element)
			}
		}
		switch {
		case l.isLast(number, len(page), len(all), info):
			return all, len(all) >= total, nil // fewer: one came twice, and another slipped through
		case len(all) == before:
			return nil, false, l.call.unreadable(fmt.Sprintf("page %d brings nothing new and is not the last", number))
		}
	}
	return nil, false, l.call.unreadable(fmt.Sprintf("the list has more than %d pages", maxPages))
}

func (l listing[T]) page(ctx context.Context, number int) (page []T, info wire.Info, err error) {
	err = l.client.do(ctx, l.at(number), func(r wire.Response) (err error) {
		page, info, err = l.decode(r)
		return err
	})
	return page, info, err
}

func (l listing[T]) at(number int) call {
	at := l.call
	at.query = url.Values{}
	maps.Copy(at.query, l.call.query)
	if l.pageSize > 0 {
		at.query.Set("per_page", fmt.Sprint(l.pageSize))
	}
	if l.pageSize > 0 || number > 1 {
		at.query.Set("page", fmt.Sprint(number))
	}
	return at
}

// isLast says whether a page is the last: by the number of pages, else by the
// number of elements in all, else because there was room for more on it. A zero
// beside elements says nothing. Where no size was asked for, numbers of pages may
// be of a size that the platform did not keep to, and having all is enough.
func (l listing[T]) isLast(number, elements, collected int, info wire.Info) bool {
	pages, total := said(info.TotalPages, 0), said(info.TotalCount, 0)
	size := l.pageSize
	if perPage := said(info.PerPage, 0); perPage > 0 {
		size = perPage
	}
	switch {
	case l.pageSize == 0 && total > 0 && collected >= total:
		return true
	case pages > 0:
		return number >= pages
	case total > 0 && size > 0:
		return number*size >= total
	}
	return l.pageSize == 0 || elements < size
}

func said(number *int, otherwise int) int {
	if number == nil {
		return otherwise
	}
	return *number
}

package client

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seawall-dev/seawall/edge"
)

// tokensFrom is a page of tokens t<first>, t<first+1>, … with what the answer
// says of paging, empty for nothing.
func tokensFrom(first, n int, info string) string {
	var tokens []string
	for i := first; i < first+n; i++ {
		tokens = append(tokens, fmt.Sprintf(`{"id":"t%d","name":"n","policies":[]}`, i))
	}
	return paged("["+strings.Join(tokens, ",")+"]", info)
}

func paged(result, info string) string {
	if info != "" {
		info = `,"result_info":` + info
	}
	return `{"result":` + result + `,"success":true,"errors":[],"messages":[]` + info + `}`
}

// pages answers with the page that is asked for, the last one again and again.
func pages(bodies ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		page, err := strconv.Atoi(r.URL.Query().Get("page"))
		if err != nil {
			page = 1
		}
		answer(200, bodies[min(page, len(bodies))-1])(w, r)
	}
}

func TestTokensOfAllPages(t *testing.T) {
	const three = `{"total_pages":3,"total_count":120}`
	for name, test := range map[string]struct {
		handler          http.HandlerFunc
		tokens, requests int // tokens -1: unreadable
	}{
		"none":                               {pages(tokensFrom(1, 0, "")), 0, 1},
		"none, and told so":                  {pages(tokensFrom(1, 0, `{"page":1,"per_page":50,"count":0,"total_count":0,"total_pages":0}`)), 0, 1},
		"one page":                           {pages(tokensFrom(1, 7, "")), 7, 1},
		"by the number of pages":             {pages(tokensFrom(1, 50, three), tokensFrom(51, 50, three), tokensFrom(101, 20, three)), 120, 3},
		"a full last page":                   {pages(tokensFrom(1, 50, `{"total_pages":2}`), tokensFrom(51, 50, `{"total_pages":2}`)), 100, 2},
		"pages of the server's own size":     {pages(tokensFrom(1, 5, `{"total_pages":2}`), tokensFrom(6, 2, `{"total_pages":2}`)), 7, 2},
		"by the number of tokens":            {pages(tokensFrom(1, 50, `{"total_count":70}`), tokensFrom(51, 20, `{"total_count":70}`)), 70, 2},
		"exactly full, by their number":      {pages(tokensFrom(1, 50, `{"total_count":50}`)), 50, 1},
		"smaller pages, by their number":     {pages(tokensFrom(1, 20, `{"per_page":20,"total_count":30}`), tokensFrom(21, 10, `{"per_page":20,"total_count":30}`)), 30, 2},
		"a full page and nothing said":       {pages(tokensFrom(1, 50, ""), tokensFrom(51, 3, "")), 53, 2},
		"a full page, then none":             {pages(tokensFrom(1, 50, ""), tokensFrom(1, 0, "")), 50, 2},
		"a full page of a smaller size":      {pages(tokensFrom(1, 20, `{"per_page":20}`), tokensFrom(21, 1, `{"per_page":20}`)), 21, 2},
		"zeros that say nothing":             {pages(tokensFrom(1, 50, `{"total_pages":0,"total_count":0,"per_page":0}`), tokensFrom(51, 1, "")), 51, 2},
		"a token that moved to the next":     {pages(tokensFrom(1, 50, `{"total_count":60}`), tokensFrom(50, 12, `{"total_count":61}`)), 61, 2},
		"the same page again":                {pages(tokensFrom(1, 50, "")), -1, 2},
		"an empty page before the last":      {pages(tokensFrom(1, 50, three), tokensFrom(1, 0, three), tokensFrom(101, 20, three)), -1, 2},
		"always shorter":                     {shrinking(), -1, 6},
		"a token without an id":              {pages(paged(`[{"name":"n"}]`, "")), -1, 5},
		"a second page that is no list":      {pages(tokensFrom(1, 50, ""), paged(`{}`, "")), -1, 6},
		"null is not none":                   {pages(paged(`null`, "")), -1, 5},
		"an object is no list":               {pages(paged(`{"tokens":[]}`, "")), -1, 5},
		"text is no list":                    {pages(paged(`""`, "")), -1, 5},
		"no result is not none":              {pages(`{"success":true,"errors":[],"messages":[]}`), -1, 5},
		"half a list":                        {pages(tokensFrom(1, 7, "")[:60]), -1, 5},
		"a page of numbers that are no such": {pages(paged(`[]`, `{"total_pages":"many"}`)), -1, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, test.handler)
			got, err := s.client(t, nil).UserTokens(t.Context())
			if n := len(s.arrivals()); n != test.requests {
				t.Errorf("%s: %d requests, want %d", name, n, test.requests)
			}
			if test.tokens < 0 {
				if !errors.Is(err, edge.ErrUnreadable) || got != nil {
					t.Errorf("%s: %v, %d tokens", name, err, len(got))
				}
				return
			}
			if err != nil || got == nil || len(got) != test.tokens {
				t.Fatalf("%s: %v, %d tokens, want %d", name, err, len(got), test.tokens)
			}
			for i, token := range got {
				if want := edge.TokenID(fmt.Sprint("t", i+1)); token.ID != want {
					t.Fatalf("%s: token %d is %s", name, i+1, token.ID)
				}
			}
		})
	}
}

// shrinking tells of one token fewer each time it is asked.
func shrinking() http.HandlerFunc {
	total := 120
	return func(w http.ResponseWriter, r *http.Request) {
		total--
		answer(200, tokensFrom(1+50*total, 50, fmt.Sprintf(`{"total_count":%d}`, total)))(w, r)
	}
}

// A token that was deleted while the list was read moved another one past the
// end of the page: the list is read again, and the moved one is not lost.
func TestListThatGotShorterIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const before, after = `{"total_count":52}`, `{"total_count":51}`
		s := serve(t, inTurn(
			answer(200, tokensFrom(0, 50, before)), answer(200, tokensFrom(51, 1, after)), // t50 has moved up
			answer(200, tokensFrom(1, 50, after)), answer(200, tokensFrom(51, 1, after)),
		))
		got, err := s.client(t, nil).UserTokens(t.Context())
		if err != nil || len(got) != 51 || got[49].ID != "t50" {
			t.Errorf("%v, %d tokens", err, len(got))
		}
		var asked []string
		for _, a := range s.arrivals() {
			asked = append(asked, a.uri)
		}
		const list = "/client/v4/user/tokens?page="
		if want := fmt.Sprint([]string{list + "1&per_page=50", list + "2&per_page=50", list + "1&per_page=50", list + "2&per_page=50"}); fmt.Sprint(asked) != want {
			t.Errorf("asked %v", asked)
		}
	})
}

func TestEndlessListIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			answer(200, tokensFrom(page, 1, `{"per_page":1}`))(w, r)
		})
		_, err := s.client(t, nil).UserTokens(t.Context())
		if !errors.Is(err, edge.ErrUnreadable) || len(s.arrivals()) != maxPages {
			t.Errorf("%d requests: %v", len(s.arrivals()), err)
		}
		wantText(t, err, "more than 1000 pages")
	})
}

func TestGroupsOfAllPages(t *testing.T) {
	group := func(id string) string { return `{"id":"` + id + `","name":"Logs Read","scopes":[]}` }
	for name, test := range map[string]struct {
		handler          http.HandlerFunc
		groups, requests int
	}{
		"none":                    {pages(paged(`[]`, "")), 0, 1},
		"one page":                {pages(paged(`[`+group("a")+`,`+group("b")+`]`, "")), 2, 1},
		"more pages":              {pages(paged(`[`+group("a")+`]`, `{"total_pages":2}`), paged(`[`+group("b")+`]`, `{"total_pages":2}`)), 2, 2},
		"all, whatever is said":   {pages(paged(`[`+group("a")+`,`+group("b")+`]`, `{"per_page":1,"total_count":2,"total_pages":2}`)), 2, 1},
		"null":                    {pages(paged(`null`, "")), -1, 5},
		"an object":               {pages(paged(`{}`, "")), -1, 5},
		"a group without a name":  {pages(paged(`[{"id":"a"}]`, "")), -1, 5},
		"a group that is nothing": {pages(paged(`[null]`, "")), -1, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, test.handler)
			got, err := s.client(t, nil).PermissionGroups(t.Context())
			if n := len(s.arrivals()); n != test.requests {
				t.Errorf("%s: %d requests, want %d", name, n, test.requests)
			}
			if test.groups < 0 != errors.Is(err, edge.ErrUnreadable) || err == nil && len(got) != test.groups {
				t.Errorf("%s: %v %+v", name, err, got)
			}
		})
	}
}

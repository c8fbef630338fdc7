package sim

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// maxPerPage is the most rulesets on a page; the real service has vendorPerPage.
const (
	maxPerPage    = 1000
	vendorPerPage = 50
)

// rulesetPage is one page of the list. A cursor stands for the ruleset that
// the page before ended with; to clients it is opaque. The query members are
// per_page and cursor. result_info is there only when another page follows: the
// reference's envelope knows nothing of it.
func (s *Server) rulesetPage(r request) (any, *wire.Info, error) {
	list, err := s.Platform.In(r.route.scope(), false).List(r.Context())
	if err != nil {
		return nil, nil, err
	}
	query := r.URL.Query()
	perPage := s.config.PageSize
	if text := query.Get("per_page"); text != "" {
		most := maxPerPage
		if s.config.Profile == mem.Vendor {
			most = vendorPerPage
		}
		if perPage, err = strconv.Atoi(text); err != nil || perPage < 1 || perPage > most {
			return nil, nil, failed(http.StatusBadRequest, 0, "per_page must be a number from 1 to "+strconv.Itoa(most))
		}
	}
	if cursor := query.Get("cursor"); cursor != "" {
		i := slices.IndexFunc(list, func(r edge.Ruleset) bool { return r.ID == openCursor(cursor) })
		if i < 0 {
			return nil, nil, failed(http.StatusBadRequest, 0, "the cursor is not valid")
		}
		list = list[i+1:]
	}
	if len(list) <= perPage {
		return list, nil, nil
	}
	page := list[:perPage]
	after := newCursor(page[perPage-1].ID)
	info := &wire.Info{Count: new(len(page)), PerPage: new(perPage), Cursors: &wire.Cursors{After: after}}
	if s.config.Profile == mem.Vendor {
		info.Cursor = after
	}
	return page, info, nil
}

const cursorPrefix = "after:"

func newCursor(last edge.RulesetID) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + string(last)))
}

// openCursor returns the ruleset a cursor stands for, empty when it is none of
// ours; no ruleset has an empty id.
func openCursor(cursor string) edge.RulesetID {
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	id, ok := strings.CutPrefix(string(data), cursorPrefix)
	if err != nil || !ok {
		return ""
	}
	return edge.RulesetID(id)
}

package sim

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// Sizes of a page of zones and accounts, as known beyond the reference.
const (
	leastPerPage   = 5
	defaultPerPage = 20
	mostPerPage    = 50
)

// numbered is one page of a list whose pages have numbers. The query members are
// page, counted from 1, and per_page; a page beyond the last is empty.
func numbered[T any](list []T, query url.Values) ([]T, *wire.Info, error) {
	page, err := queryNumber(query, "page", 1, 1, 1<<20)
	if err != nil {
		return nil, nil, err
	}
	perPage, err := queryNumber(query, "per_page", defaultPerPage, leastPerPage, mostPerPage)
	if err != nil {
		return nil, nil, err
	}
	total := len(list)
	list = list[min((page-1)*perPage, total):min(page*perPage, total)]
	return list, &wire.Info{
		Page: new(page), PerPage: new(perPage), Count: new(len(list)),
		TotalCount: new(total), TotalPages: new((total + perPage - 1) / perPage),
	}, nil
}

// zones is one page of the zones that the caller may read and that pass the
// filters: name and account.name with an operator before a colon, account.id and
// status; all of them, or any with match=any.
func (s *Server) zones(r request) (any, *wire.Info, error) {
	query := r.URL.Query()
	for name, allowed := range map[string][]string{"match": {"all", "any"}, "direction": {"asc", "desc"}, "order": {"name", "status", "account.id", "account.name", "plan.id"}} {
		if said := query.Get(name); said != "" && !slices.Contains(allowed, said) {
			return nil, nil, failed(http.StatusBadRequest, 0, name+" must be one of "+strings.Join(allowed, ", "))
		}
	}
	all := slices.DeleteFunc(s.Platform.ZoneSummaries(), func(z edge.Zone) bool {
		return !passes(z, query) || !s.allows(r.who, "GET "+edge.ZonePath("{zone_id}"), access.OfZone(z.Account.ID, z.ID)).Allowed
	})
	if key := zoneKeys[query.Get("order")]; key != nil {
		slices.SortStableFunc(all, func(a, b edge.Zone) int { return cmp.Compare(key(a), key(b)) })
	}
	if query.Get("direction") == "desc" {
		slices.Reverse(all)
	}
	page, info, err := numbered(all, query)
	for i := 0; i < len(page) && err == nil; i++ {
		page[i], err = s.Platform.Zone(r.Context(), page[i].ID)
	}
	return page, info, err
}

// zoneKeys are the members that zones are ordered and filtered by.
var zoneKeys = map[string]func(edge.Zone) string{
	"name":         func(z edge.Zone) string { return z.Name },
	"status":       func(z edge.Zone) string { return z.Status },
	"account.id":   func(z edge.Zone) string { return string(z.Account.ID) },
	"account.name": func(z edge.Zone) string { return z.Account.Name },
}

func passes(z edge.Zone, query url.Values) bool {
	filters, holding := 0, 0
	for name, key := range zoneKeys {
		if said := query.Get(name); said != "" {
			filters++
			if holds(key(z), said) {
				holding++
			}
		}
	}
	return holding == filters || query.Get("match") == "any" && holding > 0
}

// holds compares a value with a filter, blind to case: "contains:shop".
func holds(value, filter string) bool {
	operator, operand, ok := strings.Cut(filter, ":")
	if !ok {
		operator, operand = "equal", filter
	}
	value, operand = strings.ToLower(value), strings.ToLower(operand)
	switch operator {
	case "equal":
		return value == operand
	case "not_equal":
		return value != operand
	case "starts_with":
		return strings.HasPrefix(value, operand)
	case "ends_with":
		return strings.HasSuffix(value, operand)
	case "contains":
		return strings.Contains(value, operand)
	}
	return false
}

// accounts is one page of the accounts that the caller may read.
func (s *Server) accounts(r request) (any, *wire.Info, error) {
	all, err := s.Platform.Accounts(r.Context())
	if err != nil {
		return nil, nil, err
	}
	name := r.URL.Query().Get("name")
	all = slices.DeleteFunc(all, func(a edge.Account) bool {
		return name != "" && a.Name != name || !s.allows(r.who, "GET /accounts/{account_id}", access.OfAccount(a.ID)).Allowed
	})
	return numbered(all, r.URL.Query())
}

func (s *Server) account(r request) (edge.Account, error) {
	id := r.route.account
	all, err := s.Platform.Accounts(r.Context())
	i := slices.IndexFunc(all, func(a edge.Account) bool { return a.ID == id })
	if err == nil && i < 0 {
		err = failed(http.StatusNotFound, edge.CodeRulesetNotFound, "could not find account "+string(id))
	}
	if err != nil {
		return edge.Account{}, err
	}
	return all[i], nil
}

// user is the user whose token asks: of a person the simulator has made up no more than it must.
type user struct {
	ID            string   `json:"id"`
	Email         string   `json:"email"`
	FirstName     *string  `json:"first_name"`
	LastName      *string  `json:"last_name"`
	Telephone     *string  `json:"telephone"`
	Country       *string  `json:"country"`
	Zipcode       *string  `json:"zipcode"`
	TwoFactor     bool     `json:"two_factor_authentication_enabled"`
	TwoFactorLock bool     `json:"two_factor_authentication_locked"`
	Free          bool     `json:"has_free_zones"`
	Pro           bool     `json:"has_pro_zones"`
	Business      bool     `json:"has_business_zones"`
	Enterprise    bool     `json:"has_enterprise_zones"`
	Suspended     bool     `json:"suspended"`
	Organizations []string `json:"organizations"`
	Betas         []string `json:"betas"`
}

func (s *Server) user(r request) (user, error) {
	zones, err := s.Platform.Zones(r.Context(), edge.ZoneFilter{})
	u := user{ID: s.Platform.User(), Email: "user@vendor.example", Organizations: []string{}, Betas: []string{}}
	for _, z := range zones {
		switch z.Tier() {
		case "free":
			u.Free = true
		case "pro":
			u.Pro = true
		case "business":
			u.Business = true
		default:
			u.Enterprise = true
		}
	}
	return u, err
}

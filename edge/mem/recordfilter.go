package mem

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// filter says whether a record is meant.
type filter func(SeedRecord) bool

// parseFilters reads the filters of a query as they are at a moment: all of
// them must hold, or one with match=any. A value in a syntax that has gone is
// compared as the text that it is: what the platform does with it the reference
// does not say, and an exact filter is what remains of the parameter. Names,
// types and searches are blind to case. Parameters that the reference does not
// name are refused.
func parseFilters(call string, query url.Values, now moment) (filter, error) {
	var all []filter
	anyOf := false
	for _, param := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[param] {
			if param == "match" {
				if value != "any" && value != "all" {
					return nil, invalid(call, []edge.ErrorDetail{{Message: fmt.Sprintf("match must be any or all, not %q", value)}})
				}
				anyOf = value == "any"
				continue
			}
			f := newFilter(param, value, now)
			if f == nil {
				return nil, notShown(call, fmt.Sprintf("the parameter %q of a list of DNS records", param))
			}
			all = append(all, f)
		}
	}
	return func(r SeedRecord) bool {
		holds := func(f filter) bool { return f(r) }
		if anyOf && len(all) > 0 {
			return slices.ContainsFunc(all, holds)
		}
		return !slices.ContainsFunc(all, func(f filter) bool { return !holds(f) })
	}, nil
}

// newFilter is the filter of one parameter, nil for one that is not known.
func newFilter(param, value string, now moment) filter {
	member, operator, _ := strings.Cut(param, ".")
	switch {
	case param == "search":
		return search(value)
	case operator == "" && param == member && slices.Contains([]string{"name", "content", "type"}, param):
		return older(param, value, now)
	case member != "name" && member != "content":
		return nil
	}
	if compare := operators[operator]; compare != nil {
		return on(member, value, compare)
	}
	return nil
}

type comparison func(have, want string) bool

func equal(have, want string) bool { return have == want }

// operators follow the dot of a parameter; their older form stands before a
// colon in its value.
var (
	operators = map[string]comparison{"contains": strings.Contains, "startswith": strings.HasPrefix, "endswith": strings.HasSuffix}
	forms     = map[deprecation.Form]comparison{
		deprecation.FormContains: strings.Contains, deprecation.FormStartsWith: strings.HasPrefix, deprecation.FormEndsWith: strings.HasSuffix,
	}
)

// older reads a value that may be in one of the syntaxes of [RuleFilters].
func older(param, value string, now moment) filter {
	form, bare := deprecation.FormOf(value)
	switch {
	case form == "" || now.formOver(param, form):
		return on(param, value, equal)
	case form != deprecation.FormList:
		return on(param, bare, forms[form])
	}
	var each []filter
	for one := range strings.SplitSeq(bare, ",") {
		each = append(each, on(param, strings.TrimSpace(one), equal))
	}
	return func(r SeedRecord) bool {
		return slices.ContainsFunc(each, func(f filter) bool { return f(r) })
	}
}

// on compares a member.
func on(member, want string, compare comparison) filter {
	if member != "content" {
		want = strings.ToLower(want)
	}
	return func(r SeedRecord) bool {
		have := r.text(member)
		if member != "content" {
			have = strings.ToLower(have)
		}
		return compare(have, want)
	}
}

// search looks for a text in all that the older filters could look into.
func search(want string) filter {
	want = strings.ToLower(want)
	return func(r SeedRecord) bool {
		return slices.ContainsFunc([]string{"name", "type", "content"}, func(member string) bool {
			return strings.Contains(strings.ToLower(r.text(member)), want)
		})
	}
}

package page

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// stamp is a moment for a page: for programs, for people, and how far away it is. All are
// empty for a moment that is not known.
type stamp struct{ Machine, Text, Away string }

// Time is a moment as a page shows it.
func (v view) Time(t time.Time) stamp {
	if t.IsZero() {
		return stamp{}
	}
	t = t.UTC()
	away := inspect.Ago(t, v.Now)
	if t.After(v.Now) {
		away = "in " + inspect.Span(t.Sub(v.Now).Seconds())
	}
	return stamp{t.Format(time.RFC3339), t.Format("2006-01-02 15:04:05 UTC"), away}
}

// link is a place in the navigation. Here is what the attribute aria-current says: the place
// is this page, or what this page belongs to.
type link struct{ Path, Title, Here string }

// Links are the navigation of whoever asks.
func (v view) Links() (links []link) {
	for _, r := range resources {
		path := strings.TrimSuffix(r.page, "{$}")
		if strings.Contains(path, "{") || r.fleet && !v.All && path != "/" {
			continue
		}
		here := ""
		switch {
		case v.Path == path:
			here = "page"
		case path != "/" && strings.HasPrefix(v.Path, path+"/"):
			here = "true"
		}
		links = append(links, link{path, r.title, here})
	}
	return links
}

// Filtered is the address of the list of zones with another outcome, and the filter of this
// page otherwise; an empty one is of any outcome.
func (v view) Filtered(outcome inspect.Outcome) string {
	q := v.filter()
	q.Del("outcome")
	if outcome != "" {
		q.Set("outcome", string(outcome))
	}
	return address("/zones", q)
}

// Page is the address of another page of the same list; of the first where after is empty.
func (v view) Page(after string) string {
	q := v.filter()
	if after != "" {
		q.Set("after", after)
	}
	return address(v.Path, q)
}

// Picture is the address of the picture of the zones of a filter, or of a place in it.
func (v view) Picture(path string, width string) string {
	q := v.filter()
	q.Set("width", width)
	return address(path, q)
}

// filter is what selects, without which page of that is shown.
func (v view) filter() url.Values {
	q := url.Values{}
	for name, values := range v.Query {
		if name != "after" {
			q[name] = slices.Clone(values)
		}
	}
	return q
}

func address(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// Selected reports whether a filter has a value.
func (v view) Selected(name, value string) bool { return slices.Contains(v.Query[name], value) }

// Filters reports whether anything is left out.
func (v view) Filters() bool { return len(v.filter()) > 0 }

// Counts says how many zones have which outcome.
func (v view) Counts(zones int, counts map[inspect.Outcome]int) string {
	return countsText(zones, counts)
}

// People are the zones of a status that need a person.
func (v view) People(s inspect.Status) (zones []inspect.Notable) {
	for _, z := range s.Zones.Notable {
		if z.Outcome.NeedsPerson() {
			zones = append(zones, z)
		}
	}
	return zones
}

// asked is who asked for an entry of the history, with the commit apart, so that it can be a
// link.
type asked struct{ Before, Commit, After string }

// Asked says who asked for an entry.
func (v view) Asked(e reconcile.Entry) asked {
	named := func(commit string) string { return "commit " + inspect.Short(commit) }
	text := inspect.EntryAsked(e, named)
	if before, after, ok := strings.Cut(text, named(e.Asked.Commit)); ok && e.Asked.Commit != "" {
		return asked{before, e.Asked.Commit, after}
	}
	return asked{Before: text}
}

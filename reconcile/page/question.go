package page

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
)

// question is a request for a resource, with parameters that were checked.
type question struct {
	*handler
	*http.Request
	resource resource
	person   login.Person
	params   url.Values
	// version is how often what pages show had changed before this was answered.
	version uint64
}

// badParamError is a parameter of a request that is not right, and what is.
type badParamError struct{ reason, hint string }

func (e *badParamError) Error() string { return e.reason }

func newQuestion(h *handler, res resource, r *http.Request, person login.Person) (*question, error) {
	q := &question{handler: h, Request: r, resource: res, person: person}
	version, _ := h.Data.Changed()
	q.version = h.shown(version, person)
	var err error
	q.params, err = checked(r.URL.RawQuery, res.params)
	return q, err
}

// checked are the parameters of a query, all of which are among params. One without a text is
// as if it were not there: a form sends what was left empty.
func checked(query string, params []param) (url.Values, error) {
	given, err := url.ParseQuery(query)
	if err != nil {
		return nil, &badParamError{"the query cannot be read: " + err.Error(), "escape the special characters: %, &, ; and +"}
	}
	known := url.Values{}
	for name, values := range given {
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
		i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
		switch {
		case i < 0:
			return nil, &badParamError{fmt.Sprintf("there is no parameter %q here", name), parameterHint(params)}
		case len(values) > 1 && !params[i].repeat:
			return nil, &badParamError{fmt.Sprintf("parameter %s is given %d times", name, len(values)), "give it once"}
		}
		for _, v := range values {
			if params[i].check == nil {
				continue
			}
			if err := params[i].check(v); err != nil {
				return nil, err
			}
		}
		if name == labelName {
			if err := oneOfEach(values); err != nil {
				return nil, err
			}
		}
		if len(values) > 0 {
			known[name] = values
		}
	}
	return known, nil
}

func parameterHint(params []param) string {
	if len(params) == 0 {
		return "leave out the query: this address has no parameters"
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
	}
	return "the parameters are " + strings.Join(names, ", ")
}

// param is a parameter of the query that is given once; empty where it is not given.
func (q *question) param(name string) string { return q.params.Get(name) }

// may reports whether the person may see a zone.
func (q *question) may(zone inspect.ZoneLabels) bool {
	return q.person.MayAll(login.Viewer) || q.person.May(login.Viewer, zone)
}

// fleet is the query for zones.
func (q *question) fleet() inspect.FleetQuery { return fleetQuery(q.params, q.person) }

// fleetQuery selects the zones that parameters name, of those that a person may see.
func fleetQuery(params url.Values, person login.Person) inspect.FleetQuery {
	query := inspect.FleetQuery{Account: params.Get("account"), Text: params.Get("text"), After: params.Get("after")}
	for _, o := range params["outcome"] {
		query.Outcomes = append(query.Outcomes, inspect.Outcome(o))
	}
	for _, l := range params["label"] {
		if query.Labels == nil {
			query.Labels = map[string]string{}
		}
		key, value, _ := strings.Cut(l, "=")
		query.Labels[key] = value
	}
	query.May = mayFunc(person)
	return query
}

// mayFunc reports whether the person may see a zone; nil: each.
func (q *question) mayFunc() func(inspect.ZoneLabels) bool { return mayFunc(q.person) }

func mayFunc(person login.Person) func(inspect.ZoneLabels) bool {
	if person.MayAll(login.Viewer) { // who may see all needs no look at labels
		return nil
	}
	return func(zone inspect.ZoneLabels) bool { return person.May(login.Viewer, zone) }
}

// checkSince reports whether a text is a time, or a length of time.
func checkSince(text string) error {
	if _, err := inspect.Since(text, time.Now()); err != nil {
		return &badParamError{"since: " + err.Error(), inspect.SinceHint}
	}
	return nil
}

func checkOutcome(text string) error {
	if slices.Contains(inspect.Outcomes(), inspect.Outcome(text)) {
		return nil
	}
	names := make([]string, 0, len(inspect.Outcomes()))
	for _, o := range inspect.Outcomes() {
		names = append(names, string(o))
	}
	return &badParamError{fmt.Sprintf("%q is not an outcome", text), "the outcomes are " + strings.Join(names, ", ")}
}

func checkLabel(text string) error {
	if key, _, ok := strings.Cut(text, "="); !ok || key == "" {
		return &badParamError{fmt.Sprintf("%q is no label", text), "a label is KEY=VALUE, for example tier=gold"}
	}
	return nil
}

// oneOfEach reports whether no two labels have the same key: a zone has one value of each.
func oneOfEach(labels []string) error {
	keys := map[string]bool{}
	for _, l := range labels {
		key, _, _ := strings.Cut(l, "=")
		if keys[key] {
			return &badParamError{fmt.Sprintf("label %s is given more than once", key), "a zone has one value of a label, so give each key once"}
		}
		keys[key] = true
	}
	return nil
}

// checkCommit reports whether a text can be a commit, or how one begins.
func checkCommit(text string) error {
	hexadecimal := func(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' }
	if len(text) < 4 || len(text) > 64 || strings.ContainsFunc(text, func(r rune) bool { return !hexadecimal(r) }) {
		return &badParamError{fmt.Sprintf("%q is not a commit", text), "give at least its first 4 hexadecimal digits, in lower case"}
	}
	return nil
}

// begins reports whether a commit is known and begins so.
func begins(commit, start string) bool { return commit != "" && strings.HasPrefix(commit, start) }

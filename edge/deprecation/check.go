package deprecation

import (
	"errors"
	"fmt"
	"strings"
)

// Check says what is wrong with a calendar, all of it in one error: ids that
// are missing or taken, days that do not exist, paths that cannot be read, rules
// that nothing could ever meet.
func (c Calendar) Check() error {
	var errs []error
	if _, err := ParseDate(string(c.DataAsOf)); err != nil {
		errs = append(errs, fmt.Errorf("data as of: %w", err))
	}
	ids := map[string]bool{}
	for i := range c.Rules {
		r := &c.Rules[i]
		if ids[r.ID] {
			errs = append(errs, fmt.Errorf("rule %s: the id is taken", r.ID))
		}
		ids[r.ID] = true
		for _, err := range r.check() {
			errs = append(errs, fmt.Errorf("rule %s: %w", r.ID, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Rule) check() []error {
	errs := r.checkDates()
	missing := func(what string, is bool) {
		if is {
			errs = append(errs, fmt.Errorf("%s is missing", what))
		}
	}
	missing("id", r.ID == "")
	missing("title", r.Title == "")
	missing("replacement", r.Replacement.Text == "" && !r.Replacement.None)
	missing("what it is about", r.empty())
	for _, call := range r.calls() {
		errs = append(errs, call.check()...)
	}
	for _, q := range r.Query {
		if len(q.On) == 0 || q.Param == "" || q.To == "" {
			errs = append(errs, fmt.Errorf("a query form needs on, param and to"))
		}
	}
	for _, m := range append(r.Body[:len(r.Body):len(r.Body)], r.Response...) {
		if m.Path == "" || m.When != nil && m.When.Path == "" {
			errs = append(errs, fmt.Errorf("a member needs a path"))
		}
	}
	return errs
}

func (r *Rule) empty() bool {
	return len(r.Endpoints)+len(r.Affected)+len(r.Query)+len(r.Body)+len(r.Response)+len(r.Headers) == 0
}

func (r *Rule) checkDates() (errs []error) {
	day := func(what string, day Date, may bool) {
		if _, err := ParseDate(string(day)); err != nil && (day != "" || !may) {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	day("date", r.Date, false)
	day("extended", r.Extended, true)
	day("end_of_life", r.EndOfLife.Date(), true)
	for _, m := range r.Moved {
		day("moved", m.Date, false)
	}
	switch {
	case r.Extended != "" && r.Extended < r.Date:
		errs = append(errs, fmt.Errorf("extended %s is before the date %s", r.Extended, r.Date))
	case r.EndOfLife.Date() != "" && r.EndOfLife.Date() < r.Date:
		errs = append(errs, fmt.Errorf("end_of_life %s is before the date %s", r.EndOfLife, r.Date))
	}
	return errs
}

// calls are all calls that the rule names anywhere.
func (r *Rule) calls() []Endpoint {
	var out []Endpoint
	out = append(append(out, r.Endpoints...), r.Affected...)
	for _, q := range r.Query {
		out = append(out, q.On...)
	}
	for _, list := range [][]Member{r.Body, r.Response} {
		for _, m := range list {
			out = append(out, m.On...)
		}
	}
	return out
}

func (e Endpoint) check() (errs []error) {
	paths := e.spellings()
	if e.To != "" {
		paths = append(paths, e.To)
	}
	for _, path := range paths {
		if _, err := parseTemplate(path); err != nil {
			errs = append(errs, err)
		}
	}
	if len(e.Methods) == 0 {
		errs = append(errs, fmt.Errorf("path %q: methods are missing", e.Path))
	}
	for _, m := range e.Methods {
		if m == "" || m != strings.ToUpper(m) {
			errs = append(errs, fmt.Errorf("path %q: %q is not a method in capitals", e.Path, m))
		}
	}
	return errs
}

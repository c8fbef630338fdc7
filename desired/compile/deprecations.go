package compile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/nearest"
)

func (r *reader) integration(m member) desired.Integration {
	i := desired.Integration{Name: m.key, Owner: m.field("owner").text(), Origin: m.origin()}
	path := at("integration", m.key)
	for n, c := range m.field("calls").elements() {
		i.Calls = append(i.Calls, r.call(fmt.Sprintf("%s[%d]", at(path, "calls"), n), c))
	}
	return i
}

func (r *reader) call(path string, f both) desired.Call {
	c := desired.Call{Origin: f.origin(), Method: f.field("method").text(), Path: f.field("path").text()}
	for _, h := range f.field("headers").members() {
		if c.Headers == nil {
			c.Headers = map[string][]string{}
		}
		c.Headers[h.key] = headerValues(h)
		if strings.EqualFold(h.key, "authorization") || strings.EqualFold(h.key, "cookie") {
			r.problem(h.origin(), at(path, "headers", h.key), "contains a credential, which must not be in a repository", "leave it out; no rule of the calendar needs it")
		}
	}
	if body := f.field("body"); body.exists() {
		data, err := body.value.MarshalJSON()
		if err != nil { // validated: concrete; but not everything concrete is JSON
			r.problem(body.origin(), at(path, "body"), "is not JSON", "write the body as data")
		}
		c.Body = string(data)
	}
	return c
}

func headerValues(h member) []string {
	if list := h.elements(); len(list) > 0 {
		var out []string
		for _, e := range list {
			out = append(out, e.text())
		}
		return out
	}
	return []string{h.text()}
}

// calendarEntry reads an entry through JSON: the schema is closed and has the
// members of an addition, by the same names.
func (r *reader) calendarEntry(m member) desired.CalendarEntry {
	e := desired.CalendarEntry{Origin: m.origin()}
	data, err := m.value.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, &e.Addition)
	}
	if err != nil {
		r.problem(m.origin(), at("calendar", m.key), fmt.Sprintf("cannot be read: %.100s", err), "")
	}
	e.Addition.ID = m.key
	return e
}

// checkCalendar holds every entry to the calendar it corrects.
func (m *merger) checkCalendar() {
	if len(m.calendar) == 0 {
		return
	}
	published, err := schema.Calendar()
	if err != nil {
		m.problems = append(m.problems, desired.Problem{Message: err.Error()})
		return
	}
	for _, id := range slices.Sorted(maps.Keys(m.calendar)) {
		e := m.calendar[id]
		if _, _, err := published.With([]deprecation.Addition{e.Addition}); err != nil {
			m.problems = append(m.problems, misfit(published, e, err))
		}
	}
}

func misfit(published deprecation.Calendar, e desired.CalendarEntry, err error) desired.Problem {
	id := e.Addition.ID
	p := desired.Problem{
		Origin:  e.Origin,
		Path:    at("calendar", id),
		Message: strings.TrimPrefix(err.Error(), "calendar "+id+": "),
	}
	var ids []string
	for _, r := range published.Rules {
		ids = append(ids, r.ID)
	}
	if !slices.Contains(ids, id) {
		p.Hint = nearest.Hint(id, ids, "")
	}
	return p
}

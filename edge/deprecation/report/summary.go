package report

import (
	"fmt"
	"strings"
)

// Counts are the numbers of a report.
type Counts struct {
	Rules       int `json:"rules"` // that something counts for uses
	Calls       int `json:"calls"` // those, information apart
	Info        int `json:"info"`
	Suppressed  int `json:"suppressed"`
	LookedAt    int `json:"looked_at"`
	Files       int `json:"files,omitempty"`       // of folders
	OtherHosts  int `json:"other_hosts,omitempty"` // calls to them that would count
	Skipped     int `json:"skipped"`               // places that could not be read
	Unreadable  int `json:"unreadable"`
	Announced   int `json:"announced"` // rules, likewise below
	Deprecated  int `json:"deprecated"`
	PastEnd     int `json:"past_end"`
	Irrevocable int `json:"past_end_without_replacement"`
}

// Counts counts.
func (r Report) Counts() Counts {
	var c Counts
	counted := map[string]bool{}
	for _, g := range r.Rules { // the gravest first: a rule counts as what is gravest of it
		c.Suppressed += g.Suppressed
		switch {
		case g.Notice.Info:
			c.Info += g.Count
			continue
		case g.Count == 0:
			continue
		}
		c.Calls += g.Count
		if counted[g.Notice.Rule] {
			continue
		}
		counted[g.Notice.Rule] = true
		c.Rules++
		*map[int]*int{0: &c.Announced, 2: &c.Deprecated, 3: &c.PastEnd, 4: &c.Irrevocable}[g.Notice.ExitCode()] += 1
	}
	for _, in := range r.Inputs {
		c.LookedAt += in.Calls
		c.Files += in.Files
		c.OtherHosts += in.OtherHosts
		c.Skipped += in.Skipped
		if in.Error != "" {
			c.Unreadable++
		}
	}
	return c
}

// summary is the last line of a report for people.
func (r Report) summary() string {
	c := r.Counts()
	parts := []string{fmt.Sprintf("on %s: no deprecated feature is in use", r.At)}
	if c.Rules > 0 {
		var states []string
		for _, s := range []struct {
			n    int
			text string
		}{{c.Irrevocable, "past the end without replacement"}, {c.PastEnd, "past the end"}, {c.Deprecated, "deprecated"}, {c.Announced, "announced"}} {
			if s.n > 0 {
				states = append(states, fmt.Sprintf("%d %s", s.n, s.text))
			}
		}
		parts[0] = fmt.Sprintf("on %s: %s by %s (%s)", r.At, plural(c.Rules, "rule matched", "rules matched"), plural(c.Calls, "call", "calls"), strings.Join(states, ", "))
	}
	if c.Suppressed > 0 {
		parts = append(parts, plural(c.Suppressed, "call", "calls")+" suppressed")
	}
	checked := plural(c.LookedAt, "call", "calls") + " checked"
	if c.Files > 0 {
		checked += " in " + plural(c.Files, "file", "files")
	}
	parts = append(parts, checked)
	if c.OtherHosts > 0 {
		parts = append(parts, plural(c.OtherHosts, "call", "calls")+" to other hosts not counted")
	}
	if c.Skipped > 0 {
		parts = append(parts, plural(c.Skipped, "place", "places")+" skipped")
	}
	if c.Unreadable > 0 {
		parts = append(parts, plural(c.Unreadable, "input", "inputs")+" unreadable")
	}
	return strings.Join(append(parts, "data as of "+string(r.DataAsOf)), ", ")
}

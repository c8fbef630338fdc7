package page

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Charts are SVG inside a page, drawn in percent of their width, so that texts keep their size
// on a narrow screen. Their colours are classes of the style sheet.

// axis is a span of time from left to right.
type axis struct{ from, to time.Time }

// Axis is the span that shows some moments and now, each with some room beside it. At most
// five years before and after now are shown.
func (v view) Axis(moments ...time.Time) axis {
	a := axis{v.Now, v.Now}
	for _, t := range moments {
		switch {
		case t.IsZero():
		case t.Before(a.from):
			a.from = t
		case t.After(a.to):
			a.to = t
		}
	}
	a.from, a.to = later(a.from, v.Now.AddDate(-5, 0, 0)), earlier(a.to, v.Now.AddDate(5, 0, 0))
	room := max(a.to.Sub(a.from)/20, 24*time.Hour)
	return axis{a.from.Add(-room), a.to.Add(room)}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// at is the place of a moment on an axis in percent, 0 to 100.
func (a axis) at(t time.Time) float64 {
	return min(100, max(0, 100*float64(t.Sub(a.from))/float64(a.to.Sub(a.from))))
}

func percent(p float64) string { return fmt.Sprintf("%.2f%%", p) }

// bar is a time on an axis: from X, as wide as Width, and today.
type bar struct {
	X, Width, Today string
	Point           bool   // it is a moment, and has no width
	Class           string // over, soon, later, open
	Tick            string // empty: none
	Label           string
}

// bar draws the time between two moments. Without an end it is open.
func (v view) bar(a axis, from, to, tick time.Time) bar {
	b := bar{Today: percent(a.at(v.Now)), Class: "later"}
	end := 100.0
	switch {
	case to.IsZero():
		b.Class = "open"
	case !to.After(v.Now):
		b.Class = "over"
	case to.Before(v.Now.AddDate(0, 0, 30)):
		b.Class = "soon"
	}
	if !to.IsZero() {
		end = a.at(to)
	}
	start := 0.0
	if !from.IsZero() {
		start = min(a.at(from), end)
	}
	b.X, b.Width, b.Point = percent(start), percent(end-start), end-start < 0.5
	if !tick.IsZero() {
		b.Tick = percent(a.at(tick))
	}
	return b
}

// month is the beginning of a month on an axis.
type month struct{ X, Label string }

// Months are the months of an axis, at most about five of them: a narrow chart has no room for more.
func (v view) Months(a axis) (all []month) {
	months := int(a.to.Sub(a.from).Hours()/24/30) + 1
	step := (months + 4) / 5
	t := time.Date(a.from.Year(), a.from.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	for ; t.Before(a.to); t = t.AddDate(0, step, 0) {
		if p := a.at(t); p < 92 { // a label has its room on its right
			all = append(all, month{percent(p), t.Format("Jan 06")})
		}
	}
	return all
}

// TokenAxis spans the ends of tokens.
func (v view) TokenAxis(l inspect.TokenList) axis {
	moments := make([]time.Time, 0, len(l.Tokens))
	for _, t := range l.Tokens {
		moments = append(moments, t.Ends, t.Rotates)
	}
	return v.Axis(moments...)
}

// TokenBar is the life of a token.
func (v view) TokenBar(a axis, t inspect.TokenRow) bar { return v.bar(a, t.Created, t.Ends, t.Rotates) }

// DeprecationAxis spans the calendar.
func (v view) DeprecationAxis(l inspect.DeprecationList) axis {
	moments := make([]time.Time, 0, 2*len(l.Deprecations))
	for _, d := range l.Deprecations {
		moments = append(moments, d.Deprecated, d.Ends)
	}
	return v.Axis(moments...)
}

// DeprecationBar is the time from the announcement of a deprecation to its end.
func (v view) DeprecationBar(a axis, d inspect.Deprecation) bar {
	return v.bar(a, d.Deprecated, d.Ends, time.Time{})
}

// step is a wave of a rollout.
type step struct{ X, Width, Class string }

// Steps are the waves of a rollout.
func (v view) Steps(r *inspect.Rollout) (steps []step) {
	if r == nil || r.Waves <= 0 {
		return nil
	}
	for i := range min(r.Waves, 100) {
		class := "to-come"
		switch {
		case i+1 < r.Open:
			class = "done"
		case i+1 == r.Open && r.Halted != "":
			class = "halted"
		case i+1 == r.Open:
			class = "open"
		}
		part := 100 / float64(min(r.Waves, 100))
		steps = append(steps, step{percent(float64(i)*part + 0.4), percent(max(part-0.8, 0.2)), class})
	}
	return steps
}

// Share is a part of a whole in percent.
func (v view) Share(part, whole int) string {
	if whole <= 0 {
		return "0%"
	}
	return percent(min(100, max(0, 100*float64(part)/float64(whole))))
}

package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Seen is a call that was met, and where.
type Seen struct {
	Request deprecation.Request
	Where   deprecation.Where
	Owner   string
	Address string
}

// What a collector keeps at most. A log of a year has millions of calls and a
// few dozen ways to make them; whoever writes each with another path must not
// fill the memory.
const (
	maxPlaces = 1000 // of a group
	maxAlike  = 20   // of these that are alike
	maxLines  = 20   // of a place
)

// Collector groups notices. It is for one goroutine.
type Collector struct {
	at           time.Time
	suppressions []*suppressing
	groups       map[groupKey]*group
	order        []*group
}

type groupKey struct {
	rule     string
	extended deprecation.Date
	info     bool
}

type group struct {
	Group
	places map[placeKey]int  // index in Places
	alike  map[likeness]kind // of those
}

// likeness is what places share that differ in the path's parameters alone. A
// detail names what was met without them.
type likeness struct{ file, integration, address, method, detail string }

// kind is how many places are alike, and the first of them.
type kind struct{ places, first int }

type placeKey struct {
	likeness
	path, rewrites string
}

func (p *Place) likeness() likeness {
	return likeness{p.Where.File, p.Where.Integration, p.Address, p.Method, p.Detail}
}

// NewCollector returns a collector for a day. Suppressions that have expired by
// then suppress nothing.
func NewCollector(at time.Time, suppressions []Suppression) *Collector {
	c := &Collector{at: at, groups: map[groupKey]*group{}}
	for _, s := range suppressions {
		c.suppressions = append(c.suppressions, newSuppressing(s, at))
	}
	return c
}

// Add takes the notices of one call. What the notices say of their place is
// not read.
func (c *Collector) Add(notices []deprecation.Notice, seen Seen) {
	for _, n := range notices {
		g := c.group(n)
		s := c.suppressed(n.Rule, seen.Where)
		if s == nil {
			g.Count++
		} else {
			g.Suppressed++
		}
		if !g.add(n, seen, s) {
			g.Unlisted++
		}
	}
}

func (c *Collector) group(n deprecation.Notice) *group {
	key := groupKey{n.Rule, n.Extended, n.Info}
	g := c.groups[key]
	if g == nil {
		g = &group{places: map[placeKey]int{}, alike: map[likeness]kind{}}
		g.Notice = n
		g.Notice.Detail, g.Notice.Rewrite, g.Notice.Rewrites, g.Notice.Where = "", nil, nil, deprecation.Where{}
		c.groups[key] = g
		c.order = append(c.order, g)
	}
	return g
}

// add counts the call at its place or at one that is like it, and reports whether
// there is any.
func (g *group) add(n deprecation.Notice, seen Seen, s *Suppression) bool {
	p := Place{
		Where: seen.Where, Count: 1, Owner: seen.Owner, Address: deprecation.Clipped(seen.Address), Detail: n.Detail, Suppressed: s,
		Method: seen.Request.Method, Path: deprecation.ShownPath(seen.Request.URL),
	}
	p.Rewrites, p.More = n.ShownRewrites(seen.Request)
	like := p.likeness()
	key := placeKey{like, p.Path, fmt.Sprint(p.rewritten())}
	if i, known := g.places[key]; known {
		g.Places[i].again(seen.Where.Line)
		return true
	}
	alike := g.alike[like]
	if alike.places == maxAlike {
		g.Places[alike.first].Similar++
		return true
	}
	if len(g.Places) == maxPlaces {
		return false
	}
	if p.Where.Line > 0 {
		p.Lines = []int{p.Where.Line}
	}
	if alike.places == 0 {
		alike.first = len(g.Places)
	}
	alike.places++
	g.alike[like] = alike
	g.places[key] = len(g.Places)
	g.Places = append(g.Places, p)
	return true
}

func (p *Place) again(line int) {
	p.Count++
	if line > 0 && len(p.Lines) < maxLines && !slices.Contains(p.Lines, line) {
		p.Lines = append(p.Lines, line)
	}
}

// Report returns what was collected so far.
func (c *Collector) Report(calendar deprecation.Calendar) Report {
	r := Report{At: deprecation.DateOf(c.at), DataAsOf: calendar.DataAsOf, Calendar: calendar}
	for _, g := range c.order {
		out := g.Group
		out.Places = slices.Clone(g.Places)
		slices.SortStableFunc(out.Places, func(a, b Place) int { return strings.Compare(a.Where.File, b.Where.File) })
		r.Rules = append(r.Rules, out)
	}
	sorted(r.Rules)
	for _, s := range c.suppressions {
		switch {
		case s.expired && s.met:
			r.Expired = append(r.Expired, s.Suppression)
		case !s.met:
			r.Unused = append(r.Unused, s.Suppression)
		}
	}
	return r
}

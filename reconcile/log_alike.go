package reconcile

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// mostAlike is how many zones have a line of their own that cannot be planned for the same reason, such
// as a list of an account that is empty. Of more, one line at the end of a turn says how many they are.
const mostAlike = 3

// alike are the zones that cannot be planned for one reason.
type alike struct {
	problem diff.Problem // of the first zone
	since   time.Time
	zones   map[string]bool
	names   []string // of the first few
	told    int      // how many were told of in one line; 0: none were
}

// gathers are all of these.
type gathers struct {
	by map[string]*alike          // the reason
	of map[string]map[string]bool // the reasons of a zone
}

// gather takes in what a look at a zone has found, and drops what it has not. One of many that are alike
// is among the returned. A look that an outage has kept from reading the zone drops nothing.
func (l *Logger) gather(ctx context.Context, r Report) (many map[string]bool) {
	here := map[string]bool{}
	many = map[string]bool{}
	for _, p := range r.Plan.Problems {
		if p.Token != "" {
			continue
		}
		if r.Told && p.State.Unread() {
			maps.Copy(here, l.alike.of[r.Zone.String()])
			continue
		}
		why := problemOf(p)
		g := l.alike.by[why]
		if g == nil {
			g = &alike{problem: p, since: r.Finished, zones: map[string]bool{}}
			if l.alike.by == nil {
				l.alike = gathers{map[string]*alike{}, map[string]map[string]bool{}}
			}
			l.alike.by[why] = g
		}
		if here[why] = true; !g.zones[r.Zone.String()] && len(g.names) < mostAlike {
			g.names = append(g.names, p.Zone)
		}
		g.zones[r.Zone.String()] = true
		many[why] = len(g.zones) > mostAlike
	}
	l.leave(ctx, r.Zone.String(), here, r.Finished)
	return many
}

// leave has a zone be in no other than these.
func (l *Logger) leave(ctx context.Context, zone string, here map[string]bool, now time.Time) {
	for why := range l.alike.of[zone] {
		g := l.alike.by[why]
		if here[why] || g == nil {
			continue
		}
		if delete(g.zones, zone); len(g.zones) > 0 {
			continue
		}
		if delete(l.alike.by, why); g.told > 0 {
			l.Log.InfoContext(ctx, "zones can be planned again", "zones", g.told, "reason", g.problem.Line(), "lasted", now.Sub(g.since).Round(time.Second).String())
		}
	}
	if len(here) > 0 {
		l.alike.of[zone] = here
	} else {
		delete(l.alike.of, zone)
	}
}

// tellAlike tells at the end of a turn of zones that cannot be planned for one reason: once, and again
// where they are twice as many.
func (l *Logger) tellAlike(ctx context.Context, stand map[string]bool, now time.Time) {
	for zone := range l.alike.of {
		if !stand[zone] {
			l.leave(ctx, zone, nil, now)
		}
	}
	for _, g := range l.alike.by {
		n := len(g.zones)
		if n <= mostAlike || n < 2*g.told {
			continue
		}
		g.told = n
		p := g.problem
		l.Log.WarnContext(ctx, "many zones cannot be planned for the same reason", "zones", n, "names", strings.Join(g.names, ", ")+fmt.Sprintf(" and %d more", n-len(g.names)),
			"deployment", diff.Called(p.Kind, p.Deployment), "state", string(p.State), "reason", p.Line(), "hint", p.Hint)
	}
}

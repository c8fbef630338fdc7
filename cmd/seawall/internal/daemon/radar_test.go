package daemon

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// publish has the vendor publish the core ruleset without a rule, and the next sweep read it.
func (h *house) publish(ref string) {
	h.t.Helper()
	rulesets := h.Platform.State().Accounts[0].Rulesets
	core := rulesets[slices.IndexFunc(rulesets, func(r edge.Ruleset) bool { return r.ID == mem.CoreRuleset })]
	core.Rules = slices.DeleteFunc(slices.Clone(core.Rules), func(r edge.Rule) bool { return r.Ref == ref })
	core.Version = ""
	if err := h.Platform.SetRuleset(mem.Account, core); err != nil {
		h.t.Fatalf("%v", err)
	}
	h.pass(2*time.Hour + time.Minute)
}

// The radar lists what a version meant when it was seen, page by page; who may see some zones
// only is told of these, and of others neither how many nor which there are.
func TestRadarShowsWhatMayBeSeen(t *testing.T) {
	t.Parallel()
	zones := reconciletest.Zones(120, core("xss"))
	for i := range zones {
		zones[i].Labels = map[string]string{"team": "b"}
		if i == 4 || i == 110 {
			zones[i].Labels = map[string]string{"team": "a"}
		}
	}
	inBubble(t, len(zones), reconcile.Guards{}, zones, func(t *testing.T, h *house) {
		d := notRunning(t)
		d.assembly = &setup.Assembly{Records: h.memory}
		d.heart.Store(h.heart)
		data := pageData{d}
		list := func(q inspect.RadarQuery) inspect.RadarList {
			t.Helper()
			list, err := data.Radar(t.Context(), q)
			must.Do(t, err)
			return list
		}
		if l := list(inspect.RadarQuery{}); !l.Kept || l.Rulesets != 1 || l.KeptSince.IsZero() || len(l.Versions) != 0 {
			t.Fatalf("before there is a new version: %+v", l)
		}
		h.publish("sqli-union")
		h.push("c2", slices.DeleteFunc(slices.Clone(zones), func(z desired.Zone) bool { return z.Key == reconciletest.ZoneKey(6) })...)
		h.publish("xss-handler") // off in each zone

		all := list(inspect.RadarQuery{})
		if len(all.Versions) != 2 || all.Versions[1].Zones.Weakens != 120 || all.Versions[0].Zones.Unchanged != 119 || all.Versions[1].Account != "prod" {
			t.Fatalf("all: %+v", all.Versions)
		}
		first := all.Versions[1].Number
		d.readWeakened(t.Context())
		if w := d.newlyWeakened(time.Now()); len(w) != 1 || w[0].Weakens != 120 || w[0].Number != first {
			t.Errorf("a status tells of %+v", w)
		}
		if w := d.newlyWeakened(time.Now().Add(inspect.NewsFor)); len(w) != 0 {
			t.Errorf("a week later a status tells of %+v", w)
		}
		for name, want := range map[string]int{"prod": 2, "other": 0} {
			if n := len(list(inspect.RadarQuery{Account: name}).Versions); n != want {
				t.Errorf("%d versions of account %s", n, name)
			}
		}
		if n := len(list(inspect.RadarQuery{Since: all.Versions[0].FirstSeen}).Versions); n != 1 {
			t.Errorf("%d versions since the newest", n)
		}
		one, err := data.RadarVersion(t.Context(), first, inspect.RadarQuery{})
		must.Do(t, err)
		if one.Next != "100" || len(one.Groups) != 1 || one.Groups[0].Count != 120 || len(one.Groups[0].Zones) != 100 || len(one.Rules.Removed) != 1 {
			t.Errorf("a page of a version: next %s, %+v", one.Next, one.Groups)
		}
		two, err := data.RadarVersion(t.Context(), first, inspect.RadarQuery{After: one.Next})
		if err != nil || two.Next != "" || len(two.Groups[0].Zones) != 20 {
			t.Errorf("the next page: %+v, %v", two.Groups, err)
		}

		team := func(name string) func(inspect.ZoneLabels) bool {
			return func(l inspect.ZoneLabels) bool { return l.Declared["team"] == name && l.Proved["team"] == name }
		}
		some := list(inspect.RadarQuery{May: team("a")})
		if z := some.Versions[1].Zones; len(some.Versions) != 2 || z.Weakens != 2 || z.Direction != diff.Weakens || some.Versions[0].Zones.Unchanged != 0 {
			t.Errorf("team a: %+v", some.Versions)
		}
		one, err = data.RadarVersion(t.Context(), first, inspect.RadarQuery{May: team("a")})
		must.Do(t, err)
		if g := one.Groups; one.Next != "" || len(g) != 1 || g[0].Count != 2 || len(g[0].Zones) != 2 || g[0].Zones[1].Zone != reconciletest.ZoneKey(111) || one.News.Zones.Weakens != 2 {
			t.Errorf("a version for team a: next %s, %+v, %+v", one.Next, g, one.News.Zones)
		}
		one, err = data.RadarVersion(t.Context(), first, inspect.RadarQuery{May: team("b")})
		must.Do(t, err)
		next, err := data.RadarVersion(t.Context(), first, inspect.RadarQuery{May: team("b"), After: one.Next})
		if err != nil || one.Groups[0].Count != 117 || len(next.Groups[0].Zones) != 17 || next.Next != "" { // one is not declared any more
			t.Errorf("pages for team b: %+v, %+v, %v", one.Groups, next.Groups, err)
		}

		none := list(inspect.RadarQuery{May: team("c")})
		if len(none.Versions) != 0 || none.Rulesets != 0 || !none.KeptSince.IsZero() {
			t.Errorf("a team without zones: %+v", none)
		}
		for number, may := range map[int64]func(inspect.ZoneLabels) bool{first: team("c"), 99: nil, 98: team("a")} {
			if _, err := data.RadarVersion(t.Context(), number, inspect.RadarQuery{May: may}); !errors.Is(err, page.ErrNotFound) {
				t.Errorf("version %d: %v", number, err)
			}
		}
	})
}

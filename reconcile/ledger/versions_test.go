package ledger

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// declaring is an account with zones that all deploy the ruleset.
func declaring(id edge.AccountID, zones int) desired.Account {
	account := difftest.State(difftest.Deployment()).Accounts[0]
	account.Key, account.ID, account.Zones = "key-"+string(id), id, nil
	for i := range zones {
		d := difftest.Deployment()
		d.Ruleset, d.Origin = "core", desired.Origin{File: "zones.cue", Line: i + 1, Column: 2}
		account.Zones = append(account.Zones, desired.Zone{
			Key: fmt.Sprintf("zone-%03d.example", i), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%s-%03d", id, i))), Deployments: []desired.Deployment{d},
		})
	}
	return account
}

// publish records a version that an account has, with what it means for its zones.
func publish(t *testing.T, l *Ledger, account desired.Account, number, day int, change ...func(*edge.Ruleset)) {
	t.Helper()
	r := difftest.Next(difftest.Managed(), change...)
	r.Version = fmt.Sprint(number)
	_, _, err := l.SawRuleset(t.Context(), account.Key, rulesets.Seen{Account: account.ID, At: noon.AddDate(0, 0, day), Ruleset: r}, func(before rulesets.Seen) radar.Published {
		return publishedIn(account, before, rulesets.Seen{Account: account.ID, At: noon.AddDate(0, 0, day), Ruleset: r})
	})
	must(t, err)
}

func publishedIn(account desired.Account, versions ...rulesets.Seen) radar.Published {
	return radar.Make(radar.Input{State: desired.State{Accounts: []desired.Account{account}}, Seen: versions}).Rulesets[0]
}

// numbers are the versions of a page, as account/version.
func numbers(versions []reconcile.NewVersion) (all []string) {
	for _, v := range versions {
		all = append(all, string(v.AccountID)+"/"+v.Version)
	}
	return all
}

// New versions are listed from the end, in pages, with what they meant when they were seen; a
// first one is not among them.
func TestNewVersions(t *testing.T) {
	l := ready(t)
	a, b := declaring("a", 250), declaring("b", 2)
	publish(t, l, a, 1, 0)
	publish(t, l, b, 1, 1)
	publish(t, l, a, 2, 2, difftest.Without(0))
	publish(t, l, b, 2, 3, difftest.Without(0))
	publish(t, l, a, 3, 4)
	page := func(f reconcile.VersionFilter) ([]reconcile.NewVersion, bool) {
		t.Helper()
		versions, earlier, err := l.NewVersions(t.Context(), f)
		must(t, err)
		return versions, earlier
	}
	for _, c := range []struct {
		filter  reconcile.VersionFilter
		want    []string
		earlier bool
	}{
		{reconcile.VersionFilter{Last: 10}, []string{"a/3", "b/2", "a/2"}, false},
		{reconcile.VersionFilter{Last: 2}, []string{"a/3", "b/2"}, true},
		{reconcile.VersionFilter{Last: 2, Before: 4}, []string{"a/2"}, false},
		{reconcile.VersionFilter{Last: 10, Since: noon.AddDate(0, 0, 3)}, []string{"a/3", "b/2"}, false},
		{reconcile.VersionFilter{Last: 10, Since: noon.AddDate(0, 0, 5)}, nil, false},
		{reconcile.VersionFilter{Last: 10, Accounts: []edge.AccountID{"b"}}, []string{"b/2"}, false},
		{reconcile.VersionFilter{Last: 10, Accounts: []edge.AccountID{}}, nil, false},
	} {
		got, earlier := page(c.filter)
		if d := cmp.Diff(c.want, numbers(got)); d != "" || earlier != c.earlier {
			t.Errorf("%+v, earlier ones %v (-want +got):\n%s", c.filter, earlier, d)
		}
	}
	all, _ := page(reconcile.VersionFilter{Last: 10, Classes: true})
	if z := all[0].Zones; z == nil || z.Strengthens != 250 || z.Direction != diff.Strengthens || all[0].Account != "key-a" || all[0].Before != "2" || all[0].Rules.Added != 1 {
		t.Errorf("version 3 is %+v, zones %+v", all[0].News, z)
	}
	if c := radar.CountsOf(all[1].Classes); c.Weakens != 2 || len(all[1].Classes[0].Zones) != 2 || all[1].Classes[0].Zones[0] != edge.ZoneScope("b-000") {
		t.Errorf("the classes of b/2 are %+v", all[1].Classes)
	}
	first, err := l.FirstVersions(t.Context())
	must(t, err)
	want := []reconcile.FirstVersion{{Account: "a", Ruleset: difftest.Managed().ID, At: noon}, {Account: "b", Ruleset: difftest.Managed().ID, At: noon.AddDate(0, 0, 1)}}
	if d := cmp.Diff(want, first); d != "" {
		t.Errorf("first versions (-want +got):\n%s", d)
	}
}

// A version has its zones in pages, each zone once, or all at once.
func TestVersionDetail(t *testing.T) {
	l := ready(t)
	a := declaring("a", 250)
	publish(t, l, a, 1, 0)
	publish(t, l, a, 2, 2, difftest.Without(0))
	seen := map[string]bool{}
	from, pages := 0, 0
	for ; pages == 0 || from > 0; pages++ {
		d, err := l.VersionDetail(t.Context(), 2, from, false)
		must(t, err)
		if len(d.Rules.Removed) != 1 || d.Version != "2" || d.From != from {
			t.Fatalf("version 2 is %+v", d)
		}
		for _, e := range d.Zones {
			if e.Count != 250 || e.Direction != diff.Weakens || len(e.Rules) != 1 {
				t.Errorf("a group is %+v", e)
			}
			for _, z := range e.Zones {
				if seen[z.Zone] || z.Origin.Line == 0 {
					t.Errorf("%+v is there twice, or not as it is declared", z)
				}
				seen[z.Zone] = true
			}
		}
		from = d.Next
	}
	if pages != 3 || len(seen) != 250 {
		t.Errorf("%d pages with %d zones", pages, len(seen))
	}
	if d, err := l.VersionDetail(t.Context(), 2, 0, true); err != nil || len(d.Zones) != 3 || d.Next != 0 {
		t.Errorf("all at once: %v, %d parts, next %d", err, len(d.Zones), d.Next)
	}
	for _, number := range []int64{1, 3} { // a first version, and none
		if _, err := l.VersionDetail(t.Context(), number, 0, false); !errors.Is(err, reconcile.ErrNoVersion) {
			t.Errorf("version number %d: %v", number, err)
		}
	}
}

// Of a version that an earlier program has recorded, the rules are compared, and the zones are
// not known.
func TestNewVersionOfAnEarlierProgram(t *testing.T) {
	path := newPath(t)
	l := mustOpen(t, path)
	a := declaring("a", 2)
	publish(t, l, a, 1, 0)
	publish(t, l, a, 2, 2, difftest.Without(0))
	before, _, err := l.NewVersions(t.Context(), reconcile.VersionFilter{Last: 1})
	must(t, err)
	must(t, l.Close())
	tampered(t, path, `PRAGMA foreign_keys = ON; DELETE FROM ruleset_news`)
	l = mustOpen(t, path)
	now, _, err := l.NewVersions(t.Context(), reconcile.VersionFilter{Last: 1, Classes: true})
	must(t, err)
	before[0].Zones, before[0].Account = nil, "" // its key is not on record either
	if d := cmp.Diff(before, now, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("(-recorded now, +by an earlier program):\n%s", d)
	}
	if d, err := l.VersionDetail(t.Context(), 2, 0, true); err != nil || len(d.Zones) != 0 || len(d.Rules.Removed) != 1 {
		t.Errorf("its detail is %+v, %v", d, err)
	}
}

// What a version meant goes with the version, once there are too many.
func TestVersionsThatAreDropped(t *testing.T) {
	l := ready(t)
	a := declaring("a", 1)
	for n := range reconcile.MostVersions + 3 {
		publish(t, l, a, n, n, difftest.Without(n%2))
	}
	versions, earlier, err := l.NewVersions(t.Context(), reconcile.VersionFilter{Last: 1000})
	must(t, err)
	if len(versions) != reconcile.MostVersions-1 || earlier {
		t.Errorf("%d new versions, earlier ones %v", len(versions), earlier)
	}
	for _, table := range []string{"ruleset_news", "ruleset_news_page"} {
		if got := texts(t, l, `SELECT seq FROM `+table); len(got) != reconcile.MostVersions {
			t.Errorf("%s has %d rows", table, len(got))
		}
	}
}

// Another process records the same version, or one more, while it is worked out what a version
// means: each is recorded once, by the version that is before it in the end.
func TestVersionRecordedMeanwhile(t *testing.T) {
	path := newPath(t)
	l, other := mustOpen(t, path), mustOpen(t, path)
	a := declaring("a", 1)
	publish(t, l, a, 1, 0)
	r := difftest.Next(difftest.Managed(), difftest.Without(0))
	r.Version = "3"
	seen := rulesets.Seen{Account: a.ID, At: noon.Add(time.Hour), Ruleset: r}
	var asked []string
	before, news, err := l.SawRuleset(t.Context(), a.Key, seen, func(before rulesets.Seen) radar.Published {
		if asked = append(asked, before.Ruleset.Version); len(asked) == 1 {
			publish(t, other, a, 2, 1, difftest.Without(1))
		}
		return publishedIn(a, before, seen)
	})
	must(t, err)
	if d := cmp.Diff([]string{"1", "2"}, asked); d != "" || !news || before.Ruleset.Version != "2" {
		t.Errorf("news %v, after version %s; asked was for (-want +got):\n%s", news, before.Ruleset.Version, d)
	}
	r.Version = "4"
	seen.Ruleset = r
	before, news, err = l.SawRuleset(t.Context(), a.Key, seen, func(before rulesets.Seen) radar.Published {
		_, _, err := other.SawRuleset(t.Context(), a.Key, seen, meaning(seen))
		must(t, err)
		return publishedIn(a, before, seen)
	})
	if err != nil || news || before.Ruleset.Version != "3" {
		t.Errorf("recorded by the other process: news %v, before %+v, %v", news, before, err)
	}
	versions, _, err := l.NewVersions(t.Context(), reconcile.VersionFilter{Last: 10})
	must(t, err)
	if d := cmp.Diff([]string{"a/4", "a/3", "a/2"}, numbers(versions)); d != "" {
		t.Errorf("on record (-want +got):\n%s", d)
	}
}

// What cannot be read is never no new version.
func TestDamagedNews(t *testing.T) {
	for name, damage := range map[string]string{
		"news that are none": `UPDATE ruleset_news SET news = '{'`,
		"news without zones": `UPDATE ruleset_news SET news = '{"account": "a"}'`,
		"classes":            `UPDATE ruleset_news SET classes = x'00'`,
		"zones":              `UPDATE ruleset_news_page SET zones = x'00'`,
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			l := mustOpen(t, path)
			a := declaring("a", 1)
			publish(t, l, a, 1, 0)
			publish(t, l, a, 2, 1, difftest.Without(0))
			must(t, l.Close())
			tampered(t, path, damage)
			l = mustOpen(t, path)
			_, _, err := l.NewVersions(t.Context(), reconcile.VersionFilter{Last: 10, Classes: true})
			if name == "zones" {
				_, err = l.VersionDetail(t.Context(), 2, 0, false)
			}
			wantFault(t, err, ErrDamaged, "what a version of a managed ruleset means in account a")
		})
	}
}

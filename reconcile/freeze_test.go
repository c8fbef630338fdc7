package reconcile

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // the tests are about Berlin, wherever they run

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/integration/must"
)

func berlin(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	must.Do(t, err)
	return zone
}

func window(t testing.TB, expression string, length time.Duration, zone *time.Location) Freeze {
	t.Helper()
	schedule, err := cron.ParseStandard(expression)
	must.Do(t, err)
	return Freeze{Name: "w", Schedule: schedule, For: length, Zone: zone}
}

// TestFreezeAt: in UTC and in Berlin, where clocks are put forward on 29 March
// 2026 at 01:00Z and back on 25 October at 01:00Z.
func TestFreezeAt(t *testing.T) {
	zone := berlin(t)
	weekend := window(t, "0 18 * * 5", 62*time.Hour, zone) // Friday 18:00 to Monday 08:00
	night := window(t, "30 2 * * *", time.Hour, zone)
	evening := window(t, "0 22 * * *", 4*time.Hour+30*time.Minute, zone) // to 02:30
	row := window(t, "0 0 * * 1-3", 24*time.Hour, time.UTC)
	always := window(t, "* * * * *", time.Hour, time.UTC)
	for _, test := range []struct {
		name     string
		freeze   Freeze
		at, ends string // UTC; no end: not in it
	}{
		{"a moment before", weekend, "2026-01-09T16:59:59Z", ""},
		{"the first moment", weekend, "2026-01-09T17:00:00Z", "2026-01-12T07:00:00Z"},
		{"the last moment", weekend, "2026-01-12T06:59:59Z", "2026-01-12T07:00:00Z"},
		{"the end", weekend, "2026-01-12T07:00:00Z", ""},
		{"midweek", weekend, "2026-01-14T12:00:00Z", ""},
		{"in summer", weekend, "2026-07-10T16:00:00Z", "2026-07-13T06:00:00Z"},
		{"over the hour that is left out", weekend, "2026-03-27T17:00:00Z", "2026-03-30T06:00:00Z"},
		{"over it, before the end", weekend, "2026-03-30T05:59:59Z", "2026-03-30T06:00:00Z"},
		{"over it, at the end", weekend, "2026-03-30T06:00:00Z", ""},
		{"over the hour that comes twice", weekend, "2026-10-23T16:00:00Z", "2026-10-26T07:00:00Z"},
		{"over it, before the end", weekend, "2026-10-26T06:59:59Z", "2026-10-26T07:00:00Z"},
		{"over it, at the end", weekend, "2026-10-26T07:00:00Z", ""},

		{"a night", night, "2026-01-10T01:30:00Z", "2026-01-10T02:30:00Z"},
		{"a night that begins in the hour left out", night, "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"},
		{"its end", night, "2026-03-29T01:30:00Z", ""},
		{"a night that begins in the hour that comes twice", night, "2026-10-25T00:30:00Z", "2026-10-25T02:30:00Z"},
		{"does not stop when the clock is put back", night, "2026-10-25T01:10:00Z", "2026-10-25T02:30:00Z"},
		{"before that night", night, "2026-10-25T00:29:59Z", ""},
		{"an evening that ends in the hour that comes twice", evening, "2026-10-25T01:29:59Z", "2026-10-25T01:30:00Z"},
		{"its end is the second", evening, "2026-10-25T01:30:00Z", ""},
		{"it does not end with the first", evening, "2026-10-25T00:45:00Z", "2026-10-25T01:30:00Z"},

		{"windows in a row are one", row, "2026-01-05T10:00:00Z", "2026-01-08T00:00:00Z"},
		{"the last of them", row, "2026-01-07T23:59:59Z", "2026-01-08T00:00:00Z"},
		{"the day after", row, "2026-01-08T00:00:00Z", ""},
		{"never over", always, "2026-01-08T00:00:30Z", "at least an hour on"},
		{"no length", window(t, "* * * * *", 0, time.UTC), "2026-01-08T00:00:00Z", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, test.at)
			must.Do(t, err)
			until, in := test.freeze.At(at)
			got := ""
			if in {
				got = until.UTC().Format(time.RFC3339)
			}
			if test.ends == "at least an hour on" && in && until.After(at.Add(time.Hour)) {
				return
			}
			if got != test.ends {
				t.Errorf("at %s it ends at %q, want %q", test.at, got, test.ends)
			}
		})
	}
}

// TestAFreezeEndsWhenItSays: at its end it is over, or the end was no end; before
// it, it is not. At every minute around both changes of the clock.
func TestAFreezeEndsWhenItSays(t *testing.T) {
	zone := berlin(t)
	expressions := []string{"0 18 * * 5", "30 2 * * *", "0 22 * * *", "15 1,3 * * *", "0 0 1 * *"}
	rapid.Check(t, func(rt *rapid.T) {
		length := time.Duration(rapid.IntRange(1, 70*60).Draw(rt, "minutes")) * time.Minute
		f := window(t, rapid.SampledFrom(expressions).Draw(rt, "cron"), length, zone)
		day := rapid.SampledFrom([]string{"2026-03-28", "2026-10-24", "2026-06-05"}).Draw(rt, "day")
		begin, _ := time.Parse(time.DateOnly, day)
		at := begin.Add(time.Duration(rapid.IntRange(0, 72*60).Draw(rt, "at")) * time.Minute)
		until, in := f.At(at)
		if !in || until.Sub(at) > 300*24*time.Hour { // windows without a gap
			return
		}
		if !until.After(at) {
			rt.Fatalf("at %s it ends at %s", at, until)
		}
		if _, after := f.At(until); after {
			rt.Fatalf("it ends at %s and is on then", until)
		}
		if same, still := f.At(until.Add(-time.Second)); !still || !same.Equal(until) {
			rt.Fatalf("a second before its end at %s it is on: %v, until %s", until, still, same)
		}
	})
}

// TestFreezesAt: those that a time is in, but for those that a person overrides where
// they allow it.
func TestFreezesAt(t *testing.T) {
	closed, open := window(t, "0 6 * * *", 2*time.Hour, time.UTC), window(t, "0 6 * * *", time.Hour, time.UTC)
	closed.Name, closed.Strengthening, closed.Labels = "closed", true, guard.Labels{"tier": "gold"}
	open.Name, open.Override = "open", true
	at := time.Date(2026, 1, 1, 6, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		at         time.Time
		override   bool
		inForce    []string
		overridden []string
	}{
		"before":         {at.Add(-time.Hour), true, nil, nil},
		"within":         {at, false, []string{"closed", "open"}, nil},
		"overridden":     {at, true, []string{"closed"}, []string{"open"}},
		"only the other": {at.Add(time.Hour), true, []string{"closed"}, nil},
	} {
		inForce, overridden := FreezesAt([]Freeze{closed, open}, c.at, c.override)
		var names []string
		for _, f := range inForce {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, c.inForce) || !slices.Equal(overridden, c.overridden) {
			t.Errorf("%s: in force %v, overridden %v", name, names, overridden)
		}
	}
	inForce, _ := FreezesAt([]Freeze{closed}, at, false)
	want := guard.Freeze{Name: "closed", Until: at.Add(90 * time.Minute), Strengthening: true, Labels: guard.Labels{"tier": "gold"}}
	if d := cmp.Diff([]guard.Freeze{want}, inForce); d != "" {
		t.Errorf("in force (-want +got):\n%s", d)
	}
}

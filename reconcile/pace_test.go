package reconcile

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestShortestGap(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	must.Do(t, err)
	winter := time.Date(2026, 1, 14, 11, 7, 13, 5, zone)
	for name, c := range map[string]struct {
		cron string
		from time.Time
		want time.Duration
	}{
		"every minute":          {"* * * * *", winter, time.Minute},
		"every two hours":       {"0 */2 * * *", winter, 2 * time.Hour},
		"a length of time":      {"@every 90s", winter, 90 * time.Second},
		"uneven":                {"0 0,1,8 * * *", winter, time.Hour},
		"not a part of an hour": {"*/25 * * * *", winter, 10 * time.Minute},
		"close on Sundays":      {"0 6,7 * * SUN", winter, time.Hour},
		"once a day":            {"0 3 * * *", winter, 24 * time.Hour},
		"the clock goes forward": {
			"0 12 * * *", time.Date(2026, 3, 25, 0, 0, 0, 0, zone), 23 * time.Hour,
		},
		"rarer than once a week": {"0 0 1 * *", winter, 28 * 24 * time.Hour},
		"never":                  {"0 0 30 2 *", winter, 0},
	} {
		t.Run(name, func(t *testing.T) {
			schedule, err := cron.ParseStandard(c.cron)
			must.Do(t, err)
			if got := ShortestGap(schedule, c.from); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A schedule that is too short is told once, again when the numbers change, and
// by the runs of single commits too.
func TestPaceIsToldOnce(t *testing.T) {
	var out bytes.Buffer
	pace := &Pace{Log: slog.New(slog.NewTextHandler(&out, nil))}
	report := func(zones int, full bool) Report {
		r := Report{Scope: Scope{Full: full}, Fleet: Fleet{Declared: zones, Sweep: int64(zones) + 1}}
		r.Plan.Requests.Overload = diff.Budget{Requests: 11, Per: time.Minute}.Overload(zones, r.Sweep, time.Minute)
		return r
	}
	for i, step := range []struct {
		report Report
		want   string
	}{
		{report(9, true), ""},
		{report(30, false), "is too short"},
		{report(30, true), ""},
		{Report{}, ""}, // it failed before it knew its commit
		{report(30, false), ""},
		{report(31, false), "is too short"},
		{report(5, false), "can hold again"},
		{report(5, true), ""},
		{report(31, true), "is too short"},
	} {
		out.Reset()
		pace.Report(t.Context(), step.report)
		if got := out.String(); !strings.Contains(got, step.want) || (step.want == "") != (got == "") {
			t.Errorf("step %d tells %q, want %q", i, got, step.want)
		}
	}
}

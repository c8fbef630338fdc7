package diff

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestOverload(t *testing.T) {
	platform := Budget{1200, 5 * time.Minute}
	for name, c := range map[string]struct {
		budget   Budget
		requests int64
		interval time.Duration
		holds    time.Duration // zero: the schedule holds
	}{
		"a thousand zones, every five minutes":  {platform, 1001, 5 * time.Minute, 0},
		"just what the budget has":              {platform, 1080, 5 * time.Minute, 0},
		"one more":                              {platform, 1081, 5 * time.Minute, 6 * time.Minute},
		"ten thousand zones, every hour":        {platform, 10_001, time.Hour, 0},
		"ten thousand zones, every half hour":   {platform, 10_001, 30 * time.Minute, 47 * time.Minute},
		"a hundred thousand zones, every day":   {platform, 100_001, 24 * time.Hour, 0},
		"a hundred thousand zones, two-hourly":  {platform, 100_001, 2 * time.Hour, 463 * time.Minute},
		"a hundred zones, every ten seconds":    {platform, 101, 10 * time.Second, 29 * time.Second},
		"more zones than nanoseconds can count": {platform, 1 << 50, time.Hour, 0},
		"no zones":                              {platform, 0, time.Second, 0},
		"no schedule":                           {platform, 1 << 20, 0, 0},
		"no budget known":                       {Budget{}, 1 << 20, time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.budget.Overload(7, c.requests, c.interval)
			switch {
			case name == "more zones than nanoseconds can count":
				if got == nil {
					t.Error("it holds")
				}
			case got == nil && c.holds != 0:
				t.Errorf("it holds; want %v", c.holds)
			case got != nil && (time.Duration(got.Holds) != c.holds || got.Zones != 7 || got.Requests != c.requests || time.Duration(got.Interval) != c.interval):
				t.Errorf("got %+v, want %v", *got, c.holds)
			}
		})
	}
}

// The interval that is named holds, and it is not much longer than need be.
func TestOverloadNamesAnIntervalThatHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{rapid.IntRange(1, 5000).Draw(t, "budget"), time.Duration(rapid.IntRange(1, 600).Draw(t, "seconds")) * time.Second}
		n := rapid.Int64Range(1, 200_000).Draw(t, "requests")
		holds := b.forSweeps().Interval(n)
		if b.Overload(1, n, holds) != nil {
			t.Fatalf("%d requests do not fit into %v by %v", n, holds, b)
		}
		if less := holds - time.Minute; less > 0 && b.Overload(1, n, less) == nil {
			t.Fatalf("%d requests fit into %v by %v, and %v was named", n, less, b, holds)
		}
	})
}

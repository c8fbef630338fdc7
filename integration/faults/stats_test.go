package main

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func of(missing int, values ...int) sample {
	s := sample{}
	for _, v := range values {
		s.add(time.Duration(v) * time.Second)
	}
	for range missing {
		s.miss(45 * time.Second)
	}
	return s
}

func TestQuantiles(t *testing.T) {
	for _, test := range []struct {
		sample sample
		want   string
	}{
		{of(0), "–"},
		{of(0, 3), "3.0 / 3.0 / 3.0 s"},
		{of(0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1), "5.0 / 9.0 / 10 s"},
		{of(0, 1, 2, 3), "2.0 / 3.0 / 3.0 s"},
		{of(1, 1, 2, 3), "2.0 / >45 / >45 s"},
		{of(2), ">45 / >45 / >45 s"},
	} {
		if got := test.sample.quantiles(); got != test.want {
			t.Errorf("%v: %s, want %s", test.sample, got, test.want)
		}
	}
}

// TestQuantileLaw: a share q of everything, rounded up, is not above the
// quantile, and it is the least such value.
func TestQuantileLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 40).Draw(t, "values")
		missing := rapid.IntRange(0, 10).Draw(t, "missing")
		tenths := rapid.IntRange(1, 10).Draw(t, "tenths")
		s := of(missing, values...)
		atMost := func(bound time.Duration) int {
			return len(slices.DeleteFunc(slices.Clone(s.took), func(d time.Duration) bool { return d > bound }))
		}
		got, ok := s.quantile(float64(tenths) / 10)
		enough := func(n int) bool { return 10*n >= tenths*s.count() }
		if !ok {
			if enough(len(values)) {
				t.Fatalf("none, though %d of %d happened", len(values), s.count())
			}
			return
		}
		if !enough(atMost(got)) || enough(atMost(got-1)) {
			t.Fatalf("%s is not the quantile %d/10 of %v and %d missing", got, tenths, values, missing)
		}
	})
}

func TestWithin(t *testing.T) {
	const floor = time.Second
	undisturbed := of(0, 1, 2, 4)
	for _, test := range []struct {
		name   string
		sample sample
		want   bool
	}{
		{"the same", undisturbed, true},
		{"twice and the floor", of(0, 9, 9, 9), true},
		{"more", of(0, 9, 9, 10), false},
		{"missing", of(1, 1, 2, 4), false},
		{"nothing", of(0), false},
	} {
		if got := test.sample.within(undisturbed, 1, floor); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	if undisturbed.within(of(0), 1, floor) {
		t.Error("within nothing")
	}
	if got := of(0, 6).ratio(undisturbed, 1); got != "×1.5" {
		t.Errorf("the ratio is %s", got)
	}
	if got := of(1).ratio(undisturbed, 1); got != "–" {
		t.Errorf("the ratio of what is missing is %s", got)
	}
}

func TestMissingTellsTheShortestWait(t *testing.T) {
	var s sample
	s.miss(50 * time.Second)
	s.miss(46 * time.Second)
	s.miss(60 * time.Second)
	if got, want := s.longest(), "3 of 3 not within 46 s"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestGrowth(t *testing.T) {
	var list []usage
	for i := range 100 { // warms up, then grows
		list = append(list, usage{files: i})
	}
	from, to := growth(list, func(u usage) int64 { return int64(u.files) })
	if from != 37 || to != 87 {
		t.Errorf("from %d to %d, want from 37 to 87", from, to)
	}
	if flat(from, to, 0, 49) || !flat(from, to, 0, 50) || !flat(100, 115, 0.15, 0) || flat(100, 116, 0.15, 0) {
		t.Error("flat is something else")
	}
	if from, to := growth(nil, func(usage) int64 { return 1 }); from != 0 || to != 0 {
		t.Error("nothing grows")
	}
}

func TestPressureTotal(t *testing.T) {
	got, ok := pressureTotal("some avg10=95.78 avg60=95.48 avg300=92.31 total=8673941251\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")
	if want := 8673941251 * time.Microsecond; !ok || got != want {
		t.Errorf("the total is %s, %v; want %s", got, ok, want)
	}
	for _, text := range []string{"", "some avg10=0.00\n", "full avg10=0.00 total=1\n"} {
		if got, ok := pressureTotal(text); ok {
			t.Errorf("%q has the total %s", text, got)
		}
	}
}

//go:build linux

package main

import (
	"testing"
	"time"
)

// at is a moment of a story in seconds.
func at(seconds float64) time.Time {
	return time.Unix(1_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

func wrote(replica string, epoch int64, from, to float64) request {
	return request{at: at(from), end: at(to), method: "PATCH", credential: "k", replica: replica, epoch: epoch}
}

func TestOldEpochs(t *testing.T) {
	pause := []span{{"a", at(2), at(20)}}
	for _, test := range []struct {
		name     string
		requests []request
		pauses   []span
		broken   int
		after    int
	}{
		{"one after the other", []request{wrote("a", 1, 1, 1.1), wrote("b", 2, 3, 3.1), wrote("a", 3, 5, 5.1)}, nil, 0, 0},
		{"the old one goes on", []request{wrote("a", 1, 1, 1.1), wrote("b", 2, 3, 3.1), wrote("a", 1, 4, 4.1)}, nil, 1, 0},
		{"the old one goes on for long", []request{wrote("b", 2, 3, 3.1), wrote("a", 1, 4, 4.1), wrote("a", 1, 5, 5.1)}, nil, 2, 0},
		{"the old one's is under way", []request{wrote("a", 1, 1, 3.5), wrote("b", 2, 3, 3.1)}, nil, 1, 0},
		{"what a pause held back", []request{wrote("a", 1, 1, 1.1), wrote("b", 2, 15, 15.1), wrote("a", 1, 20.1, 20.2)}, pause, 0, 1},
		{"two of a pause", []request{wrote("b", 2, 15, 15.1), wrote("a", 1, 20.1, 20.2), wrote("a", 1, 20.2, 20.3)}, pause, 1, 2},
		{"long after a pause", []request{wrote("b", 2, 15, 15.1), wrote("a", 1, 23, 23.1)}, pause, 1, 0},
		{"a pause of another", []request{wrote("b", 2, 15, 15.1), wrote("c", 1, 20.1, 20.2)}, pause, 1, 0},
		{"within a pause", []request{wrote("b", 2, 15, 15.1), wrote("a", 1, 16, 16.2)}, pause, 1, 0},
	} {
		broken, after := oldEpochs(test.requests, test.pauses)
		if len(broken) != test.broken || after != test.after {
			t.Errorf("%s: %q, and %d after pauses", test.name, broken, after)
		}
	}
	read := wrote("a", 1, 4, 4.1)
	read.method = "GET"
	if broken, _ := oldEpochs([]request{wrote("b", 2, 3, 3.1), read}, nil); broken != nil {
		t.Errorf("a read breaks it: %q", broken)
	}
	if broken := unnamed([]request{wrote("", 0, 1, 2), {method: "GET"}, wrote("a", 1, 1, 2)}); len(broken) != 1 {
		t.Errorf("writes without a name: %q", broken)
	}
}

func TestOverBudget(t *testing.T) {
	var requests []request
	for i := range 20 {
		requests = append(requests, request{at: at(float64(i)), credential: "k"}, request{at: at(float64(i)), credential: "other"})
	}
	if broken := overBudget(requests, 10, 10*time.Second); broken != nil {
		t.Errorf("all is within the budget: %q", broken)
	}
	if broken := overBudget(requests, 9, 10*time.Second); len(broken) == 0 {
		t.Error("a request too many is not seen")
	}
	if most := busiest(requests, 10*time.Second); most != 10 {
		t.Errorf("the busiest span has %d requests", most)
	}
}

func TestLate(t *testing.T) {
	var held timeline
	held.note(commits, "a/1", at(0))
	held.note("a1", "a/1", at(0))
	held.note("a1", "", at(20))
	held.note("a1", "b/2", at(40))
	held.note("a1", "b/2", at(41))
	if n := held.changes("a1"); n != 1 {
		t.Errorf("there were %d changes", n)
	}
	for _, test := range []struct {
		name     string
		kind     kind
		at, done float64
		bound    time.Duration
		late     bool
	}{
		{"at once", push, 1, 2, 30 * time.Second, false},
		{"after a take-over", push, 1, 60, 30 * time.Second, false},
		{"too long after a take-over", push, 1, 71, 30 * time.Second, true},
		{"never", push, 1, 0, time.Hour, true},
		{"too long", push, 1, 19, 10 * time.Second, true},
		{"nobody was there", push, 21, 39, time.Second, false},
	} {
		w := wish{kind: test.kind, account: "a1", at: at(test.at)}
		if test.done > 0 {
			w.done = at(test.done)
		}
		if text := w.late(&held, &pace{}, test.bound, at(80)); (text != "") != test.late {
			t.Errorf("%s: %q", test.name, text)
		}
	}
	held.note(commits, "", at(1))
	if w := (wish{kind: push, account: "a1", at: at(2), done: at(80)}); w.late(&held, &pace{}, time.Second, at(80)) != "" {
		t.Error("a push counts without a holder of commits")
	}
	if w := (wish{kind: drift, account: "a1", at: at(2), done: at(80)}); w.late(&held, &pace{}, time.Second, at(80)) == "" {
		t.Error("a drift does not count without a holder of commits")
	}
}

// A time counts as much as there was of it on a machine with nothing else to do.
func TestPace(t *testing.T) {
	var p pace
	p.note(at(10), 2)
	p.note(at(20), 1)
	p.note(at(30), 4)
	for _, test := range []struct{ from, until, want float64 }{
		{0, 10, 10},
		{0, 20, 15},
		{12, 18, 3},
		{15, 25, 7.5},
		{25, 34, 6},
		{38, 42, 1},
		{5, 50, 25},
		{50, 50, 0},
	} {
		if got := p.between(at(test.from), at(test.until)).Seconds(); got != test.want {
			t.Errorf("from %v until %v there are %v seconds, want %v", test.from, test.until, got, test.want)
		}
	}
	if most, mean := p.slowness(); most != 4 || mean < 2.3 || mean > 2.4 {
		t.Errorf("it was %v times slower at the most, and %v times in all", most, mean)
	}
}

// What is wished at the same time has to share the budget.
func TestWithin(t *testing.T) {
	o := options{zones: 300, credentials: 6, sweep: 15 * time.Second} // 133 requests in 20 seconds
	if push, drift := o.within(push, 1), o.within(drift, 30); push.Round(time.Second) != 30*time.Second || drift.Round(time.Second) != 44*time.Second {
		t.Errorf("a push may take %s, and drift %s", push, drift)
	}
	var l wishes
	for i, w := range []struct {
		account  string
		at, done float64
	}{{"a1", 10, 20}, {"a1", 15, 30}, {"a1", 20, 30}, {"a2", 15, 16}, {"a1", 1, 9}, {"a1", 1, 0}} {
		l.add(wish{account: w.account, zone: i, at: at(w.at)})
		if w.done > 0 {
			l.all[i].done = at(w.done)
		}
	}
	if n := l.beside(l.all[0], at(40)); n != 3 {
		t.Errorf("the first one has %d beside it", n)
	}
}

func TestBrokenTokens(t *testing.T) {
	for _, test := range []struct {
		name   string
		facts  tokenFacts
		broken int
	}{
		{"one", tokenFacts{existing: []string{"1"}, confirmed: []string{"1"}, mayBe: 1}, 0},
		{"none yet", tokenFacts{mayBe: 1}, 0},
		{"one that is quarantined", tokenFacts{existing: []string{"1"}, quarantined: 1, mayBe: 1}, 0},
		{"two are confirmed", tokenFacts{existing: []string{"1", "2"}, confirmed: []string{"1", "2"}, mayBe: 1}, 1},
		{"a rotation", tokenFacts{existing: []string{"1", "2"}, confirmed: []string{"1", "2"}, mayBe: 2}, 0},
		{"one too many", tokenFacts{existing: []string{"1", "2"}, confirmed: []string{"1"}, mayBe: 1}, 1},
		{"one that is not there", tokenFacts{confirmed: []string{"1"}, mayBe: 1}, 1},
	} {
		if broken := brokenTokens(map[string]tokenFacts{"t": test.facts}); len(broken) != test.broken {
			t.Errorf("%s: %q", test.name, broken)
		}
	}
}

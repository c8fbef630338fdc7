package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// commitScenarios are commits that are large or bad.
func commitScenarios() []scenario { return []scenario{revertScenario(), bulkScenario()} }

const (
	badZones    = 90
	badScore    = 500
	doneOfBad   = 17 // when the revert comes
	revertAtOne = 4  // requests at a time
)

// revertScenario: most zones have not got the bad value when the revert is in
// force, and they should not get it any more.
func revertScenario() scenario {
	var reverted atomic.Pointer[time.Time] // when the revert was in force
	return scenario{
		name: "revert", fault: "a bad commit for 90 zones, reverted after 17",
		shape:   shape{zones: 125, concurrency: revertAtOne, latency: 150 * time.Millisecond, sweep: 12 * time.Second},
		drift:   drifts{first: pushed + pushZones + badZones, count: 24, settle: time.Millisecond},
		pushes:  pushesNone,
		allowed: revertAtOne,
		begin: func(ctx context.Context, f *fixture) error {
			at, err := pushAndRevert(ctx, f)
			reverted.Store(&at)
			return err
		},
		tooMany: func(f *fixture) int { return f.writesOf(badScore, *reverted.Load()) },
	}
}

// pushAndRevert returns when the revert was in force: when its first write
// arrived, or at the latest the time that a push took, undisturbed, after it was
// pushed.
func pushAndRevert(ctx context.Context, f *fixture) (time.Time, error) {
	zones := span(pushed+pushZones, pushed+pushZones+badZones-1)
	old, begin := f.fleet.wants(zones), time.Now()
	z, err := f.push(ctx)
	if err != nil {
		return begin, err
	}
	took, _ := f.await(ctx, time.Minute, func() bool { return f.isLive(z) })
	sleep(ctx, hookGap)
	if err := f.change(ctx, "a bad idea", all(zones, badScore)); err != nil {
		return begin, err
	}
	if _, ok := f.await(ctx, time.Minute, func() bool { return f.writesOf(badScore, begin) >= doneOfBad }); !ok {
		return begin, errors.New("the bad commit is not written")
	}
	if err := f.change(ctx, "back again", old); err != nil {
		return begin, err
	}
	force := time.Now().Add(took)
	f.await(ctx, time.Until(force), func() bool { return f.returned(old) })
	if now := time.Now(); now.Before(force) {
		return now, nil
	}
	return force, nil
}

// returned reports whether any zone was written its old value again.
func (f *fixture) returned(old map[zone]int) bool {
	for _, w := range f.platform.writes() {
		if score, ok := old[w.zone]; ok && w.score == score {
			return true
		}
	}
	return false
}

// writesOf counts the writes of a threshold that arrived after a time.
func (f *fixture) writesOf(score int, after time.Time) int {
	count := 0
	for _, w := range f.platform.writes() {
		if w.score == score && w.at.After(after) {
			count++
		}
	}
	return count
}

// The zones that the large commit changes.
const (
	bulkFirst, bulkLast zone = 61, 300
	bulkScore                = 200
)

// bulkScenario: the budget lasts for a part of the commit only, in each window.
// The drift and the pushes are those of the zones that it leaves alone.
func bulkScenario() scenario {
	return scenario{
		name: "bulk", fault: "a commit changes 240 of 300 zones, with a budget for 600 requests in 30 s",
		shape: shape{zones: int(bulkLast), requests: 600, per: 30 * time.Second, sweep: 30 * time.Second, sync: 5 * time.Second},
		drift: drifts{last: bulkFirst - 1, every: time.Second},
		begin: func(ctx context.Context, f *fixture) error {
			return f.change(ctx, "change most zones", all(span(bulkFirst, bulkLast), bulkScore))
		},
		patience: 2 * time.Minute,
		recovery: 4 * time.Minute,
	}
}

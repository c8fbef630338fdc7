//go:build linux

package main

import (
	"slices"
	"sync"
	"time"
)

// timeline is who held what, and when.
type timeline struct {
	mu    sync.Mutex
	holds map[string][]hold // by what is held: an account's key, or one of the other leases
}

// The leases beside those of accounts.
const commits, tokens = "commits", "tokens"

// hold begins at a time and lasts until the next one.
type hold struct {
	at     time.Time
	holder string // a replica and its epoch; empty: none, or one that is dead, paused or without a database
}

// note says who holds something from now on.
func (t *timeline) note(what, holder string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holds == nil {
		t.holds = map[string][]hold{}
	}
	list := t.holds[what]
	if len(list) == 0 || list[len(list)-1].holder != holder {
		t.holds[what] = append(list, hold{now, holder})
	}
}

// changes counts how often something got another holder.
func (t *timeline) changes(what string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := ""
	for _, h := range t.holds[what] {
		if h.holder != "" && h.holder != last {
			n++
			last = h.holder
		}
	}
	return max(0, n-1)
}

// longest is the longest time between two moments in which each of these things had the same
// holder all the while, by the pace of the machine.
func (t *timeline) longest(pace *pace, from, until time.Time, whats ...string) (most time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cuts := []time.Time{from, until}
	for _, what := range whats {
		for _, h := range t.holds[what] {
			if h.at.After(from) && h.at.Before(until) {
				cuts = append(cuts, h.at)
			}
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	for i := range cuts[1:] {
		if !slices.ContainsFunc(whats, func(what string) bool { return t.holder(what, cuts[i]) == "" }) {
			most = max(most, pace.between(cuts[i], cuts[i+1]))
		}
	}
	return most
}

// holder is who held something at a time. The caller holds the lock.
func (t *timeline) holder(what string, at time.Time) string {
	holder := ""
	for _, h := range t.holds[what] {
		if h.at.After(at) {
			break
		}
		holder = h.holder
	}
	return holder
}

//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// kind is what somebody wishes of a zone.
type kind string

const (
	push  kind = "push"
	drift kind = "drift"
)

// wish is a threshold that a zone is to have: the one that a commit declares, or the one that was
// there before somebody changed it by hand.
type wish struct {
	kind    kind
	account string
	zone    int
	score   int
	at      time.Time
	done    time.Time // zero: not yet
}

// until is when it was live; the end, where it is not yet.
func (w wish) until(end time.Time) time.Time {
	if w.done.IsZero() {
		return end
	}
	return w.done
}

// needs is whose holder has to be there.
func (w wish) needs() []string {
	if w.kind == push {
		return []string{commits, w.account}
	}
	return []string{w.account}
}

// wishes are all there were.
type wishes struct {
	mu   sync.Mutex
	all  []*wish
	open map[int]*wish // by zone
}

func (l *wishes) add(w wish) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[int]*wish{}
	}
	l.all = append(l.all, &w)
	l.open[w.zone] = &w
}

// settle notes which of them are live.
func (l *wishes) settle(live func(zone int) int) (left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for zone, w := range l.open {
		if live(zone) == w.score {
			w.done = time.Now()
			delete(l.open, zone)
		}
	}
	return len(l.open)
}

// free picks zones of an account of which nobody wishes anything.
func (l *wishes) free(chance *rand.Rand, a account, n int) (zones []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range 10 * n {
		zone := a.first + chance.IntN(a.last-a.first+1)
		if l.open[zone] == nil && !slices.Contains(zones, zone) && len(zones) < n {
			zones = append(zones, zone)
		}
	}
	return zones
}

// beside counts what was wished of the zones of the same account at the same time, itself as well.
func (l *wishes) beside(w *wish, end time.Time) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.all {
		if other.account == w.account && other.at.Before(w.until(end)) && other.until(end).After(w.at) {
			n++
		}
	}
	return n
}

// count says how many there were of a kind.
func (l *wishes) count(k kind) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.all {
		if w.kind == k {
			n++
		}
	}
	return n
}

// bulk is the most zones that a push changes.
const bulk = 30

// mostTokens and mostRotations together stay below the number of tokens that the platform lets a user
// have.
const mostTokens, mostRotations = 20, 20

// work has people push, click and ask for tokens, until the context is over.
func (f *fixture) work(ctx context.Context) error {
	chance := rand.New(rand.NewPCG(f.seed, 1))
	for n := 1; ctx.Err() == nil; n++ {
		a := f.fleet.accounts[chance.IntN(len(f.fleet.accounts))]
		var err error
		switch roll := chance.IntN(100); {
		case roll < 35:
			err = f.push(ctx, chance, f.wishes.free(chance, a, 1))
		case roll < 45:
			err = f.push(ctx, chance, f.wishes.free(chance, a, bulk))
		case roll < 85:
			err = f.drift(f.wishes.free(chance, a, 1))
		case roll < 93:
			err = f.declareToken(ctx, chance, fmt.Sprintf("token-%03d", n))
		default:
			f.rotateToken(ctx, chance)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		sleep(ctx, time.Duration(500+chance.IntN(2500))*time.Millisecond)
	}
	return nil
}

// push commits other thresholds for zones, and tells a daemon that is there.
func (f *fixture) push(ctx context.Context, chance *rand.Rand, zones []int) error {
	if len(zones) == 0 {
		return nil
	}
	f.pushes++
	scores := map[int]int{}
	for _, zone := range zones {
		scores[zone] = 100 + f.pushes%800
	}
	if err := f.commit(ctx, fmt.Sprintf("push %d", f.pushes), f.fleet.change(scores)); err != nil {
		return err
	}
	now := time.Now()
	for zone, score := range scores {
		f.wishes.add(wish{kind: push, account: f.fleet.owner(zone).key, zone: zone, score: score, at: now})
	}
	f.poke(ctx, chance)
	return nil
}

// commit is not broken off: what the fleet wants is what the newest commit says.
func (f *fixture) commit(ctx context.Context, message string, files map[string]string) error {
	return f.repo.Commit(context.WithoutCancel(ctx), message, files)
}

// poke is the webhook of a forge, which may reach any daemon, or none.
func (f *fixture) poke(ctx context.Context, chance *rand.Rand) {
	if d := f.replicas[chance.IntN(len(f.replicas))].running(); d != nil {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_ = d.Poke(ctx) // it may be about to end: the others look on their schedule
	}
}

// drift changes a zone by hand.
func (f *fixture) drift(zones []int) error {
	for _, zone := range zones {
		if err := f.platform.set(zone, drifted); err != nil {
			return err
		}
		f.wishes.add(wish{kind: drift, account: f.fleet.owner(zone).key, zone: zone, score: f.fleet.want(zone), at: time.Now()})
	}
	return nil
}

// declareToken commits one more token. Every third rotates.
func (f *fixture) declareToken(ctx context.Context, chance *rand.Rand, key string) error {
	if len(f.fleet.tokens) == mostTokens {
		return nil
	}
	if err := f.commit(ctx, "declare "+key, f.fleet.declare(key, chance.IntN(3) == 0)); err != nil {
		return err
	}
	f.poke(ctx, chance)
	return nil
}

// rotateToken has a person ask a daemon for a successor. It may find nobody who can.
func (f *fixture) rotateToken(ctx context.Context, chance *rand.Rand) {
	keys := f.fleet.rotating()
	r := f.replicas[chance.IntN(len(f.replicas))]
	asked := 0
	for _, n := range f.rotations {
		asked += n
	}
	if len(keys) == 0 || r.running() == nil || asked == mostRotations {
		return
	}
	key := keys[chance.IntN(len(keys))]
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	f.rotations[key]++ // it may have been made, whatever the answer is
	_, _ = r.command(ctx, "token", "rotate", key, "--yes")
}

// sleep waits, unless the context is over before.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// disturbance is something that is done to a daemon or to the database.
type disturbance struct {
	name   string
	weight int
	// do reports whether it came to what the name says; r is nil where it is not done to one.
	do   func(ctx context.Context, f *fixture, r *replica, chance *rand.Rand) (bool, error)
	of   bool // it is done to a replica
	turn int  // which come first
}

// leaseLasts is how long a lease does.
const leaseLasts = 12 * time.Second

func disturbances(embedded bool) []disturbance {
	list := []disturbance{
		{"kill -9", 25, killed, true, 1},
		{"SIGTERM", 20, ended, true, 1},
		{"SIGSTOP", 25, paused, true, 0}, // it is to outlast a lease, in a short time as well
	}
	if embedded {
		return list
	}
	return append(list,
		disturbance{"the database is stopped", 12, databaseStopped, false, 2}, // for as long, no connections can be cut
		disturbance{"connections are cut", 18, connectionsCut, false, 1})
}

func killed(ctx context.Context, f *fixture, r *replica, chance *rand.Rand) (bool, error) {
	r.kill()
	sleep(ctx, upTo(chance, 15*time.Second))
	return true, r.start(context.WithoutCancel(ctx))
}

func ended(ctx context.Context, f *fixture, r *replica, chance *rand.Rand) (bool, error) {
	if err := r.end(); err != nil {
		return false, err
	}
	sleep(ctx, upTo(chance, 5*time.Second))
	return true, r.start(context.WithoutCancel(ctx))
}

// paused is mostly done in the middle of writes: there is most to be done wrong then. A pause that ends
// before a lease does is none.
func paused(ctx context.Context, f *fixture, r *replica, chance *rand.Rand) (bool, error) {
	if chance.IntN(4) > 0 {
		waiting, stop := context.WithTimeout(ctx, f.length/4) // or in a short time no lease ends
		f.platform.awaitWrite(waiting, r.name)
		stop()
	}
	lasted, err := r.pause(ctx, leaseLasts+2*time.Second+upTo(chance, 10*time.Second))
	return lasted > leaseLasts, err
}

func databaseStopped(ctx context.Context, f *fixture, _ *replica, chance *rand.Rand) (bool, error) {
	if err := f.database.Crash(); err != nil {
		return false, err
	}
	sleep(ctx, upTo(chance, 15*time.Second))
	return true, f.database.Again()
}

func connectionsCut(_ context.Context, f *fixture, _ *replica, _ *rand.Rand) (bool, error) {
	return true, f.database.CutAll()
}

func upTo(chance *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(chance.Int64N(int64(most)))
}

// disturb does things until the context is over, and returns when all of them are over. Each is done
// once before chance picks among all, so that a short time has all of them.
func (f *fixture) disturb(ctx context.Context) error {
	chance := rand.New(rand.NewPCG(f.seed, 2))
	list := disturbances(f.embedded)
	first, shift := chance.Perm(len(list)), chance.IntN(len(f.replicas))
	if !f.embedded { // one that is alone would be paused all the time
		slices.SortStableFunc(first, func(a, b int) int { return cmp.Compare(list[a].turn, list[b].turn) })
	}
	var under sync.WaitGroup
	var failed firstError
	var counting sync.Mutex
	for ctx.Err() == nil && failed.get() == nil {
		d, n, own := pick(chance, list), chance.IntN(len(f.replicas)), rand.New(rand.NewPCG(chance.Uint64(), 0))
		begins := len(first) > 0
		if begins {
			d, n = list[first[0]], (first[0]+shift)%len(f.replicas) // each to another replica, which nothing is done to yet
		}
		who, give := f.database.take, f.database.give
		var r *replica
		if d.of {
			r = f.replicas[n]
			who, give = r.take, r.give
		}
		done := who()
		if done {
			f.said(d.name, r)
			under.Go(func() {
				defer give()
				came, err := d.do(ctx, f, r, own)
				failed.keep(err)
				counting.Lock()
				defer counting.Unlock()
				if came {
					f.done[d.name]++
				}
			})
		}
		if begins {
			first = next(first, done)
		}
		sleep(ctx, min(3*time.Second+upTo(chance, 9*time.Second), f.length/time.Duration(len(list)+1)))
	}
	under.Wait()
	return failed.get()
}

// next is what is still to be done once: what could not be done yet comes last.
func next(first []int, done bool) []int {
	if done {
		return first[1:]
	}
	return append(first[1:], first[0])
}

func (f *fixture) said(name string, r *replica) {
	of := ""
	if r != nil {
		of = " of " + r.name
	}
	fmt.Fprintf(f.log, "%s %s%s\n", time.Now().UTC().Format(time.TimeOnly), name, of)
}

// pick is one of the list, by their weights.
func pick(chance *rand.Rand, list []disturbance) disturbance {
	sum := 0
	for _, d := range list {
		sum += d.weight
	}
	roll := chance.IntN(sum)
	for _, d := range list {
		if roll -= d.weight; roll < 0 {
			return d
		}
	}
	panic("the weights do not add up")
}

// firstError keeps the first of several.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (e *firstError) keep(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
	}
}

func (e *firstError) get() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

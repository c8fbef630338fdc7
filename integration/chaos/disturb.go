//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// disturbance is something that is done to a daemon or to the database.
type disturbance struct {
	name   string
	weight int
	do     func(ctx context.Context, f *fixture, r *replica, chance *rand.Rand) error // r is nil where it is not done to one
	of     bool                                                                       // it is done to a replica
}

// leaseLasts is how long a lease does.
const leaseLasts = 12 * time.Second

func disturbances(embedded bool) []disturbance {
	list := []disturbance{
		{"kill -9", 25, killed, true},
		{"SIGTERM", 20, ended, true},
		{"SIGSTOP", 25, paused, true},
	}
	if embedded {
		return list
	}
	return append(list,
		disturbance{"the database is stopped", 12, databaseStopped, false},
		disturbance{"connections are cut", 18, connectionsCut, false})
}

func killed(ctx context.Context, f *fixture, r *replica, chance *rand.Rand) error {
	r.kill()
	sleep(ctx, upTo(chance, 15*time.Second))
	return r.start(context.WithoutCancel(ctx))
}

func ended(ctx context.Context, f *fixture, r *replica, chance *rand.Rand) error {
	if err := r.end(); err != nil {
		return err
	}
	sleep(ctx, upTo(chance, 5*time.Second))
	return r.start(context.WithoutCancel(ctx))
}

// paused is mostly done in the middle of writes: there is most to be done wrong then.
func paused(ctx context.Context, f *fixture, r *replica, chance *rand.Rand) error {
	if chance.IntN(4) > 0 {
		f.platform.awaitWrite(ctx, r.name)
	}
	return r.pause(ctx, leaseLasts+2*time.Second+upTo(chance, 10*time.Second))
}

func databaseStopped(ctx context.Context, f *fixture, _ *replica, chance *rand.Rand) error {
	if err := f.database.Crash(); err != nil {
		return err
	}
	sleep(ctx, upTo(chance, 15*time.Second))
	return f.database.Again()
}

func connectionsCut(_ context.Context, f *fixture, _ *replica, _ *rand.Rand) error {
	return f.database.CutAll()
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
	var under sync.WaitGroup
	var failed firstError
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
			f.done[d.name]++
			under.Go(func() { defer give(); failed.keep(d.do(ctx, f, r, own)) })
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

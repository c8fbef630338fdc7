//go:build linux

package main

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pace is how slow the machine is: laws bound what takes time by the time that it would have taken
// on a machine that does nothing else. It is measured by a piece of work, now and then: by how much
// longer it takes than the processor works on it, and by how much later than asked it begins.
type pace struct {
	mu      sync.Mutex
	samples []sample
}

// sample is for the time until the next one.
type sample struct {
	at   time.Time
	slow float64 // 1: the machine does nothing else
}

const (
	measuredEvery = time.Second
	measuredWork  = 10 * time.Millisecond // of a processor
	slowest       = 10                    // no law is stretched further
)

// measure measures until the context is over.
func (p *pace) measure(ctx context.Context) {
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	for ctx.Err() == nil {
		begin := time.Now()
		time.Sleep(measuredEvery)
		woken, worked := time.Now(), threadTime()
		for threadTime()-worked < measuredWork {
		}
		end := time.Now()
		late := float64(woken.Sub(begin)) / float64(measuredEvery)
		work := float64(end.Sub(woken)) / float64(threadTime()-worked)
		p.note(begin, min(slowest, max(1, late, work)))
	}
}

// threadTime is for how long a processor has worked on this thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

func (p *pace) note(at time.Time, slow float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples = append(p.samples, sample{at, slow})
}

// between is how much of the time between two moments there was, on a machine that does nothing else.
func (p *pace) between(from, until time.Time) (worked time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slow := 1.0
	for _, s := range p.samples {
		if !s.at.Before(until) {
			break
		}
		if s.at.After(from) {
			worked += time.Duration(float64(s.at.Sub(from)) / slow)
			from = s.at
		}
		slow = s.slow
	}
	return worked + time.Duration(float64(until.Sub(from))/slow)
}

// slowness is how slow the machine was, at the most and in the mean.
func (p *pace) slowness() (most, mean float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.samples {
		most, mean = max(most, s.slow), mean+s.slow/float64(len(p.samples))
	}
	return most, mean
}

//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// tokenVariable carries the credential to processes.
const tokenVariable = "SEAWALL_RULESETS_TOKEN"

// cost is what one piece of work took.
type cost struct {
	wall     time.Duration
	cpu      time.Duration
	peak     int64 // bytes, of the largest process
	requests int   // the platform saw

	rest     int64 // bytes that the largest process has at the end; 0: it has ended
	written  int   // zones that were written; 0: none, or it does not matter
	database counts
}

// medians returns the median of each member by itself, and the largest of those of memory.
func medians(costs []cost) cost {
	c := cost{
		wall: middle(costs, func(c cost) time.Duration { return c.wall }), cpu: middle(costs, func(c cost) time.Duration { return c.cpu }),
		database: counts{
			statements: middle(costs, func(c cost) int64 { return c.database.statements }), log: middle(costs, func(c cost) int64 { return c.database.log }),
			cpu: middle(costs, func(c cost) time.Duration { return c.database.cpu }),
		},
	}
	for _, o := range costs {
		c.peak, c.requests, c.rest, c.written = max(c.peak, o.peak), max(c.requests, o.requests), max(c.rest, o.rest), max(c.written, o.written)
	}
	return c
}

func middle[T cmp.Ordered](costs []cost, member func(cost) T) T {
	values := make([]T, len(costs))
	for i, c := range costs {
		values[i] = member(c)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// run runs a program to its end and says what it cost and what it printed.
func (s scene) run(ctx context.Context, program string, args ...string) (cost, string, error) {
	s.platform.ClearTranscript()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), tokenVariable+"="+s.platform.RulesetsToken.Reveal())
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	before, err := s.database.counts(ctx)
	if err != nil {
		return cost{}, "", err
	}
	begin := time.Now()
	err = cmd.Run()
	wall := time.Since(begin)
	if err != nil {
		return cost{}, "", fmt.Errorf("%s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	state, c := cmd.ProcessState, cost{wall: wall, requests: s.platform.requests()}
	c.cpu, c.peak = state.UserTime()+state.SystemTime(), state.SysUsage().(*syscall.Rusage).Maxrss<<10
	after, err := s.database.counts(ctx)
	c.database = after.since(before)
	return c, strings.TrimSpace(stdout.String()), err
}

// repeated runs a program as often as asked and returns the medians.
func (s scene) repeated(ctx context.Context, program string, args ...string) (cost, error) {
	costs, err := times(s.repeat, func(int) (cost, error) {
		c, _, err := s.run(ctx, program, args...)
		return c, err
	})
	return medians(costs), err
}

// times measures something so often.
func times(n int, measure func(i int) (cost, error)) ([]cost, error) {
	costs := make([]cost, n)
	for i := range costs {
		var err error
		if costs[i], err = measure(i); err != nil {
			return costs, err
		}
	}
	return costs, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// processScenarios are commands beside the daemon, with the same credential and state
// folder.
func processScenarios() []scenario {
	return []scenario{plansScenario(), applyRevertedScenario(), applyBesideScenario()}
}

// plansBeside is how many plans run at a time.
const plansBeside = 3

// plansScenario: plans that never end take all of the budget that they get.
func plansScenario() scenario {
	var stop context.CancelFunc
	var plans sync.WaitGroup
	return scenario{
		name: "plans-beside", fault: "three `seawall plan` beside the daemon, one after the other, with a budget for 300 requests in 90 s",
		shape: shape{requests: 300, per: 90 * time.Second, sweep: 50 * time.Second},
		drift: drifts{none: true, settle: 10 * time.Second}, // until the budget is used up
		begin: func(ctx context.Context, f *fixture) error {
			ctx, stop = context.WithCancel(ctx)
			for range plansBeside {
				plans.Go(func() {
					for ctx.Err() == nil {
						_ = f.command(ctx, "plan").Run() // whatever it finds
					}
				})
			}
			return nil
		},
		end: func(context.Context, *fixture) error {
			stop()
			plans.Wait()
			return nil
		},
		patience: 2 * time.Minute,
	}
}

// command is the program beside the daemon.
func (f *fixture) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, f.binary, append(args, "--config", filepath.Join(f.dir, "config.cue"))...)
	cmd.WaitDelay = time.Second
	return cmd
}

// The zones of a bad commit, which are few enough of the fleet for every guard.
const (
	appliedLast zone = 60
	appliedBad  int  = 7 // a lower threshold than any: it strengthens
)

// applyRevertedScenario: a command writes a commit when the daemon accepts the one after it.
func applyRevertedScenario() scenario {
	var reverted atomic.Pointer[time.Time] // when the daemon had accepted the revert
	return scenario{
		name: "apply-reverted", fault: "`seawall apply` of a bad commit for 54 of 310 zones beside the daemon, reverted after 5",
		shape: shape{zones: 310, concurrency: revertAtOne, sync: time.Hour, sweep: 30 * time.Second},
		drift: drifts{none: true, settle: time.Millisecond}, pushes: pushesNone,
		allowed: revertAtOne,
		begin: func(ctx context.Context, f *fixture) error {
			at, err := applyAndRevert(ctx, f)
			reverted.Store(&at)
			f.platform.calm()
			return err
		},
		tooMany: func(f *fixture) int { return f.writesOf(appliedBad, *reverted.Load()) },
	}
}

// applyAndRevert returns when the daemon had accepted the revert of a commit that a command
// was writing.
func applyAndRevert(ctx context.Context, f *fixture) (time.Time, error) {
	zones, begin := span(pushed+pushZones, appliedLast), time.Now()
	old := f.fleet.wants(zones)
	f.platform.disturb(slowPatches(time.Second))
	if err := f.repo.Commit(ctx, "a bad idea", f.fleet.declare(all(zones, appliedBad))); err != nil {
		return begin, err
	}
	ended := make(chan error, 1)
	apply := f.command(ctx, "apply", "--yes")
	go func() { _, err := apply.CombinedOutput(); ended <- err }()
	if _, ok := f.await(ctx, time.Minute, func() bool { return f.writesOf(appliedBad, begin) >= 5 }); !ok {
		return begin, errors.New("the bad commit is not written")
	}
	if err := f.change(ctx, "back again", old); err != nil {
		return begin, err
	}
	head, err := f.repo.Ask(ctx, "rev-parse", "HEAD")
	if err != nil {
		return begin, err
	}
	if _, ok := f.await(ctx, time.Minute, func() bool { return f.accepted(head) }); !ok {
		return begin, errors.New("the revert is not accepted")
	}
	at := time.Now()
	if err := <-ended; err == nil || apply.ProcessState.ExitCode() != 4 {
		return at, fmt.Errorf("the command whose commit was reverted has ended with %v", apply.ProcessState)
	}
	return at, nil
}

// accepted reports whether the daemon's log says that it has accepted a commit.
func (f *fixture) accepted(commit string) bool {
	text, err := os.ReadFile(f.log())
	if err != nil {
		return false
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.Contains(line, `"commit accepted"`) && strings.Contains(line, commit) {
			return true
		}
	}
	return false
}

// slowPatches holds writes back, so that many are still to be sent when something happens.
func slowPatches(by time.Duration) fault {
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			pause(r, by)
		}
		next.ServeHTTP(w, r)
	}
}

// besideRounds is how often a command and the daemon apply the same commit.
const besideRounds = 3

// applyBesideScenario: both write a change once together, and do not take each other for
// another client.
func applyBesideScenario() scenario {
	return scenario{
		name: "apply-beside", fault: "`seawall apply` beside the daemon: the same commits for 8 zones",
		shape: shape{sync: time.Hour, sweep: 20 * time.Second},
		drift: drifts{none: true, settle: time.Millisecond}, pushes: pushesNone,
		begin: func(ctx context.Context, f *fixture) error {
			f.platform.disturb(slowPatches(200 * time.Millisecond))
			defer f.platform.calm()
			for round := range besideRounds {
				if err := f.applyBeside(ctx, 80+round); err != nil {
					return err
				}
			}
			return nil
		},
		tooMany: func(f *fixture) int { return unreasonedWrites(f) + f.logged("another client wrote") },
	}
}

func (f *fixture) applyBeside(ctx context.Context, score int) error {
	zones := span(pushed+pushZones, pushed+pushZones+7)
	if err := f.repo.Commit(ctx, "change some zones", f.fleet.declare(all(zones, score))); err != nil {
		return err
	}
	apply := f.command(ctx, "apply", "--yes")
	if err := apply.Start(); err != nil {
		return err
	}
	if err := f.daemon.Poke(ctx); err != nil {
		return err
	}
	if err := apply.Wait(); err != nil {
		return fmt.Errorf("the command beside the daemon: %w", err)
	}
	if _, ok := f.await(ctx, time.Minute, f.agrees); !ok {
		return errors.New("the commit is not live")
	}
	sleep(ctx, hookGap)
	return nil
}

// logged counts the lines of the log with a text.
func (f *fixture) logged(text string) (n int) {
	for _, line := range f.daemon.log.since(0) {
		if strings.Contains(line.text, text) {
			n++
		}
	}
	return n
}

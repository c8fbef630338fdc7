package review

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
)

// slowly is a head whose evaluation never ends.
type slowly struct{ *heads }

func (s slowly) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	if commit == "slow" {
		<-ctx.Done()
		return desired.State{}, nil, ctx.Err()
	}
	return s.heads.Compile(ctx, commit)
}

// Whatever hangs about one pull request costs the others its time and no more.
func TestReviewsBesideOneThatHangs(t *testing.T) {
	for name, hang := range map[string]func(*fixture){
		"evaluation": func(f *fixture) { f.Heads = slowly{f.heads} },
		"reads": func(f *fixture) {
			f.tamper.read = func(ctx context.Context, zone edge.Scope) error {
				if zone != mem.FleetZone(2) {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
		},
		"the forge": func(f *fixture) { f.forge.stuck = map[int]bool{2: true} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, 3)
				f.Now = time.Now
				f.converge("c1", zones(3, core("xss"))...)
				hang(f)
				f.open(1, "p1", zonesBut(3, 1, core("sqli"))...)
				f.open(2, "slow", zonesBut(3, 2, core("sqli"))...)
				f.open(3, "p3", zonesBut(3, 3, core("sqli"))...)
				for round := range 2 {
					began := time.Now()
					f.round()
					if took := time.Since(began); took != usualTimeout {
						t.Errorf("the round took %v", took)
					}
					if f.forge.comments[1] == "" || f.forge.comments[3] == "" || f.forge.comments[2] != "" {
						t.Errorf("comments after round %d: %v", round, f.forge.comments)
					}
				}
				if want := `msg="a pull request was not reviewed" number=2 error="`; !strings.Contains(f.log.String(), want) || !strings.Contains(f.log.String(), "it took longer than 2m0s") {
					t.Errorf("log\n%s", f.log)
				}
			})
		})
	}
}

// What takes too long comes after all others from then on, and one of many a round has
// its time.
func TestManyThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.Now, f.Heads = time.Now, slowly{f.heads}
		f.converge("c1", fleetZone(1, core("xss")))
		for n := range 5 {
			f.open(n+2, "slow", fleetZone(1, core("sqli")))
		}
		f.round()
		tried := map[string]int{}
		for n := range 5 {
			f.log.Reset()
			f.open(1, fmt.Sprint("p", n), fleetZone(1, core("sqli", fmt.Sprint("tag-", n))))
			began := time.Now()
			f.forge.told = func(number int) {
				if number == 1 && !time.Now().Equal(began) {
					t.Errorf("the honest one had to wait for %v", time.Since(began))
				}
			}
			f.round()
			if took := time.Since(began); took != usualTimeout {
				t.Errorf("the round took %v", took)
			}
			for line := range strings.Lines(f.log.String()) {
				_, who, _ := strings.Cut(line, "number=")
				tried[strings.Fields(who)[0]]++
			}
		}
		if len(tried) != 5 {
			t.Errorf("tried %v", tried)
		}
		f.forge.pulls = nil
		f.round()
		if len(f.late) != 0 {
			t.Errorf("%d are late for ever", len(f.late))
		}
	})
}

// A forge that does not say who approved of a pull request that is closed keeps no
// other from being reviewed.
func TestClosedPullRequestThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.Now = time.Now
		f.approvedBy("alice")
		f.Forge = silent{f.forge}
		f.converge("c1", fleetZone(1, core("xss")))
		f.open(1, "p1", fleetZone(1, core("sqli")))
		f.round()
		f.forge.pulls = nil
		f.open(2, "p2", fleetZone(1, core("sqli")))
		f.round()
		if f.forge.comments[2] == "" {
			t.Error("the other one was not reviewed")
		}
	})
}

// silent never says who approves.
type silent struct{ *board }

func (silent) Approvals(ctx context.Context, _ int, _ string, _ time.Time) ([]reconcile.Account, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A forge that is down is told of once, and again only after it was back.
func TestRunTellsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.converge("c1", fleetZone(1, core("xss")))
		rounds, pulls := 0, 0
		f.Failed = func(round bool) {
			if round {
				rounds++
			} else {
				pulls++
			}
		}
		ticks, wake := make(chan time.Time), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); f.Run(ctx, ticks, wake) }()
		look := func(down error) {
			synctest.Wait()
			f.forge.down = down
			ticks <- time.Time{}
			synctest.Wait()
		}
		look(errors.New("503"))
		look(errors.New("503"))
		look(nil)
		look(errors.New("503"))
		if list := f.Outages.Outages(); len(list) != 1 || list[0].Subject != reconcile.OutageForge || list[0].Cause != "listing pull requests: 503" {
			t.Errorf("outages %+v", list)
		}
		if strings.Contains(f.log.String(), "level=WARN") {
			t.Errorf("log\n%s", f.log)
		}
		f.forge.down = nil
		f.open(1, "p1", fleetZone(1, core("sqli")))
		wake <- struct{}{}
		synctest.Wait()
		if f.forge.comments[1] == "" {
			t.Error("waking it did nothing")
		}
		if rounds != 3 || pulls != 0 { // each counts, though it is told of once
			t.Errorf("%d rounds and %d pull requests failed", rounds, pulls)
		}
		f.open(2, "p2")
		delete(f.heads.at, 2)
		f.heads.failed[2] = errors.New("it is too large")
		f.Config.Comments = false
		wake <- struct{}{}
		synctest.Wait()
		if pulls != 1 {
			t.Errorf("%d pull requests failed", pulls)
		}
		cancel()
		<-ended
	})
}

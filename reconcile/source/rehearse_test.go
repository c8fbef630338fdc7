package source

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

// compiled notes which commits are evaluated.
type compiled struct {
	commits  []string
	problems []desired.Problem
}

func (c *compiled) Compile(_ context.Context, commit string) (desired.State, []desired.Problem, error) {
	c.commits = append(c.commits, commit)
	return desired.State{Commit: commit}, c.problems, nil
}

// The commit in force of an earlier process is evaluated once, while nobody waits. One that this
// process evaluates anyway is not, nor is anything made of one with mistakes.
func TestTheCommitInForceIsEvaluatedAhead(t *testing.T) {
	for name, test := range map[string]struct {
		inForce, head string
		problems      []desired.Problem
		pushed        bool // before the first look has ended
		evaluated     []string
		rehearsed     []string
	}{
		"in force":      {inForce: "c1", head: "c1", evaluated: []string{"c1", "c2"}, rehearsed: []string{"c1"}},
		"newer":         {inForce: "c0", head: "c1", evaluated: []string{"c1", "c2"}},
		"the first":     {head: "c1", evaluated: []string{"c1", "c2"}},
		"with mistakes": {inForce: "c1", head: "c1", problems: []desired.Problem{{Message: "odd"}}, evaluated: []string{"c1", "c2"}},
		"pushed":        {inForce: "c1", head: "c1", pushed: true, evaluated: []string{"c2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				git, cue := &server{head: test.head}, &compiled{problems: test.problems}
				s := New(Config{Source: git, Compiler: cue, Schedule: cron.Every(time.Second), Now: time.Now})
				inForce := test.inForce
				var urgent int
				var rehearsed []string
				go s.Run(ctx, func() string { return inForce }, func(bool) { urgent++ }, func(_ context.Context, p reconcile.Proposal) {
					if p.Err == nil && !p.Same && len(desired.Errors(p.Problems)) == 0 {
						inForce = p.Commit
					}
				}, func(state desired.State) { rehearsed = append(rehearsed, state.Commit) })
				push := func() { git.set("", "c2"); s.Poke() }
				if test.pushed {
					time.Sleep(10 * time.Millisecond)
					push()
				}
				time.Sleep(time.Minute)
				push()
				time.Sleep(time.Minute)
				stop()
				synctest.Wait()
				if !slices.Equal(cue.commits, test.evaluated) || !slices.Equal(rehearsed, test.rehearsed) {
					t.Errorf("evaluated %q and took over %q, want %q and %q", cue.commits, rehearsed, test.evaluated, test.rehearsed)
				}
				if urgent == 0 {
					t.Error("what was pushed was not urgent")
				}
			})
		})
	}
}

// A poke ends the evaluation of the commit in force: what was pushed does not wait for it.
func TestAPokeEndsTheEvaluationAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		git, began := &server{head: "c1"}, time.Now()
		var proposed time.Duration
		s := New(Config{Source: git, Compiler: slow{}, Schedule: cron.Every(time.Hour), Now: time.Now})
		go s.Run(ctx, func() string { return "c1" }, func(bool) {}, func(_ context.Context, p reconcile.Proposal) {
			if p.Commit == "c2" && p.Err == nil {
				proposed = time.Since(began)
			}
		}, func(desired.State) { t.Error("what was ended was taken over") })
		time.Sleep(time.Second)
		git.set("", "c2")
		s.Poke()
		time.Sleep(10 * time.Minute)
		stop()
		synctest.Wait()
		if proposed == 0 || proposed > 10*time.Second {
			t.Errorf("what was pushed was proposed after %s", proposed)
		}
	})
}

// slow evaluates c1 for a minute.
type slow struct{}

func (slow) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	if commit == "c1" {
		select {
		case <-ctx.Done():
			return desired.State{}, nil, ctx.Err()
		case <-time.After(time.Minute):
		}
	}
	return desired.State{Commit: commit}, nil, nil
}

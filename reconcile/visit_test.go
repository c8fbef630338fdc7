package reconcile

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

func TestWriteOfUnknownOutcome(t *testing.T) {
	// Each answer is lost; effects says whether its write took effect.
	lost := func(effects []bool) func(context.Context, edge.ZoneID, send) (*edge.Ruleset, error) {
		return func(_ context.Context, _ edge.ZoneID, send send) (*edge.Ruleset, error) {
			if len(effects) == 0 {
				return send()
			}
			effect := effects[0]
			effects = effects[1:]
			if effect {
				if _, err := send(); err != nil {
					return nil, err
				}
			}
			return nil, errLost
		}
	}
	twice := []string{"write 1", "read 1", "write 1", "read 1"}
	for name, c := range map[string]struct {
		effects []bool
		calls   []string
		outcome string
	}{
		"took effect":                 {[]bool{true}, twice[:2], "1 converged"},
		"did not":                     {[]bool{false}, twice, "1 converged"},
		"did not, nor did the second": {[]bool{false, false}, twice, "1 failed"},
		"did not, but the second did": {[]bool{false, true}, twice, "1 converged"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.repo.push("c1", zone(1, core("xss")))
			w.tamper.write = lost(c.effects)
			report, calls := w.run(manual)
			w.wantCalls(calls[3:], c.calls...)
			wantOutcomes(t, report, c.outcome)
			result := report.Results[0]
			if result.Concurrent {
				t.Error("a lost answer is taken for somebody else's write")
			}
			if _, remembered := w.recall().Applied[deploymentID(1)]; remembered != (result.Outcome == Converged) {
				t.Errorf("remembered as applied: %v", remembered)
			}
			if result.Outcome == Failed && !errors.Is(result.Err, edge.ErrOutcomeUnknown) {
				t.Errorf("error %v", result.Err)
			}
			if len(w.recall().NonConvergent) != 0 {
				t.Error("a lost answer is held against the platform")
			}
		})
	}
}

func TestStaleObservationIsReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		age   time.Duration
		calls []string
	}{
		"60 s":           {60 * time.Second, []string{"write 1", "read 1"}},
		"more than 60 s": {60*time.Second + 1, []string{"read 1", "write 1", "read 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.repo.push("c1", zone(1, core("xss")))
			w.Progress = func(stage string, _, _ int) {
				if stage == "observing zones" {
					w.clock.advance(c.age)
				}
			}
			_, calls := w.converge(manual)
			w.wantCalls(calls[3:], c.calls...)
		})
	}
}

func TestStaleZoneThatChangedIsPlannedAnew(t *testing.T) {
	for name, c := range map[string]struct {
		d       desired.Deployment
		click   func(*edge.Overrides)
		calls   []string
		outcome string
		off     []string
	}{
		"something else is kept": {
			keeping(core("xss")),
			func(o *edge.Overrides) {
				o.Categories = []edge.CategoryOverride{{Category: "php", Enabled: new(false)}}
			},
			[]string{"read 1", "write 1", "read 1"},
			"1 converged",
			[]string{"php", "xss"},
		},
		"somebody made it so": {
			core("xss"),
			func(o *edge.Overrides) {
				o.Categories = []edge.CategoryOverride{{Category: "xss", Enabled: new(false)}}
			},
			[]string{"read 1"},
			"1 converged",
			[]string{"xss"},
		},
		"nobody has decided": {
			core("xss"),
			func(o *edge.Overrides) {
				o.Categories = []edge.CategoryOverride{{Category: "php", Enabled: new(false)}}
			},
			[]string{"read 1"},
			"1 failed",
			[]string{"php"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.repo.push("c1", zone(1, c.d))
			w.Progress = func(stage string, _, _ int) {
				if stage == "observing zones" {
					w.clock.advance(2 * freshFor)
					w.click(1, c.click)
				}
			}
			report, calls := w.run(manual)
			w.wantCalls(calls[3:], c.calls...)
			wantOutcomes(t, report, c.outcome)
			if got := w.off(1); !slices.Equal(got, c.off) {
				t.Errorf("off: %v", got)
			}
			if report.Results[0].Concurrent {
				t.Error("what was read before the write is no concurrent writer")
			}
			if _, remembered := w.recall().Applied[deploymentID(1)]; remembered != (report.Count(Converged) == 1) {
				t.Errorf("remembered as applied: %v", remembered)
			}
		})
	}
}

// twoDeployments runs both managed rulesets in zone 1.
func twoDeployments(t *testing.T) *world {
	w := newWorld(t, 1)
	entry := w.entry(1)
	second := entry.Rules[0]
	second.ID, second.Ref = "", "credentials"
	second.ActionParameters = &edge.ActionParameters{ID: mem.CredentialsRuleset, Version: "latest"}
	entry.Rules = append(entry.Rules, second)
	if err := w.platform.SetEntryPoint(mem.FleetZone(1), entry); err != nil {
		t.Fatal(err)
	}
	credentials := core("exposed-credentials")
	credentials.Ruleset = "credentials"
	w.repo.push("c1", zone(1, core("xss"), credentials))
	return w
}

func TestDeploymentsOfOneZoneTakeTurns(t *testing.T) {
	w := twoDeployments(t)
	w.Concurrency = 8
	report, calls := w.converge(manual)
	w.wantCalls(calls[4:], "write 1", "read 1", "write 1", "read 1")
	if entry := w.entry(1); entry.Version != "4" || entry.Rules[0].Version != "2" || entry.Rules[1].Version != "2" {
		t.Errorf("versions %s, %s, %s", entry.Version, entry.Rules[0].Version, entry.Rules[1].Version)
	}
	for _, result := range report.Results {
		if result.Concurrent {
			t.Errorf("%s: our own write is taken for somebody else's", result.Change.Deployment)
		}
	}
	_, calls = w.converge(manual)
	w.wantCalls(calls, "list", "read 1")
}

func TestDeploymentAfterOneThatFailedIsCheckedFirst(t *testing.T) {
	w := twoDeployments(t)
	n := 0
	w.tamper.write = func(_ context.Context, _ edge.ZoneID, send send) (*edge.Ruleset, error) {
		if n++; n == 1 {
			return nil, errDown
		}
		return send()
	}
	report, calls := w.run(manual)
	w.wantCalls(calls[4:], "write 1", "read 1", "write 1", "read 1")
	wantOutcomes(t, report, "1 failed", "1 converged")
}

func TestSlowProofIsNoCheckForTheNextWrite(t *testing.T) {
	w := twoDeployments(t)
	w.Progress = func(stage string, done, _ int) {
		if stage == "applying changes" && done == 1 {
			w.clock.advance(2 * freshFor)
		}
	}
	_, calls := w.converge(manual)
	w.wantCalls(calls[4:], "write 1", "read 1", "read 1", "write 1", "read 1")
}

func TestConcurrentWriterIsReported(t *testing.T) {
	php := func(o *edge.Overrides) {
		o.Categories = append(o.Categories, edge.CategoryOverride{Category: "php", Enabled: new(false)})
	}
	undo := func(o *edge.Overrides) {
		o.Categories = []edge.CategoryOverride{{Category: "php", Enabled: new(false)}}
	}
	nothing := func(answer *edge.Ruleset, err error) (*edge.Ruleset, error) { return answer, err }
	bodyless := func(_ *edge.Ruleset, err error) (*edge.Ruleset, error) { return nil, err }
	for name, c := range map[string]struct {
		before, after func(*edge.Overrides)
		answer        func(*edge.Ruleset, error) (*edge.Ruleset, error)
		outcome       string
		concurrent    bool
	}{
		"nobody":                             {nil, nil, nothing, "1 converged", false},
		"nobody, no body in the answer":      {nil, nil, bodyless, "1 converged", false},
		"before the write":                   {php, nil, nothing, "1 converged", true},
		"before the write, no body":          {php, nil, bodyless, "1 converged", true},
		"after the write":                    {nil, php, nothing, "1 converged", true},
		"after the write, undoing it":        {nil, undo, nothing, "1 failed", true},
		"after the write, undoing, bodyless": {nil, undo, bodyless, "1 failed", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.repo.push("c1", zone(1, keeping(core("xss"))))
			w.tamper.write = func(_ context.Context, _ edge.ZoneID, send send) (*edge.Ruleset, error) {
				if c.before != nil {
					w.click(1, c.before)
				}
				answer, err := send()
				if c.after != nil {
					w.click(1, c.after)
				}
				return c.answer(answer, err)
			}
			report, _ := w.run(manual)
			wantOutcomes(t, report, c.outcome)
			if report.Results[0].Concurrent != c.concurrent {
				t.Errorf("concurrent: %v", report.Results[0].Concurrent)
			}
			if len(w.recall().NonConvergent) != 0 {
				t.Error("what somebody else undid is held against the platform")
			}
			w.tamper.write = nil
			w.converge(manual)
		})
	}
}

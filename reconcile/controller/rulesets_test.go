package controller

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// rulesetMemory keeps versions of managed rulesets over processes, and may fail.
type rulesetMemory struct {
	*fixture
	fails atomic.Bool
	tries atomic.Int64
}

func (m *rulesetMemory) SawRuleset(ctx context.Context, account string, seen rulesets.Seen, means func(rulesets.Seen) radar.Published) (*rulesets.Seen, bool, error) {
	m.tries.Add(1)
	if m.fails.Load() {
		return nil, false, errors.New("the disk is full")
	}
	return m.records.SawRuleset(ctx, account, seen, means)
}

func (m *rulesetMemory) Rulesets(ctx context.Context) ([]rulesets.Seen, error) {
	return m.records.Rulesets(ctx)
}

// watching has a fixture of n zones that disable xss tell of new versions.
func watching(t testT, n int) (f *fixture, memory *rulesetMemory, told func() []radar.Report, log *bytes.Buffer) {
	t.Helper()
	f, log = newFixture(t, n), &bytes.Buffer{}
	memory = &rulesetMemory{fixture: f}
	var mu sync.Mutex
	var reports []radar.Report
	f.Rulesets, f.Log = memory, slog.New(slog.NewTextHandler(log, nil))
	f.Published = func(r radar.Report) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, r)
	}
	f.repo.Push("c1", fleet(n, "xss")...)
	return f, memory, func() []radar.Report {
		mu.Lock()
		defer mu.Unlock()
		all := reports
		reports = nil
		return all
	}, log
}

// publish has the vendor publish the core ruleset anew.
func (f *fixture) publish(change func(*edge.Ruleset)) {
	f.t.Helper()
	core := f.coreRuleset()
	change(&core)
	core.Version = ""
	if err := f.Platform.SetRuleset(mem.Account, core); err != nil {
		f.t.Fatalf("%v", err)
	}
}

func (f *fixture) coreRuleset() edge.Ruleset {
	for _, r := range f.Platform.State().Accounts[0].Rulesets {
		if r.ID == mem.CoreRuleset {
			return r
		}
	}
	f.t.Fatalf("no core ruleset")
	return edge.Ruleset{}
}

// without takes rules out by their refs.
func without(ref string) func(*edge.Ruleset) {
	return func(r *edge.Ruleset) {
		var left []edge.Rule
		for _, rule := range r.Rules {
			if rule.Ref != ref {
				left = append(left, rule)
			}
		}
		r.Rules = left
	}
}

// A new version is told once, with the zones that it weakens, by a line of the log and to
// whoever listens; a first one is not, nor is one that is on record, after a restart.
func TestNewVersionIsToldOnce(t *testing.T) {
	run(t, func(t *testing.T) {
		f, _, told, log := watching(t, 20)
		f.start()
		f.pass(2 * interval)
		if reports := told(); len(reports) > 0 {
			t.Fatalf("a first version is told: %+v", reports)
		}
		f.publish(without("sqli-union"))
		f.pass(2 * interval)
		reports := told()
		if len(reports) != 1 || reports[0].Towards(diff.Weakens) != 20 || len(reports[0].Rulesets[0].Groups) != 1 {
			t.Fatalf("told are %+v", reports)
		}
		f.publish(without("xss-handler")) // off in each zone
		f.pass(2 * interval)
		if reports := told(); len(reports) != 1 || reports[0].Direction != "" || reports[0].Rulesets[0].Unchanged != 20 {
			t.Errorf("told are %+v", reports)
		}
		f.restart()
		f.pass(2 * interval)
		if reports := told(); len(reports) > 0 {
			t.Errorf("after a restart: %+v", reports)
		}
		const line = `level=WARN msg="a managed ruleset has a new version" account=prod ruleset="Core Ruleset" ruleset_id=c04e0000000000000000000000000001 from=1 to=2 rules="1 removed" weakened=20`
		if n := strings.Count(log.String(), line); n != 1 || strings.Count(log.String(), "has a new version") != 2 {
			t.Errorf("%d lines of it in the log:\n%s", n, log)
		}
	})
}

// A version that comes while no process runs is told by the next one, and one that another
// process has recorded, too.
func TestNewVersionOfAnotherTime(t *testing.T) {
	run(t, func(t *testing.T) {
		f, _, told, _ := watching(t, 3)
		f.start()
		f.stop()
		f.publish(without("sqli-union"))
		f.start()
		f.pass(interval)
		if reports := told(); len(reports) != 1 || reports[0].Towards(diff.Weakens) != 3 {
			t.Errorf("after a pause: %+v", reports)
		}
		f.publish(without("sqli-tautology"))
		means := func(rulesets.Seen) radar.Published { return radar.Published{} }
		if _, news, err := f.records.SawRuleset(t.Context(), "prod", rulesets.Seen{Account: mem.Account, Ruleset: f.coreRuleset()}, means); !news || err != nil {
			t.Fatalf("news %v, %v", news, err)
		}
		f.pass(2 * interval)
		if reports := told(); len(reports) != 1 || reports[0].Towards(diff.Weakens) != 3 {
			t.Errorf("recorded by another process: %+v", reports)
		}
	})
}

// What cannot be recorded is tried again, ever more slowly, and told once it is; zones go on
// meanwhile.
func TestNewVersionThatCannotBeRecorded(t *testing.T) {
	run(t, func(t *testing.T) {
		f, memory, told, _ := watching(t, 3)
		f.start()
		memory.fails.Store(true)
		f.publish(without("sqli-union"))
		f.pass(2 * interval)
		tries := memory.tries.Load()
		if reports := told(); len(reports) > 0 || tries < 5 || tries > 50 {
			t.Errorf("after %d tries told are %+v", tries, reports)
		}
		f.click(1)
		f.pass(2 * interval)
		if n := f.count(3, "xss"); n != 3 {
			t.Errorf("%d zones are as declared", n)
		}
		memory.fails.Store(false)
		f.pass(interval)
		if reports := told(); len(reports) != 1 {
			t.Errorf("told are %+v", reports)
		}
	})
}

// A version that cannot be read is not taken for the one before.
func TestNewVersionThatCannotBeRead(t *testing.T) {
	run(t, func(t *testing.T) {
		f, memory, told, _ := watching(t, 2)
		f.start()
		tries := memory.tries.Load()
		f.publish(without("sqli-union"))
		f.calls.set(func(_ context.Context, c call) error {
			if strings.HasPrefix(c.String(), "managed") {
				return edge.ErrUnreadable
			}
			return nil
		})
		f.pass(2 * interval)
		if reports := told(); len(reports) > 0 || memory.tries.Load() != tries {
			t.Errorf("told are %+v", reports)
		}
		f.calls.set(nil)
		f.pass(interval)
		if reports := told(); len(reports) != 1 {
			t.Errorf("once it can be read, told are %+v", reports)
		}
	})
}

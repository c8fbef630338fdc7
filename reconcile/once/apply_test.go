package once

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestFailureStaysInItsZone(t *testing.T) {
	both := []string{"1 converged", "3 converged"}
	three := []string{"1 converged", "2 failed", "3 converged"}
	for name, c := range map[string]struct {
		prepare func(*fixture, *desired.Zone)
		results []string
		state   string // of the problem in the plan
	}{
		"unreadable": {
			func(f *fixture, _ *desired.Zone) { f.tamper.Read = failZone(2, edge.ErrUnreadable) }, both, "unknown",
		},
		"not permitted": {
			func(f *fixture, _ *desired.Zone) { f.tamper.Read = failZone(2, errForbidden) }, both, "forbidden",
		},
		"not permitted, and it reads as if the credential were bad": {
			func(f *fixture, _ *desired.Zone) {
				f.tamper.Read = failZone(2, &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication}}})
			}, both, "forbidden",
		},
		"refuses the write": {
			func(f *fixture, _ *desired.Zone) { f.tamper.Write = failWrite(2, &edge.Error{Status: 400}) }, three, "",
		},
		"cannot be read back": {func(f *fixture, _ *desired.Zone) {
			f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
				f.tamper.Read = failZone(2, errDown)
				return send()
			}
		}, three, ""},
		"not deployed": {
			func(f *fixture, _ *desired.Zone) { must.Do(f.t, f.Platform.RemoveEntryPoint(mem.FleetZone(2))) }, both, "not_deployed",
		},
		"blocked": {
			func(_ *fixture, z *desired.Zone) { z.Deployments = []desired.Deployment{core("no such tag")} }, both, "blocked",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 3)
			all := declareAll(3, core("xss"))
			c.prepare(f, &all[1])
			f.repo.Push("c1", all...)
			report, _ := f.apply(Order{})
			f.wantOutcomes(report, c.results...)
			if report.Converged() || report.Err != nil {
				t.Errorf("converged %v, error %v", report.Converged(), report.Err)
			}
			if _, proved := f.recall().Proofs[mem.FleetZone(2)]; proved || len(f.recall().Proofs) != 2 {
				t.Errorf("proofs %v", f.recall().Proofs)
			}
			if c.state == "" && len(report.Plan.Problems) == 0 {
				return
			}
			if p := report.Plan.Problems; len(p) != 1 || string(p[0].State) != c.state || p[0].Scope != mem.FleetZone(2) {
				t.Errorf("problems %+v", p)
			}
		})
	}
}

func TestRejectedCredentialStopsTheRun(t *testing.T) {
	reads := []string{"list", "managed core", "read 1", "read 2", "read 3", "read 4"}
	for name, c := range map[string]struct {
		prepare func(*fixture)
		calls   []string
		results []string
	}{
		"on the list": {
			func(f *fixture) { f.tamper.List = func(edge.AccountID) error { return errUnauthenticated } }, reads[:1], nil,
		},
		"on a managed ruleset": {
			func(f *fixture) { f.tamper.Managed = func() error { return errUnauthenticated } }, reads[:2], nil,
		},
		"on a zone": {
			func(f *fixture) { f.tamper.Read = failZone(2, errUnauthenticated) }, reads[:4], nil,
		},
		"on a write": {
			func(f *fixture) { f.tamper.Write = failWrite(2, errUnauthenticated) },
			append(reads[:6:6], "write 1", "read 1", "write 2"),
			[]string{"1 converged", "2 failed", "3 not_started", "4 not_started"},
		},
		"on a proof": {
			func(f *fixture) {
				f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
					f.tamper.Read = failZone(1, errUnauthenticated)
					return send()
				}
			},
			append(reads[:6:6], "write 1", "read 1"),
			[]string{"1 failed", "2 not_started", "3 not_started", "4 not_started"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 4)
			f.repo.Push("c1", declareAll(4, core("xss"))...)
			c.prepare(f)
			report, calls := f.apply(Order{})
			f.wantCalls(calls, c.calls...)
			f.wantOutcomes(report, c.results...)
			if !errors.Is(report.Err, edge.ErrUnauthenticated) || strings.Count(report.Err.Error(), "check credentials.rulesets") != 1 {
				t.Errorf("error %v", report.Err)
			}
			for _, result := range report.Results {
				if result.Outcome == reconcile.NotStarted && result.Err != nil {
					t.Errorf("the one message is repeated for %s: %v", result.Change.Zone, result.Err)
				}
			}
		})
	}
}

// Why an apply stopped first is what it says, whoever tells it to stop afterwards.
func TestRejectedThenStopped(t *testing.T) {
	f := newFixture(t, 2)
	f.repo.Push("c1", declareAll(2, core("xss"))...)
	ctx, cancel := context.WithCancel(t.Context())
	f.tamper.Write = func(context.Context, edge.Scope, send) (*edge.Ruleset, error) { return nil, errUnauthenticated }
	f.adjust = func(r *Run) {
		r.Progress = func(stage string, _, _ int) {
			if stage == "applying changes" {
				cancel()
			}
		}
	}
	if report, _ := f.applyUntil(ctx, Order{}); !errors.Is(report.Err, edge.ErrUnauthenticated) {
		t.Errorf("error %v", report.Err)
	}
}

// Of many at once those in flight end; none begins.
func TestRejectedCredentialStopsSideBySide(t *testing.T) {
	f := newFixture(t, 40)
	f.adjust = func(r *Run) { r.Lanes.All[0].Concurrency = 4 }
	f.repo.Push("c1", declareAll(40, core("xss"))...)
	f.tamper.Write = func(context.Context, edge.Scope, send) (*edge.Ruleset, error) { return nil, errUnauthenticated }
	report, calls := f.apply(Order{})
	if n := writes(calls); n < 1 || n > 4 {
		t.Errorf("%d writes with a credential that is rejected", n)
	}
	if len(report.Results) != 40 || report.Count(reconcile.Failed)+report.Count(reconcile.NotStarted) != 40 {
		t.Errorf("results %v", outcomes(report))
	}
}

func TestStoppedApplyFinishesTheWriteInFlight(t *testing.T) {
	f := newFixture(t, 4)
	f.repo.Push("c1", append(declareAll(3, core("xss")), declare(4, core()))...)
	ctx, cancel := context.WithCancel(t.Context())
	f.tamper.Write = func(inFlight context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
		cancel()
		if inFlight.Err() != nil {
			t.Error("the write in flight was cut off")
		}
		return send()
	}
	report, calls := f.applyUntil(ctx, Order{})
	f.wantCalls(calls[6:], "write 1", "read 1")
	f.wantOutcomes(report, "1 converged", "2 not_started", "3 not_started")
	if !errors.Is(report.Err, context.Canceled) || report.Err.Error() != "context canceled" {
		t.Errorf("error %q", report.Err)
	}
	got := f.recall()
	for _, i := range []int{1, 4} {
		if _, remembered := got.Applied[deploymentID(i)]; !remembered || got.Proofs[mem.FleetZone(i)].Fingerprint == "" {
			t.Errorf("what was proved of zone %d is forgotten", i)
		}
	}
	if len(got.Proofs) != 2 {
		t.Errorf("proofs %v", got.Proofs)
	}
	f.tamper.Write = nil
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "2 converged", "3 converged")
}

// A write that hangs is given up some time after the apply was told to stop.
func TestStoppedApplyDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, 2)
		f.repo.Push("c1", declareAll(2, core("xss"))...)
		ctx, cancel := context.WithCancel(t.Context())
		f.tamper.Write = func(inFlight context.Context, _ edge.Scope, _ send) (*edge.Ruleset, error) {
			cancel()
			<-inFlight.Done()
			return nil, inFlight.Err()
		}
		begin := time.Now()
		report, _ := f.applyUntil(ctx, Order{})
		if took := time.Since(begin); took != reconcile.Grace {
			t.Errorf("it took %v to stop", took)
		}
		f.wantOutcomes(report, "1 failed", "2 not_started")
	})
}

func TestStoppedBetweenCheckAndWriteWritesNothing(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declare(1, core("xss")))
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	f.tamper.Read = func(edge.Scope) error {
		if reads++; reads == 2 {
			cancel()
		}
		return nil
	}
	f.adjust = func(r *Run) { r.Progress = func(string, int, int) { f.Advance(2 * time.Minute) } }
	report, calls := f.applyUntil(ctx, Order{})
	f.wantCalls(calls[3:], "read 1")
	f.wantOutcomes(report, "1 not_started")
}

// What could not be read because the run was told to stop says nothing of any zone, and
// no commit is accepted on the strength of it.
func TestStoppedReadingIsNone(t *testing.T) {
	for name, prepare := range map[string]func(*fixture, func()){
		"on the list": func(f *fixture, cancel func()) {
			f.tamper.List = func(edge.AccountID) error { cancel(); return context.Canceled }
		},
		"on a zone": func(f *fixture, cancel func()) {
			f.tamper.Read = func(edge.Scope) error { cancel(); return edge.ErrUnavailable }
		},
		"on the last zone": func(f *fixture, cancel func()) {
			f.repo.Push("c1", declare(9, core("xss")))
			f.tamper.Read = func(edge.Scope) error { cancel(); return edge.ErrUnavailable }
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 9)
			f.repo.Push("c1", declareAll(9, core("xss"))...)
			ctx, cancel := context.WithCancel(t.Context())
			prepare(f, cancel)
			report, calls := f.applyUntil(ctx, Order{})
			if !errors.Is(report.Err, context.Canceled) || len(report.Plan.Problems) != 0 || len(f.records.Made) != 0 || f.good.commit != "" {
				t.Errorf("error %v, %d problems, records %v", report.Err, len(report.Plan.Problems), f.records.Made)
			}
			if len(calls) > 3 {
				t.Errorf("calls %v", calls)
			}
		})
	}
}

// What was written and cannot be remembered has not converged: a later commit could not
// tell what of it was ours. What cannot be written down beforehand is not sent.
func TestWriteThatCannotBeRememberedHasFailed(t *testing.T) {
	for call, wrote := range map[string]int{"widen": 0, "prove": 1} {
		t.Run(call, func(t *testing.T) {
			f := newFixture(t, 1)
			f.records.Fails = func(c string) error {
				if c == call {
					return errFull
				}
				return nil
			}
			f.repo.Push("c1", declare(1, core("xss")))
			report, calls := f.apply(Order{})
			f.wantOutcomes(report, "1 failed")
			if writes(calls) != wrote || !errors.Is(report.Results[0].Err, errFull) || report.Converged() {
				t.Errorf("calls %v, error %v", calls, report.Results[0].Err)
			}
			f.records.Fails = nil
			_, calls = f.converge(Order{})
			if writes(calls) != 1-wrote || len(f.recall().Applied) != 1 || len(f.recall().Proofs) != 1 {
				t.Errorf("the next apply does not make up for it: %v, %+v", calls, f.recall())
			}
		})
	}
}

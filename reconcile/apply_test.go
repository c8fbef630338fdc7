package reconcile

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
)

// send is what the platform would do with a write.
type send = func() (*edge.Ruleset, error)

func TestFailureStaysInItsZone(t *testing.T) {
	unreadable := func(w *world, _ *desired.Zone) { w.tamper.read = failZone(2, edge.ErrUnreadable) }
	cases := map[string]struct {
		prepare func(*world, *desired.Zone)
		results []string
		state   string // of the problem in the plan
	}{
		"unreadable": {unreadable, []string{"1 converged", "3 converged"}, "unknown"},
		"not permitted": {
			func(w *world, _ *desired.Zone) { w.tamper.read = failZone(2, errForbidden) },
			[]string{"1 converged", "3 converged"},
			"forbidden",
		},
		"not permitted, and it reads as if the credential were bad": {
			func(w *world, _ *desired.Zone) {
				w.tamper.read = failZone(2, &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication}}})
			},
			[]string{"1 converged", "3 converged"},
			"forbidden",
		},
		"refuses the write": {func(w *world, _ *desired.Zone) {
			w.tamper.write = func(_ context.Context, zone edge.ZoneID, send send) (*edge.Ruleset, error) {
				if zone == mem.FleetZone(2) {
					return nil, &edge.Error{Status: 400}
				}
				return send()
			}
		}, []string{"1 converged", "2 failed", "3 converged"}, ""},
		"cannot be read back": {func(w *world, _ *desired.Zone) {
			w.tamper.write = func(_ context.Context, zone edge.ZoneID, send send) (*edge.Ruleset, error) {
				w.tamper.read = failZone(2, errDown)
				return send()
			}
		}, []string{"1 converged", "2 failed", "3 converged"}, ""},
		"not deployed": {func(w *world, _ *desired.Zone) {
			if err := w.platform.RemoveEntryPoint(mem.FleetZone(2)); err != nil {
				panic(err)
			}
		}, []string{"1 converged", "3 converged"}, "not_deployed"},
		"blocked": {
			func(_ *world, z *desired.Zone) { z.Deployments = []desired.Deployment{core("no such tag")} },
			[]string{"1 converged", "3 converged"},
			"blocked",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3)
			all := zones(3, core("xss"))
			c.prepare(w, &all[1])
			w.repo.push("c1", all...)
			report, _ := w.run(manual)
			wantOutcomes(t, report, c.results...)
			if report.Converged() || report.Err != nil {
				t.Errorf("converged %v, error %v", report.Converged(), report.Err)
			}
			if due := w.pending.due(mem.FleetZone(2)); due != (c.state == "" || c.state == "unknown" || c.state == "forbidden") || len(w.pending) > 1 {
				t.Errorf("pending %v", w.pending)
			}
			if c.state == "" && len(report.Plan.Problems) == 0 {
				return
			}
			if p := report.Plan.Problems; len(p) != 1 || string(p[0].State) != c.state || p[0].ZoneID != mem.FleetZone(2) {
				t.Errorf("problems %+v", p)
			}
		})
	}
}

func TestRejectedCredentialStopsTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*world)
		calls   []string
		results []string
	}{
		"on the list": {func(w *world) { w.tamper.list = func(edge.AccountID) error { return errUnauthenticated } }, []string{"list"}, []string{}},
		"on a managed ruleset": {
			func(w *world) { w.tamper.managed = func() error { return errUnauthenticated } },
			[]string{"list", "managed core"},
			[]string{},
		},
		"on a zone": {
			func(w *world) { w.tamper.read = failZone(2, errUnauthenticated) },
			[]string{"list", "managed core", "read 1", "read 2"},
			[]string{},
		},
		"on a write": {
			func(w *world) {
				w.tamper.write = func(_ context.Context, zone edge.ZoneID, send send) (*edge.Ruleset, error) {
					if zone == mem.FleetZone(2) {
						return nil, errUnauthenticated
					}
					return send()
				}
			},
			[]string{"list", "managed core", "read 1", "read 2", "read 3", "read 4", "write 1", "read 1", "write 2"},
			[]string{"1 converged", "2 failed", "3 not_started", "4 not_started"},
		},
		"on a proof": {
			func(w *world) {
				w.tamper.write = func(_ context.Context, _ edge.ZoneID, send send) (*edge.Ruleset, error) {
					w.tamper.read = failZone(1, errUnauthenticated)
					return send()
				}
			},
			[]string{"list", "managed core", "read 1", "read 2", "read 3", "read 4", "write 1", "read 1"},
			[]string{"1 failed", "2 not_started", "3 not_started", "4 not_started"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 4)
			w.repo.push("c1", zones(4, core("xss"))...)
			c.prepare(w)
			report, calls := w.run(manual)
			w.wantCalls(calls, c.calls...)
			wantOutcomes(t, report, c.results...)
			if !errors.Is(report.Err, edge.ErrUnauthenticated) || strings.Count(report.Err.Error(), "check credentials.rulesets") != 1 {
				t.Errorf("error %v", report.Err)
			}
			for _, result := range report.Results {
				if result.Outcome == NotStarted && result.Err != nil {
					t.Errorf("the one message is repeated for %s: %v", result.Change.Zone, result.Err)
				}
			}
		})
	}
}

// Of many at once those in flight end; none begins.
func TestRejectedCredentialStopsSideBySide(t *testing.T) {
	w := newWorld(t, 40)
	w.Concurrency = 4
	w.repo.push("c1", zones(40, core("xss"))...)
	w.tamper.write = func(context.Context, edge.ZoneID, send) (*edge.Ruleset, error) { return nil, errUnauthenticated }
	report, calls := w.run(manual)
	if n := writes(calls); n < 1 || n > 4 {
		t.Errorf("%d writes with a credential that is rejected", n)
	}
	if len(report.Results) != 40 || report.Count(Failed)+report.Count(NotStarted) != 40 {
		t.Errorf("results %v", outcomes(report))
	}
}

func TestCancelledRunFinishesTheWriteInFlight(t *testing.T) {
	w := newWorld(t, 4)
	w.repo.push("c1", append(zones(3, core("xss")), zone(4, core()))...)
	ctx, cancel := context.WithCancel(t.Context())
	w.tamper.write = func(inFlight context.Context, _ edge.ZoneID, send send) (*edge.Ruleset, error) {
		cancel()
		if inFlight.Err() != nil {
			t.Error("the write in flight was cut off")
		}
		return send()
	}
	report := w.Run(ctx, manual)
	w.wantCalls(w.calls()[6:], "write 1", "read 1")
	wantOutcomes(t, report, "1 converged", "2 not_started", "3 not_started")
	if !errors.Is(report.Err, context.Canceled) || report.Err.Error() != "context canceled" {
		t.Errorf("error %q", report.Err)
	}
	for _, i := range []int{1, 4} {
		if _, remembered := w.recall().Applied[deploymentID(i)]; !remembered {
			t.Errorf("what was proved of zone %d is forgotten", i)
		}
	}
	w.tamper.write = nil
	report, _ = w.converge(Order{Trigger: TriggerSync, FallBack: true, ChangedOnly: true})
	wantOutcomes(t, report, "2 converged", "3 converged")
}

// A write that hangs is given up some time after the run was told to stop.
func TestCancelledRunDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		w.repo.push("c1", zones(2, core("xss"))...)
		ctx, cancel := context.WithCancel(t.Context())
		w.tamper.write = func(inFlight context.Context, _ edge.ZoneID, _ send) (*edge.Ruleset, error) {
			cancel()
			<-inFlight.Done()
			return nil, inFlight.Err()
		}
		begin := time.Now()
		report := w.Run(ctx, manual)
		if took := time.Since(begin); took != grace {
			t.Errorf("the run took %v to stop", took)
		}
		wantOutcomes(t, report, "1 failed", "2 not_started")
	})
}

func TestCancelledBetweenCheckAndWriteWritesNothing(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	w.tamper.read = func(edge.ZoneID) error {
		if reads++; reads == 2 {
			cancel()
		}
		return nil
	}
	w.Progress = func(string, int, int) { w.clock.advance(2 * freshFor) }
	report := w.Run(ctx, manual)
	w.wantCalls(w.calls()[3:], "read 1")
	wantOutcomes(t, report, "1 not_started")
}

func TestCancelledObservationIsNone(t *testing.T) {
	for name, prepare := range map[string]func(*world, func()){
		"on the list": func(w *world, cancel func()) {
			w.tamper.list = func(edge.AccountID) error { cancel(); return context.Canceled }
		},
		"on a zone": func(w *world, cancel func()) {
			w.tamper.read = func(edge.ZoneID) error { cancel(); return edge.ErrUnavailable }
		},
		"on the last zone": func(w *world, cancel func()) {
			w.repo.push("c1", zone(9, core("xss")))
			w.tamper.read = func(edge.ZoneID) error { cancel(); return edge.ErrUnavailable }
		},
		"on git": func(w *world, cancel func()) {
			w.good.commit = "c1"
			w.repo.fetchErr = context.Canceled
			cancel()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 9)
			w.repo.push("c1", zones(9, core("xss"))...)
			ctx, cancel := context.WithCancel(t.Context())
			prepare(w, cancel)
			report := w.Run(ctx, sweep)
			if !errors.Is(report.Err, context.Canceled) || len(report.Plan.Problems) != 0 || w.good.set != 0 || report.Held != nil {
				t.Errorf("error %v, %d problems", report.Err, len(report.Plan.Problems))
			}
			if calls := w.calls(); len(calls) > 3 {
				t.Errorf("calls %v", calls)
			}
		})
	}
}

// What was written and cannot be remembered has not converged: a later commit
// could not tell what of it was ours.
func TestWriteThatCannotBeRememberedHasFailed(t *testing.T) {
	w := newWorld(t, 1)
	full := errors.New("disk is full")
	w.memory.full = full
	w.repo.push("c1", zone(1, core("xss")))
	report, _ := w.run(manual)
	wantOutcomes(t, report, "1 failed")
	if !errors.Is(report.Results[0].Err, full) || report.Converged() {
		t.Errorf("error %v", report.Results[0].Err)
	}
	w.memory.full = nil
	_, calls := w.converge(Order{Trigger: TriggerSync, ChangedOnly: true})
	w.wantCalls(calls, "list", "read 1")
	if len(w.recall().Applied) != 1 {
		t.Error("the next sync does not make up for it")
	}
}

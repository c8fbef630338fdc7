package reconcile

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// TestAHeldZoneIsLeftAlone: drift and a new commit are told and not written until
// the hold is over; the first sync after that does it.
func TestAHeldZoneIsLeftAlone(t *testing.T) {
	w := newWorld(t, 2)
	w.repo.push("c1", zones(2, removing(core("xss")))...)
	w.converge(sweep)
	w.guard(Guards{})
	hold := diff.Hold{Zone: zoneKey(1), Until: w.clock.Now().Add(2 * time.Hour), Reason: "INC-1"}
	w.memory.Hold(hold)
	w.click(1, func(o *edge.Overrides) { o.Categories = nil })
	for _, order := range []Order{sweep, manual} {
		report, calls := w.run(order)
		if got := refusals(report); !slices.Equal(got, []string{"hold"}) || writes(calls) != 0 || report.Converged() {
			t.Errorf("refused %v, calls %v", got, calls)
		}
		if d := cmp.Diff([]diff.Hold{hold}, report.Plan.Holds); d != "" {
			t.Errorf("holds (-want +got):\n%s", d)
		}
	}
	w.repo.push("c2", zones(2, removing(core("php")))...)
	report, _ := w.run(syncing)
	wantOutcomes(t, report, "2 converged")
	if _, calls := w.run(syncing); len(calls) != 0 {
		t.Errorf("while it is held nobody looks: %v", calls)
	}
	w.clock.advance(2 * time.Hour)
	report, calls := w.converge(syncing)
	wantOutcomes(t, report, "1 converged")
	w.wantCalls(calls, "list", "read 1", "write 1", "read 1")
	if len(report.Plan.Holds) != 0 {
		t.Errorf("it is over, and told: %v", report.Plan.Holds)
	}
}

// TestReleasedEarly: the sync after a hold was ended by a person goes on.
func TestReleasedEarly(t *testing.T) {
	w := newWorld(t, 1)
	w.guard(Guards{})
	w.memory.Hold(diff.Hold{Zone: zoneKey(1), Until: w.clock.Now().Add(time.Hour)})
	w.repo.push("c1", zone(1, core("xss")))
	w.run(sweep)
	w.memory.has.Holds = nil
	report, _ := w.converge(syncing)
	wantOutcomes(t, report, "1 converged")
}

func atMost(n int) Guards {
	return Guards{Rules: []diff.Rule{{Name: "fleet", Changes: &diff.Limit{Count: &n}}}}
}

// TestTooMuchAtOnce: nothing of it is written, by no kind of run, until a person
// agrees; then all of it is, once.
func TestTooMuchAtOnce(t *testing.T) {
	w := newWorld(t, 4)
	w.repo.push("c1", zones(4, removing(core("xss")))...)
	w.converge(sweep)
	w.guard(atMost(3))
	w.repo.push("c2", zones(4, removing(core("php")))...)
	var digest, set string
	for _, order := range []Order{syncing, syncing, sweep, manual} {
		report, calls := w.run(order)
		if writes(calls) != 0 {
			t.Fatalf("%s writes: %v", order.Trigger, calls)
		}
		if len(report.Plan.Changes) > 0 {
			digest, set = report.Plan.ApprovalDigest(), report.Plan.Changes[0].Refused.Digest
		}
	}
	for name, agree := range map[string]func(*world) Order{
		"the plan":        func(*world) Order { return approving(digest) },
		"what is refused": func(*world) Order { return approving(set) },
		"on record": func(w *world) Order {
			must(t, w.memory.Approve(t.Context(), []Approval{{Digest: digest, Kind: Approved, Who: "kim"}}))
			return syncing
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 4)
			w.repo.push("c1", zones(4, removing(core("xss")))...)
			w.converge(sweep)
			w.guard(atMost(3))
			w.repo.push("c2", zones(4, removing(core("php")))...)
			w.run(syncing)
			report, _ := w.converge(agree(w))
			if len(report.Results) != 4 {
				t.Errorf("results %v", outcomes(report))
			}
			if left := w.recall().Approvals; len(left) != 0 {
				t.Errorf("not spent: %+v", left)
			}
			for i := 1; i <= 4; i++ { // as it was before, so that the very same would be done
				w.click(i, func(o *edge.Overrides) {
					o.Categories = []edge.CategoryOverride{{Category: "xss", Enabled: new(false)}}
				})
			}
			report, _ = w.run(sweep)
			if report.Plan.Changes[0].Refused == nil || report.Plan.Changes[0].Refused.Digest != set {
				t.Errorf("an approval counts twice: %v", outcomes(report))
			}
		})
	}
}

func approving(digest string) Order {
	order := manual
	order.Approve, order.Who = []string{digest}, "kim"
	return order
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestALimitIsNotOutflankedByRetries: a zone that could not be read with the
// others is not written by itself once it can be.
func TestALimitIsNotOutflankedByRetries(t *testing.T) {
	w := newWorld(t, 5)
	w.repo.push("c1", zones(5, removing(core("xss")))...)
	w.converge(sweep)
	w.guard(atMost(3))
	w.repo.push("c2", zones(5, removing(core("php")))...)
	w.tamper.read = failZone(2, errDown)
	w.run(syncing)
	w.tamper.read = nil
	report, calls := w.run(syncing)
	if got := refusals(report); writes(calls) != 0 || len(got) != 5 {
		t.Errorf("refused %v, calls %v", got, calls)
	}
}

// TestAnApprovalOutlivesAPartialRun: of what was agreed to as a whole, the rest
// is done later without asking again, and nothing else is.
func TestAnApprovalOutlivesAPartialRun(t *testing.T) {
	w := newWorld(t, 3)
	w.repo.push("c1", zones(3, core())...)
	w.converge(sweep)
	w.guard(Guards{Rules: []diff.Rule{{Name: "calm", Approve: diff.ApproveWeakening}}})
	w.repo.push("c2", zones(3, core("xss"))...)
	report, _ := w.run(manual)
	if got := refusals(report); len(got) != 3 || got[0] != "approval" {
		t.Fatalf("refused %v", got)
	}
	w.tamper.write = func(_ context.Context, zone edge.ZoneID, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
		if zone == deploymentID(2).Zone {
			return nil, errForbidden
		}
		return send()
	}
	report, _ = w.run(approving(report.Plan.ApprovalDigest()))
	wantOutcomes(t, report, "1 converged", "2 failed", "3 converged")
	left := w.recall().Approvals
	if len(left) != 1 || left[0].Who != "kim" || left[0].Reason != "prod / "+zoneKey(2)+" / core" || left[0].Kind != Approved {
		t.Errorf("on record is %+v", left)
	}
	w.tamper.write = nil
	w.click(3, func(o *edge.Overrides) { o.Categories = nil }) // and drift that would weaken is another matter
	report, _ = w.run(sweep)
	wantOutcomes(t, report, "2 converged")
	if got := refusals(report); !slices.Equal(got, []string{"approval"}) {
		t.Errorf("refused %v", got)
	}
	if left := w.recall().Approvals; len(left) != 0 {
		t.Errorf("not spent: %+v", left)
	}
}

// TestWithoutARecordAnApprovalCountsOnce: for one run, where nothing is kept.
func TestWithoutARecordAnApprovalCountsOnce(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.guard(atMost(0))
	w.Control = nil
	report, _ := w.run(manual)
	report, _ = w.converge(approving(report.Plan.ApprovalDigest()))
	wantOutcomes(t, report, "1 converged")
}

// TestAChangeThatHasBecomeWorse: between plan and write somebody protected the
// zone better; sending the same declaration would weaken it, and nobody has
// agreed to that.
func TestAChangeThatHasBecomeWorse(t *testing.T) {
	for name, test := range map[string]struct {
		guards Guards
		writes int
	}{
		"nobody minds": {Guards{}, 1},
		"somebody":     {Guards{Rules: []diff.Rule{{Name: "calm", Approve: diff.ApproveWeakening}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.repo.push("c1", zone(1, removing(core("php"))))
			w.converge(sweep)
			w.guard(test.guards)
			off := func(tags ...string) func(*edge.Overrides) {
				return func(o *edge.Overrides) {
					o.Categories = nil
					for _, tag := range tags {
						o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: new(false)})
					}
				}
			}
			w.click(1, off("php", "xss")) // mending it strengthens
			reads := 0
			w.tamper.read = func(edge.ZoneID) error {
				if reads++; reads == 1 {
					w.clock.advance(2 * freshFor)
				} else if reads == 2 {
					w.click(1, off())
				}
				return nil
			}
			at := w.clock.Now()
			w.Now = func() time.Time { // the read takes longer than it is fresh for
				now := at
				at = w.clock.Now()
				return now
			}
			report, calls := w.run(sweep)
			if n := writes(calls); n != test.writes {
				t.Errorf("%d writes, want %d: %v", n, test.writes, outcomes(report))
			}
		})
	}
}

// TestDelayedTokens: like a zone, a token is looked at by the first sync after
// the end.
func TestDelayedTokens(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := delayed{tokens: map[string]wish{
		"frozen": {guard: guardFreeze, until: now}, "asked": {guard: guardApproval, approved: "a"},
	}}
	for name, test := range map[string]struct {
		key   string
		facts diff.Facts
		want  bool
	}{
		"unknown":        {"other", diff.Facts{Now: now}, false},
		"frozen":         {"frozen", diff.Facts{Now: now.Add(-1)}, false},
		"not any longer": {"frozen", diff.Facts{Now: now}, true},
		"not approved":   {"asked", diff.Facts{Approved: map[string]bool{"a": true}}, false},
		"another word":   {"asked", diff.Facts{Approved: map[string]bool{"a": true, "b": true}}, true},
	} {
		if got := d.dueToken(test.key, test.facts); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestHeldOrFrozenMeanwhile: a run that is on its way does not write what somebody
// holds, or what is frozen, since it has begun; the next one after that does.
func TestHeldOrFrozenMeanwhile(t *testing.T) {
	for name, meanwhile := range map[string]func(*world){
		"held": func(w *world) {
			w.memory.Hold(diff.Hold{Zone: zoneKey(2), Until: w.clock.Now().Add(time.Hour), Reason: "INC-1"})
		},
		"frozen": func(w *world) {
			w.Guards.Freezes = []Freeze{window(t, "0 * * * *", time.Hour, time.UTC)}
		},
		"not known": func(w *world) { w.memory.gone = errors.New("disk") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			w.guard(Guards{})
			w.repo.push("c1", zones(2, core("xss"))...)
			w.tamper.write = func(_ context.Context, _ edge.ZoneID, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
				w.clock.advance(heardFor)
				meanwhile(w)
				return send()
			}
			if _, calls := w.run(sweep); writes(calls) != 1 {
				t.Errorf("calls %v", calls)
			}
			w.tamper.write, w.memory.gone, w.Guards.Freezes = nil, nil, nil
			w.clock.advance(time.Hour)
			report, _ := w.converge(syncing)
			wantOutcomes(t, report, "2 converged")
		})
	}
}

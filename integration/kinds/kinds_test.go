// Package kinds_test adds a third kind to the table, and follows it through everything that
// stands between a kind and its driver: none of these packages has a line about it.
package kinds_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/revert"
	"github.com/seawall-dev/seawall/reconcile/source"
)

func TestMain(m *testing.M) {
	declareToys()
	planner.Kinds = append(planner.Kinds, toys...)
	os.Exit(soak.Main(m, 0))
}

// fixture is a platform of two zones, a ledger, and a repository of one commit at a time.
type fixture struct {
	*testing.T
	platform *mem.Platform
	calls    *reconciletest.Recorder
	records  *ledger.Ledger
	now      time.Time
	guards   reconcile.Guards
	commit   string
	declared [2][]desired.Other
	zones    []desired.Zone // in the place of both; nil: none
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	platform, err := mem.New(mem.Config{Seed: mem.Fleet(2), Profile: mem.Extended})
	must.Do(t, err)
	records, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	must.Do(t, err)
	t.Cleanup(func() { _ = records.Close() })
	f := &fixture{T: t, platform: platform, calls: reconciletest.Record(platform), records: records, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	records.Now = f.Now
	return f
}

func (f *fixture) Now() time.Time { return f.now }

func (f *fixture) Fetch(context.Context) (string, error) { return f.commit, nil }

func (f *fixture) Compile(context.Context, string) (desired.State, []desired.Problem, error) {
	account := desired.Account{Key: "prod", ID: mem.Account}
	for i, others := range f.declared {
		key := []string{"shop.example", "pay.example"}[i]
		account.Zones = append(account.Zones, desired.Zone{Key: key, Scope: mem.FleetZone(i + 1), Labels: map[string]string{"tier": key}, Others: others})
	}
	if f.zones != nil {
		return reconciletest.State(f.commit, f.zones...), nil, nil
	}
	return desired.State{Commit: f.commit, Accounts: []desired.Account{account}}, nil, nil
}

// push declares a rule with an expression in both zones, or none.
func (f *fixture) push(commit, expression string) {
	f.commit = commit
	for i := range f.declared {
		f.declared[i] = nil
		if expression != "" {
			f.declared[i] = []desired.Other{declare("admins", toyRule{expression, true})}
		}
	}
}

func (f *fixture) lanes() reconcile.Lanes {
	return reconcile.OneLane(reconcile.Lane{Reader: edge.ReadOnly(f.calls), Writer: f.calls, Concurrency: 1})
}

func (f *fixture) run() *once.Run {
	return &once.Run{
		Source:  source.New(source.Config{Source: f, Compiler: f, Now: f.Now}),
		Records: f.records, Guards: f.guards, Lanes: f.lanes(), Now: f.Now,
	}
}

// live is the expression of the rule in a zone, empty where there is none.
func (f *fixture) live(zone int) string {
	r, err := f.platform.EntryPoint(f.Context(), mem.FleetZone(zone), toyPhase)
	if err != nil && !errors.Is(err, edge.ErrEntryPointNotFound) {
		f.Fatal(err)
	}
	for _, rule := range r.Rules {
		if rule.Ref == "admins" {
			return rule.Expression
		}
	}
	return ""
}

func (f *fixture) apply(order once.Order) reconcile.Report {
	f.Helper()
	report := f.run().Apply(f.Context(), order)
	must.Do(f.T, report.Err)
	return report
}

func refusals(p diff.Plan) (guards []diff.Guard) {
	for _, c := range p.Changes {
		if c.Refused != nil {
			guards = append(guards, c.Refused.Guard)
		}
	}
	return guards
}

// The life of a third kind: it is planned, created, proved, changed, put back and removed; it
// has a history, and stands in every form of a plan.
func TestAThirdKindLives(t *testing.T) {
	f := newFixture(t)
	f.push("c1", "ip.src eq 192.0.2.1")
	plan := f.run().Plan(t.Context(), once.Order{}).Plan
	if len(plan.Changes) != 2 || len(plan.Problems) > 0 || plan.Summary.Changed != 2 || plan.Requests.ToApply != 4 {
		t.Fatalf("planned %+v, %+v, %s", plan.Changes, plan.Problems, plan.Summary)
	}
	shown(t, plan)
	if report := f.apply(once.Order{}); !report.Converged() || f.live(1) != "ip.src eq 192.0.2.1" {
		t.Fatalf("%s; live %q", report.Verdict(), f.live(1))
	}
	if again := f.run().Plan(t.Context(), once.Order{}).Plan; !again.IsEmpty() {
		t.Fatalf("then it plans %+v", again.Changes)
	}
	f.now = f.now.Add(time.Hour)
	f.push("c2", "ip.src eq 192.0.2.2")
	if report := f.apply(once.Order{}); !report.Converged() {
		t.Fatal(report.Verdict())
	}
	f.revert("c2")
	if f.live(1) != "ip.src eq 192.0.2.1" || f.live(2) != "ip.src eq 192.0.2.1" {
		t.Fatalf("put back to %q and %q", f.live(1), f.live(2))
	}
	f.push("c3", "")
	if report := f.apply(once.Order{AllowShrink: true}); !report.Converged() || f.live(1) != "" {
		t.Fatalf("%s; live %q", report.Verdict(), f.live(1))
	}
	f.inHistory("deploy", "update", "update", "remove")
}

func (f *fixture) revert(commit string) {
	f.Helper()
	run := &revert.Run{Records: f.records, Guards: f.guards, Lanes: f.lanes(), Now: f.Now}
	p, err := run.Plan(f.Context(), revert.Order{Filter: reconcile.HistoryFilter{Commit: commit}, Who: "kim"})
	must.Do(f.T, err)
	report := run.Apply(f.Context(), p)
	if report.Err != nil || report.Count(reconcile.Converged) != 2 {
		f.Fatalf("reverted: %v, %+v, %+v", report.Err, report.Results, report.Plan.Problems)
	}
}

// inHistory checks the writes to the first zone, each with its result.
func (f *fixture) inHistory(actions ...string) {
	f.Helper()
	var got []string
	_, err := f.records.History(f.Context(), reconcile.HistoryFilter{Zone: "shop.example"}, func(e reconcile.Entry) error {
		if e.Kind != reconcile.EntryWrite {
			return nil
		}
		if got = append(got, e.Action); e.Subject.ID() != (diff.ID{Kind: toyName, Scope: mem.FleetZone(1), Ref: "admins"}) || e.Result == nil || e.Result.Outcome != reconcile.Converged {
			f.Errorf("entry %+v, result %+v", e.Subject, e.Result)
		}
		return nil
	})
	must.Do(f.T, err)
	if !slices.Equal(got, actions) {
		f.Errorf("history has %q", got)
	}
}

// shown checks that a plan says what it would do, in each form.
func shown(t *testing.T, p diff.Plan) {
	t.Helper()
	var text, data, markdown bytes.Buffer
	must.Do(t, errors.Join(render.Text(&text, p, false), render.JSON(&data, p), render.Markdown(&markdown, p)))
	for form, said := range map[string]string{text.String(): "admins", markdown.String(): "admins", data.String(): `"kind": "toy"`} {
		if !strings.Contains(form, said) || !strings.Contains(form, "192.0.2.1") {
			t.Errorf("%q is not in %s", said, form)
		}
	}
}

// Every guard holds a third kind as it holds the others.
func TestGuardsHoldAThirdKind(t *testing.T) {
	one := 1
	for name, test := range map[string]struct {
		set  func(*fixture)
		want []diff.Guard
	}{
		"hold": {func(f *fixture) {
			must.Do(f.T, f.records.Hold(f.Context(), diff.Hold{Zone: "shop.example", Until: f.now.Add(time.Hour), Reason: "an attack"}, "kim"))
		}, []diff.Guard{diff.GuardHold}},
		"limit": {func(f *fixture) {
			f.guards.Rules = []guard.Rule{{Name: "few", Changes: &guard.Limit{Count: &one}}}
		}, []diff.Guard{diff.GuardLimit, diff.GuardLimit}},
		"approval": {func(f *fixture) {
			f.guards.Rules = []guard.Rule{{Name: "shop", Labels: guard.Labels{"tier": "shop.example"}, Approve: guard.ApproveAll}}
		}, []diff.Guard{diff.GuardApproval}},
		"waves": {func(f *fixture) {
			f.guards.Waves = []reconcile.Wave{{Labels: guard.Labels{"tier": "pay.example"}, Soak: time.Hour}, {}}
		}, []diff.Guard{diff.GuardWave}},
		"observe": {func(f *fixture) {
			f.guards.Observe = []guard.Observe{{Setting: "observe.shop", Labels: guard.Labels{"tier": "shop.example"}}}
		}, []diff.Guard{diff.GuardObserve}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.push("c1", "ip.src eq 192.0.2.1")
			test.set(f)
			report := f.apply(once.Order{})
			if got := refusals(report.Plan); !slices.Equal(got, test.want) || f.live(1) != "" {
				t.Errorf("refused %q, results %+v; live %q", got, report.Results, f.live(1))
			}
		})
	}
}

// An approval covers what a third kind would write.
func TestAnApprovalCoversAThirdKind(t *testing.T) {
	f := newFixture(t)
	f.push("c1", "ip.src eq 192.0.2.1")
	f.guards.Rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}
	plan := f.run().Plan(t.Context(), once.Order{}).Plan
	if report := f.apply(once.Order{Who: "kim", Approve: []string{plan.Changes[0].Refused.Digest}}); !report.Converged() || f.live(2) == "" {
		t.Errorf("%s; %+v", report.Verdict(), report.Plan.Changes)
	}
}

// Its entry point is read once more where it is declared, and nowhere else.
func TestAThirdKindCostsNothingWhereItIsNot(t *testing.T) {
	f := newFixture(t)
	f.push("c1", "ip.src eq 192.0.2.1")
	f.declared[1] = nil
	f.run().Plan(t.Context(), once.Order{})
	reads := 0
	for _, call := range f.calls.Calls() {
		if strings.Contains(call, string(toyPhase)) {
			reads++
		}
	}
	if reads != 1 {
		t.Errorf("%d reads: %q", reads, f.calls.Calls())
	}
}

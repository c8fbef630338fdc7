package kinds_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// daemon is a controller over a platform and a repository in memory, in the time of a bubble.
// What it has on record is in memory, too, where it has no ledger.
type daemon struct {
	*testing.T
	*controller.Controller
	platform *forgetful
	repo     *reconciletest.Repo
	records  *reconciletest.Records
	ledger   *ledger.Ledger
	source   *source.Source
	guards   reconcile.Guards
	stop     func()
}

// forgetful is a platform that, while it forgets, takes an update of a rule and keeps the
// expression that it had; that refuses to add a toy rule; and that does not say what those are.
type forgetful struct {
	*mem.Platform
	forgets, refuses, hides bool
	writes                  int
}

func (p *forgetful) EntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if p.hides && phase == toyPhase {
		return edge.Ruleset{}, reconciletest.ErrDown
	}
	return p.Platform.EntryPoint(ctx, zone, phase)
}

func (p *forgetful) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	switch {
	case p.refuses && w.Call == edge.CallCreateEntryPoint && w.Phase == toyPhase:
		return nil, reconciletest.ErrForbidden
	case w.Call == edge.CallUpdateRule:
		p.writes++
		if p.forgets {
			w.Rules[0].Expression = expressionIn(p.Platform, w.Scope)
		}
	}
	return p.Platform.Send(ctx, w)
}

// expressionIn is that of the toy rule of a zone; empty where there is none.
func expressionIn(p *mem.Platform, zone edge.Scope) string { return expressionAt(p, zone.At(toyPhase)) }

func expressionAt(p *mem.Platform, at edge.Place) string {
	r, _ := p.EntryPoint(context.Background(), at.Scope, at.Phase)
	for _, rule := range r.Rules {
		if rule.Ref == "admins" {
			return rule.Expression
		}
	}
	return ""
}

const sweeps = 30 * time.Minute

// started is a daemon that is done with a first commit.
func started(t *testing.T, guards reconcile.Guards, expression string) *daemon {
	t.Helper()
	d := newDaemon(t, guards, expression)
	d.start()
	return d
}

func newDaemon(t *testing.T, guards reconcile.Guards, expression string) *daemon {
	t.Helper()
	fleet := reconciletest.NewFleet(t, mem.Config{Seed: mem.Fleet(2), Profile: mem.Extended})
	d := &daemon{T: t, platform: &forgetful{Platform: fleet.Platform}, repo: reconciletest.NewRepo(), records: &reconciletest.Records{}, guards: guards}
	d.stop = func() {}
	d.repo.Push("c1", ruled(expression)...)
	t.Cleanup(func() { d.stop() })
	return d
}

// ruled are the two zones with a toy rule in each, and the second with a deployment of the same
// name as well; nothing is in the first where the expression is empty.
func ruled(expression string) []desired.Zone {
	zones := []desired.Zone{reconciletest.Zone(1), reconciletest.Zone(2, reconciletest.Core("xss"))}
	for i := range zones {
		if expression != "" {
			zones[i].Others = []desired.Other{declare("admins", toyRule{expression, true})}
		}
	}
	return zones
}

func (d *daemon) start() {
	d.Helper()
	d.source = source.New(source.Config{
		Source: d.repo, Compiler: d.repo, Agreed: d.repo.Agreed, Schedule: cron.Every(time.Minute), Now: time.Now,
	})
	var records control.Records = d.records
	if d.ledger != nil {
		records = d.ledger
	}
	ctx, cancel := context.WithCancel(d.Context())
	heart, err := controller.New(ctx, controller.Config{
		Source: d.source, Records: records, Guards: d.guards, Sweep: cron.Every(sweeps), Interval: sweeps,
		Lanes: reconcile.OneLane(reconcile.Lane{
			Reader: d.platform, Writer: d.platform, Room: func(edge.Class, int) int { return 1 << 20 },
		}),
	})
	must.Do(d.T, err)
	d.Controller = heart
	done := make(chan struct{})
	go func() {
		defer close(done)
		heart.Run(ctx)
	}()
	d.stop = func() { cancel(); <-done }
	d.pass(10 * time.Second)
}

func (d *daemon) pass(t time.Duration) {
	time.Sleep(t)
	synctest.Wait()
}

func (d *daemon) push(name string, zones ...desired.Zone) {
	d.repo.Push(name, zones...)
	d.source.Poke()
	d.pass(10 * time.Second)
}

// why is what the daemon says of a zone, with all that it says in text.
func (d *daemon) why(i int) (inspect.Zone, string) {
	d.Helper()
	list, _ := d.Zones(reconciletest.ZoneKey(i))
	if len(list.Zones) != 1 {
		d.Fatalf("zones %+v", list)
	}
	return list.Zones[0], strings.Join(list.Zones[0].Why, "\n")
}

// want checks the expressions of both zones, and their outcome.
func (d *daemon) want(expression string, outcome inspect.Outcome) {
	d.Helper()
	for i := 1; i <= 2; i++ {
		z, why := d.why(i)
		if got := expressionIn(d.platform.Platform, mem.FleetZone(i)); got != expression || z.Outcome != outcome {
			d.Errorf("zone %d has %q and is %s:\n%s", i, got, z.Outcome, why)
		}
	}
}

// says checks that what the daemon tells of a zone has some words.
func (d *daemon) says(i int, words ...string) {
	d.Helper()
	_, why := d.why(i)
	for _, w := range words {
		if !strings.Contains(why, w) {
			d.Errorf("%q is not in\n%s", w, why)
		}
	}
}

func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// The daemon accepts a commit with a third kind, writes and proves it, corrects what is
// changed by hand, survives a restart, and removes it with the commit that does.
func TestADaemonKeepsAThirdKind(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := started(t, reconcile.Guards{}, "ip.src eq 192.0.2.1")
		d.want("ip.src eq 192.0.2.1", inspect.InSync)
		if s := d.Status().Judged(); s.Verdict != inspect.Healthy || s.Commit.InForce != "c1" || s.Commit.Changes.Zones != 2 {
			t.Errorf("status %+v", s)
		}
		d.says(1, "Declared: toy admins (shop.cue:9).")
		drift(d, 1, "ip.src eq 203.0.113.9")
		d.pass(sweeps)
		d.want("ip.src eq 192.0.2.1", inspect.InSync)
		d.push("c2", ruled("ip.src eq 192.0.2.2")...)
		d.want("ip.src eq 192.0.2.2", inspect.InSync)
		d.stop()
		writes := d.platform.writes
		d.start()
		d.pass(sweeps)
		if d.want("ip.src eq 192.0.2.2", inspect.InSync); d.platform.writes != writes {
			t.Errorf("a restart has led to %d writes", d.platform.writes-writes)
		}
		zones := ruled("ip.src eq 192.0.2.2")
		zones[1].Others = nil
		d.push("c3", zones...)
		if got := expressionIn(d.platform.Platform, mem.FleetZone(2)); got != "" || expressionIn(d.platform.Platform, mem.FleetZone(1)) == "" {
			t.Errorf("after its removal from one zone it has %q", got)
		}
	})
}

// drift changes the toy rule of a zone as a person in a dashboard does.
func drift(d *daemon, i int, expression string) {
	d.Helper()
	driftAt(d, mem.FleetZone(i).At(toyPhase), expression)
}

func driftAt(d *daemon, at edge.Place, expression string) {
	d.Helper()
	r, err := d.platform.EntryPoint(d.Context(), at.Scope, at.Phase)
	must.Do(d.T, err)
	rule := r.Rules[slices.IndexFunc(r.Rules, func(r edge.Rule) bool { return r.Ref == "admins" })]
	body := rule.Update()
	body.Expression = expression
	_, err = d.platform.Platform.Send(d.Context(), edge.UpdateRule(at.Scope, r.ID, rule.ID, body))
	must.Do(d.T, err)
}

// A platform that does not keep what it takes is not written to again and again, and the
// daemon says so of the kind.
func TestADaemonSaysThatAThirdKindIsNotKept(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := started(t, reconcile.Guards{}, "ip.src eq 192.0.2.1")
		d.platform.forgets, d.platform.writes = true, 0
		d.push("c2", ruled("ip.src eq 192.0.2.2")...)
		d.want("ip.src eq 192.0.2.1", inspect.NonConvergent)
		d.says(1, "toy admins", "expression", "next try at")
		sent := d.platform.writes
		d.pass(5 * time.Minute)
		if d.platform.writes != sent || sent == 0 {
			t.Errorf("%d writes, then %d", sent, d.platform.writes)
		}
		d.platform.forgets = false
		d.pass(20 * time.Minute)
		d.want("ip.src eq 192.0.2.2", inspect.InSync)
	})
}

// Guards of the daemon hold a third kind back, and say which.
func TestADaemonHoldsAThirdKind(t *testing.T) {
	one := 1
	for name, test := range map[string]struct {
		guards  reconcile.Guards
		outcome inspect.Outcome
		says    string
	}{
		"limit":    {reconcile.Guards{Rules: []guard.Rule{{Name: "few", Changes: &guard.Limit{Count: &one}}}}, inspect.Refused, "few"},
		"approval": {reconcile.Guards{Rules: []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}}, inspect.Refused, "seawall apply --approve sha256:"},
		"observe":  {reconcile.Guards{Observe: []guard.Observe{{Setting: "observe.all"}}}, inspect.Observed, "observe"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				d := started(t, test.guards, "")
				d.push("c2", ruled("ip.src eq 192.0.2.1")...)
				d.want("", test.outcome)
				d.says(1, "toy admins", "Differs: toy admins: expression: declared \"ip.src eq 192.0.2.1\" → live unset", test.says)
			})
		})
	}
}

// A wave that a zone waits for keeps a third kind waiting.
func TestADaemonHasAThirdKindWaitForItsWave(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zones := ruled("ip.src eq 192.0.2.1")
		zones[0].Labels, zones[1].Labels = map[string]string{"tier": "late"}, map[string]string{"tier": "early"}
		bare := slices.Clone(zones)
		bare[0].Others, bare[1].Others = nil, nil
		d := started(t, reconcile.Guards{Waves: []reconcile.Wave{{Labels: guard.Labels{"tier": "early"}, Soak: time.Hour}, {}}}, "")
		d.push("c2", bare...)
		d.pass(3 * time.Hour)
		d.push("c3", zones...)
		if z, why := d.why(1); z.Outcome != inspect.Waiting || z.Decisions[0].Guard != diff.GuardWave || expressionIn(d.platform.Platform, mem.FleetZone(1)) != "" {
			t.Errorf("the later wave is %s:\n%s", z.Outcome, why)
		}
		if z, why := d.why(2); z.Outcome != inspect.InSync || expressionIn(d.platform.Platform, mem.FleetZone(2)) == "" {
			t.Errorf("the first wave is %s:\n%s", z.Outcome, why)
		}
		d.pass(2 * time.Hour)
		d.want("ip.src eq 192.0.2.1", inspect.InSync)
	})
}

// twins are the first zone with a deployment and a toy rule of one key, which both differ from
// what is live.
func twins() []desired.Zone {
	zone := reconciletest.Zone(1, reconciletest.Core("xss"))
	zone.Others = []desired.Other{declare("core", toyRule{"ip.src eq 192.0.2.1", false})}
	return []desired.Zone{zone, reconciletest.Zone(2, reconciletest.Core("xss"))}
}

// A deployment and a rule of another kind may have one key: what became of the one is not said
// of the other.
func TestADaemonTellsKindsOfOneKeyApart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := started(t, reconcile.Guards{}, "")
		d.platform.refuses = true
		d.repo.Push("c2", twins()...)
		d.source.Poke()
		d.pass(100 * time.Millisecond) // before it is tried again
		z, why := d.why(1)
		if len(z.Decisions) != 1 || z.Decisions[0].Kind != toyName || z.Outcome != inspect.Failed {
			t.Errorf("%+v\n%s", z.Decisions, why)
		}
		d.platform.refuses = false
		d.pass(sweeps)
		if z, why := d.why(1); z.Outcome != inspect.InSync {
			t.Error(why)
		}
	})
}

// What cannot be read of a third kind is unknown, and nothing of it is written.
func TestADaemonWritesNothingThatItCannotRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := started(t, reconcile.Guards{}, "")
		d.platform.hides = true
		d.push("c2", ruled("ip.src eq 192.0.2.1")...)
		d.want("", inspect.Unknown)
		if s := d.Status(); s.Zones.Outcomes[inspect.Unknown] != 2 {
			t.Errorf("zones %+v", s.Zones)
		}
		d.platform.hides = false
		d.pass(sweeps)
		d.want("ip.src eq 192.0.2.1", inspect.InSync)
	})
}

// A rule whose commit takes prune back stays, even where that commit was never proved.
func TestWhatMayNotBePrunedAnyMoreStays(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := started(t, reconcile.Guards{}, "ip.src eq 192.0.2.1")
		d.platform.hides = true // so that nothing is proved
		zones := ruled("ip.src eq 192.0.2.1")
		for i := range zones {
			zones[i].Others = []desired.Other{declare("admins", toyRule{"ip.src eq 192.0.2.1", false})}
		}
		d.push("c2", zones...)
		d.platform.hides = false
		zones[0].Others = nil
		d.push("c3", zones...)
		d.pass(sweeps)
		if got := expressionIn(d.platform.Platform, mem.FleetZone(1)); got == "" {
			t.Error("it was removed")
		}
	})
}

// A person holds a zone: what a third kind has there is kept from being written until then.
func TestADaemonMindsAHoldOnAThirdKind(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := started(t, reconcile.Guards{}, "ip.src eq 192.0.2.1")
		d.records.Hold(diff.Hold{Zone: reconciletest.ZoneKey(1), Until: time.Now().Add(time.Hour), Reason: "an attack"})
		drift(d, 1, "ip.src eq 203.0.113.9")
		d.pass(sweeps)
		if z, why := d.why(1); z.Outcome != inspect.Waiting || z.Decisions[0].Guard != diff.GuardHold || !z.Drift {
			t.Errorf("%s\n%s", z.Outcome, why)
		}
		d.says(1, "toy admins", "an attack")
		d.pass(time.Hour)
		d.want("ip.src eq 192.0.2.1", inspect.InSync)
	})
}

// What the daemon does about a third kind is in the history, and what was changed without it; a
// restart finds in the ledger what it owns.
func TestADaemonHasAThirdKindInTheHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	inBubble(t, func(t *testing.T) {
		d := newDaemon(t, reconcile.Guards{}, "ip.src eq 192.0.2.1")
		open := func() {
			var err error
			d.ledger, err = ledger.Open(path)
			must.Do(t, err)
			d.ledger.Now = time.Now
			d.start()
		}
		shut := func() {
			d.stop()
			d.stop = func() {}
			must.Do(t, d.ledger.Close())
		}
		open()
		drift(d, 1, "ip.src eq 203.0.113.9")
		d.pass(sweeps)
		shut()
		writes := d.platform.writes
		open()
		d.pass(sweeps)
		if d.want("ip.src eq 192.0.2.1", inspect.InSync); d.platform.writes != writes {
			t.Errorf("a restart has led to %d writes", d.platform.writes-writes)
		}
		zones := ruled("ip.src eq 192.0.2.1")
		zones[0].Others = nil
		d.push("c2", zones...)
		var got []string
		_, err := d.ledger.History(t.Context(), reconcile.HistoryFilter{Zone: reconciletest.ZoneKey(1)}, func(e reconcile.Entry) error {
			outcome := ""
			if e.Result != nil {
				outcome = string(e.Result.Outcome)
			}
			got = append(got, strings.TrimSpace(strings.Join([]string{string(e.Kind), string(e.Subject.Kind), e.Subject.Ref, e.Action, string(e.Trigger), outcome}, " ")))
			return nil
		})
		must.Do(t, err)
		want := []string{
			"write toy admins deploy sync converged", "found toy admins changed sweep", "write toy admins update sweep converged",
			"write toy admins remove sync converged",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the history has\n%s", strings.Join(got, "\n"))
		}
		shut()
	})
}

// An approval releases what a third kind would write in one zone, and in no other.
func TestAnApprovalReleasesAThirdKindInADaemon(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := started(t, reconcile.Guards{}, "")
		d.stop()
		d.guards = reconcile.Guards{Rules: []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}}
		d.start()
		d.push("c2", ruled("ip.src eq 192.0.2.1")...)
		z, _ := d.why(1)
		must.Do(t, d.records.Approve(t.Context(), []reconcile.Approval{{Kind: reconcile.Approved, Digest: z.Decisions[0].Approve, Who: "kim", At: time.Now()}}))
		d.pass(2 * time.Minute)
		if z, why := d.why(1); z.Outcome != inspect.InSync {
			t.Error(why)
		}
		if z, why := d.why(2); z.Outcome != inspect.Refused || expressionIn(d.platform.Platform, mem.FleetZone(2)) != "" {
			t.Error(why)
		}
	})
}

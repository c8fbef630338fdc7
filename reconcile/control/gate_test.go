package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// alike declares zones a, b and c, each with these rulesets.
func alike(commit string, rulesets ...string) reconcile.Proposal {
	return reconcile.Proposal{Commit: commit, State: fleetOf(commit, map[string][]string{"a": rulesets, "b": rulesets, "c": rulesets})}
}

// A change that was permitted is asked about once more, whoever writes it: it is not sent if
// somebody has held the zone meanwhile, or another process has accepted a commit. What a revert
// has stopped is not sent, but by a revert.
func TestRecheck(t *testing.T) {
	accepted := func(f *reconcile.Forgetful, _ string) error {
		return f.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c9"})
	}
	putBack := func(f *reconcile.Forgetful, _ string) error {
		f.GoBack(reconcile.Accepted{Commit: "c1"}, 7)
		return nil
	}
	held := func(by diff.Hold) func(*reconcile.Forgetful, string) error {
		return func(f *reconcile.Forgetful, declaration string) error {
			if by.Commit != "" {
				by.Declaration = declaration
			}
			f.Hold(by)
			return nil
		}
	}
	a, b := edge.ZoneScope("a"), edge.ZoneScope("b")
	for name, c := range map[string]struct {
		meanwhile func(*reconcile.Forgetful, string) error
		withdrawn []string // by which gates
	}{
		"nothing":         {func(*reconcile.Forgetful, string) error { return nil }, nil},
		"a person":        {held(diff.Hold{Zone: "a", Scope: a, Until: time.Now().Add(time.Hour)}), []string{"daemon", "apply", "revert"}},
		"a revert":        {held(diff.Hold{Zone: "a", Scope: a, Commit: "c1"}), []string{"daemon", "apply"}},
		"of another zone": {held(diff.Hold{Zone: "b", Scope: b, Commit: "c1"}), nil},
		"another commit":  {accepted, []string{"daemon", "apply", "revert"}},
		"put back":        {putBack, []string{"daemon", "apply", "revert"}},
	} {
		for _, writer := range []string{"daemon", "apply", "revert"} {
			records := &reconcile.Forgetful{}
			control, err := New(t.Context(), Config{Records: records, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := control.Propose(t.Context(), alike("c1", "core")); err != nil {
				t.Fatal(err)
			}
			task, _ := control.Task(control.Current(), a)
			terms := Terms{Records: records, Now: time.Now, State: control.Current().State}
			gates := map[string]zone.Gate{"daemon": control, "apply": NewRun(terms, nil)}
			terms.Restores = records.RecordWrite
			gates["revert"] = NewRun(terms, nil)
			change := diff.Change{Zone: "a", Scope: a, Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
			if refused, err := gates[writer].Permit(t.Context(), task, change, change); refused != nil || err != nil {
				t.Fatalf("%s: not permitted: %+v, %v", writer, refused, err)
			}
			if err := c.meanwhile(records, task.Fingerprint); err != nil {
				t.Fatal(err)
			}
			err = gates[writer].Recheck(t.Context(), task, change)
			if want := slices.Contains(c.withdrawn, writer); errors.Is(err, reconcile.ErrSuperseded) != want || (err != nil) != want {
				t.Errorf("%s, %s: %v", writer, name, err)
			}
			if errors.Is(err, reconcile.ErrPutBack) != (name == "put back") {
				t.Errorf("%s, %s: %v", writer, name, err)
			}
		}
	}
}

// heldUp is a memory whose next answer about what was said comes late.
type heldUp struct {
	*reconcile.Forgetful
	next chan chan struct{}
}

func (h *heldUp) Standing(ctx context.Context) (reconcile.Standing, error) {
	standing, err := h.Forgetful.Standing(ctx)
	select {
	case let := <-h.next:
		let <- struct{}{} // it was read
		<-let
	default:
	}
	return standing, err
}

// What was read of what people have said does not take the place of what was read later, however
// late it comes: a hold that one write has seen is not lost by another write.
func TestListenKeepsWhatIsNewer(t *testing.T) {
	records := &heldUp{&reconcile.Forgetful{}, make(chan chan struct{}, 1)}
	control, err := New(t.Context(), Config{Records: records, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := control.Propose(t.Context(), alike("c1", "core")); err != nil {
		t.Fatal(err)
	}
	let, late := make(chan struct{}), make(chan error)
	records.next <- let
	go func() { late <- control.listen(t.Context()) }()
	<-let
	records.Hold(diff.Hold{Zone: "a", Until: time.Now().Add(time.Hour)})
	if err := control.listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	let <- struct{}{}
	if err := <-late; err != nil {
		t.Fatal(err)
	}
	if len(control.Holds()) != 1 {
		t.Error("the hold is forgotten")
	}
}

// asked counts how often it is asked what people have said.
type asked struct {
	*reconcile.Forgetful
	times int
}

func (a *asked) Standing(ctx context.Context) (reconcile.Standing, error) {
	a.times++
	return a.Forgetful.Standing(ctx)
}

// A run asks once for each write, in the step that records it, and does not read all holds for
// it: a revert of many zones sets one in each of them.
func TestRunAsksAsItRecords(t *testing.T) {
	a := edge.ZoneScope("a")
	change := diff.Change{Zone: "a", Scope: a, Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
	held := diff.Hold{Zone: "a", Scope: a, Commit: "c1", Declaration: "d1"}
	for name, c := range map[string]struct {
		accepted string
		hold     diff.Hold
		reverts  bool
		refused  diff.Guard
		err      error
	}{
		"nothing":               {"c1", diff.Hold{}, false, "", nil},
		"held":                  {"c1", diff.Hold{Zone: "a", Until: time.Now().Add(time.Hour)}, false, diff.GuardHold, nil},
		"held until now":        {"c1", diff.Hold{Zone: "a", Until: time.Now()}, false, "", nil},
		"put back":              {"c1", held, false, diff.GuardReverted, nil},
		"put back, by a revert": {"c1", held, true, "", nil},
		"another commit":        {"c2", diff.Hold{}, false, "", reconcile.ErrSuperseded},
	} {
		records := &asked{Forgetful: &reconcile.Forgetful{Now: time.Now}}
		if err := records.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: c.accepted}); err != nil {
			t.Fatal(err)
		}
		records.Hold(c.hold)
		terms := Terms{Records: records, Now: time.Now, Log: slog.New(slog.DiscardHandler), State: desired.State{Commit: "c1"}, Trigger: reconcile.TriggerManual}
		if c.reverts {
			terms.Restores, terms.Trigger = records.RecordWrite, reconcile.TriggerRevert
		}
		refused, err := NewRun(terms, nil).Permit(t.Context(), zone.Task{Fingerprint: "d1"}, change, change)
		if !errors.Is(err, c.err) || (refused == nil) != (c.refused == "") || refused != nil && refused.Guard != c.refused || records.times > 0 {
			t.Errorf("%s: refused %+v, %v, and asked %d times", name, refused, err, records.times)
		}
	}
}

// A run adds to what is owned by now what its change owns, and brings nothing back that the
// daemon has dropped since the run began.
func TestRunOwnsWhatItSends(t *testing.T) {
	a := edge.ZoneScope("a")
	id := diff.ID{Scope: a, Ruleset: "core"}
	records := &reconcile.Forgetful{}
	if err := records.Prove(t.Context(), "", nil, []diff.Settled{{ID: id, Owned: []diff.Member{"kept"}}}); err != nil {
		t.Fatal(err)
	}
	run := NewRun(Terms{Records: records, Now: time.Now, Record: reconcile.Record{Applied: diff.Applied{id: {"kept", "dropped", "sent"}}}}, nil)
	change := diff.Change{Zone: "a", Scope: a, Operation: diff.RuleOperation{
		Do: diff.ActionUpdate, Target: diff.Target{Ruleset: "core", Owned: []diff.Member{"sent"}},
	}}
	if refused, err := run.Permit(t.Context(), zone.Task{}, change, change); refused != nil || err != nil {
		t.Fatalf("not permitted: %+v, %v", refused, err)
	}
	record, err := records.Restore(t.Context())
	if owned := record.Applied[id]; err != nil || !slices.Equal(owned, []diff.Member{"kept", "sent"}) {
		t.Errorf("%v, %v", owned, err)
	}
}

// A rule that was permitted to be added, and that certainly was not, is not on record; of none is
// anything remembered after its end.
func TestRuleThatWasNotAdded(t *testing.T) {
	a := edge.ZoneScope("a")
	change := diff.Change{Kind: desired.CustomRule, Zone: "a", Scope: a, Deployment: "r", Operation: diff.RuleOperation{
		Do: diff.ActionDeploy, Target: diff.Target{Kind: desired.CustomRule, Ref: "r", Owned: []diff.Member{"action"}},
	}}
	task := zone.Task{}
	for name, c := range map[string]struct {
		then func(*Run, *reconcile.Forgetful) error
		own  bool
	}{
		"proved": {func(r *Run, _ *reconcile.Forgetful) error {
			return r.Proved(t.Context(), task, []diff.Settled{{ID: change.ID(), Owned: []diff.Member{"action"}}})
		}, true},
		"not kept": {func(r *Run, _ *reconcile.Forgetful) error { _, err := r.NotKept(t.Context(), task, change); return err }, true},
		"refused": {func(r *Run, _ *reconcile.Forgetful) error {
			return r.RecordFailed(t.Context(), []reconcile.Result{{Change: change, Outcome: reconcile.Failed, NoEffect: true}})
		}, false},
		"not sent": {func(r *Run, records *reconcile.Forgetful) error {
			records.Hold(diff.Hold{Zone: "a", Scope: a, Until: time.Now().Add(time.Hour)})
			if err := r.Recheck(t.Context(), task, change); !errors.Is(err, reconcile.ErrSuperseded) {
				return fmt.Errorf("it is sent: %w", err)
			}
			return nil
		}, false},
	} {
		records := &reconcile.Forgetful{Now: time.Now}
		run := NewRun(Terms{Records: records, Now: time.Now}, nil)
		if refused, err := run.Permit(t.Context(), task, change, change); refused != nil || err != nil {
			t.Fatalf("%s: not permitted: %+v, %v", name, refused, err)
		}
		if err := c.then(run, records); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		record, err := records.Restore(t.Context())
		if _, own := record.Applied[change.ID()]; err != nil || own != c.own {
			t.Errorf("%s: on record %v, want %v; %v", name, own, c.own, err)
		}
		run.added.Range(func(id, _ any) bool { t.Errorf("%s: %v is remembered", name, id); return true })
	}
}

// A commit that returns zones to what was proved in them before, though not last, deals none
// of them to a wave.
func TestReturnIsNotRolledOut(t *testing.T) {
	records := &reconcile.Forgetful{}
	c, err := New(t.Context(), Config{Records: records, Guards: reconcile.Guards{Waves: []reconcile.Wave{{Count: 1}}, Shrink: guard.Shrink{Floor: 100}}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var d Decision
	for _, commit := range []struct {
		name     string
		rulesets []string
	}{{"c1", []string{"core"}}, {"c2", []string{"core", "other"}}, {"c3", []string{"core"}}} {
		if d, err = c.Propose(t.Context(), alike(commit.name, commit.rulesets...)); err != nil || d.Held != nil {
			t.Fatalf("%+v, %v", d.Held, err)
		}
		if commit.name == "c3" {
			break
		}
		if c.Rollout() == nil {
			t.Fatalf("%s goes through no waves: %+v", commit.name, d)
		}
		for _, id := range []edge.Scope{edge.ZoneScope("a"), edge.ZoneScope("b"), edge.ZoneScope("c")} {
			task, _ := c.Task(c.Current(), id)
			var settled []diff.Settled
			for _, ruleset := range commit.rulesets {
				settled = append(settled, diff.Settled{ID: diff.ID{Scope: id, Ruleset: edge.RulesetID(ruleset)}})
			}
			if err := c.Proved(t.Context(), task, settled); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r := c.Rollout(); r != nil || len(d.Due) != 3 {
		t.Errorf("a return goes through waves: %+v, decision %+v", r, d)
	}
}

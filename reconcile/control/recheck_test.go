package control

import (
	"errors"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// alike declares zones a, b and c, each with these rulesets.
func alike(commit string, rulesets ...string) reconcile.Proposal {
	return reconcile.Proposal{Commit: commit, State: fleetOf(commit, map[string][]string{"a": rulesets, "b": rulesets, "c": rulesets})}
}

// A change that was permitted is asked about once more: it is not sent if a revert has
// stopped its declaration meanwhile, or another process has accepted a commit.
func TestRecheck(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*reconcile.Forgetful, string) error
		want      error
	}{
		"nothing": {func(*reconcile.Forgetful, string) error { return nil }, nil},
		"a revert": {func(f *reconcile.Forgetful, declaration string) error {
			f.Hold(diff.Hold{Zone: "a", Scope: edge.ZoneScope("a"), Declaration: declaration, Commit: "c1"})
			return nil
		}, reconcile.ErrSuperseded},
		"of another zone": {func(f *reconcile.Forgetful, declaration string) error {
			f.Hold(diff.Hold{Zone: "b", Scope: edge.ZoneScope("b"), Declaration: declaration, Commit: "c1"})
			return nil
		}, nil},
		"another commit": {func(f *reconcile.Forgetful, _ string) error {
			return f.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c9"})
		}, reconcile.ErrSuperseded},
	} {
		records := &reconcile.Forgetful{}
		control, err := New(t.Context(), Config{Records: records, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := control.Propose(t.Context(), alike("c1", "core")); err != nil {
			t.Fatal(err)
		}
		task, _ := control.Task(control.Current(), edge.ZoneScope("a"))
		if err := c.meanwhile(records, task.Fingerprint); err != nil {
			t.Fatal(err)
		}
		change := diff.Change{Zone: "a", Scope: edge.ZoneScope("a"), Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
		if err := control.Recheck(t.Context(), task, change); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
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
				settled = append(settled, diff.Settled{ID: diff.DeploymentID{Scope: id, Ruleset: edge.RulesetID(ruleset)}})
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

package reconcile

import (
	"context"
	"errors"
	"testing"
)

// A commit's own approvals count from its first run on, are on record once, and are
// not renewed by a restart.
func TestCommitCarriesApprovals(t *testing.T) {
	w := newWorld(t, 1)
	said := &words{}
	asked, fail := 0, true
	begin := func() {
		w.Control = said
		w.Agreed = func(_ context.Context, commit string) ([]Approval, error) {
			asked++
			if fail {
				return nil, errors.New("the file of keys is missing")
			}
			return []Approval{{Digest: "sha256:" + commit, Kind: Approved, Who: "alice"}}, nil
		}
	}
	begin()
	w.repo.push("c1", zone(1, core("xss")))
	order := sweep
	order.PlanOnly = true
	w.run(order)
	if asked != 1 || len(said.approved) != 0 {
		t.Errorf("a plan asked %d times and recorded %v", asked, said.approved)
	}
	fail = false
	w.run(order)
	if len(said.approved) != 0 {
		t.Errorf("a plan recorded %v", said.approved)
	}
	w.converge(sweep)
	if len(said.approved) != 1 || said.approved[0].Digest != "sha256:c1" {
		t.Errorf("recorded %v", said.approved)
	}
	asked = 0
	w.converge(sweep)
	w.restart()
	begin()
	w.converge(sweep)
	if asked != 0 {
		t.Errorf("a commit in force was asked %d times", asked)
	}
	w.repo.push("c2", zone(1, core("sqli")))
	w.converge(sweep)
	if len(said.approved) != 2 {
		t.Errorf("recorded %v", said.approved)
	}
}

// What a commit says counts in the very run that meets it.
func TestCommitsApprovalReleasesItself(t *testing.T) {
	w := newWorld(t, 1)
	w.Agreed = func(context.Context, string) ([]Approval, error) { return []Approval{{Digest: "sha256:x"}}, nil }
	w.repo.push("c1", zone(1, core("xss")))
	memory := w.hear(t.Context(), sweep, Recollection{}, "c1")
	if facts := w.facts(sweep, memory, stateOf("c1")); !facts.Approved["sha256:x"] {
		t.Errorf("approved %v", facts.Approved)
	}
}

func TestBeginIsToldOnce(t *testing.T) {
	w := newWorld(t, 1)
	var begun []string
	w.Begin = func(commit string) { begun = append(begun, commit) }
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	w.converge(sweep)
	w.restart()
	w.Begin = func(commit string) { begun = append(begun, commit) }
	w.converge(sweep)
	w.repo.push("c2", zone(1, core("sqli")))
	w.converge(syncing)
	if len(begun) != 2 || begun[0] != "c1" || begun[1] != "c2" {
		t.Errorf("begun %v", begun)
	}
}

// A commit that could not be asked when it was accepted is asked until it can be,
// and then not again.
func TestCommitIsAskedAgain(t *testing.T) {
	w := newWorld(t, 1)
	said := &words{}
	asked, fail := 0, errors.New("the file of keys is missing")
	w.Control = said
	w.Agreed = func(context.Context, string) ([]Approval, error) {
		asked++
		return []Approval{{Digest: "sha256:x", Kind: Approved}}, fail
	}
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	w.converge(syncing)
	fail = nil
	for range 3 {
		w.converge(syncing)
	}
	if asked != 3 || len(said.approved) != 1 {
		t.Errorf("asked %d times, recorded %v", asked, said.approved)
	}
}

// words keeps approvals.
type words struct{ approved []Approval }

func (w *words) Approve(_ context.Context, a []Approval) error {
	w.approved = append(w.approved, a...)
	return nil
}
func (w *words) Spend(context.Context, []string) error             { return nil }
func (w *words) Roll(context.Context, func(Rollout) Rollout) error { return nil }

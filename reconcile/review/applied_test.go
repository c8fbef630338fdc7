package review

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

// applying is what several processes have on record, and what the forge was told.
type applying struct {
	told []string
	file map[string]string // by subject
	all  map[string]*Merges
	held map[string][]reconcile.Lease
	lead string
}

// start starts a process that works with a credential.
func (a *applying) start(name, credential string) {
	m := NewMerges(func(_ context.Context, commit string, s reconcile.CommitStatus) error {
		a.told = append(a.told, commit+" "+string(s.State))
		return nil
	}, slog.New(slog.DiscardHandler), outage.New(outage.Config{Now: time.Now}))
	a.held[name] = []reconcile.Lease{{Name: reconcile.LeaseName(credential), Epoch: 1}}
	m.parts = &parts{
		Credentials: Credentials{
			All:   []reconcile.LeaseName{"credential a", "credential b"},
			Held:  func() []reconcile.Lease { return append([]reconcile.Lease{}, a.held[name]...) },
			Of:    func(account string) reconcile.LeaseName { return reconcile.LeaseName("credential " + account) },
			Leads: func() bool { return a.lead == name },
		},
		onFile: func(_ context.Context, subject string) (string, error) { return a.file[subject], nil },
		tell: func(_ context.Context, subject, text string) error {
			if a.file == nil {
				a.file = map[string]string{}
			}
			a.file[subject] = text
			for _, other := range a.all {
				other.hear(strings.TrimPrefix(subject, wordApplied+"/"), text)
			}
			return nil
		},
		known: map[reconcile.LeaseName]applied{}, own: map[reconcile.Lease]string{},
	}
	a.all[name] = m
}

// say has processes say what they have to say, and the forge told.
func (a *applying) say(t *testing.T) {
	t.Helper()
	for range 2 {
		for _, m := range a.all {
			for l, send := range map[*line]func(context.Context, merged) error{&m.notes: m.note, &m.statuses: m.sendStatus} {
				for next, ok := m.next(l); ok; next, ok = m.next(l) {
					if err := send(t.Context(), next); err != nil {
						t.Fatal(err)
					}
					m.done(l, next)
				}
			}
		}
	}
}

// A commit is a success once each credential's part is, and a failure while one is, whoever is done last;
// one process tells of it, also where that changes, and where a part is another's by then.
func TestOneTellsOfAllParts(t *testing.T) {
	a := &applying{all: map[string]*Merges{}, held: map[string][]reconcile.Lease{}, lead: "r1"}
	a.start("r1", "credential a")
	a.start("r2", "credential b")
	begin := func(commit string) {
		for _, m := range a.all {
			m.Begin(commit)
		}
	}
	refused := diff.Change{Zone: "z", Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Refused: &diff.Refusal{Guard: diff.GuardApproval}}
	report := func(name, commit string, changes ...diff.Change) {
		a.all[name].Report(t.Context(), reconcile.Report{Commit: commit, Plan: diff.Plan{Changes: changes}})
		a.say(t)
	}
	want := func(when string, told ...string) {
		t.Helper()
		a.say(t)
		if got := strings.Join(a.told, ", "); got != strings.Join(told, ", ") {
			t.Errorf("%s: the forge was told %s", when, got)
		}
		a.told = nil
	}
	begin("c1")
	report("r1", "c1")
	want("one of two is done", "c1 pending")
	report("r2", "c1")
	want("both are done", "c1 success")
	begin("c2")
	report("r2", "c2", refused)
	report("r1", "c2")
	want("the last has worked, and one has not", "c2 pending", "c2 failure")
	done := refused
	done.Refused = nil
	a.all["r2"].Report(t.Context(), reconcile.Report{Commit: "c2", Plan: diff.Plan{Changes: []diff.Change{done}}, Results: []reconcile.Result{{Change: done, Outcome: reconcile.Converged}}})
	want("it has since", "c2 success")
	begin("c3")
	report("r1", "c3")
	a.held["r1"], a.held["r2"], a.lead = []reconcile.Lease{{Name: "credential a", Epoch: 1}, {Name: "credential b", Epoch: 2}}, nil, "r1"
	report("r1", "c3")
	want("the other part is this one's by now", "c3 pending", "c3 success")
}

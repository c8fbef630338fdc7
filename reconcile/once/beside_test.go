package once

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// What another process says while an apply writes counts from the next write on: nothing of
// a commit that is not in force any more, nothing to a zone that is held.
func TestApplyBesideAnotherProcess(t *testing.T) {
	for name, c := range map[string]struct {
		says   func(ctx context.Context, beside *ledger.Ledger) error // after the first write
		writes int
	}{
		"another commit is accepted": {func(ctx context.Context, beside *ledger.Ledger) error {
			return beside.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c2"})
		}, 1},
		"a zone is held": {func(ctx context.Context, beside *ledger.Ledger) error {
			return beside.Hold(ctx, diff.Hold{Zone: zoneKey(3), Reason: "INC-1", Until: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}, "ada")
		}, 3},
		"a revert holds two": {func(ctx context.Context, beside *ledger.Ledger) error {
			return errors.Join(revertHold(ctx, beside, 2), revertHold(ctx, beside, 4))
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f, dir := newFixture(t, 4), t.TempDir()
			memory := onLedger(f, dir)
			defer memory.Close()
			beside, err := ledger.Open(dir + "/ledger.db")
			must.Do(f.t, err)
			defer beside.Close()
			beside.Now = f.Now
			f.repo.Push("c1", declareAll(4, core("xss"))...)
			said := false
			f.tamper.Write = func(ctx context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
				if !said {
					said = true
					must.Do(f.t, c.says(ctx, beside))
				}
				return send()
			}
			report, calls := f.apply(Order{})
			if n := writes(calls); n != c.writes || report.Converged() {
				t.Errorf("%d writes, want %d; converged %v: %v", n, c.writes, report.Converged(), calls)
			}
			for _, r := range report.Results {
				if errors.Is(r.Err, reconcile.ErrSuperseded) && !strings.Contains(r.Err.Error(), "commit c2 is in force now") {
					t.Errorf("the error does not name the commit in force: %v", r.Err)
				}
			}
		})
	}
}

// revertHold holds a zone as a revert does.
func revertHold(ctx context.Context, l *ledger.Ledger, zone int) error {
	task := declareAll(zone, core("xss"))[zone-1]
	declared := stateOf("c1", task).Accounts[0]
	hold := diff.Hold{
		Zone: task.Key, Scope: task.Scope, Declaration: task.Fingerprint(declared), Commit: "c1", Reason: "bad",
	}
	_, err := l.RecordRevert(ctx, hold, reconcile.Entry{
		Kind: reconcile.EntryWrite, Trigger: reconcile.TriggerRevert, Asked: reconcile.Asked{Commit: "c1"},
		Subject: reconcile.Subject{Zone: task.Key, Scope: task.Scope},
	}, nil)
	return errors.Join(err, l.Unclaim(ctx, task.Scope, ""))
}

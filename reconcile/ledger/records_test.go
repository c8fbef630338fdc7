package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
)

// recordLife is what a daemon writes until it is killed.
var recordLife = []func(context.Context, reconcile.Records) error{
	func(ctx context.Context, r reconcile.Records) error {
		return r.AcceptCommit(ctx, reconcile.Acceptance{
			Commit: "c1", Size: guard.Size{Zones: 2}, State: []byte("state 1"), Rollout: &rolling,
			Approvals: []reconcile.Approval{{Digest: "d1", Kind: reconcile.Approved}, {Digest: "d2", Kind: reconcile.Approved}},
		})
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.Widen(ctx, append(settled(deployment(1), "a", "b"), settled(deployment(2), "a")...))
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.Prove(ctx, "c1", []reconcile.Proof{{Scope: edge.ZoneScope("zone-1"), Fingerprint: "f1", Commit: "c1"}, {Scope: edge.ZoneScope("zone-2"), Fingerprint: "f2", Commit: "c1"}},
			append(settled(deployment(1), "b"), settled(deployment(2))...))
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.NonConvergent(ctx, deployment(1), "n")
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.Drifted(ctx, []reconcile.Drift{{Scope: edge.ZoneScope("zone-1"), At: noon}, {Scope: edge.ZoneScope("zone-2"), At: noon, Weakens: true}}, noon)
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.AcceptCommit(ctx, reconcile.Acceptance{
			Commit: "c2", Size: guard.Size{Zones: 1}, State: []byte("state 2"), Gone: []edge.Scope{edge.ZoneScope("zone-1"), edge.ZoneScope("zone-9")},
			Rollout:   &reconcile.Rollout{Commit: "c2", Wave: 1, Halted: rolling.Halted, Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("z1"): {Wave: 1}}},
			Approvals: []reconcile.Approval{{Digest: "d3", Kind: reconcile.Approved}},
		})
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.Widen(ctx, settled(deployment(2), "c"))
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.Prove(ctx, "c1", []reconcile.Proof{{Scope: edge.ZoneScope("zone-1"), Fingerprint: "late"}, {Scope: edge.ZoneScope("zone-2"), Fingerprint: "f3"}},
			append(settled(deployment(1), "late"), settled(deployment(2), "c")...))
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.Drifted(ctx, []reconcile.Drift{{Scope: edge.ZoneScope("zone-2"), At: noon.Add(time.Hour)}}, noon.Add(time.Minute))
	},
	func(ctx context.Context, r reconcile.Records) error {
		return r.Forget(ctx, []diff.ID{deployment(2)})
	},
}

// recordHistory is what is on record before the first call of a life, and after each.
func recordHistory(t *testing.T) []reconcile.Record {
	t.Helper()
	twin := &reconcile.Forgetful{}
	history := make([]reconcile.Record, 1, len(recordLife)+1)
	for _, do := range recordLife {
		must(t, do(t.Context(), twin))
		r, err := twin.Restore(t.Context())
		must(t, err)
		history = append(history, r)
	}
	return history
}

func sameRecord(a, b reconcile.Record) string { return cmp.Diff(a, b, cmpopts.EquateEmpty()) }

// survived is how a process ends that was to be killed and was not.
const survived = 3

// recordHalf does so many calls of a life and kills itself within the next one, once it
// has changed so many rows.
func recordHalf(path string, calls, changes int) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, do := range recordLife[:calls] {
		if err := do(ctx, l); err != nil {
			return err
		}
	}
	inMidst = func() error {
		if changes--; changes > 0 {
			return nil
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err := onEachRow(l, "accepted", "applied", "nonconvergent", "proved", "drift", "approval", "rollout", "wave"); err != nil {
		return err
	}
	if err := recordLife[calls](ctx, l); err != nil {
		return err
	}
	os.Exit(survived)
	return nil
}

// TestKilledWithinARecord: a process that is killed after any row of any call has left
// what was on record before the call, and life goes on from there.
func TestKilledWithinARecord(t *testing.T) {
	t.Parallel()
	history := recordHistory(t)
	var kills atomic.Int64
	t.Run("calls", func(t *testing.T) {
		for calls := range recordLife {
			if calls >= 6 && calls <= 8 && !soak.On { // earlier ones do as these
				continue
			}
			t.Run(strconv.Itoa(calls), func(t *testing.T) {
				t.Parallel()
				kills.Add(int64(killedWithin(t, history, calls)))
			})
		}
	})
	least := int64(20)
	if soak.On {
		least = 25
	}
	if kills := kills.Load(); kills < least {
		t.Errorf("%d kills: the test sees too little", kills)
	}
}

// killedWithin kills processes within one call, each after another row, until one
// survives it, and returns how many died.
func killedWithin(t *testing.T, history []reconcile.Record, calls int) (kills int) {
	t.Helper()
	for {
		path := newPath(t)
		command := run(t, "record", path, strconv.Itoa(calls), strconv.Itoa(kills+1))
		out, err := command.CombinedOutput()
		if command.ProcessState.ExitCode() == survived {
			return kills
		}
		if status, ok := command.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("call %d: the process was not killed: %v\n%s", calls, err, out)
		}
		kills++
		l := mustOpen(t, path)
		got, err := l.Restore(t.Context())
		must(t, err)
		if d := sameRecord(history[calls], got); d != "" {
			t.Errorf("call %d, killed after %d rows (-want +got):\n%s", calls, kills, d)
		}
		for _, do := range recordLife[calls:] {
			must(t, do(t.Context(), l))
		}
		if got, err = l.Restore(t.Context()); err != nil || sameRecord(history[len(recordLife)], got) != "" {
			t.Errorf("call %d: life did not go on: %v", calls, err)
		}
	}
}

// TestCutRecords cuts the log of a ledger everywhere: what is left is what was on record
// at some step, and no step is skipped on the way.
func TestCutRecords(t *testing.T) {
	t.Parallel()
	history := recordHistory(t)
	l := mustOpen(t, newPath(t))
	for _, do := range recordLife {
		must(t, do(t.Context(), l))
	}
	files := snapshot(t, filepath.Dir(l.file.Path))
	log := files["ledger.db-wal"]
	at, seen := 0, map[int]bool{}
	far := 2060 // a page and its head are 4120 bytes
	if soak.On {
		far /= 2
	}
	for cut := 0; cut <= len(log); cut += far {
		folder := t.TempDir()
		must(t, os.WriteFile(filepath.Join(folder, "ledger.db"), []byte(files["ledger.db"]), 0o600))
		must(t, os.WriteFile(filepath.Join(folder, "ledger.db-wal"), []byte(log[:cut]), 0o600))
		rest, err := Open(filepath.Join(folder, "ledger.db"))
		must(t, err)
		got, err := rest.Restore(t.Context())
		must(t, errors.Join(err, rest.Close()))
		for at < len(history) && sameRecord(history[at], got) != "" {
			at++
		}
		seen[at] = true
	}
	if at >= len(history) || len(seen) < len(history)-1 { // the last may be in the last bytes
		t.Errorf("came to step %d of %d, and saw %d", at, len(history)-1, len(seen))
	}
}

// workers prove zones for ever, sixteen at a time, each with what its deployment owns, and
// say each once it is proved.
func workers(path string) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	var mu sync.Mutex // one line is one write
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for n := w; err == nil; n += 16 {
				id, mine := deployment(n%64), strconv.Itoa(n)
				fails := l.Prove(context.Background(), "c", []reconcile.Proof{{Scope: id.Scope, Fingerprint: mine}}, settled(id, diff.Member(mine)))
				mu.Lock()
				if fails != nil {
					err = fails
				} else {
					fmt.Println(n)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return err
}

// TestKilledWithinAGroup: of writes that share a transaction, each that has returned is on
// the disk, and each is whole.
func TestKilledWithinAGroup(t *testing.T) {
	for _, lines := range []int{5, 40, 333} {
		path := newPath(t)
		command := run(t, "workers", path)
		out, err := command.StdoutPipe()
		must(t, err)
		must(t, command.Start())
		said := map[string]int{}
		scanner := bufio.NewScanner(out)
		for seen := 1; scanner.Scan(); seen++ {
			n, err := strconv.Atoi(strings.TrimSpace(scanner.Text()))
			must(t, err)
			zone := deployment(n % 64).Scope.String()
			said[zone] = max(said[zone], n)
			if seen == lines {
				must(t, command.Process.Kill())
			}
		}
		_ = command.Wait()
		got, err := mustOpen(t, path).Restore(t.Context())
		must(t, err)
		if len(got.Proofs) != len(got.Applied) || len(said) == 0 {
			t.Errorf("%d proofs, and %d deployments; %d were said", len(got.Proofs), len(got.Applied), len(said))
		}
		for id, owned := range got.Applied {
			proved, err := strconv.Atoi(got.Proofs[id.Scope].Fingerprint)
			if err != nil || string(owned[0]) != strconv.Itoa(proved) || proved < said[id.Scope.String()] {
				t.Errorf("zone %s: proved as %d, owns %v, said %d", id.Scope, proved, owned, said[id.Scope.String()])
			}
			delete(said, id.Scope.String())
		}
		if len(said) > 0 {
			t.Errorf("said and not on record: %v", said)
		}
	}
}

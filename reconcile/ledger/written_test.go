package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
)

// writtenTables are those of which the write of a zone and its proof change rows. Each
// transaction ends with history_ends.
var writtenTables = []string{"claim", "applied", "drift", "written", "proved", "history", "history_ends"}

// writeTillKilled writes and proves zones with sixteen workers, and says each once it is on
// record. After so many steps, which are changes of rows and what it says, it kills itself.
func writeTillKilled(path string, steps int) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	l.Now = time.Now
	ctx := context.Background()
	if err := l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1"}); err != nil {
		return err
	}
	var done atomic.Int64
	inMidst = func() error {
		if int(done.Add(1)) != steps {
			return nil
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err := onEachRow(l, writtenTables...); err != nil {
		return err
	}
	say := func(what string, zone, round int, number int64) error {
		fmt.Println(what, zone, round, number)
		return inMidst()
	}
	var all sync.WaitGroup
	errs := make([]error, 16)
	for w := range errs {
		all.Go(func() {
			for i := 0; errs[w] == nil; i++ {
				errs[w] = writeAndProve(ctx, l, w+i%3*len(errs), i/3+1, say)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func writeAndProve(ctx context.Context, l *Ledger, zone, round int, say func(string, int, int, int64) error) error {
	write, owned := roundOf(zone, round)
	number, err := l.RecordWrite(ctx, write, owned)
	if writing, other := elsewhere(err); other && !writing { // a process that has ended: the zone would be read again
		number, err = l.RecordWrite(ctx, write, owned)
	}
	if err != nil {
		return err
	}
	if err := say("write", zone, round, number); err != nil {
		return err
	}
	proof := reconcile.Proof{Scope: write.Subject.Scope, Fingerprint: write.Declaration, Commit: "c1"}
	result := resultOf(number, write.Subject.Zone, strconv.Itoa(round+1))
	if err := l.Prove(ctx, "c1", []reconcile.Proof{proof}, owned, result); err != nil {
		return err
	}
	return say("proof", zone, round, number)
}

// roundOf is the write of a zone for the declaration of a round, and what is owned from then on.
func roundOf(zone, round int) (reconcile.Entry, []diff.Settled) {
	write := writeOf(fmt.Sprint("zone-", zone), strconv.Itoa(round))
	write.Declaration = strconv.Itoa(round)
	write.Heals = &reconcile.Healing{Drift: reconcile.Drift{Scope: write.Subject.Scope, At: noon.Add(time.Duration(round))}, Before: noon}
	id := write.Subject.ID()
	return write, []diff.Settled{{ID: id, Owned: []diff.Member{"kept", diff.Member(write.Declaration)}}}
}

// TestKilledWhileWriting: wherever a process is killed whose workers share transactions, what it
// said is on record, each write with what it owns and the drift that it heals, and each result with its proof, the chain of
// the history has no gap, and another process goes on.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		path := newPath(outer)
		command := run(outer, "written", path, strconv.Itoa(rapid.IntRange(1, 1500).Draw(t, "steps")))
		out, _ := command.Output()
		if status, ok := command.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("the process was not killed: %v", command.ProcessState)
		}
		l := mustOpen(outer, path)
		l.Now = time.Now
		wantWritten(t, l, string(out))
		for zone := range 3 {
			must(outer, writeAndProve(outer.Context(), l, zone, 9999, func(string, int, int, int64) error { return nil }))
		}
		wantWritten(t, l, string(out))
	})
}

func wantWritten(t *rapid.T, l *Ledger, said string) {
	ctx := context.Background()
	record, err := l.Restore(ctx)
	must(t, err)
	report, err := l.VerifyHistory(ctx)
	must(t, err)
	gaps, err := l.Gaps(ctx)
	must(t, err)
	if len(report.Findings)+len(gaps) > 0 {
		t.Fatalf("the history: %v, %v", report.Findings, gaps)
	}
	writes := map[int64]reconcile.Entry{}
	newest, heals := map[edge.Scope]int{}, map[edge.Scope]int{}
	for _, d := range record.Drifts {
		heals[d.Scope]++
	}
	_, err = l.History(ctx, reconcile.HistoryFilter{}, func(e reconcile.Entry) error {
		if e.Kind != reconcile.EntryWrite {
			return nil
		}
		writes[e.Number] = e
		round := number(e.Declaration)
		newest[e.Subject.Scope] = max(newest[e.Subject.Scope], round)
		heals[e.Subject.Scope]--
		if proved := number(record.Proofs[e.Subject.Scope].Fingerprint); e.Result != nil && proved < round {
			t.Errorf("zone %s: result of round %d is on record, and the proof of round %d", e.Subject.Zone, round, proved)
		}
		return nil
	})
	must(t, err)
	for id, members := range record.Applied {
		if last := members[len(members)-1]; string(last) != strconv.Itoa(newest[id.Scope]) {
			t.Errorf("zone %s owns %v, and its last write is of round %d", id.Scope, members, newest[id.Scope])
		}
	}
	for id, more := range heals {
		if more != 0 {
			t.Errorf("zone %s: %d drifts more than writes", id, more)
		}
	}
	if len(record.Applied) != len(newest) {
		t.Errorf("%d zones own something, and %d were written", len(record.Applied), len(newest))
	}
	for line := range strings.Lines(said) {
		var what string
		var zone, round int
		var n int64
		if _, err := fmt.Sscan(line, &what, &zone, &round, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		e := writes[n]
		if e.Subject.Zone != fmt.Sprint("zone-", zone) || number(e.Declaration) != round || what == "proof" && e.Result == nil {
			t.Errorf("said %q, on record is %+v", line, e)
		}
	}
}

// TestWrittenCostsTheSame: what the ledger allocates and writes for one zone does not grow with
// the fleet.
func TestWrittenCostsTheSame(t *testing.T) {
	type cost struct{ allocations, frames float64 }
	measure := func(zones int) (c cost) {
		l := provedFleet(t, zones)
		const most = 60
		n := 0
		must(t, l.file.Wipe())
		c.allocations = testing.AllocsPerRun(most-1, func() {
			writeZone(t, l, n, "c1")
			n++
		})
		info, err := os.Stat(l.file.Path + "-wal")
		must(t, err)
		c.frames = float64(info.Size()) / 4120 / most
		return c
	}
	small := measure(100)
	larger := []int{1000}
	if soak.On {
		larger = append(larger, 3000, 10_000)
	}
	for _, zones := range larger {
		if c := measure(zones); c.allocations > small.allocations*1.1 || c.frames > small.frames*1.5 {
			t.Errorf("a zone of %d costs %+v, one of 100 %+v", zones, c, small)
		}
	}
	t.Logf("a zone: %+v", small)
}

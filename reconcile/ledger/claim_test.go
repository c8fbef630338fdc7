package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// writeOf is a write to a zone that was worked out from a version of its entry point.
func writeOf(zone, seen string) reconcile.Entry {
	e := wrote(zone)
	e.Asked.Commit, e.Declaration, e.Seen = "c1", "d1", seen
	return e
}

// resultOf is what became of a write.
func resultOf(number int64, zone, version string) reconcile.Entry {
	return concluded(number, wrote(zone).Subject, version)
}

func concluded(number int64, subject reconcile.Subject, version string) reconcile.Entry {
	return reconcile.Entry{
		Kind: reconcile.EntryResult, Action: reconcile.ActionConclude, Subject: subject,
		Result: &reconcile.WriteResult{Write: number, Outcome: reconcile.Converged, Version: version},
	}
}

// clocked opens a ledger as another process does.
func clocked(t testing.TB, path string) *Ledger {
	t.Helper()
	l := mustOpen(t, path)
	l.Now = time.Now
	return l
}

func elsewhere(err error) (writing, ok bool) {
	var e *reconcile.ElsewhereError
	ok = errors.As(err, &e)
	return ok && e.Writing, ok
}

// A write is refused in the transaction that would record it, whatever the caller has read
// before: where another commit is in force, where a person holds the zone, and where a
// revert has put it back.
func TestPermittedWithTheRecord(t *testing.T) {
	ctx, path := t.Context(), newPath(t)
	l, beside := clocked(t, path), clocked(t, path)
	must(t, l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1"}))
	record := func() error { _, err := l.RecordWrite(ctx, writeOf("shop", "1"), nil); return err }
	held := func(reverted bool) {
		t.Helper()
		var h *reconcile.HeldError
		if err := record(); !errors.As(err, &h) || h.Hold.Reverted() != reverted {
			t.Errorf("a write to a zone that is held: %v", err)
		}
	}
	must(t, record())

	must(t, beside.Hold(ctx, diff.Hold{Zone: "shop", Reason: "INC-1", Until: time.Now().Add(time.Hour)}, "ada"))
	held(false)
	must(t, beside.Hold(ctx, diff.Hold{Zone: "shop", Reason: "INC-1", Until: time.Now().Add(-time.Hour)}, "ada"))
	must(t, record())

	revert := writeOf("shop", "1")
	revert.Trigger = reconcile.TriggerRevert
	hold := diff.Hold{Zone: "shop", Scope: edge.ZoneScope("shop"), Declaration: "d1", Commit: "c1", Reason: "bad"}
	must(t, l.Unclaim(ctx, edge.ZoneScope("shop"), "1"))
	_, err := beside.RecordRevert(ctx, hold, revert, nil)
	must(t, err)
	must(t, beside.Unclaim(ctx, edge.ZoneScope("shop"), "1"))
	held(true)
	other := writeOf("shop", "1")
	other.Declaration = "d2" // the hold is about another declaration
	_, err = l.RecordWrite(ctx, other, nil)
	must(t, err)

	must(t, beside.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c2"}))
	if err := record(); !errors.Is(err, reconcile.ErrSuperseded) {
		t.Errorf("a write of a commit that is not in force: %v", err)
	}
	writes := 0
	for _, e := range entries(t, l, reconcile.HistoryFilter{}) {
		if e.Kind == reconcile.EntryWrite {
			writes++
		}
	}
	if writes != 4 {
		t.Errorf("the history has %d writes, want the 4 that were permitted", writes)
	}
}

// Who finds a zone claimed waits for the proof of the other, and then has to read the zone
// again, unless what it has seen is the version of that proof.
func TestClaimIsWaitedFor(t *testing.T) {
	ctx, path := t.Context(), newPath(t)
	a, b := clocked(t, path), clocked(t, path)
	number, err := a.RecordWrite(ctx, writeOf("shop", "4"), nil)
	must(t, err)
	answer := make(chan error)
	go func() { _, err := b.RecordWrite(ctx, writeOf("shop", "4"), nil); answer <- err }()
	select {
	case err := <-answer:
		t.Fatalf("it did not wait for the claim of another process: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	must(t, a.Prove(ctx, "c1", nil, nil, resultOf(number, "shop", "5")))
	if writing, ok := elsewhere(<-answer); !ok || writing {
		t.Errorf("after the proof of the other: %v, %v", writing, ok)
	}
	_, err = b.RecordWrite(ctx, writeOf("shop", "5"), nil) // it has the claim, and has read again
	must(t, err)
	must(t, b.Record(ctx, resultOf(2, "shop", "6")))
	_, err = a.RecordWrite(ctx, writeOf("shop", "6"), nil) // it has seen what the other has written
	must(t, err)
	must(t, a.Unclaim(ctx, edge.ZoneScope("shop"), ""))
	if _, err = b.RecordWrite(ctx, writeOf("shop", "7"), nil); err == nil {
		t.Error("what came of the write of another is not known, and the zone was not read again")
	}
}

// A version of one kind says nothing about what a write of another kind has seen: the entry
// point may be another one.
func TestVersionsOfTwoKindsAreNotCompared(t *testing.T) {
	ctx, path := t.Context(), newPath(t)
	a, b := clocked(t, path), clocked(t, path)
	of := func(kind desired.KindName, seen, version string) (reconcile.Entry, reconcile.Entry) {
		write, result := writeOf("shop", seen), resultOf(1, "shop", version)
		write.Subject.Kind, result.Subject.Kind = kind, kind
		return write, result
	}
	for _, step := range []struct {
		by    *Ledger
		kind  desired.KindName
		seen  string
		again bool
		left  string // the version after it
	}{
		{a, "", "4", false, "5"},
		{b, "toy", "9", true, ""}, // 9 is later than 5, of another entry point
		{b, "toy", "9", false, "10"},
		{a, "toy", "10", false, "11"},
		{b, "toy", "10", true, ""},
		{b, "toy", "11", false, "12"},
		{a, "", "20", true, ""},
		{a, "", "20", false, "21"},
		{b, "", "21", false, "22"},
	} {
		write, result := of(step.kind, step.seen, step.left)
		_, err := step.by.RecordWrite(ctx, write, nil)
		if _, again := elsewhere(err); again != step.again || !again && err != nil {
			t.Fatalf("%+v: %v", step, err)
		}
		if !step.again {
			must(t, step.by.Record(ctx, result))
		}
	}
}

// The claim of a process that has ended keeps no one away; that of one that runs does, even
// if it holds the zone for longer than others wait.
func TestClaimEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), newPath(t)
	must(t, clocked(t, path).Close())
	cmd := run(t, "claim", path)
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	l := clocked(t, path)
	if writing, ok := elsewhere(second(l.RecordWrite(ctx, writeOf("shop", "1"), nil))); !ok || !writing {
		t.Error("the claim of a process that runs does not count")
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if writing, ok := elsewhere(second(l.RecordWrite(ctx, writeOf("shop", "1"), nil))); !ok || writing {
		t.Error("the claim of a process that was killed counts, or the zone need not be read again")
	}
	must(t, second(l.RecordWrite(ctx, writeOf("shop", "2"), nil)))
}

func second[T any](_ T, err error) error { return err }

// claimForEver is the process that is killed.
func claimForEver(path string) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	l.Now = time.Now
	if _, err := l.RecordWrite(context.Background(), writeOf("shop", "1"), nil); err != nil {
		return err
	}
	fmt.Println("claimed")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// A claim of a process that hangs ends by its time.
func TestClaimEndsByItsTime(t *testing.T) {
	ctx, path := t.Context(), newPath(t)
	a, b := clocked(t, path), clocked(t, path)
	must(t, second(a.RecordWrite(ctx, writeOf("shop", "1"), nil)))
	b.Now = func() time.Time { return time.Now().Add(7 * time.Minute) }
	if writing, ok := elsewhere(second(b.RecordWrite(ctx, writeOf("shop", "1"), nil))); !ok || writing {
		t.Error("a claim counts for longer than a write takes")
	}
}

// However processes that write the same zones follow each other: only one writes to a zone
// at a time, and what one has changed no other writes again.
func TestOneWriteForOneChange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		path := newPath(t)
		fleet := make([]claimedZone, rapid.IntRange(1, 4).Draw(r, "zones"))
		fails := rapid.SliceOfN(rapid.Bool(), len(fleet), len(fleet)).Draw(r, "fails")
		var all sync.WaitGroup
		for p := range rapid.IntRange(2, 4).Draw(r, "processes") {
			l := clocked(t, path)
			all.Go(func() {
				for i := range 2 * len(fleet) { // each zone twice: the first time it may fail
					z := (i*(p+1) + p) % len(fleet)
					fleet[z].change(t, l, fmt.Sprint("zone", z), fails[z] && i < len(fleet))
				}
			})
		}
		all.Wait()
		for z := range fleet {
			if n := fleet[z].changes; n > 1 {
				r.Errorf("zone %d was changed %d times", z, n)
			}
		}
	})
}

// claimedZone is a zone of a platform that is to be changed once.
type claimedZone struct {
	mu      sync.Mutex
	changes int  // that took effect: the version of its entry point
	writing bool // a write is under way
}

func (z *claimedZone) read() int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.changes
}

// change is what a process does with a zone: read, record, write, prove.
func (z *claimedZone) change(t *testing.T, l *Ledger, id string, fails bool) {
	ctx := t.Context()
	for seen := z.read(); seen == 0; seen = z.read() {
		number, err := l.RecordWrite(ctx, writeOf(id, strconv.Itoa(seen)), nil)
		if _, ok := elsewhere(err); ok {
			continue
		}
		must(t, err)
		if z.write(t, fails); fails {
			break
		}
		must(t, l.Prove(ctx, "c1", nil, nil, resultOf(number, id, strconv.Itoa(z.read()))))
	}
	must(t, l.Unclaim(ctx, edge.ZoneScope(edge.ZoneID(id)), ""))
}

func (z *claimedZone) write(t *testing.T, fails bool) {
	z.mu.Lock()
	if z.writing {
		t.Error("two processes write to a zone at once")
	}
	z.writing = true
	z.mu.Unlock()
	time.Sleep(time.Millisecond)
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.writing = false; !fails {
		z.changes++
	}
}

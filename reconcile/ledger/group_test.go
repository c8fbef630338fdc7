package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// together has n calls wait for their turn, so that they come into one group unless one
// of them ends it.
func together(t *testing.T, l *Ledger, n int, do func(i int), meanwhile ...func()) {
	t.Helper()
	l.group.turn.Lock()
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { do(i) })
	}
	for l.group.waiting.Load() < int64(n) {
		time.Sleep(time.Millisecond)
	}
	for _, do := range meanwhile {
		do()
	}
	l.group.turn.Unlock()
	calls.Wait()
}

// TestWritesShareATransaction: calls that wait at the same time end at the same time,
// and what a call has written can be seen from outside once it returns.
func TestWritesShareATransaction(t *testing.T) {
	l := mustOpen(t, newPath(t))
	beside, err := OpenReadOnly(l.path)
	must(t, err)
	t.Cleanup(func() { _ = beside.Close() })
	var mu sync.Mutex
	groups := map[*group]int{}
	together(t, l, 16, func(i int) {
		var mine *group
		err := l.write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			mine = l.group.open
			return l.settle(ctx, tx, "c", false, settled(deployment(i), "a"))
		})
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		groups[mine]++
		if got, err := beside.Restore(t.Context()); err != nil || got.Applied[deployment(i)] == nil {
			t.Errorf("call %d returned before it was on the disk: %v", i, err)
		}
	})
	if sizes := slices.Collect(maps.Values(groups)); !slices.Equal(sizes, []int{16}) {
		t.Errorf("groups of %v, want one of 16", sizes)
	}
}

// TestOneFailsAlone: whatever becomes of one call, those that share the transaction with
// it are on the disk.
func TestOneFailsAlone(t *testing.T) {
	refuse := func(how string) func(*testing.T, *Ledger) {
		return func(t *testing.T, l *Ledger) {
			_, err := l.db.Exec(`CREATE TEMP TRIGGER t AFTER INSERT ON main.applied WHEN NEW.zone_id = 'zone-3' BEGIN SELECT RAISE(` + how + `, 'no'); END`)
			must(t, err)
		}
	}
	for name, spoil := range map[string]func(*testing.T, *Ledger){
		"abort": refuse("ABORT"), "fail": refuse("FAIL"), "rolls all back": refuse("ROLLBACK"),
	} {
		t.Run(name, func(t *testing.T) {
			l := mustOpen(t, newPath(t))
			spoil(t, l)
			errs := make([]error, 8)
			together(t, l, len(errs), func(i int) {
				// Two rows each, of which the second of the third call is refused.
				errs[i] = l.Prove(t.Context(), "c", nil, append(settled(deployment(100+i), "a"), settled(deployment(i), "a")...))
			})
			wantAllBut(t, l, errs, 3)
		})
	}
}

// wantAllBut: the call of that number has failed and left nothing, the others are there.
func wantAllBut(t *testing.T, l *Ledger, errs []error, failed int) {
	t.Helper()
	got, err := l.Restore(t.Context())
	must(t, err)
	for i, err := range errs {
		if (err != nil) != (i == failed) {
			t.Errorf("call %d: %v", i, err)
		}
		if there := got.Applied[deployment(i)] != nil && got.Applied[deployment(100+i)] != nil; there != (i != failed) {
			t.Errorf("call %d is there: %v", i, there)
		}
	}
	if len(got.Applied) != 2*(len(errs)-1) {
		t.Errorf("%d rows, want %d", len(got.Applied), 2*(len(errs)-1))
	}
	must(t, l.Prove(t.Context(), "c", nil, settled(deployment(200), "a"))) // and it goes on
}

// TestOneNeverReturns: a call that panics or ends its goroutine is undone, and the others
// are not.
func TestOneNeverReturns(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("no") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			l := mustOpen(t, newPath(t))
			errs := make([]error, 8)
			together(t, l, len(errs), func(i int) {
				errs[i] = errors.New("it has not returned")
				defer func() { _ = recover() }()
				errs[i] = l.write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
					rows := append(settled(deployment(100+i), "a"), settled(deployment(i), "a")...)
					if err := l.settle(ctx, tx, "c", false, rows); err != nil {
						return err
					}
					if i == 3 {
						leave()
					}
					return nil
				})
			})
			wantAllBut(t, l, errs, 3)
		})
	}
}

// TestContextsOfAGroup: a call whose context ends while it waits writes nothing, one that
// has begun is finished, and neither is felt by the others.
func TestContextsOfAGroup(t *testing.T) {
	l := mustOpen(t, newPath(t))
	waits, giveUp := context.WithCancel(t.Context())
	began, stop := context.WithCancel(t.Context())
	errs := make([]error, 8)
	together(t, l, len(errs), func(i int) {
		ctx := t.Context()
		switch i {
		case 3:
			ctx = waits
		case 4:
			ctx = began
		}
		errs[i] = l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if i == 4 {
				stop()
			}
			return l.settle(ctx, tx, "c", false, append(settled(deployment(100+i), "a"), settled(deployment(i), "a")...))
		})
	}, giveUp)
	if !errors.Is(errs[3], context.Canceled) {
		t.Errorf("the call that gave up: %v", errs[3])
	}
	wantAllBut(t, l, errs, 3)
}

// TestGroupsOfTwoLedgers: two processes' worth of writers come to an end, and nothing is
// lost.
func TestGroupsOfTwoLedgers(t *testing.T) {
	path := newPath(t)
	var workers sync.WaitGroup
	for who := range 2 {
		l := mustOpen(t, path)
		for n := range 8 {
			workers.Go(func() {
				for i := range 20 {
					if err := l.Widen(context.Background(), settled(deployment(i), diff.Member(fmt.Sprint(who, n)))); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	workers.Wait()
	got, err := mustOpen(t, path).Restore(t.Context())
	must(t, err)
	for i := range 20 {
		if members := got.Applied[deployment(i)]; len(members) != 16 {
			t.Errorf("deployment %d owns %v, want 16 members", i, members)
		}
	}
}

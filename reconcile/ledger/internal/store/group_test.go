package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
)

// together has n calls wait for their turn, so that they come into one group unless one
// of them ends it.
func together(t *testing.T, f *File, n int, do func(i int), meanwhile ...func()) {
	t.Helper()
	f.group.turn.Lock()
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { do(i) })
	}
	for f.group.waiting.Load() < int64(n) {
		time.Sleep(time.Millisecond)
	}
	for _, do := range meanwhile {
		do()
	}
	f.group.turn.Unlock()
	calls.Wait()
}

// TestWritesShareATransaction: calls that wait at the same time end at the same time,
// and what a call has written can be seen from outside once it returns.
func TestWritesShareATransaction(t *testing.T) {
	f := mustOpen(t)
	beside, err := OpenReadOnly(f.Path)
	must.Do(t, err)
	t.Cleanup(func() { _ = beside.Close() })
	var mu sync.Mutex
	groups := map[*group]int{}
	together(t, f, 16, func(i int) {
		var mine *group
		err := f.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			mine = f.group.open
			return insert(ctx, tx, i)
		})
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		groups[mine]++
		if !inserted(t, beside)[zoneName(i)] {
			t.Errorf("call %d returned before it was on the disk", i)
		}
	})
	if sizes := slices.Collect(maps.Values(groups)); !slices.Equal(sizes, []int{16}) {
		t.Errorf("groups of %v, want one of 16", sizes)
	}
}

// TestOneFailsAlone: whatever becomes of one call, those that share the transaction with
// it are on the disk.
func TestOneFailsAlone(t *testing.T) {
	refuse := func(how string) func(*testing.T, *File) {
		return func(t *testing.T, f *File) {
			_, err := f.DB.Exec(`CREATE TEMP TRIGGER t AFTER INSERT ON main.applied WHEN NEW.zone_id = 'zone-3' BEGIN SELECT RAISE(` + how + `, 'no'); END`)
			must.Do(t, err)
		}
	}
	for name, spoil := range map[string]func(*testing.T, *File){
		"abort": refuse("ABORT"), "fail": refuse("FAIL"), "rolls all back": refuse("ROLLBACK"),
	} {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t)
			spoil(t, f)
			errs := make([]error, 8)
			together(t, f, len(errs), func(i int) {
				// Two rows each, of which the second of the third call is refused.
				errs[i] = f.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return insert(ctx, tx, 100+i, i) })
			})
			wantAllBut(t, f, errs, 3)
		})
	}
}

// wantAllBut: the call of that number has failed and left nothing, the others are there.
func wantAllBut(t *testing.T, f *File, errs []error, failed int) {
	t.Helper()
	got := inserted(t, f)
	for i, err := range errs {
		if (err != nil) != (i == failed) {
			t.Errorf("call %d: %v", i, err)
		}
		if there := got[zoneName(i)] && got[zoneName(100+i)]; there != (i != failed) {
			t.Errorf("call %d is there: %v", i, there)
		}
	}
	if len(got) != 2*(len(errs)-1) {
		t.Errorf("%d rows, want %d", len(got), 2*(len(errs)-1))
	}
	err := f.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return insert(ctx, tx, 200) }) // and it goes on
	must.Do(t, err)
}

// TestOneNeverReturns: a call that panics or ends its goroutine is undone, and the others
// are not.
func TestOneNeverReturns(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("no") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t)
			errs := make([]error, 8)
			together(t, f, len(errs), func(i int) {
				errs[i] = errors.New("it has not returned")
				defer func() { _ = recover() }()
				errs[i] = f.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
					if err := insert(ctx, tx, 100+i, i); err != nil {
						return err
					}
					if i == 3 {
						leave()
					}
					return nil
				})
			})
			wantAllBut(t, f, errs, 3)
		})
	}
}

// TestContextsOfAGroup: a call whose context ends while it waits writes nothing, one that
// has begun is finished, and neither is felt by the others.
func TestContextsOfAGroup(t *testing.T) {
	f := mustOpen(t)
	waits, giveUp := context.WithCancel(t.Context())
	began, stop := context.WithCancel(t.Context())
	errs := make([]error, 8)
	together(t, f, len(errs), func(i int) {
		ctx := t.Context()
		switch i {
		case 3:
			ctx = waits
		case 4:
			ctx = began
		}
		errs[i] = f.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if i == 4 {
				stop()
			}
			return insert(ctx, tx, 100+i, i)
		})
	}, giveUp)
	if !errors.Is(errs[3], context.Canceled) {
		t.Errorf("the call that gave up: %v", errs[3])
	}
	wantAllBut(t, f, errs, 3)
}

const insertOwned = `INSERT INTO applied (zone_id, ruleset_id, members, "commit") VALUES (?, 'ruleset', '["a"]', 'c')`

// insert puts a row on record for each number.
func insert(ctx context.Context, tx *sql.Tx, numbers ...int) error {
	for _, n := range numbers {
		if _, err := tx.ExecContext(ctx, insertOwned, zoneName(n)); err != nil {
			return err
		}
	}
	return nil
}

func zoneName(n int) string { return fmt.Sprint("zone-", n) }

func inserted(t *testing.T, f *File) map[string]bool {
	t.Helper()
	rows, err := f.DB.QueryContext(t.Context(), `SELECT zone_id FROM applied WHERE members = '["a"]'`)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer rows.Close()
	got := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Error(err)
		}
		got[name] = true
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	return got
}

func mustOpen(t *testing.T) *File {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "ledger.db"))
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, f.Close()) })
	return f
}

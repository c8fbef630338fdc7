package store

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// What a call has sent late fails with a later one's statement, or with the end of what they share:
// that call fails alone, and the others are kept.
func TestOneFailsLate(t *testing.T) {
	f, err := Connect(t.Context(), postgres.Config{URL: pgtest.Filled(t, "begun", postgres.Migrate)})
	must.Do(t, err)
	t.Cleanup(func() { _ = f.Close() })
	for _, failed := range []int{3, 7} {
		errs := make([]error, 8)
		together(t, f, len(errs), func(i int) {
			errs[i] = f.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				var digest any = "a digest"
				if i == failed {
					digest = nil // which the table refuses
				}
				if _, err := tx.ExecContext(postgres.Late(ctx), `INSERT INTO logged VALUES ($1, $2)`, zoneName(100*failed+i), digest); err != nil || i%2 == 1 {
					return err
				}
				return tx.QueryRowContext(postgres.Late(ctx), `SELECT 1`).Scan(new(int))
			})
		})
		var kept int
		must.Do(t, f.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM logged`).Scan(&kept))
		if want := len(errs) - 1; kept != want {
			t.Errorf("%d of %d calls are kept", kept, want)
		}
		for i, err := range errs {
			if (err != nil) != (i == failed) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		must.Do(t, f.Exec(t.Context(), `DELETE FROM logged`))
	}
}

// The question whether a call still has its lease is sent with what another one has sent late: what that
// fails with is the other's.
func TestOneIsAdmittedBesideOneThatFailsLate(t *testing.T) {
	f, err := Connect(t.Context(), postgres.Config{URL: pgtest.Filled(t, "begun", postgres.Migrate)})
	must.Do(t, err)
	t.Cleanup(func() { _ = f.Close() })
	lease := reconcile.Lease{Name: "commits", Epoch: 3}
	_, err = f.DB.ExecContext(t.Context(), `INSERT INTO lease (name, replica, epoch, since, expires_at, given_up) VALUES ($1, 'r', $2, now(), now(), false)`, string(lease.Name), lease.Epoch)
	must.Do(t, err)
	var begin sync.Once
	admitted := make(chan error, 1)
	err = f.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(postgres.Late(ctx), `INSERT INTO logged VALUES ($1, NULL)`, zoneName(1)) // which the table refuses
		begin.Do(func() {
			go func() {
				admitted <- f.Write(reconcile.Under(t.Context(), lease), func(ctx context.Context, tx *sql.Tx) error {
					_, err := tx.ExecContext(ctx, `INSERT INTO logged VALUES ($1, 'a digest')`, zoneName(2))
					return err
				})
			}()
			for f.group.waiting.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
		})
		return err
	})
	if err == nil {
		t.Error("what the table refuses is kept")
	}
	must.Do(t, <-admitted)
	var kept int
	must.Do(t, f.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM logged`).Scan(&kept))
	if kept != 1 {
		t.Errorf("%d calls are kept", kept)
	}
}

package store

import (
	"context"
	"database/sql"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// What a call has sent late fails with a later one's statement, or with the end of what they share:
// that call fails alone, and the others are kept.
func TestOneFailsLate(t *testing.T) {
	f, err := Connect(t.Context(), postgres.Config{URL: pgtest.Database(t)})
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

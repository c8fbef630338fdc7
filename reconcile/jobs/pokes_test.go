package jobs

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Pokes that were deleted since need not be looked for again and again.
func TestDeletedPokesAreSeen(t *testing.T) {
	db, err := postgres.Open(postgres.Config{URL: pgtest.Database(t)})
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must.Do(t, postgres.Migrate(t.Context(), db))
	_, err = db.ExecContext(t.Context(), `UPDATE poke_number SET number = 5`)
	must.Do(t, err)
	r, err := New(Config{DB: db, Now: time.Now})
	must.Do(t, err)
	r.Looked(5)
	<-r.look
	seen, err := r.passOn(t.Context(), r.seen.Load())
	must.Do(t, err)
	r.seen.Store(seen)
	r.Looked(5)
	select {
	case <-r.look:
		t.Errorf("after %d it is looked for more up to 5", seen)
	default:
	}
}

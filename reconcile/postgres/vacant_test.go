package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
)

// A database with tables of something else alone is not one in which no ledger has begun.
func TestUnused(t *testing.T) {
	t.Parallel()
	db, err := Open(Config{URL: pgtest.Database(t)})
	must.Do(t, err)
	defer db.Close()
	do := func(statement string) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), statement)
		must.Do(t, err)
	}
	must.Do(t, Unused(t.Context(), db))
	do(`CREATE TABLE kept_by_no_one (n INT)`)
	if err := Unused(t.Context(), db); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), `"kept_by_no_one"`) {
		t.Errorf("%v", err)
	}
	must.Do(t, Vacant(t.Context(), db)) // ours can be made beside them
	must.Do(t, Migrate(t.Context(), db))
}

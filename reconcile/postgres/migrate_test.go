package postgres

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/riverqueue/river/rivermigrate"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
)

// later are the steps of this program and some of later ones.
func later(t *testing.T, more map[string]string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := migrations.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	for name, text := range maps.All(more) {
		files["migrations/"+name] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + text)}
	}
	return files
}

func opened(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := Open(Config{URL: url, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

const (
	expands   = "ALTER TABLE lease ADD COLUMN later TEXT;"
	contracts = "ALTER TABLE lease DROP COLUMN later; UPDATE seawall_schema_least SET step = 90001;"
)

// A program goes on where a newer one has added something, and refuses where it has taken
// something away that this one does not know of.
func TestMigrateBesideNewerPrograms(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), opened(t, pgtest.Database(t))
	next := later(t, map[string]string{"90001_next.sql": expands})
	afterNext := later(t, map[string]string{"90001_next.sql": expands, "90002_after.sql": contracts})
	for _, step := range []struct {
		files  fs.FS
		tooOld bool
	}{{migrations, false}, {next, false}, {migrations, false}, {next, false}, {afterNext, false}, {next, false}, {migrations, true}} {
		if err := migrate(ctx, db, step.files); errors.Is(err, ErrTooOld) != step.tooOld || err != nil && !step.tooOld {
			t.Fatal(err)
		}
	}
	if have, want, err := version(ctx, db, next); err != nil || have != want {
		t.Errorf("the release before the newest finds %d of %d steps: %v", have, want, err)
	}
	if _, _, err := Version(ctx, db); !errors.Is(err, ErrTooOld) {
		t.Errorf("one that is too old reads: %v", err)
	}
}

// Several processes that start at once take each step once.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	var all sync.WaitGroup
	for range 4 {
		db := opened(t, url)
		all.Go(func() {
			if err := Migrate(context.Background(), db); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if have, want, err := Version(t.Context(), opened(t, url)); err != nil || have != want || want == 0 {
		t.Errorf("%d of %d steps were taken: %v", have, want, err)
	}
}

// A writer of the release before goes on while triggers come to its tables, whatever it writes first.
func TestMigrateBesideAWriter(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.Database(t)
	db, before := opened(t, url), later(t, nil).(fstest.MapFS)
	maps.DeleteFunc(before, func(name string, _ *fstest.MapFile) bool { return name >= "migrations/00010" })
	if err := migrate(ctx, db, before); err != nil {
		t.Fatal(err)
	}
	writer, err := opened(t, url).BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Rollback() }()
	exec := func(statement string) {
		t.Helper()
		if _, err := writer.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`SELECT pg_advisory_xact_lock(1398230092)`)
	exec(`DELETE FROM proved`)
	migrated := make(chan error, 1)
	go func() { migrated <- Migrate(ctx, db) }()
	for waits := false; !waits; {
		if err := writer.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()
			AND (relation = 'proved'::regclass OR locktype = 'advisory'))`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	exec(`DELETE FROM applied`)
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
}

// Whoever starts over tables that are up to date waits for no one who has the lock of steps. Those of jobs are part of them.
func TestMigrateWithoutSteps(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.Database(t)
	db := opened(t, url)
	must.Do(t, Migrate(ctx, db))
	steps, err := jobSteps(db)
	must.Do(t, err)
	for _, down := range []*rivermigrate.MigrateOpts{{MaxSteps: 1}, {TargetVersion: 4}, {TargetVersion: -1}} { // 4 has tables of another form
		_, err = steps.Migrate(ctx, rivermigrate.DirectionDown, down)
		must.Do(t, err)
		if has, err := hasJobs(ctx, db); err != nil || has {
			t.Fatalf("tables of jobs after %+v: %v, %v", down, has, err)
		}
	}
	must.Do(t, Migrate(ctx, db))
	if has, err := hasJobs(ctx, db); err != nil || !has {
		t.Fatalf("tables of jobs: %v, %v", has, err)
	}
	other, err := aloneIn(ctx, opened(t, url))
	must.Do(t, err)
	soon, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	must.Do(t, Migrate(soon, db))
	must.Do(t, other.Rollback())
}

// A step of another program stands for none of this one's.
func TestStepsOfAnotherProgram(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), opened(t, pgtest.Database(t))
	other := later(t, map[string]string{"90001_next.sql": expands}).(fstest.MapFS)
	last := slices.Max(slices.DeleteFunc(slices.Collect(maps.Keys(other)), func(name string) bool { return name > "migrations/9" }))
	delete(other, last)
	must.Do(t, migrate(ctx, db, other))
	if have, want, err := Version(ctx, db); err != nil || have != want-1 {
		t.Errorf("%d of %d steps were taken (%v), want one less: %s", have, want, err, last)
	}
}

package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/seawall-dev/seawall/integration/pgtest"
)

// What tests are given: databases, servers that are started anew, and standbys.

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	one, other := pgtest.Database(t), pgtest.Database(t)
	run(t, one, `CREATE TABLE here (n INTEGER)`)
	run(t, other, `CREATE TABLE here (n INTEGER)`)
}

func TestARestartKeepsWhatWasWritten(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	pooled := server.Pooler(t)
	run(t, server.URL("postgres"), `CREATE TABLE kept (n INTEGER)`)
	server.Cut(t)
	server.Stop(t)
	server.Restart(t)
	run(t, pooled("postgres")+"&default_query_exec_mode=exec", `INSERT INTO kept VALUES (1)`)
}

func TestAStandbyTakesThePlaceOfItsServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	standby, err := server.Standby()
	if err != nil {
		t.Fatal(err)
	}
	defer standby.Close()
	both := pgtest.URLOfBoth(server, standby, "postgres")
	run(t, both, `CREATE TABLE kept (n INTEGER)`)
	server.Stop(t)
	if err := standby.Promote(); err != nil {
		t.Fatal(err)
	}
	run(t, both, `INSERT INTO kept VALUES (1)`)
}

func run(t *testing.T, url, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

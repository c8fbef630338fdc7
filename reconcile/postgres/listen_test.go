package postgres

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
)

// A hint is heard where another process says or pokes something, until the connection is cut.
func TestListen(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	config := Config{URL: server.URL("postgres"), Name: "listens"}
	db, err := Open(config)
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must.Do(t, Migrate(t.Context(), db))
	heard, ended := make(chan struct{}, 1000), make(chan error, 1)
	go func() {
		_, err := Listen(t.Context(), config, func() { heard <- struct{}{} })
		ended <- err
	}()
	hear := func(what string) {
		t.Helper()
		select {
		case <-heard:
		case <-time.After(time.Minute):
			t.Fatalf("%s: nothing is heard", what)
		}
	}
	hear("it listens")
	for _, says := range []string{
		`INSERT INTO accepted (one, "commit", zones, deployments, tokens) VALUES (1, 'c1', 0, 0, 0)`,
		`UPDATE accepted SET state = 'x'`,
		`INSERT INTO poke (subject, number, at) VALUES ('commits', 1, now())`,
	} {
		_, err := db.ExecContext(t.Context(), says)
		must.Do(t, err)
		hear(says)
	}
	must.Do(t, server.CutAll())
	if err := <-ended; err == nil {
		t.Error("the connection is cut, and that is no error")
	}
}

// Behind a pooler nobody listens: the connection to the server is that of others, too.
func TestListenBehindAPooler(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	for _, mode := range []string{"transaction", "session"} {
		urlOf := server.PoolerIn(t, mode)
		pooled, err := Listen(t.Context(), Config{URL: urlOf("postgres")}, func() { t.Fatalf("%s: it listens", mode) })
		if !pooled || err != nil {
			t.Errorf("%s: pooled %v, %v", mode, pooled, err)
		}
	}
}

package ledger

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Whatever is wrong with the database is told once, with its place and what to try, without a password
// and without what the driver calls things.
func TestTextsOfAServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for _, statement := range []string{
		`CREATE ROLE kim LOGIN PASSWORD 'right'`, `CREATE ROLE mallory LOGIN`, `CREATE ROLE bob LOGIN`,
		`CREATE ROLE reader LOGIN`, `ALTER ROLE reader SET default_transaction_read_only = on`, `CREATE ROLE few LOGIN CONNECTION LIMIT 0`,
		`DO $$ BEGIN EXECUTE format('COPY (SELECT unnest(ARRAY[''host all kim all scram-sha-256'', ''host all mallory all reject'', ''host all all all trust''])) TO %L',
			current_setting('hba_file')); END $$`,
		`SELECT pg_reload_conf()`, `CREATE DATABASE jobs`, `CREATE DATABASE other`,
	} {
		server.Exec(t, statement)
	}
	other, err := postgres.Open(postgres.Config{URL: server.URL("other")})
	must(t, err)
	defer other.Close()
	_, err = other.ExecContext(t.Context(), `CREATE TABLE history (mine INT); INSERT INTO history VALUES (7)`)
	must(t, err)
	base, err := url.Parse(server.URL("postgres"))
	must(t, err)
	as := func(user, rest string) string {
		return "postgres://" + user + ":wrong-word@" + base.Host + "/" + rest
	}
	const plain = "?sslmode=disable"
	for name, test := range map[string]struct {
		url, text, hint string
		kind            Kind
	}{
		"no such host": {"postgres://kim:wrong-word@nowhere.invalid/x" + plain, "opening postgres://kim@nowhere.invalid/x: the database cannot be reached: ", "the network between", ErrUnreachable},
		"refused":      {"postgres://kim:wrong-word@127.0.0.1:1/x" + plain, "opening postgres://kim@127.0.0.1:1/x: the database cannot be reached: connection refused", "check that it runs", ErrUnreachable},
		"several": {
			"postgres://kim:wrong-word@127.0.0.1:1,localhost:1/x" + plain,
			"opening postgres://kim@127.0.0.1:1,localhost:1/x: the database cannot be reached: 127.0.0.1: connection refused; localhost: connection refused", "check that it runs", ErrUnreachable,
		},
		"wrong password": {as("kim", "postgres"+plain), `opening postgres://kim@HOST/postgres: the database refuses the connection: password authentication failed for user "kim"`, "user, password and database", ErrRefused},
		"not allowed":    {as("mallory", "postgres"+plain), `opening postgres://mallory@HOST/postgres: the database refuses the connection: pg_hba.conf rejects connection for host "127.0.0.1", user "mallory", database "postgres", no encryption`, "user, password and database", ErrRefused},
		"no database":    {as("bob", "none"+plain), `opening postgres://bob@HOST/none: the database refuses the connection: database "none" does not exist`, "user, password and database", ErrRefused},
		"no TLS":         {as("bob", "postgres?sslmode=verify-full"), "opening postgres://bob@HOST/postgres: the connection to the database is not encrypted as it must be: it does not offer TLS", "tls: \"none\"", ErrEncryption},
		"read-only":      {as("reader", "postgres"+plain), "opening postgres://reader@HOST/postgres: the database is a replica that takes no writes: the server takes no writes: it is a replica, or is set to be read only", "that takes writes", ErrReplica},
		"read-only, by the URL": {
			as("reader", "postgres"+plain+"&target_session_attrs=read-write"),
			"opening postgres://reader@HOST/postgres: the database is a replica that takes no writes: the server takes no writes: it is a replica, or is set to be read only", "that takes writes", ErrReplica,
		},
		"crowded":    {as("few", "postgres"+plain), `opening postgres://few@HOST/postgres: the database has no connection left: too many connections for role "few"`, "max_connections", ErrCrowded},
		"no right":   {as("bob", "jobs"+plain), "opening postgres://bob@HOST/jobs: the ledger may not be opened: bringing the schema up to date: ERROR: permission denied for schema public (SQLSTATE 42501)", "the owner of the database", ErrDenied},
		"of another": {as("postgres", "other"+plain), `opening postgres://postgres@HOST/other: the database is in use already: it has tables of something else: Seawall did not make "history"`, "name an empty database", ErrOccupied},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Connect(t.Context(), postgres.Config{URL: test.url})
			if err == nil {
				must(t, l.Close())
				t.Fatal("it was opened")
			}
			var fault *Error
			want, text := strings.ReplaceAll(test.text, "HOST", base.Host), err.Error()
			if !errors.As(err, &fault) || fault.Kind != test.kind || !strings.Contains(fault.Hint, test.hint) {
				t.Errorf("%v, %#v", err, fault)
			}
			if exact := test.text[len(test.text)-1] != ' '; exact && text != want || !strings.HasPrefix(text, want) {
				t.Errorf("got  %s\nwant %s", text, want)
			}
			if strings.Contains(text, "wrong-word") || strings.Count(text, "connect") > 2 || strings.Contains(text, "\n") {
				t.Error(text)
			}
		})
	}
	var left int
	must(t, other.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`).Scan(&left))
	if left != 1 {
		t.Errorf("the database of something else has %d tables", left)
	}
	if _, err := Connect(t.Context(), postgres.Config{URL: "postgres://kim:wrong-word@host:port/x"}); err == nil || strings.Contains(err.Error(), "wrong-word") {
		t.Error(err)
	}
}

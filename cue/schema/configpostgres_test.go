package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
)

func TestPostgres(t *testing.T) {
	for _, test := range []struct {
		cue, address, place string
		want                *schema.Postgres
	}{
		{
			`url: "postgres://seawall@db.example/seawall", password: file: "/run/pw"`,
			"postgres://seawall@db.example/seawall?sslmode=verify-full", "postgres://db.example/seawall",
			&schema.Postgres{URL: "postgres://seawall@db.example/seawall", Password: &schema.SecretRef{File: "/run/pw"}, TLS: "verify"},
		},
		{
			`url: "postgresql://seawall@a:5432,b/seawall?target_session_attrs=read-write", ca_file: "/ca.pem", replica: "one"`,
			"postgresql://seawall@a:5432,b/seawall?target_session_attrs=read-write&sslmode=verify-full&sslrootcert=%2Fca.pem", "postgres://a,b/seawall",
			&schema.Postgres{URL: "postgresql://seawall@a:5432,b/seawall?target_session_attrs=read-write", CAFile: "/ca.pem", TLS: "verify", Replica: "one"},
		},
		{
			`url: "postgres://seawall@db/seawall", tls: "none"`, "postgres://seawall@db/seawall?sslmode=disable", "postgres://db/seawall",
			&schema.Postgres{URL: "postgres://seawall@db/seawall", TLS: "none"},
		},
		{
			`url: "postgres://seawall@db/seawall?sslmode=require", tls: "none"`, "postgres://seawall@db/seawall?sslmode=require", "postgres://db/seawall",
			&schema.Postgres{URL: "postgres://seawall@db/seawall?sslmode=require", TLS: "none"},
		},
		{
			`url: "postgres://seawall@/seawall?host=/var/run/postgresql"`, "postgres://seawall@/seawall?host=/var/run/postgresql", "postgres:///var/run/postgresql/seawall",
			&schema.Postgres{URL: "postgres://seawall@/seawall?host=/var/run/postgresql", TLS: "verify"},
		},
		{
			`url: "postgres://seawall@127.0.0.1:5433/seawall?sslmode=disable"`, "postgres://seawall@127.0.0.1:5433/seawall?sslmode=disable", "postgres://127.0.0.1:5433/seawall",
			&schema.Postgres{URL: "postgres://seawall@127.0.0.1:5433/seawall?sslmode=disable", TLS: "verify"},
		},
		{
			`url: "postgres://seawall@[::1]:5433/seawall"`, "postgres://seawall@[::1]:5433/seawall", "postgres://[::1]:5433/seawall",
			&schema.Postgres{URL: "postgres://seawall@[::1]:5433/seawall", TLS: "verify"},
		},
	} {
		got := loaded(t, least+"state: postgres: {"+test.cue+"}").Postgres
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.cue, diff)
		}
		if got.Address() != test.address || got.Place() != test.place {
			t.Errorf("%s: the address is %s, the place %s", test.cue, got.Address(), got.Place())
		}
	}
}

// Two servers of one machine are two, whatever else an address says.
func TestPostgresSameDatabase(t *testing.T) {
	have := schema.Postgres{URL: "postgres://seawall@127.0.0.1:5433/seawall?sslmode=disable", TLS: "none"}
	for address, want := range map[string]bool{
		"postgres://other@127.0.0.1:5433/seawall":   true,
		"postgres://me@127.0.0.1/seawall?port=5433": true,
		"postgres://seawall@127.0.0.1:5433/other":   false,
		"postgres://seawall@127.0.0.1:5434/seawall": false,
		"postgres://seawall@127.0.0.1/seawall":      false,
		"postgres://seawall@127.0.0.2:5433/seawall": false,
	} {
		if got := have.SameAs(schema.Postgres{URL: address}); got != want {
			t.Errorf("%s is the same: %v", address, got)
		}
	}
	usual := schema.Postgres{URL: "postgres://seawall@[::1]:5432/seawall"}
	if !usual.SameAs(schema.Postgres{URL: "postgres://seawall@[::1]/seawall"}) {
		t.Error("the usual port is another than none")
	}
	named := schema.Postgres{URL: "postgres://seawall@db.example/Seawall"}
	if !named.SameAs(schema.Postgres{URL: "postgres://seawall@DB.Example/Seawall"}) || named.SameAs(schema.Postgres{URL: "postgres://seawall@db.example/seawall"}) {
		t.Error("names of hosts have no case, and names of databases do")
	}
}

func TestPostgresMistakes(t *testing.T) {
	const (
		secret = `c.cue:5:18: state.postgres.url: the configuration must not contain a secret (take the password out of the address, give its source in state.postgres.password: {file: "/…"}, {env: "NAME"} or {systemd: "name"}, and change the password that was written here)`
		check  = ` does not check which server of another machine answers (use sslmode=verify-full, which is the default, with ca_file for an authority of your own; on a network that you trust, set state.postgres.tls: "none")`
	)
	for cue, want := range map[string]string{
		`{}`:                                                                 `c.cue:5:8: state.postgres.url: required field is missing`,
		`url: "postgres://me:pw@db/d"`:                                       secret,
		`url: "postgres://me@db/d?password=pw"`:                              secret,
		`url: "host=db password=pw"`:                                         `c.cue:5:18: state.postgres.url: is not an address of PostgreSQL (write postgres://USER@HOST/DATABASE)`,
		`url: "mysql://me@db/d"`:                                             `c.cue:5:18: state.postgres.url: is not an address of PostgreSQL (write postgres://USER@HOST/DATABASE)`,
		`url: "postgres:///d"`:                                               `c.cue:5:18: state.postgres.url: names no host (write postgres://USER@HOST/DATABASE, or for a socket on this machine postgres://USER@/DATABASE?host=/var/run/postgresql)`,
		`url: "postgres://db/d"`:                                             `c.cue:5:18: state.postgres.url: names no user (write postgres://USER@HOST/DATABASE)`,
		`url: "postgres://me@db"`:                                            `c.cue:5:18: state.postgres.url: names no database (write postgres://USER@HOST/DATABASE)`,
		`url: "postgres://me@db/d?service=x"`:                                `c.cue:5:18: state.postgres.url: names a service file, which can name another server (write the host and the database into the address)`,
		`url: "postgres://me@db/d?ssl=true"`:                                 `c.cue:5:18: state.postgres.url: sets ssl (use sslmode)`,
		`url: "postgres://me@db/d?sslmode=require"`:                          `c.cue:5:18: state.postgres.url: sslmode=require` + check,
		`url: "postgres://me@127.0.0.1,db/d?sslmode=disable"`:                `c.cue:5:18: state.postgres.url: sslmode=disable` + check,
		`url: "postgres://me@127.0.0.1/d?sslmode=disable&host=db"`:           `c.cue:5:18: state.postgres.url: sslmode=disable` + check,
		`{url: "postgres://me@db/d", password: "s3cret"}`:                    `c.cue:5:56: state.postgres.password: the configuration must not contain a secret (give its source: {file: "/…"}, {env: "NAME"} or {systemd: "name"}; and revoke the secret that was written here)`,
		`{url: "postgres://me@db/d", tls: "off"}`:                            `c.cue:5:51: state.postgres.tls: "off" is not one of verify, none`,
		`{url: "postgres://me@db/d?sslrootcert=/a.pem", ca_file: "/ca.pem"}`: `c.cue:5:65: state.postgres.ca_file: stands beside sslrootcert in url (keep one of them)`,
	} {
		wantMistakes(t, least+"state: postgres: "+cue, want)
	}
}

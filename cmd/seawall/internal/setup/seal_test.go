package setup

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

func TestMain(m *testing.M) {
	soak.AtOnce(8)
	os.Exit(pgtest.Main(m))
}

// replicaOver is the settings of a replica over a database, with its ledger, by a file of keys.
func replicaOver(t *testing.T, name, url string, keys ...string) (Settings, *ledger.Ledger) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	must.Do(t, os.WriteFile(file, []byte(strings.Join(keys, "\n")), 0o600))
	s := Settings{}
	s.StateDir, s.Postgres, s.Seal.KeyFile = dir, &schema.Postgres{URL: url, Replica: name, TLS: "none"}, file
	memory, err := s.OpenLedger(t.Context())
	must.Do(t, err)
	t.Cleanup(func() { _ = memory.Close() })
	return s, memory
}

func ageKey(t *testing.T) string {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	must.Do(t, err)
	return identity.String()
}

// Replicas with different keys find that out when the second one starts; keys that have one in common are
// the same, so they can be changed in turn; and where no other replica runs, a new key takes the place.
func TestReplicasAgreeOnTheSeal(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	old, next := ageKey(t), ageKey(t)
	check := func(name, key string) error {
		s, memory := replicaOver(t, name, url, key)
		return s.CheckSeal(t.Context(), memory)
	}
	agree := func(name string, keys ...string) error {
		s, memory := replicaOver(t, name, url, keys...)
		return s.agreeSeal(t.Context(), memory, true)
	}
	must.Do(t, agree("r1", old))
	if err := agree("r2", next); err == nil || !strings.Contains(err.Error(), "than one that has just started") {
		t.Errorf("another key at once: %v", err)
	}
	_, memory := replicaOver(t, "r1", url, old)
	do := func(statement string) {
		t.Helper()
		_, err := memory.Database().ExecContext(t.Context(), statement)
		must.Do(t, err)
	}
	do(`INSERT INTO replica (name, version, started_at, expires_at) VALUES ('r1', 'v', now(), now() + interval '1 hour')`)
	for _, err := range []error{agree("r2", next), check("r2", next)} {
		if err == nil || !strings.Contains(err.Error(), "another key for the secrets of tokens than r1") {
			t.Errorf("another key: %v", err)
		}
	}
	must.Do(t, agree("r2", old, next))
	must.Do(t, agree("r1", next, old))
	must.Do(t, agree("r2", next))
	if err := agree("r3", old); err == nil {
		t.Error("the key before is still taken")
	}
	do(`DELETE FROM replica`)
	do(`UPDATE poke SET at = at - interval '20 seconds'`)
	must.Do(t, check("r3", old))
	must.Do(t, agree("r3", old))
	must.Do(t, agree("r3", old))
	if err := agree("r4"); err != nil { // it has no key, and seals nothing
		t.Error(err)
	}
}

// A replica that was killed is waited for, and one that runs is not.
func TestAgreeSealWaitsForTheEndOfOthers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, after string
		refused     bool
	}{
		{"killed", `UPDATE replica SET expires_at = now()`, false},
		{"runs", `UPDATE replica SET expires_at = expires_at + interval '4 seconds'`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t)
			r1, memory := replicaOver(t, "r1", url, ageKey(t))
			must.Do(t, r1.AgreeSeal(t.Context(), memory, slog.New(slog.DiscardHandler)))
			do := func(statement string) {
				_, err := memory.Database().ExecContext(t.Context(), statement)
				must.Do(t, err)
			}
			do(`UPDATE poke SET at = at - interval '20 seconds'`)
			do(`INSERT INTO replica (name, version, started_at, expires_at) VALUES ('r1', 'v', now(), now() + interval '10 seconds')`)
			r2, memory := replicaOver(t, "r2", url, ageKey(t))
			log := slog.New(toldLog{slog.DiscardHandler, func() { do(test.after) }})
			if err := r2.AgreeSeal(t.Context(), memory, log); (err != nil) != test.refused {
				t.Error(err)
			}
		})
	}
}

// toldLog calls told with each line.
type toldLog struct {
	slog.Handler
	told func()
}

func (toldLog) Enabled(context.Context, slog.Level) bool { return true }

func (l toldLog) Handle(context.Context, slog.Record) error { l.told(); return nil }

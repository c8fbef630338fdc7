package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

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
	url := pgtest.Database(t)
	old, next := ageKey(t), ageKey(t)
	agree := func(name string, keep bool, keys ...string) error {
		s, memory := replicaOver(t, name, url, keys...)
		return s.AgreeSeal(t.Context(), memory, keep)
	}
	must.Do(t, agree("r1", true, old))
	_, memory := replicaOver(t, "r1", url, old)
	_, err := memory.Database().ExecContext(t.Context(), `INSERT INTO replica (name, version, started_at, expires_at) VALUES ('r1', 'v', now(), now() + interval '1 hour')`)
	must.Do(t, err)
	for _, keep := range []bool{true, false} {
		if err := agree("r2", keep, next); err == nil || !strings.Contains(err.Error(), "another key for the secrets of tokens than r1") {
			t.Errorf("another key: %v", err)
		}
	}
	must.Do(t, agree("r2", true, old, next))
	must.Do(t, agree("r1", true, next, old))
	must.Do(t, agree("r2", true, next))
	if err := agree("r3", true, old); err == nil {
		t.Error("the key before is still taken")
	}
	_, err = memory.Database().ExecContext(t.Context(), `DELETE FROM replica`)
	must.Do(t, err)
	must.Do(t, agree("r3", true, old))
	if err := agree("r4", true); err != nil { // it has no key, and seals nothing
		t.Error(err)
	}
}

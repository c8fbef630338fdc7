package ledger

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/pgtest"
)

// A database that was put back to an earlier time, as a whole, does not know that. A machine that has
// written to it since does, by its own file: from then on tokens are unknown to all, until a person says
// otherwise, and the history has a gap.
func TestDatabasePutBack(t *testing.T) {
	t.Parallel()
	server, ctx, key := pgtest.Start(t), t.Context(), newKey(t)
	server.Exec(t, `CREATE DATABASE live`)
	seen := filepath.Join(t.TempDir(), "seen")
	open := func(seen string) *Ledger {
		l := connected(t, server.URL("live"), key).Ledger
		l.Seen = seen
		return l
	}
	unknown := func(l *Ledger) string {
		t.Helper()
		live, err := l.Tokens(ctx)
		must(t, err)
		return live.Unknown
	}
	l := open(seen)
	mustLock(t, l)
	must(t, l.Init(ctx, binding))
	must(t, l.Intend(ctx, record(1)))
	must(t, l.Close())
	server.Exec(t, `CREATE DATABASE backup TEMPLATE live`)
	l = open(seen)
	mustLock(t, l)
	must(t, l.NotCreated(ctx, record(1).Intent))
	must(t, l.Intend(ctx, record(2)))
	if text := unknown(l); text != "" {
		t.Errorf("tokens are unknown: %s", text)
	}
	must(t, l.Close())

	server.Exec(t, `DROP DATABASE live`)
	server.Exec(t, `ALTER DATABASE backup RENAME TO live`)
	l, other := open(seen), open(filepath.Join(t.TempDir(), "none", "seen"))
	_, err := l.Database().ExecContext(ctx, `UPDATE completeness SET home = ledger_home()`) // as a whole cluster would say
	must(t, err)
	if text := unknown(other); text != "" {
		t.Errorf("a machine that knows nothing says that tokens are unknown: %s", text)
	}
	other.Seen = t.TempDir() // it cannot be read
	if text := unknown(other); text != "" {
		t.Errorf("a machine whose file cannot be read says that tokens are unknown: %s", text)
	}
	if text := unknown(l); !strings.Contains(text, "put back to an earlier time") {
		t.Errorf("tokens are known: %s", text)
	}
	mustLock(t, l)
	if err := l.Intend(ctx, record(3)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a token may be created: %v", err)
	}
	must(t, l.Record(ctx, wrote("shop")))
	for _, one := range []*Ledger{l, other, open("")} {
		if text := unknown(one); !strings.Contains(text, "put back to an earlier time") {
			t.Errorf("after a write tokens are known: %s", text)
		}
	}
	if gaps, err := l.Gaps(ctx); err != nil || len(gaps) != 1 || gaps[0].Number == 0 {
		t.Errorf("%+v %v", gaps, err)
	}
	must(t, l.Init(ctx, binding))
	for _, one := range []*Ledger{l, other, open(seen)} {
		if text := unknown(one); text != "" {
			t.Errorf("after a person's word: %s", text)
		}
	}
	must(t, l.Close())

	server.Exec(t, `DROP DATABASE live WITH (FORCE)`) // a word that is the first write counts, too
	server.Exec(t, `CREATE DATABASE live`)
	l = open(seen)
	mustLock(t, l)
	must(t, l.Init(ctx, binding))
	if text := unknown(l); text != "" {
		t.Errorf("after a person's word on an empty database: %s", text)
	}
}

// A process that has written nothing since knows of it, too, where it has looked at the database before: no
// process may create a token that is forgotten.
func TestForgottenTokensAreUnknown(t *testing.T) {
	t.Parallel()
	l := connected(t, pgtest.Database(t), newKey(t)).Ledger
	mustLock(t, l)
	must(t, l.Init(t.Context(), binding))
	must(t, Forgot(t.Context(), l.Database()))
	live, err := l.Tokens(t.Context())
	if must(t, err); !strings.Contains(live.Unknown, "put back to an earlier time") {
		t.Errorf("tokens are known: %q", live.Unknown)
	}
	if err := l.Intend(t.Context(), record(1)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a token may be created: %v", err)
	}
	must(t, l.Init(t.Context(), binding))
	must(t, l.Intend(t.Context(), record(1)))
}

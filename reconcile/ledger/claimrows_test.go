package ledger

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// onMachine opens a ledger in a database as a process of another machine does, whose clock is off.
func onMachine(t testing.TB, url string, off time.Duration) *Ledger {
	t.Helper()
	l := connected(t, url, "").Ledger
	l.Now = func() time.Time { return time.Now().Add(off) }
	return l
}

// Over a database the claim of another machine's process counts while that says that it runs, by the
// clock of the database, whatever the clocks of the machines say; and not for longer than it says.
func TestClaimOfAnotherMachine(t *testing.T) {
	t.Parallel()
	url := begun(t)
	l := onMachine(t, url, 24*time.Hour)
	for name, c := range map[string]struct {
		place, until string // as SQL
		beat         string
		writing      bool
	}{
		"it runs":                          {"1000", "+ interval '5 minutes'", "'0 s'", true},
		"it has run half a minute ago":     {"1000", "+ interval '5 minutes'", "'30 s'", true},
		"it has not run for two minutes":   {"1000", "+ interval '5 minutes'", "'2 minutes'", false},
		"under a lease, it runs":           {"1001", "+ interval '5 minutes'", "'0 s'", true},
		"under a lease, half a minute ago": {"1001", "+ interval '5 minutes'", "'30 s'", false},
		"the claim is over":                {"1000", "- interval '1 minute'", "'0 s'", false},
		"of a process that is not known":   {"1002", "+ interval '5 minutes'", "'0 s'", false},
		"under a lease, of one not known":  {"1003", "+ interval '5 minutes'", "'0 s'", false},
	} {
		t.Run(name, func(t *testing.T) {
			db, ctx := l.Database(), t.Context()
			for _, statement := range []string{
				`DELETE FROM claim`,
				`DELETE FROM process`,
				`INSERT INTO process VALUES (1000, 7, 'another', clock_timestamp() - interval ` + c.beat + `)`,
				`INSERT INTO claim (zone_id, place, pid, until, version)
					SELECT '` + edge.ZoneScope("shop").Text() + `', ` + c.place + `, 7, to_char((now() ` + c.until + `) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), ''`,
			} {
				_, err := db.ExecContext(ctx, statement)
				must(t, err)
			}
			_, err := l.RecordWrite(ctx, writeOf("shop", "4"), nil)
			if writing, ok := elsewhere(err); !ok || writing != c.writing {
				t.Errorf("%v, want that it is writing: %v", err, c.writing)
			}
			if known := c.place != "1002" && c.place != "1003"; known != strings.Contains(err.Error(), "process (7 on another)") {
				t.Errorf("%v, want its machine where that is known: %v", err, known)
			}
			if c.writing {
				return
			}
			if _, err = l.RecordWrite(ctx, writeOf("shop", "4"), nil); err != nil {
				t.Errorf("the claim was taken, and the zone read again: %v", err)
			}
		})
	}
}

// Two machines do what two processes do; one that has lost its claim while it was stopped does not
// write on, and what is closed has no claims.
func TestClaimsOverADatabase(t *testing.T) {
	t.Parallel()
	url, ctx := begun(t), t.Context()
	a, b := onMachine(t, url, 0), onMachine(t, url, -time.Hour)
	_, err := a.RecordWrite(ctx, writeOf("shop", "4"), nil)
	must(t, err)
	if _, err := b.RecordWrite(ctx, writeOf("shop", "4"), nil); !isWriting(err) {
		t.Errorf("the other has the claim: %v", err)
	}
	leased := reconcile.Under(ctx, reconcile.Lease{Name: reconcile.LeaseCommits, Epoch: 1})
	_, err = a.Database().ExecContext(ctx, `INSERT INTO lease VALUES ('commits', 'a', 1, now(), now(), false)`)
	must(t, err)
	for _, ctx := range []context.Context{leased, ctx} {
		if _, err := a.RecordWrite(ctx, writeOf("shop", "4"), nil); err != nil {
			t.Errorf("a claim of its own keeps it away: %v", err)
		}
	}
	_, err = a.Database().ExecContext(ctx, `UPDATE claim SET place = 1000`) // of a process that has taken it
	must(t, err)
	_, err = a.Database().ExecContext(ctx, `INSERT INTO process VALUES (1000, 7, 'another', clock_timestamp())`)
	must(t, err)
	if _, err := a.RecordWrite(ctx, writeOf("shop", "4"), nil); !isWriting(err) {
		t.Errorf("another has taken the claim: %v", err)
	}
	must(t, a.Record(ctx, resultOf(1, "shop", "5")))
	var until string
	must(t, b.Database().QueryRowContext(ctx, `SELECT until FROM claim`).Scan(&until))
	if until == "" {
		t.Error("it has ended the claim of the other")
	}
	_, err = a.RecordWrite(ctx, writeOf("blog", "4"), nil)
	must(t, err)
	must(t, a.Close())
	_, err = b.RecordWrite(ctx, writeOf("blog", "4"), nil)
	if writing, ok := elsewhere(err); !ok || writing {
		t.Errorf("of a process that has ended: %v, want that the zone is read again", err)
	}
}

func isWriting(err error) bool {
	writing, ok := elsewhere(err)
	return ok && writing
}

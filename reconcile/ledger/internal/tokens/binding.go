package tokens

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Binding is what the tokens of a ledger are tokens of. The ledger remembers a
// digest of each.
type Binding struct {
	Platform   string // the base URL of its API
	Repository string // the URL of the desired state
}

func digest(url string) string {
	sum := sha256.Sum256([]byte(strings.TrimRight(url, "/")))
	return hex.EncodeToString(sum[:])
}

// completeness is the row of that name; the zero value is none.
type completeness struct {
	platform, repository, serial string
	generation                   int64
}

func recallCompleteness(ctx context.Context, tx *sql.Tx) (c completeness, err error) {
	row := tx.QueryRowContext(ctx, `SELECT platform, repository, serial, generation FROM completeness`)
	_, err = rows.Found(row.Scan(&c.platform, &c.repository, &c.serial, &c.generation))
	return c, err
}

// Init records a person's word: the platform of binding holds no token of its
// repository beyond what the ledger knows. From then on tokens may be created.
//
// A ledger that forgot a token would create it twice. So the word holds only for
// the file it was given for: a counter in the ledger grows with every attempt,
// and a second file beside it (its name ends in "-mark") holds the same number
// and the time the ledger's file was made. A ledger that was put back from a
// backup is behind its mark; one that was copied to another place has no mark,
// or is not the file that the mark is about. In either case all tokens are
// unknown until Init is called again.
//
// What that cannot see: a snapshot of a whole volume that is put back as it was,
// ledger, mark and all; and a folder copied as a whole, where the file system
// does not tell when a file was made. Whoever does that must run token init by
// himself.
//
// Over PostgreSQL there is no such file: the row of the word says in which database
// of which cluster it was given, and a dump that is played into another one does not
// change that. A cluster that was put back to an earlier time is found by the machines that
// have written to it since (see [store.Settings]), unless none of them has its state folder
// any more.
//
// A ledger that has tokens of another platform is refused ([store.ErrUnknown]): no word
// makes them tokens of this one.
func (t *Memory) Init(ctx context.Context, binding Binding) error {
	if err := t.mayWrite(ctx); err != nil {
		return err
	}
	t.growing.Lock()
	defer t.growing.Unlock()
	serial := rand.Text()
	err := t.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := t.file.EnterGap(ctx, tx); err != nil { // before the word: it counts in spite of that
			return err
		}
		have, err := recallCompleteness(ctx, tx)
		if err != nil {
			return err
		}
		if err := samePlatform(ctx, tx, have, binding); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO completeness (one, platform, repository, serial, generation, at) VALUES (1, $1, $2, $3, 1, $4)
			ON CONFLICT (one) DO UPDATE SET platform = excluded.platform, repository = excluded.repository,
				serial = excluded.serial, generation = completeness.generation + 1, at = excluded.at`,
			digest(binding.Platform), digest(binding.Repository), serial, t.file.Stamp())
		if err != nil {
			return err
		}
		_, err = t.file.Enter(ctx, tx, t.file.Decided(reconcile.ActionInit, reconcile.Subject{}))
		return err
	})
	if err != nil {
		return err
	}
	return store.Explain("writing", store.MarkPath(t.file.Path), t.putMark(ctx))
}

func samePlatform(ctx context.Context, tx *sql.Tx, have completeness, binding Binding) error {
	if have.serial == "" || have.platform == digest(binding.Platform) {
		return nil
	}
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM token`).Scan(&n); err != nil || n == 0 {
		return err
	}
	return &store.Error{
		Kind: store.ErrUnknown, Reason: fmt.Sprintf("it has tokens of another platform: %d", n),
		Hint: OtherPlatformHint,
	}
}

// Why nothing is concluded from a ledger of another platform, and what to try.
const (
	OtherPlatform     = "the ledger was made for another platform"
	OtherPlatformHint = "set another state folder for this platform, or configure the platform of the ledger"
)

// doubt says why nothing may be concluded from the tokens in the ledger; empty
// where there is no doubt. born is when the ledger's file was made, empty where
// that is not told.
func (c completeness) doubt(binding Binding, m mark, born string) string {
	switch {
	case c.serial == "":
		return "first use: seawall token init was not run yet"
	case c.platform != digest(binding.Platform):
		return OtherPlatform
	case c.repository != digest(binding.Repository):
		return "the ledger was made for another repository"
	case m.Serial == "":
		return "the ledger was copied or restored: the mark beside it is missing"
	case m.Serial != c.serial:
		return "the ledger was copied or restored: the mark beside it belongs to another ledger"
	case m.Born == store.PutBackHome:
		return "the database was put back to an earlier time, or has lost its last changes: it may have forgotten tokens"
	case m.Born != "" && born != "" && m.Born != born:
		return "the ledger was copied or restored: its " + cmp.Or(m.of, "file") + " is not the original one"
	case m.Generation > c.generation:
		return fmt.Sprintf("the ledger was restored from a backup: it is at step %d, but step %d was already reached", c.generation, m.Generation)
	case m.Generation < c.generation-1: // by one: the process ended between ledger and mark
		return fmt.Sprintf("the mark beside the ledger was restored from a backup: it is at step %d, the ledger at step %d", m.Generation, c.generation)
	}
	return ""
}

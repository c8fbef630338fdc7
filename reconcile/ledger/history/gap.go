package history

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// SchemaGaps finds the entries that say that entries are missing, and those that accept it,
// without reading the others.
const SchemaGaps = `
CREATE INDEX history_gap ON history (number) WHERE json_extract(body, '$.action') IN ('gap', 'accept-gap');
`

const selectGaps = `SELECT body FROM history
	WHERE json_extract(body, '$.action') IN ('gap', 'accept-gap') ORDER BY number`

// Gap is a place in the history at which entries are missing.
type Gap struct {
	Number  int64     `json:"number"` // of the entry that says so; 0: there is none yet
	At      time.Time `json:"at,omitzero"`
	Missing string    `json:"missing"`
	reconcile.MissingEntries
	Accepted int64  `json:"accepted,omitempty"` // the entry by which a person has accepted it; 0: none has
	By       string `json:"by,omitempty"`       // who
	Reason   string `json:"reason,omitempty"`   // and why
}

// gaps are those of a history, in its order.
type gaps []Gap

// follow takes note of an entry.
func (g *gaps) follow(e reconcile.Entry) {
	switch {
	case e.Kind == reconcile.EntryGap:
		gap := Gap{Number: e.Number, At: e.At, Missing: e.Reason}
		if e.Gap != nil {
			gap.MissingEntries = *e.Gap
		}
		*g = append(*g, gap)
	case e.Kind == reconcile.EntryDecision && e.Action == reconcile.ActionAcceptGap:
		for i, gap := range *g {
			if gap.Accepted == 0 && slices.Contains(e.Accepts, gap.Number) {
				(*g)[i].Accepted, (*g)[i].By, (*g)[i].Reason = e.Number, e.Asked.User, e.Reason
			}
		}
	}
}

// open are those that no person has accepted.
func (g gaps) open() []Gap {
	return slices.DeleteFunc(slices.Clone(g), func(gap Gap) bool { return gap.Accepted != 0 })
}

// OpenGaps returns the gaps on record that no person has accepted.
func OpenGaps(ctx context.Context, tx *sql.Tx) ([]Gap, error) {
	entries, err := gapEntries(ctx, tx)
	var found gaps
	for _, e := range entries {
		found.follow(e)
	}
	return found.open(), err
}

func gapEntries(ctx context.Context, tx *sql.Tx) ([]reconcile.Entry, error) {
	return rows.All(ctx, tx, selectGaps, func(row *sql.Rows, e *reconcile.Entry) error {
		var text string
		if err := row.Scan(&text); err != nil {
			return err
		}
		var b body
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			return fmt.Errorf("%w: a gap in the history: %w", ErrUnreadable, err)
		}
		*e = b.Entry
		return nil
	})
}

// keepGaps adds the open gaps up to an entry again, before that is dropped for its age: a
// gap is reported until a person has accepted it.
func (l *Log) keepGaps(ctx context.Context, tx *sql.Tx, dropped int64) ([]reconcile.Entry, error) {
	open, err := OpenGaps(ctx, tx)
	var kept []reconcile.Entry
	for _, gap := range open {
		if gap.Number <= dropped {
			kept = append(kept, gap.Entry(gap.At))
		}
	}
	return kept, err
}

// Entry is the entry that says what is missing.
func (g Gap) Entry(at time.Time) reconcile.Entry {
	return reconcile.Entry{At: at, Kind: reconcile.EntryGap, Action: reconcile.ActionGap, Reason: g.Missing, Gap: &g.MissingEntries}
}

// gap is one from an entry to another.
func gap(from, to int64, format string, args ...any) Gap {
	return Gap{Missing: fmt.Sprintf(format, args...), MissingEntries: reconcile.MissingEntries{From: from, To: to}}
}

// Behind says what a known head shows to be missing at the end, or to be another entry; the
// zero value for nothing. Where the head should be known and is not, a cut tail cannot be
// told, which counts as one: a history with entries has had a head beside it from its first
// on.
func Behind(ctx context.Context, tx *sql.Tx, known Known) (Gap, error) {
	have, err := scanEnds(tx.QueryRowContext(ctx, selectEnds))
	head := have.head.Number
	switch {
	case err != nil:
		return Gap{}, err
	case known.Missing != "" && head == 0:
		return Gap{}, nil
	case known.Missing != "":
		return gap(head+1, 0, "entries after entry %d may be missing: %s: %s", head, known.Where, known.Missing), nil
	case known.Number <= have.base.Number:
		return Gap{}, nil
	case known.Number > head && head == 0:
		return gap(1, known.Number, "%s: the ledger was deleted, or replaced by an empty one", missingEntries(1, known.Number)), nil
	case known.Number > head:
		return gap(head+1, known.Number, "%s: the ledger ends with entry %d; it was truncated, or restored from a backup", missingEntries(head+1, known.Number), head), nil
	}
	var hash []byte
	err = tx.QueryRowContext(ctx, `SELECT hash FROM history WHERE number = $1`, known.Number).Scan(&hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return deleted(ctx, tx, have, known.Number)
	case err != nil:
		return Gap{}, err
	case !bytes.Equal(hash, known.Hash[:]):
		return gap(known.Number, known.Number, "entry %d is not the one that was recorded; the ledger was restored from a backup, or changed", known.Number), nil
	}
	return Gap{}, nil
}

// deleted is the gap around an entry that is not in its table, though it was.
func deleted(ctx context.Context, tx *sql.Tx, have ends, number int64) (Gap, error) {
	var before, after int64
	err := tx.QueryRowContext(ctx, `
		SELECT coalesce((SELECT max(number) FROM history WHERE number < $1), $2), coalesce((SELECT min(number) FROM history WHERE number > $1), $3)`,
		number, have.base.Number, have.head.Number+1).Scan(&before, &after)
	return gap(before+1, after-1, "%s: they were deleted from the ledger", missingEntries(before+1, after-1)), err
}

// WithoutLedger says what a known head shows to be missing where there is no ledger; the
// zero value for nothing.
func WithoutLedger(known Known) Gap {
	switch {
	case known.Absent:
	case known.Missing != "":
		return gap(1, 0, "there is no ledger, and it is not known how many entries it had: %s: %s", known.Where, known.Missing)
	case known.Number > 0:
		return gap(1, known.Number, "%s: there is no ledger, but %s knows entry %d", missingEntries(1, known.Number), known.Where, known.Number)
	}
	return Gap{}
}

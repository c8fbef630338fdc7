// Package history keeps the entries of the history in the ledger's database, as a chain of
// hashes. It works inside the transactions of its caller and opens nothing.
//
//	log := history.New(statement)                       // which returns one of [Frequent], prepared
//	numbers, err := log.Append(ctx, tx, entries...)     // with whatever else the transaction writes
//	head, err := log.End(ctx, tx, now)                  // before the transaction ends
//	head.Write(path)                                    // after it has ended
//	earlier, err := history.Read(ctx, tx, filter, yield)
//	report, err := history.Verify(ctx, tx, known)
//
// # The chain
//
// A row holds a number, a body and a hash. The body is the entry as JSON, with the hash of
// the row before it; the hash is SHA-256 of the body. So a row that was changed, dropped or
// moved shows, as long as one row behind it, or the head, was not made anew as well.
//
// The head is the number and the hash of the last row. It stands in a table, and in a small
// file beside a ledger that is a file, written after each transaction. The file may be behind,
// when a process was killed or a host lost power; it is never ahead, unless rows are
// missing.
//
// What is dropped for age or size is dropped from the beginning. The base is the number
// and the hash of the last row that was dropped: the first row that is left points at it. A
// checkpoint row, in the chain, says the same, so that the base cannot be moved.
//
// # What it can show
//
// Whoever may write to the ledger and to the file, and knows this program, can make a chain
// anew that verifies: the hashes use no key. Only a head that was noted somewhere else shows
// that; see [Known].
package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Schema makes the tables. The columns behind hash are read from the body, for indexes.
const Schema = `
-- The history: one row for each entry. Rows are added, and dropped from the beginning.
CREATE TABLE history (
	number   INTEGER PRIMARY KEY,
	body     TEXT NOT NULL, -- JSON: the entry, as reconcile.Entry, with the hash of the row before it
	hash     BLOB NOT NULL, -- SHA-256 of body
	seconds  INTEGER GENERATED ALWAYS AS (unixepoch(json_extract(body, '$.at'))) VIRTUAL,
	zone     TEXT GENERATED ALWAYS AS (json_extract(body, '$.subject.zone')) VIRTUAL,
	token    TEXT GENERATED ALWAYS AS (json_extract(body, '$.subject.token')) VIRTUAL,
	"commit" TEXT GENERATED ALWAYS AS (json_extract(body, '$.asked.commit')) VIRTUAL,
	write    INTEGER GENERATED ALWAYS AS (json_extract(body, '$.result.write')) VIRTUAL
) STRICT;

CREATE INDEX history_seconds ON history (seconds);
CREATE INDEX history_zone ON history (zone) WHERE zone IS NOT NULL;
CREATE INDEX history_token ON history (token) WHERE token IS NOT NULL;
CREATE INDEX history_commit ON history ("commit") WHERE "commit" IS NOT NULL;
CREATE INDEX history_write ON history (write) WHERE write IS NOT NULL;

-- Its two ends: one row.
CREATE TABLE history_ends (
	one         INTEGER PRIMARY KEY CHECK (one = 1),
	head_number INTEGER NOT NULL, -- the last row; 0 for none
	head_hash   BLOB NOT NULL,
	base_number INTEGER NOT NULL, -- the last row that was dropped; 0 for none
	base_hash   BLOB NOT NULL,
	bytes       INTEGER NOT NULL  -- of all bodies
) STRICT;

INSERT INTO history_ends VALUES (1, 0, zeroblob(32), 0, zeroblob(32), 0);
`

// Hash is the SHA-256 of a body.
type Hash [sha256.Size]byte

func (h Hash) String() string {
	var text [2 * len(h)]byte
	hex.Encode(text[:], h[:])
	return string(text[:])
}

// Head is the last row.
type Head struct {
	Number int64
	Hash   Hash
}

// ends are both ends of the chain.
type ends struct {
	head, base Head
	bytes      int64
}

// body is what a row holds: an entry and the hash of the row before it.
type body struct {
	Before string `json:"before"`
	reconcile.Entry
}

// encode returns the canonical bytes of an entry, which are in a buffer, and their hash.
func encode(in *bytes.Buffer, b *body) (text []byte, hash Hash, err error) {
	in.Reset()
	if err := json.NewEncoder(in).Encode(b); err != nil {
		return nil, hash, fmt.Errorf("encoding entry %d of the history: %w", b.Number, err)
	}
	text = bytes.TrimSuffix(in.Bytes(), []byte("\n"))
	return text, sha256.Sum256(text), nil
}

// Bounds are how much is kept. A zero member is no bound.
type Bounds struct {
	Keep  time.Duration // how old an entry may become
	Bytes int64         // of all bodies together
}

// Log adds entries. One goroutine at a time may use it.
type Log struct {
	bounds    Bounds
	statement func(context.Context, *sql.Tx, string) *sql.Stmt
	looked    time.Time // when it was looked last whether entries are too old
	encoded   bytes.Buffer
	body      body // of the entry that is added

	tx          *sql.Tx // the transaction that now is of; nil before the first
	stored, now ends    // as the table has them, and with what was added since
}

const (
	selectEnds = `SELECT head_number, head_hash, base_number, base_hash, bytes FROM history_ends`
	insertRow  = `INSERT INTO history (number, body, hash) VALUES ($1, $2, $3)`
	moveEnds   = `UPDATE history_ends SET head_number = $1, head_hash = $2, base_number = $3, base_hash = $4, bytes = $5`
)

// Frequent are the statements that are run in each transaction, and for each zone.
var Frequent = []string{selectEnds, insertRow, moveEnds, selectBegun, selectFound}

// New returns a log without bounds. statement returns one of [Frequent], prepared, in a
// transaction.
func New(statement func(context.Context, *sql.Tx, string) *sql.Stmt) *Log {
	return &Log{statement: statement}
}

// Bound sets other bounds. It must not be called while entries are added.
func (l *Log) Bound(b Bounds) { l.bounds = b }

// Append adds entries and returns their numbers. It is [Log.End] that moves the head, once
// for all entries of a transaction: after an error the transaction must not be committed.
func (l *Log) Append(ctx context.Context, tx *sql.Tx, entries ...reconcile.Entry) (numbers []int64, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	if err := l.enter(ctx, tx); err != nil {
		return nil, err
	}
	insert := l.statement(ctx, tx, insertRow)
	numbers = make([]int64, 0, len(entries))
	for i := range entries {
		b := &l.body // an entry is large
		b.Before, b.Entry = l.now.head.Hash.String(), entries[i]
		b.Number, b.At = l.now.head.Number+1, b.At.UTC()
		text, hash, err := encode(&l.encoded, b)
		if err != nil {
			return nil, err
		}
		if _, err := insert.ExecContext(postgres.Late(ctx), b.Number, string(text), hash[:]); err != nil {
			return nil, err
		}
		l.now.head, l.now.bytes = Head{b.Number, hash}, l.now.bytes+int64(len(text))
		numbers = append(numbers, b.Number)
	}
	l.body = body{} // which keeps nothing of them
	return numbers, nil
}

// Stored returns the head as it was when the transaction began.
func (l *Log) Stored(ctx context.Context, tx *sql.Tx) (Head, error) {
	err := l.enter(ctx, tx)
	return l.stored.head, err
}

// enter reads the ends where a transaction begins.
func (l *Log) enter(ctx context.Context, tx *sql.Tx) (err error) {
	if l.tx == tx {
		return nil
	}
	l.stored, err = scanEnds(l.statement(ctx, tx, selectEnds).QueryRowContext(postgres.Late(ctx)))
	if err == nil {
		l.tx, l.now = tx, l.stored
	}
	return err
}

func scanEnds(row *sql.Row) (e ends, err error) {
	var head, base []byte
	if err := row.Scan(&e.head.Number, &head, &e.base.Number, &base, &e.bytes); err != nil {
		return e, fmt.Errorf("reading the ends of the history: %w", err)
	}
	copy(e.head.Hash[:], head)
	copy(e.base.Hash[:], base)
	return e, nil
}

// dropAtOnce bounds how many rows a transaction drops.
const dropAtOnce = 2000

// spare is the part of the bytes that is made free at a time, so that not each transaction
// drops rows.
const spare = 16

// End drops the oldest rows where there are too many, writes where the chain ends now, and
// returns the head.
func (l *Log) End(ctx context.Context, tx *sql.Tx, now time.Time) (Head, error) {
	if err := l.enter(ctx, tx); err != nil {
		return Head{}, err
	}
	if err := l.trim(ctx, tx, now); err != nil {
		return Head{}, err
	}
	if l.now == l.stored {
		return l.now.head, nil
	}
	head, base := l.now.head, l.now.base
	_, err := l.statement(ctx, tx, moveEnds).ExecContext(postgres.Late(ctx), head.Number, head.Hash[:], base.Number, base.Hash[:], l.now.bytes)
	return head, err
}

// trim drops the oldest rows where there are too many.
func (l *Log) trim(ctx context.Context, tx *sql.Tx, now time.Time) error {
	most := int64(0)
	if l.bounds.Bytes > 0 && l.now.bytes > l.bounds.Bytes {
		most = l.now.bytes - l.bounds.Bytes + l.bounds.Bytes/spare
	}
	oldest, err := l.tooOld(ctx, tx, now)
	if err != nil {
		return err
	}
	if most == 0 && oldest == 0 || l.now.head.Number == l.now.base.Number {
		return nil
	}
	base, bytes, err := droppable(ctx, tx, l.now, most, oldest)
	if err != nil || base == l.now.base {
		return err
	}
	again, err := l.keepGaps(ctx, tx, base.Number)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM history WHERE number <= $1`, base.Number); err != nil {
		return err
	}
	l.now.base, l.now.bytes = base, l.now.bytes-bytes
	checkpoint := reconcile.Entry{
		At: now, Kind: reconcile.EntryCheckpoint, Action: reconcile.ActionCheckpoint,
		Checkpoint: &reconcile.Checkpoint{Number: base.Number, Hash: base.Hash.String()},
	}
	_, err = l.Append(ctx, tx, append([]reconcile.Entry{checkpoint}, again...)...)
	return err
}

// lookEvery is how often it is looked whether entries are too old.
const lookEvery = time.Minute

// tooOld returns the time, in seconds, before which entries are to be dropped; 0 where none
// are. They are dropped once the oldest is a sixteenth older than it may become, so that
// few checkpoints are needed.
func (l *Log) tooOld(ctx context.Context, tx *sql.Tx, now time.Time) (int64, error) {
	if age := now.Sub(l.looked); l.bounds.Keep <= 0 || now.IsZero() || age >= 0 && age < lookEvery {
		return 0, nil
	}
	l.looked = now
	var oldest int64
	err := tx.QueryRowContext(ctx, `SELECT coalesce(seconds, 0) FROM history ORDER BY number LIMIT 1`).Scan(&oldest)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil || oldest >= now.Add(-l.bounds.Keep-l.bounds.Keep/spare).Unix() {
		return 0, err
	}
	return now.Add(-l.bounds.Keep).Unix(), nil
}

// droppable returns the last row to drop: of those from the beginning that are older than
// a time, in seconds, or that make up so many bytes. The head is never dropped.
func droppable(ctx context.Context, tx *sql.Tx, have ends, most, oldest int64) (base Head, bytes int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT number, hash, octet_length(body), coalesce(seconds, 0) FROM history ORDER BY number LIMIT $1`, dropAtOnce)
	if err != nil {
		return base, 0, err
	}
	defer func() { _ = rows.Close() }()
	base = have.base
	for rows.Next() {
		var number, size, seconds int64
		var hash []byte
		if err := rows.Scan(&number, &hash, &size, &seconds); err != nil {
			return base, 0, err
		}
		if number >= have.head.Number || bytes >= most && seconds >= oldest {
			break
		}
		base.Number, bytes = number, bytes+size
		copy(base.Hash[:], hash)
	}
	return base, bytes, rows.Err()
}

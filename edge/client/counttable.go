package client

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// CountTable is a [Store] in PostgreSQL, for processes on several machines: a row for each
// credential, which one of them at a time locks for as long as a visit takes. It works behind
// PgBouncer in transaction mode.
//
// The clock is the database's, which is read once the row is locked. What a process brings are
// lengths of time, measured by its own clock up to before it asked; so the round trip, and the
// wait for the row, make a request count for longer and never for less. What clocks of machines
// say, and whether they are put forward or back, is no matter. Where that of the database is put
// forward, a process that has visited the table within the last hour sees it by its own, and has
// all that counts follow; one that is new cannot. Its durability matters: what a standby has not
// got when it takes over was never counted.
//
// A process asks seldom while much is free: it takes up to 32 requests at once. What a killed
// process had taken counts as used until nothing of it can count at the platform: for 125
// seconds and a span, at most 32 requests of each class and those under way.
type CountTable struct {
	// Database returns the handle on the database, with the tables budget and budget_key. Where it
	// cannot, nothing is sent.
	Database   func() (*sql.DB, error)
	BaseURL    string // of the platform
	Credential func() (edge.Secret, error)

	mu    sync.Mutex
	key   []byte     // of the table, as it was read last
	clock tableClock // as it was when the table was visited last
}

// ErrCountAway: the table of counts cannot be reached. Nothing is sent beyond what this process
// had taken before, which may be used for a few seconds.
var ErrCountAway = errors.New("the shared count of requests cannot be reached, and nothing is sent until it can")

const (
	// tableWithin bounds one visit: whoever waits for a request waits for it.
	tableWithin = 5 * time.Second
	// tableTries is how often a visit is tried where the window was not looked at: a server that
	// was restarted has left connections that no longer work.
	tableTries = 3
	// tableBounds are for the transaction alone. A process that is stopped while it has the row
	// keeps the others waiting for no longer than idle_in_transaction_session_timeout.
	tableBounds = `SELECT set_config('statement_timeout', '4000', true), set_config('lock_timeout', '4000', true), set_config('idle_in_transaction_session_timeout', '2000', true)`
	// lockCounts reads the clock above the row's lock, when it has it.
	lockCounts = `
		SELECT k.key, w.counts, clock_timestamp() FROM budget_key AS k
			LEFT JOIN (SELECT counts FROM budget WHERE credential = $1 FOR UPDATE) AS w ON TRUE`
	addCounts  = `INSERT INTO budget (credential, counts, ends) VALUES ($1, '{}', clock_timestamp()) ON CONFLICT (credential) DO NOTHING`
	dropCounts = `
		DELETE FROM budget WHERE credential IN (
			SELECT credential FROM budget WHERE ends < clock_timestamp() - interval '1 day' FOR UPDATE SKIP LOCKED)`
	keepCounts = `UPDATE budget SET counts = $2, ends = $3 WHERE credential = $1`
)

// Update implements [Store].
func (t *CountTable) Update(change func(*Window, time.Time)) error {
	credential, err := t.Credential()
	if err != nil {
		return fmt.Errorf("sharing the count of requests: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), tableWithin)
	defer cancel()
	changed := false
	once := func(w *Window, now time.Time) { changed = true; change(w, now) }
	for range tableTries {
		if err = t.visit(ctx, credential, once); err == nil || changed || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCountAway, err)
	}
	return nil
}

// Alone implements [Store]: nothing. How many processes there are, and what they send, is not
// known, so no part of the quota is safe. What a process had taken is: it counts in the table.
func (t *CountTable) Alone(int) int { return 0 }

// visit is one try.
func (t *CountTable) visit(ctx context.Context, credential edge.Secret, change func(*Window, time.Time)) (err error) {
	db, err := t.Database()
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil { // it may lead to a server that is no longer the one that takes writes
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close()
	}()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, tableBounds); err != nil {
		return err
	}
	clock := tableClock{asked: time.Now()}
	name, window, now, err := t.lock(ctx, tx, credential)
	if err != nil {
		return err
	}
	clock.row, clock.table, clock.told = name, now, time.Now()
	window.follow(t.compared(), clock)
	clock.jumped = window.Jumped
	change(window, now)
	text, err := json.Marshal(window)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, keepCounts, name, string(text), time.UnixMilli(window.last())); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock = clock
	return nil
}

// compared is the clock of the table as it was with the last visit.
func (t *CountTable) compared() tableClock {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clock
}

// lock locks the row of a credential, and makes it where there is none. now is read when it is
// locked.
func (t *CountTable) lock(ctx context.Context, tx *sql.Tx, credential edge.Secret) (name string, w *Window, now time.Time, err error) {
	for range tableTries {
		name = t.name(credential)
		var key []byte
		var text sql.NullString
		if err := tx.QueryRowContext(ctx, lockCounts, name).Scan(&key, &text, &now); err != nil {
			return "", nil, now, err
		}
		switch known := t.knew(key); {
		case known && text.Valid:
			return name, parseWindow(text.String), now, nil
		case known:
			if _, err := tx.ExecContext(ctx, addCounts, name); err != nil {
				return "", nil, now, err
			}
			if _, err := tx.ExecContext(ctx, dropCounts); err != nil {
				return "", nil, now, err
			}
		}
	}
	return "", nil, now, errors.New("the row of the credential does not stay")
}

// name is that of a credential; none while the key is not known.
func (t *CountTable) name(credential edge.Secret) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.key == nil {
		return ""
	}
	return keyOf(t.key, t.BaseURL, credential)
}

// knew reports whether the key of the table is the one that was known, and notes it.
func (t *CountTable) knew(key []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := string(t.key) == string(key)
	t.key = key
	return known
}

// parseWindow reads what is stored; what cannot be read is lost.
func parseWindow(text string) *Window {
	var w Window
	if json.Unmarshal([]byte(text), &w) != nil {
		return &Window{Lost: true}
	}
	return &w
}

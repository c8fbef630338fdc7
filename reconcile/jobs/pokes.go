package jobs

import (
	"context"
	"database/sql"
	"time"
)

// tidyEvery is how often pokes are deleted that all replicas know; each is kept for as long.
const tidyEvery = time.Hour

// Poked implements [Pokes].
func (r *Replicas) Poked(word string, do func(rest, text string)) { r.poked.Poked(word, do) }

// Poke asks all replicas to look at a subject: "zones", or "zone/ID" of those that begin so.
// It is on record once this returns, and several that are not looked at yet count as one.
func (r *Replicas) Poke(ctx context.Context, subject string) error { return r.put(ctx, subject, nil) }

// Note tells all replicas a text about a subject, those that start later, too. It takes the place
// of the one before.
func (r *Replicas) Note(ctx context.Context, subject, text string) error {
	return r.put(ctx, subject, &text)
}

func (r *Replicas) put(ctx context.Context, subject string, text *string) error {
	const put = `WITH next AS (UPDATE poke_number SET number = number + 1 RETURNING number)
		INSERT INTO poke (subject, number, body, at) SELECT $1::text, number, $2::text, now() FROM next
		ON CONFLICT (subject) DO UPDATE SET number = excluded.number, body = excluded.body, at = excluded.at`
	if _, err := r.DB.ExecContext(ctx, put, subject, text); err != nil {
		return err
	}
	r.look.Poke()
	return nil
}

// Noted returns the note about a subject; empty where there is none.
func (r *Replicas) Noted(ctx context.Context, subject string) (text string, err error) {
	const noted = `SELECT coalesce((SELECT body FROM poke WHERE subject = $1), '')`
	err = r.DB.QueryRowContext(ctx, noted, subject).Scan(&text)
	return text, err
}

// Agree puts a note on record that follows from the one there is, which is empty where there is none, and
// from how long ago that was put there, also by one who found the same there. Where decide fails, the note
// stays as it is. No other note is put there meanwhile.
func (r *Replicas) Agree(ctx context.Context, subject string, decide func(have string, age time.Duration) (text string, err error)) error {
	tx, err := r.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var number int64
	if err := tx.QueryRowContext(ctx, `UPDATE poke_number SET number = number + 1 RETURNING number`).Scan(&number); err != nil {
		return err
	}
	var have sql.NullString
	var seconds float64
	const found = `SELECT max(body), coalesce(extract(epoch FROM clock_timestamp() - max(at)), 0)::float8 FROM poke WHERE subject = $1`
	if err := tx.QueryRowContext(ctx, found, subject).Scan(&have, &seconds); err != nil {
		return err
	}
	text, err := decide(have.String, time.Duration(seconds*float64(time.Second)))
	if err != nil {
		return err
	}
	const put = `INSERT INTO poke (subject, number, body, at) VALUES ($1, $2, $3, clock_timestamp())
		ON CONFLICT (subject) DO UPDATE SET number = excluded.number, body = excluded.body, at = excluded.at`
	if _, err := tx.ExecContext(ctx, put, subject, number, text); err != nil {
		return err
	}
	return tx.Commit()
}

// Unnote deletes the note about a subject. Replicas are not told.
func (r *Replicas) Unnote(ctx context.Context, subject string) error {
	_, err := r.DB.ExecContext(ctx, `DELETE FROM poke WHERE subject = $1`, subject)
	return err
}

// Looked tells of the newest number that a look at the database has shown. Where that has become a
// lower one the database was put back to an earlier time.
func (r *Replicas) Looked(newest int64) {
	seen := r.seen.Load()
	if newest < r.newest.Swap(newest) || newest < seen && r.ahead.Load() == seen { // a single look may have begun before what was seen was poked
		r.PutBack()
	}
	if r.ahead.Store(0); newest < seen {
		r.ahead.Store(seen)
	}
	r.mu.Lock()
	waits := len(r.kept) > 0
	r.mu.Unlock()
	if waits || newest > seen {
		r.look.Poke()
	}
}

// PutBack has all that is on record passed on, since the database was put back to an earlier time:
// numbers are given again.
func (r *Replicas) PutBack() {
	r.again.Store(true)
	r.look.Poke()
}

// listen passes on pokes until ctx ends. What comes while the database is away is passed on once
// it is back: numbers tell what is new.
func (r *Replicas) listen(ctx context.Context) {
	tidy := time.NewTicker(tidyEvery)
	defer tidy.Stop()
	r.look.Poke()
	for failing := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tidy.C:
			r.tidy(ctx)
			continue
		case <-r.look:
		}
		err := r.turn(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = r.insertKept(ctx)
		}
		if err != nil && !failing {
			r.Log.WarnContext(ctx, "what other replicas ask for cannot be read; it is tried again every second", "error", err.Error())
		}
		failing = err != nil
	}
}

// turn passes on what is news.
func (r *Replicas) turn(ctx context.Context) error {
	seen, again := r.seen.Load(), r.again.Swap(false)
	if again {
		seen = min(seen, 0)
	}
	now, err := r.passOn(ctx, seen)
	r.seen.Store(now)
	if again && err != nil {
		r.again.Store(true)
	}
	return err
}

// passOn passes on what was poked since a number, and returns the highest. Before the first look
// there is no number: of what is on record then, notes alone are news. What was deleted has a number, too.
func (r *Replicas) passOn(ctx context.Context, seen int64) (int64, error) {
	newest := r.newest.Load()
	const since = `SELECT subject, number, body FROM poke WHERE number > $1 ORDER BY number`
	rows, err := r.DB.QueryContext(ctx, since, seen)
	if err != nil {
		return seen, err
	}
	defer func() { _ = rows.Close() }()
	first := seen < 0
	for rows.Next() {
		var subject string
		var body sql.NullString
		if err := rows.Scan(&subject, &seen, &body); err != nil {
			return seen, err
		}
		if body.Valid || !first {
			r.poked.call(subject, body.String)
		}
	}
	if err := rows.Err(); err != nil {
		return seen, err
	}
	return max(seen, newest, 0), nil
}

// tidy deletes old pokes. A replica that was away for longer misses them, but it looks at
// everything when it gets a lease.
func (r *Replicas) tidy(ctx context.Context) {
	_, err := r.DB.ExecContext(ctx, `DELETE FROM poke WHERE body IS NULL AND at < now() - make_interval(secs => $1)`, tidyEvery.Seconds())
	if err != nil && ctx.Err() == nil {
		r.Log.DebugContext(ctx, "old pokes could not be deleted", "error", err.Error())
	}
}

package history

import (
	"context"
	"database/sql"
	"math"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// Written counts what was written for commits, and keeps that: a commit of a large fleet has
// many writes, and most commits get no more of them. It is safe for concurrent use.
type Written struct {
	mu sync.Mutex // held while it is counted, so that many who ask at once count once
	of map[string]counted
}

// counted is what was counted of a commit, when its newest entry was that number.
type counted struct {
	newest                int64
	looked, at            time.Time // when it was looked whether there is more, and when it was counted
	writes, zones, failed int
}

const (
	// countedFor is how long a count is taken while more is written for a commit.
	countedFor = time.Second
	// countedAgain is after how long it is counted again: what becomes of the write of a token
	// names no commit.
	countedAgain = time.Minute
	// mostCounted bounds how many commits are kept.
	mostCounted = 1000
)

const (
	selectAccepted = `SELECT number, body, NULL FROM history
		WHERE json_extract(body, '$.kind') = 'commit' AND number < $1 ORDER BY number DESC LIMIT $2`
	selectNewest = `SELECT max(number) FROM history WHERE "commit" = $1`
	// selectWritten has an index with all that it counts, and that has the order of the groups: so
	// SQLite takes it and not the one of all entries of a commit.
	selectWritten = `
		SELECT coalesce(sum(writes), 0), count(zone), coalesce(sum(failed), 0) FROM (
			SELECT json_extract(h.body, '$.subject.zone_id') AS zone, count(*) AS writes, count(*) FILTER (WHERE coalesce((
					SELECT json_extract(r.body, '$.result.outcome') FROM history AS r WHERE r.write = h.number ORDER BY r.number DESC LIMIT 1
				), json_extract(h.body, '$.result.outcome'), 'converged') <> 'converged') AS failed
			FROM history AS h
			WHERE json_extract(h.body, '$.kind') = 'write' AND coalesce(json_extract(h.body, '$.trigger'), '') NOT IN ('sweep', 'revert') AND h."commit" = $1
			GROUP BY json_extract(h.body, '$.subject.zone_id')) AS zones`
)

// Accepted returns commits as [reconcile.HistoryPages] says. Without a clock, which is the zero time, it is
// counted each time.
func (w *Written) Accepted(ctx context.Context, tx *sql.Tx, before int64, last int, now time.Time) (commits []reconcile.AcceptedCommit, earlier bool, err error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	commits, err = rows.All(ctx, tx, selectAccepted, func(row *sql.Rows, c *reconcile.AcceptedCommit) error {
		return scanEntry(row, &c.Entry)
	}, before, last+1)
	commits, earlier = cut(commits, last)
	for i := range commits {
		if err != nil {
			break
		}
		var n counted
		n, err = w.count(ctx, tx, commits[i].Asked.Commit, now)
		commits[i].Writes, commits[i].Zones, commits[i].Failed = n.writes, n.zones, n.failed
	}
	if err != nil {
		return nil, false, err
	}
	return commits, earlier, nil
}

// count counts what was written for a commit, unless that is known.
func (w *Written) count(ctx context.Context, tx *sql.Tx, commit string, now time.Time) (n counted, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, known := w.of[commit]
	within := func(since time.Time, d time.Duration) bool {
		age := now.Sub(since)
		return known && !now.IsZero() && age >= 0 && age < d
	}
	if within(n.looked, countedFor) {
		return n, nil
	}
	var newest sql.NullInt64
	if err := tx.QueryRowContext(ctx, selectNewest, commit).Scan(&newest); err != nil {
		return counted{}, err
	}
	if !within(n.at, countedAgain) || n.newest != newest.Int64 {
		n = counted{newest: newest.Int64, at: now}
		if err := tx.QueryRowContext(ctx, selectWritten, commit).Scan(&n.writes, &n.zones, &n.failed); err != nil {
			return counted{}, err
		}
	}
	n.looked = now
	if w.of == nil || len(w.of) >= mostCounted {
		w.of = map[string]counted{}
	}
	w.of[commit] = n
	return n, nil
}

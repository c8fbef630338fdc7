package lease

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

const (
	// takeLease is not undone by a crash of the server: another would get the same epoch then.
	takeLease = `
		WITH free AS (SELECT name FROM lease WHERE name = $1 AND (given_up OR expires_at + make_interval(secs => $2) <= clock_timestamp())
			FOR UPDATE SKIP LOCKED)
		UPDATE lease SET replica = $3, epoch = epoch + 1, since = clock_timestamp(), expires_at = clock_timestamp() + make_interval(secs => $4), given_up = false
			FROM free WHERE lease.name = free.name AND ` + postgres.Durable + ` <> '' RETURNING epoch`
	renewLeases = `
		UPDATE lease SET expires_at = clock_timestamp() + make_interval(secs => $4) FROM unnest($2::text[], $3::bigint[]) AS own (name, epoch)
			WHERE lease.name = own.name AND lease.epoch = own.epoch AND replica = $1 AND NOT given_up RETURNING lease.name`
	giveUpLease = `UPDATE lease SET given_up = true, expires_at = clock_timestamp() WHERE name = $1 AND replica = $2 AND epoch = $3 AND NOT given_up`
	makeLease   = `
		INSERT INTO lease (name, replica, epoch, since, expires_at, given_up) VALUES ($1, '', 0, clock_timestamp(), clock_timestamp(), true)
			ON CONFLICT DO NOTHING`
	beginMove = `
		UPDATE lease_move AS m SET lease = $1, epoch = $2, replica = $3, until = clock_timestamp() + make_interval(secs => $4)
			WHERE until <= clock_timestamp() OR NOT EXISTS (SELECT FROM lease AS l WHERE l.name = m.lease AND l.epoch = m.epoch)`
	setReplica = `
		INSERT INTO replica (name, version, started_at, expires_at) VALUES ($1, $2, clock_timestamp(), clock_timestamp() + make_interval(secs => $3))
		ON CONFLICT (name) DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at,
			started_at = CASE WHEN $4 THEN excluded.started_at ELSE replica.started_at END`
	forgetReplicas = `DELETE FROM replica WHERE name = $1 OR expires_at < clock_timestamp() - interval '1 hour'`

	// all is what each process looks at every second: one statement, whatever it finds.
	all = `
		SELECT clock_timestamp(), leases, replicas, said.version, head_number, coalesce(counted, 0), poke_number.number, head_hash,
			base_number, (SELECT hash FROM history WHERE history.number = $1), coalesce((SELECT times FROM put_back), 0) FROM said, history_ends, poke_number,
			(SELECT max(number) AS counted FROM tally) AS tally,
			(SELECT coalesce(json_agg(l ORDER BY name), '[]')::text AS leases FROM (
				SELECT l.name, l.replica, l.epoch, l.since, l.expires_at AS expiresat, l.given_up AS givenup,
					coalesce(m.replica, '') AS movesto, r.name IS NOT NULL AS live FROM lease AS l
				LEFT JOIN lease_move AS m ON m.lease = l.name AND m.epoch = l.epoch AND m.until > clock_timestamp()
				LEFT JOIN replica AS r ON r.name = l.replica AND r.expires_at > clock_timestamp()) AS l) AS leases,
			(SELECT coalesce(json_agg(r ORDER BY name), '[]')::text AS replicas FROM (
				SELECT name, version, started_at AS startedat, expires_at AS expiresat, expires_at > clock_timestamp() AS live FROM replica) AS r) AS replicas`
)

// Look is what a look at the database shows.
type Look struct {
	At       time.Time // by the clock of the database
	Leases   []Row     // by name
	Replicas []Replica // by name
	News     reconcile.News
	// Forward is by how much the clock of the database was set forward, all together, since this process
	// has looked first.
	Forward time.Duration
	history ends
}

// Replica is a process that runs, or has done so within the last hour.
type Replica struct {
	Name, Version        string
	StartedAt, ExpiresAt time.Time
	Live                 bool // it runs, as far as is known
}

// LookAt looks at a database.
func LookAt(ctx context.Context, db *sql.DB) (Look, error) { return lookAfter(ctx, db, Look{}) }

// lookAfter is LookAt after an earlier look.
func lookAfter(ctx context.Context, db *sql.DB, earlier Look) (l Look, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var leases, replicas []byte
	err = db.QueryRowContext(ctx, all, earlier.News.Newest).Scan(&l.At, &leases, &replicas, &l.News.Said, &l.News.Newest, &l.News.Counted, &l.News.Poked,
		&l.history.hash, &l.history.base, &l.history.earlier, &l.history.times)
	if err == nil {
		err = errors.Join(json.Unmarshal(leases, &l.Leases), json.Unmarshal(replicas, &l.Replicas))
	}
	for i, r := range l.Leases {
		_, l.Leases[i].Free = r.free(l.At)
	}
	return l, err
}

// look looks at the leases that this process knows, and makes those that are not there.
func (h *Holder) look(ctx context.Context) (view, error) {
	l, err := lookAfter(ctx, h.DB, h.latest)
	if err == nil {
		l.Forward = h.forward
		err = h.compareRecords(ctx, &l)
	}
	if err == nil {
		h.latest = l
	}
	v := l.view(h.Names)
	for _, name := range h.Names {
		known := slices.ContainsFunc(v.rows, func(r Row) bool { return r.Name == name })
		if err == nil && !known {
			err = h.exec(ctx, makeLease, string(name))
		}
	}
	return v, err
}

func scan[T any](rows *sql.Rows) (value T, err error) { return value, rows.Scan(&value) }

func query[T any](ctx context.Context, db *sql.DB, text string, one func(*sql.Rows) (T, error), args ...any) (all []T, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		value, err := one(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, rows.Err()
}

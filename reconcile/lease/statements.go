package lease

import (
	"context"
	"database/sql"
	"slices"
	"time"

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
	allLeases = `
		SELECT l.name, l.replica, l.epoch, l.since, l.expires_at, l.given_up, coalesce(m.replica, ''), r.name IS NOT NULL,
				clock_timestamp(), (SELECT count(*) FROM replica WHERE expires_at > clock_timestamp()) FROM lease AS l
			LEFT JOIN lease_move AS m ON m.lease = l.name AND m.epoch = l.epoch AND m.until > clock_timestamp()
			LEFT JOIN replica AS r ON r.name = l.replica AND r.expires_at > clock_timestamp() ORDER BY l.name`

	setReplica = `
		INSERT INTO replica (name, version, started_at, expires_at) VALUES ($1, $2, clock_timestamp(), clock_timestamp() + make_interval(secs => $3))
		ON CONFLICT (name) DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at,
			started_at = CASE WHEN $4 THEN excluded.started_at ELSE replica.started_at END`
	forgetReplicas = `DELETE FROM replica WHERE name = $1 OR expires_at < clock_timestamp() - interval '1 hour'`
	allReplicas    = `SELECT name, version, started_at, expires_at, expires_at > clock_timestamp() FROM replica ORDER BY name`
)

// look reads the leases that this process knows, and makes those that are not there.
func (h *Holder) look(ctx context.Context) (view, error) {
	v, err := readAll(ctx, h.DB)
	v.rows = slices.DeleteFunc(v.rows, func(r Row) bool { return !slices.Contains(h.Names, r.Name) })
	for _, name := range h.Names {
		known := slices.ContainsFunc(v.rows, func(r Row) bool { return r.Name == name })
		if err == nil && !known {
			err = h.exec(ctx, makeLease, string(name))
		}
	}
	return v, err
}

func readAll(ctx context.Context, db *sql.DB) (v view, err error) {
	v.rows, err = query(ctx, db, allLeases, func(rows *sql.Rows) (r Row, err error) {
		err = rows.Scan(&r.Name, &r.Replica, &r.Epoch, &r.Since, &r.ExpiresAt, &r.GivenUp, &r.MovesTo, &r.live, &v.now, &v.live)
		_, r.Free = r.free(v.now)
		v.moving = v.moving || r.MovesTo != ""
		return r, err
	})
	return v, err
}

// All are the leases on record, by name.
func All(ctx context.Context, db *sql.DB) ([]Row, error) {
	v, err := readAll(ctx, db)
	return v.rows, err
}

// Replica is a process that runs, or has done so within the last hour.
type Replica struct {
	Name, Version        string
	StartedAt, ExpiresAt time.Time
	Live                 bool // it runs, as far as is known
}

// Replicas are the processes on record, by name.
func Replicas(ctx context.Context, db *sql.DB) ([]Replica, error) {
	return query(ctx, db, allReplicas, func(rows *sql.Rows) (r Replica, err error) {
		return r, rows.Scan(&r.Name, &r.Version, &r.StartedAt, &r.ExpiresAt, &r.Live)
	})
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

//go:build linux

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
)

// database is the PostgreSQL of the daemons. It waits for the disk, as one does that must not forget.
type database struct{ *pgtest.Server }

func startDatabase() (*database, error) {
	server, err := pgtest.New("fsync=on", "full_page_writes=on", "shared_buffers=128MB",
		"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_utility=on")
	if err != nil {
		return nil, err
	}
	d := &database{server}
	if _, err := d.Ask(context.Background(), `CREATE EXTENSION pg_stat_statements`); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// numbers are those in the one row of a query.
func (d *database) numbers(ctx context.Context, query string) ([]int64, error) {
	rows, err := d.Ask(ctx, query)
	if err != nil {
		return nil, err
	}
	var all []int64
	for _, text := range rows[0] {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// counts are what a database has done since it was started.
type counts struct {
	statements int64
	log        int64 // bytes of its write-ahead log
	cpu        time.Duration
}

func (c counts) since(before counts) counts {
	return counts{c.statements - before.statements, c.log - before.log, c.cpu - before.cpu}
}

// counts are zero where there is no database.
func (d *database) counts(ctx context.Context) (c counts, err error) {
	if d == nil {
		return c, nil
	}
	n, err := d.numbers(ctx, `SELECT coalesce(sum(calls), 0)::bigint, (pg_current_wal_lsn() - '0/0')::bigint FROM pg_stat_statements`)
	if err != nil {
		return c, err
	}
	c.statements, c.log = n[0], n[1]
	for _, pid := range d.Processes() {
		used, err := cpu(pid)
		if err == nil { // it may have ended meanwhile, which the first of them then counts
			c.cpu += used
		}
	}
	return c, nil
}

// glance is how often it is looked at what happens.
const glance = 50 * time.Millisecond

// until asks again and again, until the numbers are the wanted ones.
func (d *database) until(ctx context.Context, what, query string, ok func([]int64) bool) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(glance) {
		n, err := d.numbers(ctx, query)
		if err != nil {
			return err
		}
		if ok(n) {
			return nil
		}
	}
	return fmt.Errorf("%s: never within %s", what, patience)
}

// leased waits until each lease is held, and they are spread evenly.
func (d *daemons) leased(ctx context.Context) error {
	const query = `WITH held AS (SELECT replica, count(*) AS n FROM lease WHERE NOT given_up AND expires_at > clock_timestamp() GROUP BY replica)
		SELECT coalesce(sum(n), 0)::bigint, (SELECT count(*) FROM lease), count(*), coalesce(max(n) - min(n), 0) FROM held`
	return d.database.until(ctx, "all leases are held", query, func(n []int64) bool {
		return n[0] > 0 && n[0] == n[1] && n[2] == int64(len(d.all)) && n[3] <= 1
	})
}

// proved waits until every zone is proved.
func (d *daemons) proved(ctx context.Context) error {
	return d.database.until(ctx, "all zones are proved", `SELECT count(*) FROM proved`, func(n []int64) bool { return n[0] == int64(d.zones) })
}

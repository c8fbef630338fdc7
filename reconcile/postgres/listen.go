package postgres

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seawall-dev/seawall/edge/retry"
)

// channel is where the schema gives hints.
const channel = "seawall"

// Listen calls heard whenever another process gives the hint that it has put something on record that others
// wait for, until ctx ends; and once it hears again after it could not. Hints get lost, and behind a
// pooler there are none: nothing may rest on them. heard must not wait.
//
// It has a connection of its own. Behind a pooler it gives it back and returns: LISTEN would stay
// with a connection to the server that others get.
func Listen(ctx context.Context, c Config, heard func()) {
	for failures := 1; ctx.Err() == nil; failures++ {
		pooled, began := c.listen(ctx, heard)
		if pooled {
			return
		}
		if time.Since(began) > time.Minute {
			failures = 1
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry.Lease.Spread(failures)):
		}
	}
}

// listen listens on one connection until that breaks.
func (c Config) listen(ctx context.Context, heard func()) (pooled bool, began time.Time) {
	began = time.Now()
	config, err := c.parsed()
	if err != nil || c.authenticate(config) != nil {
		return false, began
	}
	config.DialFunc = (&net.Dialer{KeepAlive: connectWithin}).DialContext // it is silent for long
	connecting, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	conn, err := pgx.ConnectConfig(connecting, config)
	if err != nil {
		return false, began
	}
	defer func() { _ = conn.Close(connecting) }()
	var is uint32
	if err := conn.QueryRow(connecting, `SELECT pg_backend_pid()`).Scan(&is); err != nil {
		return false, began
	}
	if is != conn.PgConn().PID() {
		return true, began
	}
	if _, err := conn.Exec(connecting, "LISTEN "+channel); err != nil {
		return false, began
	}
	for heard(); ; heard() {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return false, began
		}
	}
}

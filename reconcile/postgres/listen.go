package postgres

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5"
)

// channel is where the schema gives hints.
const channel = "seawall"

// Listen calls heard once it hears, and whenever another process gives the hint then that it has put
// something on record that others wait for; until ctx ends, or its connection breaks. Hints get lost, and
// behind a pooler there are none: nothing may rest on them. heard must not wait.
//
// It has a connection of its own. Behind a pooler it gives it back and reports that: LISTEN would stay
// with a connection to the server that others get.
func Listen(ctx context.Context, c Config, heard func()) (pooled bool, err error) {
	config, err := c.parsed()
	if err != nil {
		return false, err
	}
	if err := c.authenticate(config); err != nil {
		return false, err
	}
	config.DialFunc = (&net.Dialer{KeepAlive: connectWithin}).DialContext // it is silent for long
	connecting, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	conn, err := pgx.ConnectConfig(connecting, config)
	if err != nil {
		return false, plainly(err)
	}
	defer func() { _ = conn.Close(connecting) }()
	var is uint32
	if err := conn.QueryRow(connecting, `SELECT pg_backend_pid()`).Scan(&is); err != nil {
		return false, err
	}
	if is != conn.PgConn().PID() {
		return true, nil
	}
	if _, err := conn.Exec(connecting, "LISTEN "+channel); err != nil {
		return false, err
	}
	for heard(); ; heard() {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return false, err
		}
	}
}

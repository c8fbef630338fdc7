package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connection is one on which each wait for the server ends, whatever the context of the call says:
// many are of work that must not be broken off. It is waited for an answer only while one is due.
type connection struct {
	net.Conn
	silent   time.Duration
	mu       sync.Mutex
	deadline bool // the driver has set one, for a context that has ended
}

// dialing connects so that the server may be silent for so long.
func dialing(silent time.Duration) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{KeepAlive: connectWithin}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &connection{Conn: conn, silent: silent}, nil
	}
}

func (c *connection) Read(p []byte) (int, error) {
	if err := c.bound(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *connection) Write(p []byte) (int, error) {
	if err := c.bound(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *connection) bound(set func(time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deadline {
		return nil
	}
	return set(time.Now().Add(c.silent))
}

// SetDeadline is what the driver calls where a context ends, and with the zero time afterwards.
func (c *connection) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = !t.IsZero()
	return c.Conn.SetDeadline(t)
}

// ErrReplica is a server that takes no writes.
var ErrReplica = errors.New("the server takes no writes: it is a replica, or is set to be read only")

// usable refuses such a server, as the URL may name another, and one that is too old.
func usable(ctx context.Context, conn *pgconn.PgConn) error {
	if err := newEnough(conn.ParameterStatus("server_version")); err != nil {
		return err
	}
	answer, err := conn.Exec(ctx, "SHOW transaction_read_only").ReadAll()
	if err == nil && string(answer[0].Rows[0][0]) == "on" {
		err = ErrReplica
	}
	return err
}

// readOnlyServers takes note of connections to a server that takes no writes any more: after a
// failover it is another one. Such a connection is used no more.
type readOnlyServers struct{}

const readOnly = "read only"

// TraceQueryStart implements [pgx.QueryTracer].
func (readOnlyServers) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (readOnlyServers) TraceQueryEnd(_ context.Context, conn *pgx.Conn, end pgx.TraceQueryEndData) {
	var refused *pgconn.PgError
	if errors.As(end.Err, &refused) && refused.Code == "25006" { // read_only_sql_transaction
		conn.PgConn().CustomData()[readOnly] = true
	}
}

// dropReadOnly has the pool close such a connection, and take another.
func dropReadOnly(_ context.Context, conn *pgx.Conn) error {
	if conn.PgConn().CustomData()[readOnly] != nil {
		return driver.ErrBadConn
	}
	return nil
}

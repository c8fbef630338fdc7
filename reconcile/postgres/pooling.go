package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Pool is when a pooler, as PgBouncer is, gives a connection to the server to another of its clients.
type Pool string

// The modes of a pooler.
const (
	PoolNone        Pool = ""            // there is none
	PoolSession     Pool = "session"     // when a client leaves
	PoolTransaction Pool = "transaction" // with the end of each transaction
	PoolStatement   Pool = "statement"   // with the end of each statement: nothing of ours works so
)

// looksAtPool is how often two connections are looked at for one that both have.
const looksAtPool = 5

// PoolOf finds out which pooler is before the server. A pooler has keys of its own for the connections of
// its clients, where a server tells its process. Between two clients that are idle, one in session mode
// shares nothing; in another mode both have the same connection to the server before long. So of a
// pooler that many use at once a session may be told by mistake, and nothing else.
func PoolOf(ctx context.Context, db *sql.DB) (Pool, error) {
	one, err := db.Conn(ctx)
	if err != nil {
		return PoolNone, err
	}
	defer one.Close()
	two, err := db.Conn(ctx)
	if err != nil {
		return PoolNone, err
	}
	defer two.Close()
	shared := false
	var of [2]uint32
	for range looksAtPool {
		for i, conn := range []*sql.Conn{one, two} {
			said, is, err := backend(ctx, conn)
			if err != nil || said == is {
				return PoolNone, err
			}
			shared = shared || of[i] != 0 && of[i] != is || of[1-i] == is
			of[i] = is
		}
	}
	switch tx, err := one.BeginTx(ctx, nil); {
	case ByStatement(err):
		return PoolStatement, nil
	case err != nil:
		return PoolNone, err
	case shared:
		return PoolTransaction, tx.Rollback()
	default:
		return PoolSession, tx.Rollback()
	}
}

// backend returns the process of the server that a connection was told at its beginning, and the one
// that does its work now.
func backend(ctx context.Context, conn *sql.Conn) (said, is uint32, err error) {
	err = conn.Raw(func(driver any) error {
		c, ok := driver.(*directConn)
		if !ok {
			return errors.New("the driver is another one")
		}
		said = c.Conn.Conn().PgConn().PID()
		return nil
	})
	if err == nil {
		err = conn.QueryRowContext(ctx, `SELECT pg_backend_pid()`).Scan(&is)
	}
	return said, is, err
}

// ByStatement reports whether a pooler has refused a transaction because it pools statements.
func ByStatement(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && strings.Contains(said.Message, "statement pooling")
}

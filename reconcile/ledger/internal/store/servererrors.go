package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// notKeptError is why a transaction was not kept whose end was not answered.
type notKeptError struct{ error }

func (e notKeptError) Unwrap() error { return e.error }

// unanswered reports whether the end of a transaction may have been kept all the same: it was sent,
// and the server has not said that it refuses it.
func unanswered(err error) bool {
	var said *pgconn.PgError
	var late *postgres.LateError
	switch {
	case errors.As(err, &late): // the end was not sent yet
		return false
	case errors.Is(err, pgx.ErrTxCommitRollback), pgconn.SafeToRetry(err), errors.Is(err, driver.ErrBadConn):
		return false
	case errors.As(err, &said):
		return said.SeverityUnlocalized != "ERROR" // it ends the connection, whatever has become of the transaction
	}
	return true
}

// code is what PostgreSQL names an error by; empty for others.
func code(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}

// passing are errors that another try may not meet: a conflict with another transaction, a server
// that stops or starts, has become a replica, has no connection left, or has waited too long for a
// process that was suspended.
var passing = []string{"40001", "40P01", "57P01", "57P02", "57P03", "25P03", "25006", "53300"}

// lockTimeout is what it names the wait for another transaction that has taken too long.
const lockTimeout = "55P03"

// passes reports whether what has failed may go well with another try at once. What has waited for
// the server in vain waits no more.
func passes(err error) bool {
	if err == nil || timeout(err) || errors.Is(err, ErrUnsure) || postgres.ByStatement(err) {
		return false
	}
	if named := code(err); named != "" {
		return slices.Contains(passing, named) || strings.HasPrefix(named, "08")
	}
	return cut(err)
}

// cut reports whether a connection has ended, or could not be made.
func cut(err error) bool {
	var network *net.OpError
	var connecting *pgconn.ConnectError
	if errors.As(err, &network) || errors.As(err, &connecting) || pgconn.SafeToRetry(err) {
		return true
	}
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, pgconn.ErrConnClosed, driver.ErrBadConn, sql.ErrConnDone, syscall.ECONNRESET, syscall.EPIPE},
		func(known error) bool { return errors.Is(err, known) })
}

// timeout reports whether the server has not answered in time.
func timeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout() || pgconn.Timeout(err)
}

// kindOfServer is what is wrong with PostgreSQL, by what it or the way to it has said; empty for
// what neither has.
func kindOfServer(err error) Kind {
	named := code(err)
	switch {
	case errors.Is(err, postgres.ErrTooOld):
		return ErrNewer
	case errors.Is(err, postgres.ErrForeign):
		return ErrOccupied
	case postgres.ByStatement(err):
		return ErrStatements
	case errors.Is(err, postgres.ErrOldServer):
		return ErrOldServer
	case errors.Is(err, postgres.ErrEncryption):
		return ErrEncryption
	case named == "":
		return kindOfWay(err)
	case named == "28P01", named == "28000", named == "3D000":
		return ErrRefused
	case named == "53300":
		return ErrCrowded
	case named == "25006":
		return ErrReplica
	case named == "42501":
		return ErrDenied
	case named == "40001", named == "40P01", named == lockTimeout, named == "57014":
		return ErrBusy
	case named == "53100":
		return ErrFull
	case strings.HasPrefix(named, "42"), strings.HasPrefix(named, "XX00"): // our statements fit our schema
		return ErrDamaged
	case strings.HasPrefix(named, "08"), strings.HasPrefix(named, "57P"), strings.HasPrefix(named, "25P"):
		return ErrUnreachable
	}
	return ErrFailed
}

// away are what a database is that may do its work later, with nothing changed here.
var away = []Kind{ErrUnreachable, ErrReplica, ErrCrowded, ErrBusy, ErrUnsure}

// Away reports whether something has failed because the database that several processes share could
// not be reached, did not answer in time, or takes no work now. It may go well later. What the database
// refuses for good, such as a wrong password, is not that.
func Away(err error) bool {
	var known *Error
	kind := kindOfServer(err)
	if errors.As(err, &known) {
		kind = known.Kind
	}
	return slices.Contains(away, kind) || kind == "" && errors.Is(err, context.DeadlineExceeded)
}

// kindOfWay is what is wrong with the way to PostgreSQL; empty also where a context has ended.
func kindOfWay(err error) Kind {
	var connecting *pgconn.ConnectError
	switch ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded); {
	case errors.Is(err, postgres.ErrReplica):
		return ErrReplica
	case errors.As(err, &connecting) && !errors.Is(err, context.Canceled), !ended && (timeout(err) || cut(err)):
		return ErrUnreachable
	}
	return ""
}

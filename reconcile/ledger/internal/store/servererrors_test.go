package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// What is told of an error of the server, whether another try follows, and whether the end of a
// transaction that has met it may have been kept.
func TestErrorsOfAServer(t *testing.T) {
	said := func(code string) error { return &pgconn.PgError{Code: code, SeverityUnlocalized: "ERROR"} }
	ended := func(code string) error { return &pgconn.PgError{Code: code, SeverityUnlocalized: "FATAL"} }
	slow := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	for _, test := range []struct {
		err                error
		kind               Kind // empty: told as it is
		passes, unanswered bool
		refused            bool // it is not that the database is away for a time
	}{
		{said("40001"), ErrBusy, true, false, false},
		{said("40P01"), ErrBusy, true, false, false},
		{said("55P03"), ErrBusy, false, false, false},
		{said("57014"), ErrBusy, false, false, false},
		{said("25006"), ErrReplica, true, false, false},
		{said("42P01"), ErrDamaged, false, false, true},
		{said("23505"), ErrFailed, false, false, true},
		{said("53100"), ErrFull, false, false, true},
		{said("42501"), ErrDenied, false, false, true},
		{ended("57P01"), ErrUnreachable, true, true, false},
		{ended("57P03"), ErrUnreachable, true, true, false},
		{ended("25P03"), ErrUnreachable, true, true, false},
		{ended("08P01"), ErrUnreachable, true, true, false},
		{&pgconn.PgError{Code: "08P01", Message: "transaction blocks not allowed in statement pooling mode"}, ErrStatements, false, true, true},
		{ended("53300"), ErrCrowded, true, true, false},
		{ended("28P01"), ErrRefused, false, true, true},
		{ended("3D000"), ErrRefused, false, true, true},
		{io.ErrUnexpectedEOF, ErrUnreachable, true, true, false},
		{pgconn.ErrConnClosed, ErrUnreachable, true, true, false},
		{slow, ErrUnreachable, false, true, false},
		{postgres.ErrReplica, ErrReplica, false, true, false},
		{postgres.ErrForeign, ErrOccupied, false, true, true},
		{postgres.ErrOldServer, ErrOldServer, false, true, true},
		{postgres.ErrEncryption, ErrEncryption, false, true, true},
		{pgx.ErrTxCommitRollback, ErrFailed, false, false, true},
		{context.Canceled, "", false, true, true},
		{context.DeadlineExceeded, "", false, true, false},
		{fmt.Errorf("%w: x", reconcile.ErrLeaseLost), "", false, true, true},
	} {
		told := Explain("writing", "postgres://host/name", fmt.Errorf("on the way: %w", test.err))
		var kind Kind
		if known := new(Error); errors.As(told, &known) {
			kind = known.Kind
			if known.Hint == "" || strings.Contains(known.Hint, "state folder") || strings.Contains(known.Hint, "sqlite") {
				t.Errorf("%v: hint %q", test.err, known.Hint)
			}
		}
		if kind != test.kind || !errors.Is(told, test.err) || kind != "" && !errors.Is(told, reconcile.ErrState) {
			t.Errorf("%v: told as %q, want %q: %v", test.err, kind, test.kind, told)
		}
		if Away(told) == test.refused || Away(test.err) == test.refused {
			t.Errorf("%v: the database is away for a time: %v", test.err, !test.refused)
		}
		if got := passes(test.err); got != test.passes {
			t.Errorf("%v passes: %v", test.err, got)
		}
		if got := unanswered(test.err); got != test.unanswered {
			t.Errorf("the end of a transaction with %v is unanswered: %v", test.err, got)
		}
	}
	if text := shownURL("postgres://kim:secret@host:5/name?password=secret"); text != "postgres://kim@host:5/name" {
		t.Errorf("shown as %s", text)
	}
}

// A change waits more than once for another process that writes, but not for ever.
func TestWaitingForAnotherProcess(t *testing.T) {
	for failures, want := range []bool{true, true, true, false} {
		if got := (&server{}).again(&pgconn.PgError{Code: "55P03"}, failures); got != want {
			t.Errorf("again after %d failures: %v", failures, got)
		}
	}
}

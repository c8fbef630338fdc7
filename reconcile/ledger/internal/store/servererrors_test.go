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
	}{
		{said("40001"), ErrBusy, true, false},
		{said("40P01"), ErrBusy, true, false},
		{said("55P03"), ErrBusy, false, false},
		{said("57014"), ErrBusy, false, false},
		{said("25006"), ErrReplica, true, false},
		{said("42P01"), ErrDamaged, false, false},
		{said("23505"), ErrFailed, false, false},
		{said("53100"), ErrFull, false, false},
		{said("42501"), ErrDenied, false, false},
		{ended("57P01"), ErrUnreachable, true, true},
		{ended("57P03"), ErrUnreachable, true, true},
		{ended("25P03"), ErrUnreachable, true, true},
		{ended("08P01"), ErrUnreachable, true, true},
		{ended("53300"), ErrCrowded, true, true},
		{ended("28P01"), ErrRefused, false, true},
		{ended("3D000"), ErrRefused, false, true},
		{io.ErrUnexpectedEOF, ErrUnreachable, true, true},
		{pgconn.ErrConnClosed, ErrUnreachable, true, true},
		{slow, ErrUnreachable, false, true},
		{postgres.ErrReplica, ErrReplica, false, true},
		{postgres.ErrForeign, ErrOccupied, false, true},
		{postgres.ErrOldServer, ErrOldServer, false, true},
		{postgres.ErrEncryption, ErrEncryption, false, true},
		{pgx.ErrTxCommitRollback, ErrFailed, false, false},
		{context.Canceled, "", false, true},
		{context.DeadlineExceeded, "", false, true},
		{fmt.Errorf("%w: x", reconcile.ErrLeaseLost), "", false, true},
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

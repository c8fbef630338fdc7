package postgres

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A server is refused by its version alone, in whichever form it says that; PgBouncer tells that of its
// server.
func TestOldServer(t *testing.T) {
	for version, old := range map[string]bool{"13.11 (Debian 13.11-1)": true, "9.6.24": true, "13": true, "14.0": false, "15.3 (Debian 15.3-1)": false, "18beta1": false, "": false} {
		if err := newEnough(version); errors.Is(err, ErrOldServer) != old {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// What has become of a connection is told without the words of the driver and of the system.
func TestTold(t *testing.T) {
	for want, err := range map[string]error{
		"it does not answer":              fmt.Errorf("failed to receive message: %w", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}),
		"it has closed the connection":    fmt.Errorf("failed to receive message: %w", io.ErrUnexpectedEOF),
		"connection reset by peer":        &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		"saying so: no such host: db.one": fmt.Errorf("saying so: %w", plainly(plain{"no such host: db.one", io.EOF})),
		"ERROR: no (SQLSTATE 1)":          &pgconn.PgError{Severity: "ERROR", Message: "no", Code: "1"},
		"something else":                  errors.New("something else"),
	} {
		if got := Told(err); got != want {
			t.Errorf("%v: told as %q, want %q", err, got, want)
		}
	}
}

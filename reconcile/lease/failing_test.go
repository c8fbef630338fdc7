package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// What keeps leases from being renewed is logged once, and again where it is something else.
func TestWhyLeasesAreNotRenewed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	refused := fmt.Errorf("renewing: %w", &pgconn.PgError{Severity: "ERROR", Code: "42501", Message: "permission denied for table lease"})
	for _, err := range []error{
		context.DeadlineExceeded, context.DeadlineExceeded, untoldError{context.DeadlineExceeded}, untoldError{refused}, refused, refused, errors.New("connection refused"), nil, nil,
	} {
		h.note(err)
	}
	for line, times := range map[string]int{
		"the database does not answer": 2, "it cannot be put on record that the database was put back": 1,
		"the database refuses it": 1, "permission denied for table lease": 1, "leases are renewed again": 1, "failures=7": 1,
	} {
		if n := strings.Count(log.String(), line); n != times {
			t.Errorf("%q is logged %d times, want %d:\n%s", line, n, times, &log)
		}
	}
}

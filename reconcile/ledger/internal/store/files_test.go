//go:build unix

package store

import (
	"database/sql"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
)

// A ledger that cannot be opened because too many files are open is not one of another owner.
func TestTooManyFilesAreNoDenial(t *testing.T) {
	db, err := sql.Open("sqlite", t.TempDir()+"/none/ledger.db")
	must.Do(t, err)
	defer db.Close()
	failed := db.PingContext(t.Context())
	if told := Explain("opening", "ledger.db", failed); !errors.Is(told, ErrDenied) {
		t.Fatalf("a folder that is missing: %v", told)
	}
	var before syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	few := before
	few.Cur = 100
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	defer func() { must.Do(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)) }()
	for {
		file, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		defer file.Close()
	}
	if told := Explain("opening", "ledger.db", failed); !errors.Is(told, ErrFiles) || !errors.Is(told, syscall.EMFILE) {
		t.Errorf("without a file left: %v", told)
	}
}

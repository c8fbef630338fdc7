package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// chronicle makes a ledger with a history of many pages and returns a page of the middle of
// the history.
func chronicle(t *testing.T) (path string, page int64) {
	t.Helper()
	f := mustOpen(t)
	must.Do(t, f.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for range 300 {
			if _, err := f.Enter(ctx, tx, reconcile.Entry{Kind: reconcile.EntryDecision, Reason: strings.Repeat("because ", 60)}); err != nil {
				return err
			}
		}
		return nil
	}))
	var pages []int64
	rows, err := f.DB.QueryContext(t.Context(), `SELECT pageno FROM dbstat WHERE name = 'history' AND pagetype = 'leaf'`)
	if err != nil { // a driver without that table: the pages in the middle of the file are the history's
		pages = []int64{20, 21, 22}
	} else {
		for rows.Next() {
			var n int64
			must.Do(t, rows.Scan(&n))
			pages = append(pages, n)
		}
		must.Do(t, rows.Close())
	}
	must.Do(t, f.Close())
	return f.Path, pages[len(pages)/2]
}

// wipe damages a page as a disk does: the file looks as it was left.
func wipe(t *testing.T, path string, page int64) {
	t.Helper()
	info, err := os.Stat(path)
	must.Do(t, err)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must.Do(t, err)
	_, err = file.WriteAt(make([]byte, 4096), (page-1)*4096)
	must.Do(t, errors.Join(err, file.Close()))
	must.Do(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
}

func readHistory(t *testing.T, f *File) error {
	t.Helper()
	return f.Read(t.Context(), func(tx *sql.Tx) error {
		_, err := history.Verify(t.Context(), tx)
		return err
	})
}

// TestDamagedHistory: what a quick opening does not see is told as damage by whoever reads
// it, and from then on by each opening.
func TestDamagedHistory(t *testing.T) {
	path, page := chronicle(t)
	wipe(t, path, page)
	f, err := Open(path)
	must.Do(t, err)
	if err := readHistory(t, f); kindOf(err) != ErrDamaged {
		t.Errorf("reading the damaged history: %v", err)
	}
	must.Do(t, f.Close())
	if _, err := Open(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("opening it after that: %v", err)
	}
	if _, err := OpenReadOnly(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("opening it for reading after that: %v", err)
	}
}

// TestWholeCheck: the whole file is checked where its last end was not clean, where it was
// changed since, after a time, and where nothing is known of the last check.
func TestWholeCheck(t *testing.T) {
	rewrite := func(r func(*checkRecord)) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			file, err := os.OpenFile(CheckedPath(path), os.O_RDWR, 0)
			must.Do(t, err)
			record := readRecord(file)
			r(&record)
			must.Do(t, errors.Join(putRecord(file, record), file.Close()))
		}
	}
	for name, prepare := range map[string]func(*testing.T, string){
		"not closed": rewrite(func(r *checkRecord) { r.Size, r.Modified = 0, time.Time{} }),
		"long ago":   rewrite(func(r *checkRecord) { r.At = r.At.Add(-wholeCheckEvery) }),
		"to come":    rewrite(func(r *checkRecord) { r.At = r.At.Add(time.Hour) }),
		"no record":  func(t *testing.T, path string) { must.Do(t, os.Remove(CheckedPath(path))) },
		"cut record": func(t *testing.T, path string) { must.Do(t, os.Truncate(CheckedPath(path), 10)) },
		"changed": func(t *testing.T, path string) {
			must.Do(t, os.Chtimes(path, time.Now().Add(time.Hour), time.Now().Add(time.Hour)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, page := chronicle(t)
			for range 2 { // and what was found sound counts
				prepare(t, path)
				f, err := Open(path)
				must.Do(t, err)
				must.Do(t, f.Close())
			}
			wipe(t, path, page)
			f, err := OpenReadOnly(path)
			must.Do(t, err)
			must.Do(t, f.Close())
			prepare(t, path)
			for _, open := range []func() (*File, error){
				func() (*File, error) { return OpenReadOnly(path) }, func() (*File, error) { return Open(path) },
				func() (*File, error) { return Open(path) }, // a check that failed does not count
			} {
				if _, err := open(); !errors.Is(err, ErrDamaged) {
					t.Errorf("opening a damaged ledger: %v", err)
				}
			}
		})
	}
}

// TestCheckedBeside: whoever opens the ledger beside a process that writes need not check
// the whole, and the last one to close it says that it was closed.
func TestCheckedBeside(t *testing.T) {
	path, page := chronicle(t)
	first, err := Open(path)
	must.Do(t, err)
	second, err := Open(path)
	must.Do(t, err)
	must.Do(t, first.Close())
	wipe(t, path, page)
	third, err := Open(path)
	must.Do(t, err)
	reader, err := OpenReadOnly(path)
	must.Do(t, err)
	must.Do(t, errors.Join(reader.Close(), third.Close(), second.Close()))
	fourth, err := Open(path)
	must.Do(t, err)
	must.Do(t, fourth.Close())
}

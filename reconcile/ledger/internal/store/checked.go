package store

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/lockfile"
)

// To check the whole file takes seconds once it has a full history, so that is not done
// each time a ledger is opened, but where it was not closed in good order, where it was
// changed since, and once in [wholeCheckEvery]. Each opening checks every table but the
// history: whatever a decision rests on.
//
// What is not checked at opening is not trusted either. SQLite looks at each page as it
// reads it, and says SQLITE_CORRUPT where the page is not of its tree, where a cell or a
// free block lies outside of the page, where a page number lies outside of the file, or
// where a record does not fit its cell; and a file that is shorter than its header says
// cannot be opened at all. So a damaged part of the history is found by the read or write
// that first comes across it, as [ErrDamaged]; and the next opening checks the whole file.
// SQLite keeps no checksums: a value that changed inside its cell is found neither so nor
// by a check of the whole. In the history its hashes show it.

// wholeCheckEvery is after how long the whole file is checked again, for damage that a
// disk did by itself.
const wholeCheckEvery = 7 * 24 * time.Hour

// CheckedPath is the file beside a ledger that says when the whole ledger was checked. It
// may be deleted at any time.
func CheckedPath(ledger string) string { return ledger + "-checked" }

// checkRecord is what that file holds. One that cannot be read is the zero value.
type checkRecord struct {
	At time.Time `json:"at,omitzero"` // of the last check of the whole file; zero: it did not end well
	// Size and Modified are those of the ledger when its last writer closed it; zero
	// while one has it open, and after one that did not close it.
	Size     int64     `json:"size,omitempty"`
	Modified time.Time `json:"modified,omitzero"`
}

// counts reports whether a ledger with such a record needs no check of the whole.
func (r checkRecord) counts(ledger os.FileInfo, now time.Time) bool {
	age := now.Sub(r.At)
	return r.Size != 0 && r.Size == ledger.Size() && r.Modified.Equal(ledger.ModTime()) && age >= 0 && age < wholeCheckEvery
}

// checking is one process's hold on the record. Every process that writes to the ledger
// shares the lock of the record's file, having checked the ledger or found it to be checked:
// whoever finds the lock shared need not check. The zero value has none, and nothing counts.
type checking struct {
	file    *os.File    // nil: none
	damaged atomic.Bool // damage was found since
}

// begin reports whether the whole ledger is to be checked; where it is, the caller says with
// [checking.passed] that it was. write is for those that will write to the ledger; others
// leave the record as it is.
func (c *checking) begin(ledger string, write bool) (whole bool) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR | os.O_CREATE
	}
	file, err := os.OpenFile(CheckedPath(ledger), flags, 0o600)
	if err != nil {
		return true
	}
	alone, err := firstOf(file)
	if err != nil {
		_ = file.Close()
		return true
	}
	if !write {
		whole = alone && !recorded(file, ledger)
		_ = lockfile.Release(file)
		return whole
	}
	c.file = file
	if !alone {
		return false
	}
	record, counts := readRecord(file), recorded(file, ledger)
	if !counts {
		record.At = time.Time{}
	}
	// The end of this process makes it whole.
	if err := putRecord(file, checkRecord{At: record.At}); err != nil || share(file) != nil {
		c.drop()
		return true
	}
	return !counts
}

// firstOf reports whether no process writes to the ledger, and then has the lock alone;
// else it shares the lock. A reader that asks the same has it for a moment, so that it is
// tried twice.
func firstOf(file *os.File) (alone bool, err error) {
	for range 2 {
		if alone, err = lockfile.TryLock(file); alone || err != nil {
			return alone, err
		}
		if err := share(file); err != nil {
			return false, err
		}
	}
	return false, nil
}

// share takes the lock together with others. Whoever has it alone has it for a moment only.
func share(file *os.File) error {
	for range 100 {
		if taken, err := lockfile.TryShare(file); taken || err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the lock of the check was not to be had")
}

// passed records that the whole ledger was checked and found sound.
func (c *checking) passed() {
	if c.file != nil && putRecord(c.file, checkRecord{At: time.Now()}) != nil {
		c.drop()
	}
}

// end records that the ledger was closed in good order, unless another process writes to it.
// The database must be closed.
func (c *checking) end(ledger string, good bool) {
	if c.file == nil {
		return
	}
	defer c.drop()
	alone, err := lockfile.TryLock(c.file)
	if err != nil || !alone || !good || c.damaged.Load() {
		return
	}
	info, err := os.Stat(ledger)
	if record := readRecord(c.file); err == nil && !record.At.IsZero() {
		// What cannot be recorded leaves the record as of a process that was killed.
		_ = putRecord(c.file, checkRecord{At: record.At, Size: info.Size(), Modified: info.ModTime()})
	}
}

// noted returns an error, and takes note where it says that the ledger is damaged.
func (c *checking) noted(err error) error {
	if err != nil && (errors.Is(err, ErrDamaged) || kindOf(err) == ErrDamaged) {
		c.damaged.Store(true)
	}
	return err
}

func (c *checking) drop() {
	_ = lockfile.Release(c.file)
	c.file = nil
}

func recorded(file *os.File, ledger string) bool {
	info, err := os.Stat(ledger)
	return err == nil && readRecord(file).counts(info, time.Now())
}

func readRecord(file *os.File) (r checkRecord) {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, 1000))
	if err != nil || json.Unmarshal(data, &r) != nil {
		return checkRecord{}
	}
	return r
}

// putRecord replaces what is in the file. One that is cut short by a loss of power cannot be
// read, and so does not count.
func putRecord(file *os.File, r checkRecord) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(append(data, '\n'), 0)
	return err
}

// sound refuses a file with a damaged structure: of the whole, or of all tables but the
// history.
func (d *disk) sound(ctx context.Context, whole bool) error {
	if whole {
		return d.quickCheck(ctx, `PRAGMA quick_check(1)`)
	}
	// The argument of each is the name of a table.
	return d.quickCheck(ctx, `
		SELECT c.quick_check FROM (SELECT 'sqlite_schema' AS name UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'history') AS t,
			pragma_quick_check(t.name) AS c WHERE c.quick_check <> 'ok' UNION ALL SELECT 'ok' LIMIT 1`)
}

func (d *disk) quickCheck(ctx context.Context, query string) error {
	var sound string
	if err := d.db.QueryRowContext(ctx, query).Scan(&sound); err != nil {
		return err
	}
	if sound != "ok" {
		return Fault(ErrDamaged, sound)
	}
	return nil
}

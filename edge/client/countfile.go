package client

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/seawall-dev/seawall/edge"
)

// CountFile is a [Store] in a file that processes lock in turn. The file holds
// the windows of all credentials that are in use: two lines, a checksum and JSON.
// A credential is in it as a keyed hash, whose key is made with the file: no one
// who reads it can tell whether a guess is right without the key, and the key is
// of no use anywhere else.
//
// It is written in place and not synced: a process that is killed has written or
// not, and after a loss of power the checksum tells. The longest it can grow to
// is a few hundred counts for each credential that was used lately.
//
// Most often no other process has written it since this one has: then it is read and
// compared, and not decoded.
type CountFile struct {
	Path       string // in a folder that only we can write to
	BaseURL    string // of the platform
	Credential func() (edge.Secret, error)

	mu   sync.Mutex // held before the lock of the file is waited for, and guards what follows
	read []byte     // room for the file
	kept *book      // as the file had it when this process wrote it last; nil: not known
	text []byte     // the file as it was then
}

// book is the file.
type book struct {
	Version int                `json:"version"`
	Salt    []byte             `json:"salt"`
	Windows map[string]*Window `json:"windows"`
	Lost    int64              `json:"lost,omitempty"` // when an earlier file was found damaged
}

const (
	bookVersion = 1
	saltSize    = 32
	maxBook     = 4 << 20
	// lostFor is how long a credential that is not in the file may have been in the
	// damaged one.
	lostFor = time.Hour
)

// Update implements [Store].
func (f *CountFile) Update(change func(*Window, time.Time)) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() {
		if err != nil {
			err = fmt.Errorf("sharing the count of requests: %w", err)
		}
	}()
	credential, err := f.Credential()
	if err != nil {
		return err
	}
	file, err := lockedfile.OpenFile(f.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	now := time.Now()
	b, err := f.book(file, now)
	if err != nil {
		return err
	}
	f.kept = nil // until it is written
	change(b.window(keyOf(b.Salt, f.BaseURL, credential), now), now)
	b.prune(now)
	if f.text, err = b.write(file); err == nil {
		f.kept = b.told()
	}
	return err
}

// Alone implements [Store]: half of the budget, so that the daemon and one command line of the
// same machine keep to it together.
func (f *CountFile) Alone(requests int) int { return max(1, requests/2) }

// book reads the file; one that is not whole is begun anew, in doubt. Only a
// file that cannot be read at all is an error.
func (f *CountFile) book(file io.ReaderAt, now time.Time) (*book, error) {
	read := bytes.NewBuffer(f.read[:0])
	if _, err := read.ReadFrom(io.NewSectionReader(file, 0, maxBook)); err != nil {
		return nil, err
	}
	data := read.Bytes()
	f.read = data
	if f.kept != nil && bytes.Equal(data, f.text) {
		return f.kept, nil
	}
	if b := parseBook(data); b != nil {
		return b, nil
	}
	b := &book{Version: bookVersion, Salt: make([]byte, saltSize), Windows: map[string]*Window{}}
	if rand.Read(b.Salt); len(data) > 0 {
		b.Lost = now.UnixMilli()
	}
	return b, nil
}

// parseBook returns nil for what is not a whole book.
func parseBook(data []byte) *book {
	sum, rest, _ := bytes.Cut(data, []byte("\n"))
	text, _, ended := bytes.Cut(rest, []byte("\n")) // behind it may stand the end of a longer one
	if !ended || string(sum) != checksum(text) {
		return nil
	}
	var b book
	if json.Unmarshal(text, &b) != nil || b.Version != bookVersion || len(b.Salt) != saltSize {
		return nil
	}
	if b.Windows == nil {
		b.Windows = map[string]*Window{}
	}
	return &b
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// keyOf names a credential.
func keyOf(salt []byte, base string, credential edge.Secret) string {
	mac := hmac.New(sha256.New, salt)
	fmt.Fprintf(mac, "%s\n%s", strings.TrimRight(base, "/"), credential.Reveal())
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func (b *book) window(key string, now time.Time) *Window {
	w := b.Windows[key]
	if w == nil {
		w = &Window{Lost: b.Lost != 0 && now.Sub(time.UnixMilli(b.Lost)).Abs() < lostFor}
		b.Windows[key] = w
	}
	return w
}

// prune drops windows in which nothing counts any more; not while one that is
// missing would be taken to be lost.
func (b *book) prune(now time.Time) {
	if now.Sub(time.UnixMilli(b.Lost)).Abs() < lostFor {
		return
	}
	b.Lost = 0
	for key, w := range b.Windows {
		if w == nil || w.over(now) {
			delete(b.Windows, key)
		}
	}
}

// write writes over what was there before the end is cut, and returns what it has written: one that
// is killed in between leaves a whole book with something behind it.
func (b *book) write(file *lockedfile.File) ([]byte, error) {
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	data := fmt.Appendf(nil, "%s\n%s\n", checksum(text), text)
	if _, err := file.WriteAt(data, 0); err != nil {
		return nil, err
	}
	return data, file.Truncate(int64(len(data)))
}

// told is the book as the file says it: that a count was lost is not in it.
func (b *book) told() *book {
	for _, w := range b.Windows {
		if w != nil {
			w.Lost = false
		}
	}
	return b
}

// Package redact takes secrets out of text.
//
//	r := redact.New(500)
//	r.Add("k8Jx-2vQ_pLm9…")
//	r.String("you sent k8Jx-2vQ_pLm9") // "you sent [secret]"
//
// It finds every piece of a secret of [Piece] characters or more: in any case, backwards,
// in Base64 of both alphabets and at any position in what was encoded, in hexadecimal, and
// all of these with percent signs, backslashes or HTML entities as escapes, one inside
// the other. White space and colons in between do not hide it. A secret shorter than
// that is found as a whole; one shorter than [Shortest] is not looked for.
//
// What is looked for is a set of hashes, one for each piece of each form, so the time
// depends on the length of the text and not on the number of secrets: some 50 MB of
// text a second.
//
// It may take too much: words of a passphrase are found in other text, too.
package redact

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// Mark stands in place of a secret.
	Mark = "[secret]"
	// Piece is the length of the shortest part of a secret that is found, in characters.
	Piece = 12
	// Shortest is the length of the shortest secret that is found, in bytes.
	Shortest = 6
)

// Redactor knows secrets. It is safe for concurrent use. Make one with [New].
type Redactor struct {
	most int // secrets

	mu      sync.RWMutex
	known   map[string]*use
	clock   atomic.Int64
	pending []string // known, and not in the tables yet
	tables  [Piece + 1]table
}

// use is when a secret was added last, by the count of additions.
type use struct{ at atomic.Int64 }

// New returns a Redactor that knows no secret yet. It keeps the most that were added
// last: memory does not grow with the number of tokens that a process creates. Each
// takes some 50 KB.
func New(most int) *Redactor {
	r := &Redactor{most: most, known: map[string]*use{}}
	r.clear()
	return r
}

// Add has a secret looked for from now on. One that is known counts as added anew.
func (r *Redactor) Add(secret string) {
	if len(secret) < Shortest {
		return
	}
	now := r.clock.Add(1)
	r.mu.RLock()
	known := r.known[secret]
	r.mu.RUnlock()
	if known != nil {
		known.at.Store(now)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[secret] != nil {
		return
	}
	added := &use{}
	added.at.Store(now)
	r.known[secret] = added
	r.pending = append(r.pending, secret)
	if len(r.known) > r.most {
		r.forget()
	}
}

// Forget drops all secrets.
func (r *Redactor) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.pending = map[string]*use{}, nil
	r.clear()
}

// forget drops the half of the secrets that were added longest ago.
func (r *Redactor) forget() {
	oldest := slices.SortedFunc(maps.Keys(r.known), func(a, b string) int {
		return cmp.Compare(r.known[a].at.Load(), r.known[b].at.Load())
	})
	for _, secret := range oldest[:(len(oldest)+1)/2] {
		delete(r.known, secret)
	}
	r.clear()
	r.pending = slices.Collect(maps.Keys(r.known))
}

func (r *Redactor) clear() {
	for width := range r.tables {
		r.tables[width] = newTable(width)
	}
}

// read takes the lock for reading once all secrets are in the tables. Most secrets of a
// test, and those that a process is about to drop, are never printed near: the work is done
// with the first text.
func (r *Redactor) read() {
	for r.mu.RLock(); len(r.pending) > 0; r.mu.RLock() {
		r.mu.RUnlock()
		r.index()
	}
}

// index puts the pending secrets into the tables.
func (r *Redactor) index() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range r.pending {
		for _, f := range forms(secret) {
			r.tables[f.width].add(f)
		}
	}
	r.pending = nil
	for width := range r.tables {
		r.tables[width].fit()
	}
}

// String returns text with [Mark] in place of each secret.
func (r *Redactor) String(text string) string {
	found := find(r, text)
	if len(found) == 0 {
		return text
	}
	return string(replace([]byte(text), found))
}

// Bytes is String for bytes. It returns text itself where there is no secret in it, and
// never changes it.
func (r *Redactor) Bytes(text []byte) []byte {
	found := find(r, text)
	if len(found) == 0 {
		return text
	}
	return replace(text, found)
}

// Writer returns a writer that writes to w without secrets. Each call of Write is
// looked at by itself: a line, or a value, must not be cut in two.
func (r *Redactor) Writer(w io.Writer) io.Writer { return writer{r, w} }

type writer struct {
	redactor *Redactor
	to       io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := w.to.Write(w.redactor.Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

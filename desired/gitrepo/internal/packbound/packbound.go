// Package packbound bounds what a pack becomes when it is unpacked, before
// anything unpacks it.
//
// Git packs are compressed twice over: a few bytes stand for a run of zeros,
// and a few more for an object that repeats another one many times. What
// indexes a pack makes every object of it whole, so 16 KB can take gigabytes of
// memory, and 250 KB hours. Both sizes stand in the pack, though: that of a
// plain object in its header, that of a difference at its beginning. A [Writer]
// reads these as the pack passes by, and adds them up:
//
//	w := packbound.NewWriter(pack, packbound.Limits{ObjectBytes: 256 << 20, InflatedBytes: 16 << 30}, nil)
//	_, err := io.Copy(w, sent)
//	err = errors.Join(err, w.Close()) // *Error when it was over a bound
//
// It inflates what is plain, within the bounds, and makes no difference whole, but for
// that of a commit on the way to its [Tip].
package packbound

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// Limits bound one pack. A zero field is no bound.
type Limits struct {
	PackBytes     int64 // as it is sent
	Objects       int64
	ObjectBytes   int64 // of one object when it is whole
	InflatedBytes int64 // of all objects when they are whole
	DiskBytes     int64 // of the pack with its index
}

// indexBytes is what an index takes for one object: its name, checksum and place.
const indexBytes = 20 + 4 + 4 + 8

// Bound names what a pack was over.
type Bound string

// The bounds of [Error].
const (
	PackBytes     Bound = "pack bytes"
	Objects       Bound = "objects"
	ObjectBytes   Bound = "object bytes"
	InflatedBytes Bound = "inflated bytes"
	DiskBytes     Bound = "bytes on disk"
)

// Error is a pack over a bound.
type Error struct {
	Bound Bound
	Limit int64
	Found int64 // at least so much
}

func (e *Error) Error() string {
	return fmt.Sprintf("the pack is over the bound of %d %s", e.Limit, e.Bound)
}

// trailer is the length of a pack's checksum, its last bytes. What indexes a
// pack makes nothing whole before it has seen them.
const trailer = 20

// header is the length of what a pack begins with: its signature, the format's
// version, and how many objects there are.
const header = 12

// Writer hands a pack on, all but the last bytes of it at once, and these when
// the whole of it is known to be within bounds.
type Writer struct {
	to      io.WriteCloser
	limits  Limits
	written int64
	index   int64  // what the index will take, in bytes
	head    []byte // the first bytes, until there are as many as a header has
	held    []byte // the last bytes so far, at most as long as the trailer
	scan    *io.PipeWriter
	verdict chan error
}

// NewWriter bounds what is written to w, and has the tip judged; nil: there is none.
func NewWriter(w io.WriteCloser, limits Limits, tip *Tip) *Writer {
	from, to := io.Pipe()
	b := &Writer{to: w, limits: limits, scan: to, verdict: make(chan error, 1)}
	go func() {
		err := scan(from, limits, newFinder(tip))
		from.CloseWithError(err) // nil ends in io.ErrClosedPipe, for bytes after the last
		b.verdict <- err
	}()
	return b
}

// Write implements io.Writer.
func (b *Writer) Write(p []byte) (int, error) {
	b.written += int64(len(p))
	if err := b.limits.sent(b.written, b.index); err != nil {
		return 0, err
	}
	if _, err := b.scan.Write(p); err != nil {
		return 0, err
	}
	n := len(p)
	if len(b.head) < header {
		// What indexes a pack makes room for as many objects as its header claims.
		b.head = append(b.head, p...)
		if len(b.head) < header {
			return n, nil
		}
		objects := binary.BigEndian.Uint32(b.head[8:])
		if err := b.limits.count(objects); err != nil {
			return 0, err
		}
		b.index = int64(objects) * indexBytes
		if err := b.limits.sent(b.written, b.index); err != nil {
			return 0, err
		}
		p = b.head
	}
	if err := b.forward(p); err != nil {
		return 0, err
	}
	return n, nil
}

// within is an [Error] where what was found is over a limit. A number below zero is one that
// was too large to be counted.
func within(bound Bound, limit, found int64) error {
	if limit > 0 && (found < 0 || found > limit) {
		return &Error{bound, limit, found}
	}
	return nil
}

func (l Limits) count(objects uint32) error { return within(Objects, l.Objects, int64(objects)) }

func (l Limits) sent(pack, index int64) error {
	return cmp.Or(within(PackBytes, l.PackBytes, pack), within(DiskBytes, l.DiskBytes, pack+index))
}

// forward hands on what cannot be the trailer any more.
func (b *Writer) forward(p []byte) error {
	b.held = append(b.held, p[max(0, len(p)-trailer):]...)
	p = p[:max(0, len(p)-trailer)]
	if over := len(b.held) - trailer; over > 0 {
		if _, err := b.to.Write(b.held[:over]); err != nil {
			return err
		}
		b.held = append(b.held[:0], b.held[over:]...)
	}
	if len(p) == 0 {
		return nil
	}
	_, err := b.to.Write(p)
	return err
}

// Close implements io.Closer. The pack is whole, or was over a bound.
func (b *Writer) Close() error {
	_ = b.scan.Close() // a pipe, whose end the scanner reads
	err := <-b.verdict
	if b.written == 0 {
		err = nil // nothing was sent, which is for others to judge
	}
	if err == nil {
		_, err = b.to.Write(b.held)
	} else {
		// A pack that ends before its checksum would be unpacked all the same.
		_, _ = b.to.Write(make([]byte, trailer))
	}
	if closeErr := b.to.Close(); err == nil {
		err = closeErr
	}
	return err
}

// scan reads a pack and ends with it, with what is wrong with it, or with the
// bound that it is over.
func scan(r io.Reader, limits Limits, tip *finder) error {
	s := packfile.NewScanner(r)
	_, count, err := s.Header()
	if err != nil {
		return err
	}
	if err := limits.count(count); err != nil {
		return err
	}
	sum := tally{limits: limits, tip: tip}
	for range count {
		if err := sum.next(s); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, r) // the checksum, for others to check
	return err
}

// tally adds up what objects become.
type tally struct {
	limits Limits
	tip    *finder
	total  int64
}

func (t *tally) next(s *packfile.Scanner) error {
	object, err := s.NextObjectHeader()
	if err != nil {
		return err
	}
	difference := object.Type == plumbing.OFSDeltaObject || object.Type == plumbing.REFDeltaObject
	if err := t.one(object.Length); err != nil {
		return err
	}
	whole := object.Length
	if !difference {
		if err := t.add(whole); err != nil {
			return err
		}
	}
	var begin start
	var content bytes.Buffer
	to, wanted := io.Writer(&begin), t.tip.wants(object)
	if wanted {
		to = io.MultiWriter(&begin, &content)
	}
	if _, _, err := s.NextObject(to); err != nil {
		return err
	}
	if difference {
		if whole, err = begin.target(); err == nil {
			err = t.add(whole)
		}
		if err != nil {
			return err
		}
	}
	if !wanted {
		return nil
	}
	return t.tip.found(object, content.Bytes(), whole)
}

func (t *tally) one(size int64) error { return within(ObjectBytes, t.limits.ObjectBytes, size) }

func (t *tally) add(size int64) error {
	if err := t.one(size); err != nil {
		return err
	}
	t.total += size
	return within(InflatedBytes, t.limits.InflatedBytes, t.total)
}

// start keeps the first bytes of an object: those of a difference are the size of what it
// begins with, and that of what it leads to.
type start []byte

func (s *start) Write(p []byte) (int, error) {
	if room := 2*binary.MaxVarintLen64 - len(*s); room > 0 {
		*s = append(*s, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// target is the size of what the difference leads to.
func (s start) target() (int64, error) {
	_, n := binary.Uvarint(s)
	if n <= 0 {
		return 0, packfile.ErrInvalidDelta
	}
	size, n := binary.Uvarint(s[n:])
	if n <= 0 || int64(size) < 0 {
		return 0, packfile.ErrInvalidDelta
	}
	return int64(size), nil
}

package scan

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// open undoes compression, tells what cannot be read apart, and passes over a
// byte order mark. size is that of the buffer, and so of the longest line.
func open(r io.Reader, size int) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, size)
	magic, err := in.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("undoing gzip: %w", err)
		}
		in = bufio.NewReaderSize(unpacked, size)
	case bytes.HasPrefix(magic, []byte("BZh")):
		in = bufio.NewReaderSize(bzip2.NewReader(in), size)
	}
	for _, u := range unreadable {
		if bytes.HasPrefix(magic, []byte(u.magic)) {
			return nil, fmt.Errorf("it is %s", u.what)
		}
	}
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	return in, nil
}

// unreadable are beginnings of files that deserve a better word than "not
// recognised".
var unreadable = []struct{ magic, what string }{
	{"\x28\xb5\x2f\xfd", "compressed with zstd: pipe it in through zstdcat"},
	{"\xfd7zXZ\x00", "compressed with xz: pipe it in through xzcat"},
	{"PK\x03\x04", "a zip archive (Terraform's own plan file is one: use terraform show -json)"},
	{"\xff\xfe", "UTF-16: convert it to UTF-8 first"},
	{"\xfe\xff", "UTF-16: convert it to UTF-8 first"},
}

// lines reads lines of bounded length.
type lines struct {
	r *bufio.Reader
	s *sink
	n int // number of the line that next returned
}

// next returns the next line without its end; it is valid until the next call.
// Lines longer than the bound are passed over whole, and counted. io.EOF at the
// end.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.r.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return nil, err
		}
		l.n++
		l.s.stats.Lines++
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.s.skip(l.n, "longer than the bound of a line")
			if err := l.passOver(); err != nil {
				return nil, err
			}
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case len(line) > l.s.o.MaxLine:
			l.s.skip(l.n, "longer than the bound of a line")
			continue
		}
		return trimEnd(line), nil
	}
}

// passOver reads to the end of the line that is being read.
func (l *lines) passOver() error {
	for {
		_, err := l.r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// each calls f with every line.
func (l *lines) each(f func(line []byte) error) error {
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(line)
		}
		if err != nil {
			return err
		}
	}
}

// readWhole returns what is left of a document, and an error where that is more
// than the bound.
func readWhole(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("it is longer than %d MiB, and must be read whole", limit>>20)
	}
	return text, nil
}

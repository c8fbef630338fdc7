package client

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A body is read to its end, however long it is said to be, and takes no more room than it needs
// where that was said.
func TestReadBody(t *testing.T) {
	text := strings.Repeat("x", 2000)
	for _, length := range []int64{-1, 0, 1, 1999, 2000, 2001, 1 << 40} {
		for name, r := range map[string]io.Reader{"": strings.NewReader(text), "by byte": iotest.OneByteReader(strings.NewReader(text)), "end with data": iotest.DataErrReader(strings.NewReader(text))} {
			body, err := readBody(r, length)
			if string(body) != text || err != nil {
				t.Errorf("%d bytes are said, %s: read %d bytes, %v", length, name, len(body), err)
			}
			if length == 2000 && cap(body) > 2048 {
				t.Errorf("%s: it has room for %d bytes", name, cap(body))
			}
		}
	}
	for _, end := range []error{io.ErrUnexpectedEOF, fmt.Errorf("the connection was lost: %w", io.EOF)} {
		cut := io.MultiReader(strings.NewReader(text), iotest.ErrReader(end))
		if body, err := readBody(cut, 3000); len(body) != 2000 || !errors.Is(err, end) {
			t.Errorf("one that was cut short: %d bytes, %v, want %v", len(body), err, end)
		}
	}
}

// The room for a body of which it is not said how long it is, as of one that was compressed, doubles:
// it is copied seldom.
func TestReadBodyOfUnknownLength(t *testing.T) {
	r := &reads{from: strings.NewReader(strings.Repeat("x", 1<<20))} // each fills the room
	if body, err := readBody(r, -1); len(body) != 1<<20 || err != nil || r.times > 14 {
		t.Errorf("read %d bytes in %d times: %v", len(body), r.times, err)
	}
}

// reads counts how often it is read from.
type reads struct {
	from  io.Reader
	times int
}

func (r *reads) Read(p []byte) (int, error) {
	r.times++
	return r.from.Read(p)
}

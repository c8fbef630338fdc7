package client

import (
	"errors"
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
	cut := io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF))
	if body, err := readBody(cut, 3000); len(body) != 2000 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("one that was cut short: %d bytes, %v", len(body), err)
	}
}

package scan

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

// open undoes compression and UTF-16, tells what cannot be read apart, and passes
// over a byte order mark. size is that of the buffer, and so of the longest line.
func open(r io.Reader, size int) (*bufio.Reader, error) {
	first := size
	if whole, ok := r.(*bytes.Reader); ok {
		first = min(size, max(whole.Len()+1, headSize)) // one more, to see that it ends
	}
	in := bufio.NewReaderSize(r, first)
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
	case isUTF16(magic):
		in = bufio.NewReaderSize(&utf16Reader{in: in, little: magic[0] == 0xff}, size)
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
}

// isPacked reports whether a text is compressed in a way that open undoes.
func isPacked(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\x1f\x8b")) || bytes.HasPrefix(text, []byte("BZh"))
}

// isUTF16 reports whether a text begins with the mark that says so: PowerShell
// writes such scripts.
func isUTF16(text []byte) bool {
	return len(text) >= 2 && (text[0] == 0xff && text[1] == 0xfe || text[0] == 0xfe && text[1] == 0xff)
}

// utf16Reader turns UTF-16 into UTF-8.
type utf16Reader struct {
	in      io.Reader
	little  bool
	high    rune // the first half of a pair
	pending []byte
	begun   bool
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.pending) == 0 {
		var unit [2]byte
		if _, err := io.ReadFull(u.in, unit[:]); err != nil {
			return 0, err
		}
		var r rune
		if u.little {
			r = rune(binary.LittleEndian.Uint16(unit[:]))
		} else {
			r = rune(binary.BigEndian.Uint16(unit[:]))
		}
		switch {
		case !u.begun: // the mark itself
			u.begun = true
		case utf16.IsSurrogate(r) && u.high == 0:
			u.high = r
		case u.high != 0:
			u.pending = append(u.pending, string(utf16.DecodeRune(u.high, r))...)
			u.high = 0
		default:
			u.pending = append(u.pending, string(r)...)
		}
	}
	n := copy(p, u.pending)
	u.pending = u.pending[n:]
	return n, nil
}

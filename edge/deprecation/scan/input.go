package scan

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
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
		decoded := unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Reader(in)
		in = bufio.NewReaderSize(decoded, size)
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

package call

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Lines reads lines of bounded length.
type Lines struct {
	In  *bufio.Reader
	Out *Sink
	N   int // number of the line that Next returned
}

// Next returns the next line without its end; it is valid until the next call.
// Lines longer than the bound are passed over whole, and counted. io.EOF at the
// end.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.In.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return nil, err
		}
		l.N++
		l.Out.Stats.Lines++
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.Out.Skip(l.N, tooLong)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = l.In.ReadSlice('\n')
			}
			if err != nil {
				return nil, err
			}
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case len(line) > l.Out.MaxLine:
			l.Out.Skip(l.N, tooLong)
			continue
		}
		return TrimEnd(line), nil
	}
}

const tooLong = "longer than the bound of a line"

// Each calls f with every line.
func (l *Lines) Each(f func(line []byte)) error {
	for {
		line, err := l.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if f(line); l.Out.Stopped != nil {
			return l.Out.Stopped
		}
	}
}

// TrimEnd cuts the end of a line off.
func TrimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// CountLines counts the lines of a text; the last one needs no end.
func CountLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

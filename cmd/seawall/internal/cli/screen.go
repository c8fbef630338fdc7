package cli

import (
	"bytes"
	"io"
	"sync"
)

// screen is a terminal with a status line below what is written to it: the two never
// share a line. It is safe for concurrent use.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	width  func() int // columns; zero is unknown
	status string     // empty for none
	open   bool       // what was written last does not end its line
}

const wipeLine = "\r\x1b[K"

// Write writes above the status line.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if s.status == "" || s.open {
		n, err := s.out.Write(p)
		s.ends(p)
		return n, err
	}
	text := append([]byte(wipeLine), p...)
	if s.ends(p); !s.open {
		text = append(text, s.status...)
	}
	if _, err := s.out.Write(text); err != nil { // at once: two writes flicker
		return 0, err
	}
	return len(p), nil
}

func (s *screen) ends(p []byte) { s.open = !bytes.HasSuffix(p, []byte("\n")) }

// show replaces the status line; empty removes it. While a line is open, such as that
// of a question, nothing is shown.
func (s *screen) show(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status = cut(status, s.width())
	if s.open || status == s.status {
		return
	}
	if status == "" {
		_, _ = io.WriteString(s.out, wipeLine)
	} else {
		_, _ = io.WriteString(s.out, "\r"+status+"\x1b[K")
	}
	s.status = status
}

// answered says that the person has ended the open line.
func (s *screen) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.status = false, ""
}

// cut shortens text to one line of so many columns: a status line that wraps cannot be
// wiped. It counts a rune as one column.
func cut(text string, width int) string {
	runes := []rune(text)
	if width <= 1 || len(runes) < width {
		return text
	}
	return string(runes[:width-2]) + "…"
}

// aside writes to another stream that may be the same terminal: the status line is
// wiped first, and drawn again with the next progress.
type aside struct {
	*screen
	out io.Writer
}

func (a aside) Write(p []byte) (int, error) {
	a.show("")
	return a.out.Write(p)
}

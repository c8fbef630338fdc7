package redact

import (
	"bytes"
	"io"
)

// WriterBut is [Redactor.Writer] for an answer to someone who has said something. What they have
// said comes back as it is, however it is written: it is no news to them, and a mark in its place
// would confirm a guess. With that a secret could be found out piece by piece.
//
// said is asked where there is something to take out. A secret that goes on where what was said ends is taken out as a whole.
func (r *Redactor) WriterBut(w io.Writer, said func() []string) io.Writer {
	return butWriter{writer{r, w}, said}
}

type butWriter struct {
	writer
	said func() []string
}

func (w butWriter) Write(p []byte) (int, error) {
	found := find(w.redactor, p)
	kept := found[:0]
	var said [][]byte // worked out where there is something to compare
	for _, s := range found {
		if said == nil {
			for _, text := range w.said() {
				said = append(said, compared([]byte(text))...)
			}
		}
		if !isPart(compared(p[s.from:s.to]), said) {
			kept = append(kept, s)
		}
	}
	text := p
	if len(kept) > 0 {
		text = replace(p, kept)
	}
	if _, err := w.to.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// compared are the views of a text in which secrets are looked for.
func compared(text []byte) (views [][]byte) {
	views = append(views, fold(text))
	for range deepest {
		plain, _, changed := unescape(text, nil, nil)
		if !changed {
			break
		}
		text = plain
		views = append(views, fold(text))
	}
	return views
}

// isPart reports whether one of some texts is a part of one of others.
func isPart(texts, of [][]byte) bool {
	for _, text := range texts {
		if len(text) < Shortest { // of escapes of blanks nothing is left
			continue
		}
		for _, other := range of {
			if bytes.Contains(other, text) {
				return true
			}
		}
	}
	return false
}

package redact

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"unicode/utf8"
)

// span is a part of a text, from the first byte to the one behind the last.
type span struct{ from, to int }

// deepest is how many escapes stand one inside the other, as in "%2541", that are taken
// off.
const deepest = 3

// find returns the parts of a text that are pieces of secrets, in order and apart.
func find[T string | []byte](r *Redactor, text T) []span {
	if len(text) < Shortest {
		return nil
	}
	r.read()
	defer r.mu.RUnlock()
	if len(r.known) == 0 {
		return nil
	}
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	b.text = append(b.text[:0], text...)
	view, at := b.text, []int32(nil)
	found := r.scan(b, view, at, nil)
	for i := range deepest {
		var changed bool
		if view, at, changed = unescape(view, at, &b.layers[i%2]); !changed {
			break
		}
		found = r.scan(b, view, at, found)
	}
	return joined(found)
}

// buffer is what a search writes to.
type buffer struct {
	text   []byte
	layers [2]layer // of views, which are the text with escapes taken off: each is made of the one before
	folded []byte
	places []int32 // of the folded bytes in the view; empty until one is asked for
}

var buffers = sync.Pool{New: func() any { return &buffer{} }}

// fold fills folded from a view.
func (b *buffer) fold(view []byte) {
	out := slices.Grow(b.folded[:0], len(view))[:len(view)]
	n := 0
	for _, c := range view {
		f := folded[c]
		out[n] = f // what is left out is written over
		if f != 0 {
			n++
		}
	}
	b.folded, b.places = out[:n], b.places[:0]
}

// place is where a folded byte stands in the view. Most texts have no secret, and no place is asked for.
func (b *buffer) place(view []byte, i int) int {
	if len(b.places) == 0 {
		for at, c := range view {
			if folded[c] != 0 {
				b.places = append(b.places, int32(at))
			}
		}
	}
	return int(b.places[i])
}

// scan adds the pieces in a view, as parts of the text that it was made of. at is where
// each byte of the view stands in the text, and its end; nil where it is the text.
func (r *Redactor) scan(b *buffer, view []byte, at []int32, found []span) []span {
	b.fold(view)
	for width := range r.tables {
		r.tables[width].scan(b.folded, func(i int) {
			hit := span{b.place(view, i), b.place(view, i+width-1) + 1}
			if at != nil {
				hit = span{int(at[hit.from]), int(at[hit.to])}
			}
			if last := len(found) - 1; last >= 0 && found[last].from <= hit.from && hit.from <= found[last].to {
				found[last].to = max(found[last].to, hit.to)
				return
			}
			found = append(found, hit)
		})
	}
	return found
}

// joined sorts spans and makes one of those that touch.
func joined(found []span) []span {
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	apart := found[:0]
	for _, s := range found {
		if last := len(apart) - 1; last >= 0 && s.from <= apart[last].to {
			apart[last].to = max(apart[last].to, s.to)
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// replace puts the mark in place of each span.
func replace(text []byte, found []span) []byte {
	out := make([]byte, 0, len(text))
	end := 0
	for _, s := range found {
		s = whole(text, s)
		out = append(append(out, text[end:max(end, s.from)]...), Mark...)
		end = max(end, s.to)
	}
	return append(out, text[end:]...)
}

// whole makes a span larger, so that no half of a character or of an escape with a
// backslash is left.
func whole(text []byte, s span) span {
	for s.from > 0 && !utf8.RuneStart(text[s.from]) {
		s.from--
	}
	for s.to < len(text) && !utf8.RuneStart(text[s.to]) {
		s.to++
	}
	before := text[:s.from]
	if (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 1 {
		s.from--
	}
	return s
}

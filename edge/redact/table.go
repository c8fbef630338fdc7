package redact

import (
	"encoding/binary"
	"math/bits"
)

// table is a set of pieces of one width, by their hashes.
//
// A text is not searched for each piece at each place. Every piece of twelve characters has
// one of six in it that begins at a multiple of seven: only at those places is anything
// looked up, in a set of bits, and only where that has something are the pieces around the
// place looked up.
type table struct {
	width  int
	gram   int // the width of what is looked up first
	stride int // and how far apart

	pieces map[uint64]struct{}
	grams  []uint64 // some twice
	filter []uint64 // bits; a gram may be in the set only where its own is set
	shift  int
}

func newTable(width int) table {
	gram := (width + 1) / 2
	return table{width: width, gram: gram, stride: width - gram + 1}
}

// odd is a multiplier that carries all bits of a number into the high ones.
const odd = 0x9e3779b97f4a7c15

// hash is that of a piece. Who finds two texts with one hash has the harmless one
// redacted.
func hash(piece []byte) (h uint64) {
	for _, c := range piece {
		h = (h ^ uint64(c)) * odd
		h ^= h >> 32
	}
	return h
}

// padding is what a folded text has behind its end: eight bytes are read at once.
const padding = 8

// gramAt is the gram at a place of a text with padding behind it.
func (t *table) gramAt(text []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(text[i:]) & (1<<(8*t.gram) - 1)
}

// add adds each piece of a form.
func (t *table) add(f form) {
	if t.pieces == nil {
		t.pieces = map[uint64]struct{}{}
	}
	var seen [256]uint8
	different, before := 0, -2 // before: where the last piece begins that was added
	padded := append(f.text, make([]byte, padding)...)
	for i, c := range f.text {
		if seen[c]++; seen[c] == 1 {
			different++
		}
		if i >= t.width {
			left := f.text[i-t.width]
			if seen[left]--; seen[left] == 0 {
				different--
			}
		}
		from := i - t.width + 1
		if from < 0 || !f.plain && different < fewest {
			continue
		}
		t.pieces[hash(f.text[from:i+1])] = struct{}{}
		first := from
		if before == from-1 {
			first += t.stride - 1 // the others are in that one
		}
		for ; first < from+t.stride; first++ {
			t.grams = append(t.grams, t.gramAt(padded, first))
		}
		before = from
	}
}

// bitsForEach is the size of the filter for each gram: one in so many other texts passes
// it.
const bitsForEach = 32

// fit makes the filter anew after pieces were added.
func (t *table) fit() {
	if len(t.grams) == 0 {
		return
	}
	width := max(6, bits.Len(uint(len(t.grams)*bitsForEach)))
	t.shift = 64 - width
	t.filter = make([]uint64, 1<<(width-6))
	for _, gram := range t.grams {
		bit := gram * odd >> t.shift
		t.filter[bit/64] |= 1 << (bit % 64)
	}
}

// scan calls hit with the place of each piece in a folded text of n bytes, which has
// padding behind it. It may call it twice.
func (t *table) scan(text []byte, n int, hit func(at int)) {
	if len(t.pieces) == 0 {
		return
	}
	mask := uint64(1)<<(8*t.gram) - 1
	for i := 0; i+t.gram <= n; i += t.stride {
		bit := (binary.LittleEndian.Uint64(text[i:]) & mask) * odd >> t.shift
		if t.filter[bit/64]>>(bit%64)&1 == 0 {
			continue
		}
		for from := max(0, i-t.stride+1); from <= min(i, n-t.width); from++ {
			if _, ok := t.pieces[hash(text[from:from+t.width])]; ok {
				hit(from)
			}
		}
	}
}

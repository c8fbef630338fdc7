package redact

import "math/bits"

// table is a set of pieces of one width, by their hashes. The hash of a piece follows from that
// of the piece a character before (Rabin and Karp), and is looked up in a set of bits first.
type table struct {
	width int
	drop  uint64 // the factor of the character that leaves a piece

	pieces map[uint64]struct{}
	filter []uint64 // bits; a hash may be in the set only where its own is set
	shift  int
}

func newTable(width int) table {
	t := table{width: width, drop: 1}
	for range width {
		t.drop *= odd
	}
	return t
}

// odd is a multiplier that carries all bits of a number into the high ones.
const odd = 0x9e3779b97f4a7c15

// next is the hash of the piece that ends at i, from that of the one before. Who finds two
// texts with one hash has the harmless one redacted.
func (t *table) next(hash uint64, text []byte, i int) uint64 {
	hash = hash*odd + uint64(text[i])
	if i >= t.width {
		hash -= uint64(text[i-t.width]) * t.drop
	}
	return hash
}

// add adds each piece of a form.
func (t *table) add(f form) {
	if t.pieces == nil {
		t.pieces = map[uint64]struct{}{}
	}
	var seen [256]uint8
	var hash uint64
	different := 0
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
		if hash = t.next(hash, f.text, i); i >= t.width-1 && (f.plain || different >= fewest) {
			t.pieces[hash] = struct{}{}
		}
	}
}

// bitsForEach is the size of the filter for each piece: one in so many other texts passes
// it.
const bitsForEach = 32

// fit makes the filter anew after pieces were added.
func (t *table) fit() {
	width := max(6, bits.Len(uint(len(t.pieces)*bitsForEach)))
	t.shift = 64 - width
	t.filter = make([]uint64, 1<<(width-6))
	for hash := range t.pieces {
		bit := hash * odd >> t.shift
		t.filter[bit/64] |= 1 << (bit % 64)
	}
}

// scan calls hit with the place of each piece in a folded text.
func (t *table) scan(text []byte, hit func(at int)) {
	if len(t.pieces) == 0 || len(text) < t.width {
		return
	}
	var hash uint64
	for i := range t.width - 1 {
		hash = t.next(hash, text, i)
	}
	drop, filter, shift := t.drop, t.filter, t.shift&63
	var left uint64 // the character that leaves the piece; none leaves the first
	for i, c := range text[t.width-1:] {
		hash = hash*odd + uint64(c) - left*drop
		left = uint64(text[i])
		bit := hash * odd >> shift
		if filter[bit/64]>>(bit%64)&1 == 0 {
			continue
		}
		if _, ok := t.pieces[hash]; ok {
			hit(i)
		}
	}
}

package judge

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// class is what values a comparison has. The platform compares a field with one class alone.
type class byte

const (
	unknownClass class = iota
	texts
	numbers
	addresses
)

// interval is all values from low to high. Values are texts that sort as what they stand for
// does: a string is itself, a number eight bytes, an address the digit of its family and its bytes.
type interval struct{ low, high string }

// set is a set of values of a class: intervals in order that do not touch.
type set struct {
	class     class
	intervals []interval
}

// setOf is the set of the values in some intervals.
func setOf(c class, all ...interval) set {
	slices.SortFunc(all, func(a, b interval) int { return strings.Compare(a.low, b.low) })
	var merged []interval
	for _, i := range all {
		if n := len(merged); n > 0 && touches(c, merged[n-1].high, i.low) {
			merged[n-1].high = max(merged[n-1].high, i.high)
			continue
		}
		merged = append(merged, i)
	}
	return set{c, merged}
}

// touches reports whether no value is between high and low.
func touches(c class, high, low string) bool {
	if low <= high {
		return true
	}
	after, ok := successor(c, high)
	return ok && after == low
}

// has reports whether a value is in the set.
func (s set) has(value string) bool {
	i := sort.Search(len(s.intervals), func(i int) bool { return s.intervals[i].high >= value })
	return i < len(s.intervals) && s.intervals[i].low <= value
}

// key is a form that no other set has.
func (s set) key() string {
	var key strings.Builder
	for _, i := range s.intervals {
		key.WriteString(strconv.Quote(i.low))
		key.WriteString(strconv.Quote(i.high))
	}
	return key.String()
}

// successor is the next value; false for the last of its kind, and for strings.
func successor(c class, value string) (string, bool) {
	if c == texts {
		return "", false
	}
	next := []byte(value)
	for i := len(next) - 1; i >= len(next)-width(next); i-- {
		if next[i]++; next[i] != 0 {
			return string(next), true
		}
	}
	return "", false
}

// predecessor is the number before one that is not the least.
func predecessor(value string) string {
	n := binary.BigEndian.Uint64([]byte(value))
	return string(binary.BigEndian.AppendUint64(nil, n-1))
}

// width is how many bytes of a value count: the family of an address does not.
func width(value []byte) int {
	if len(value) == numberBytes {
		return numberBytes
	}
	return len(value) - 1
}

// least are the first values of a class: of both families, for addresses.
var least = map[class][]string{
	numbers:   {number(-1 << 63)},
	addresses: {address(netip.IPv4Unspecified()), address(netip.IPv6Unspecified())},
}

const numberBytes = 8

// number is the value of a number.
func number(n int64) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(n)^(1<<63)))
}

// address is the value of an address. One of the sixth version that stands for one of the fourth
// is of the sixth, as on the platform.
func address(a netip.Addr) string {
	if a.Is4() {
		four := a.As4()
		return "4" + string(four[:])
	}
	six := a.As16()
	return "6" + string(six[:])
}

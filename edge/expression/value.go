package expression

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
)

// Integers is the number that a bare literal is, or the range of numbers.
func (l Literal) Integers() (low, high int64, ok bool) {
	if l.Kind != Bare {
		return 0, 0, false
	}
	first, last, isRange := strings.Cut(l.Text, "..")
	if low, ok = integer(first); !ok || !isRange {
		return low, low, ok
	}
	high, ok = integer(last)
	return low, high, ok && low <= high
}

// integer reads 10, -10, 0x1F or 017.
func integer(text string) (int64, bool) {
	if strings.ContainsAny(text, ".:/") {
		return 0, false
	}
	digits, base := text, 10
	switch hexadecimal, is := strings.CutPrefix(text, "0x"); {
	case is:
		digits, base = hexadecimal, 16
	case strings.HasPrefix(text, "0"):
		base = 8
	}
	if base != 10 && strings.HasPrefix(digits, "-") {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, base, 64)
	return n, err == nil
}

// position reads the index of an array.
func position(text string) (uint32, bool) {
	n, ok := integer(text)
	return uint32(n), ok && n >= 0 && n <= 1<<32-1
}

// Addresses is the address that a bare literal is, or the first and the last one of a range or a
// network.
func (l Literal) Addresses() (first, last netip.Addr, ok bool) {
	if l.Kind != Bare {
		return first, last, false
	}
	if from, to, isRange := strings.Cut(l.Text, ".."); isRange {
		first, okA := address(from)
		last, okB := address(to)
		return first, last, okA && okB && first.Is4() == last.Is4() && first.Compare(last) <= 0
	}
	text, length, isNetwork := strings.Cut(l.Text, "/")
	if first, ok = address(text); !ok || !isNetwork {
		return first, first, ok
	}
	bits, err := strconv.Atoi(length)
	if err != nil || !isDigit(length[0]) || bits > first.BitLen() {
		return first, last, false
	}
	network := netip.PrefixFrom(first, bits)
	return first, lastOf(network), network.Masked().Addr() == first
}

// lastOf is the last address of a network.
func lastOf(network netip.Prefix) netip.Addr {
	bytes := network.Addr().AsSlice()
	for bit := network.Bits(); bit < network.Addr().BitLen(); bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// address reads an address. The engine takes zeros in front of the parts of one of version 4.
func address(text string) (netip.Addr, bool) {
	if !strings.ContainsAny(text, ".:") {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(withoutZeros(text))
	return a, err == nil && a.Zone() == ""
}

// withoutZeros is an address of version 4 without zeros in front of its parts.
func withoutZeros(text string) string {
	leads := func(i int) bool { // a zero in front of another digit
		return text[i] == '0' && i+1 < len(text) && isDigit(text[i+1]) && (i == 0 || text[i-1] == '.')
	}
	for i := 0; i < len(text) && strings.IndexByte(text, ':') < 0; {
		if leads(i) {
			text = text[:i] + text[i+1:]
		} else {
			i++
		}
	}
	return text
}

// Bytes is the value of a string, or of bytes such as 0A:0B.
func (l Literal) Bytes() (string, bool) {
	if l.Kind != Bare {
		return l.Text, l.Kind == Text
	}
	if len(l.Text) < len("0A:0B") || len(l.Text)%3 != 2 {
		return "", false
	}
	digits := make([]byte, 0, len(l.Text))
	for i := range len(l.Text) {
		if i%3 < 2 {
			digits = append(digits, l.Text[i])
		} else if strings.IndexByte(":-.", l.Text[i]) < 0 {
			return "", false
		}
	}
	value, err := hex.DecodeString(string(digits))
	return string(value), err == nil
}

// isBare reports whether a text is a number, an address, a range, a network or bytes.
func isBare(text string) bool {
	l := Literal{Kind: Bare, Text: text}
	if _, _, ok := l.Integers(); ok {
		return true
	}
	if _, _, ok := l.Addresses(); ok {
		return true
	}
	_, ok := l.Bytes()
	return ok
}

// isSeveral reports whether a bare literal is a range or a network.
func isSeveral(text string) bool {
	_, isBytes := Literal{Kind: Bare, Text: text}.Bytes()
	return !isBytes && (strings.Contains(text, "..") || strings.Contains(text, "/"))
}

// whyNotBare says why a text is no value, where that can be told.
func whyNotBare(text string) string {
	if from, to, isRange := strings.Cut(text, ".."); isRange {
		if isBare(from) && isBare(to) {
			return "a range goes from the lower to the higher value, of one kind"
		}
		return ""
	}
	if network, err := netip.ParsePrefix(text); err == nil {
		return "the network is " + network.Masked().String()
	}
	if len(text) > 1 && text[0] == '0' && span(text, isDigit) == len(text) {
		return "a number that begins with 0 is octal"
	}
	if strings.HasPrefix(text, "-") || isDigit(text[0]) {
		return ""
	}
	return "strings stand in double quotes"
}

package access

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// timeChanges compares the ends of the validity window.
func timeChanges(before, after edge.TokenSpec) []Change {
	return slices.Concat(
		timeChange(KindNotBefore, before.NotBefore, after.NotBefore),
		timeChange(KindExpiresOn, before.ExpiresOn, after.ExpiresOn),
	)
}

// timeChange compares one end. Without a begin a token has always been active,
// without an end it never expires; what cannot be read may be anything.
func timeChange(kind Kind, old, now string) []Change {
	if old == now {
		return nil
	}
	c := Change{Kind: kind, Old: old, New: now, Direction: Weakens}
	then, errThen := parseTime(old)
	next, errNow := parseTime(now)
	switch {
	case old != "" && errThen != nil, now != "" && errNow != nil:
		c.Undecidable = true
	case old != "" && now != "" && next.Equal(then):
		return nil
	case now == "":
	case old == "",
		kind == KindNotBefore && next.After(then),
		kind == KindExpiresOn && next.Before(then):
		c.Direction = Strengthens
	}
	return []Change{c}
}

// addressChanges compares which addresses are let through: a filter may gain
// some and lose others at once.
func addressChanges(before, after *edge.Condition) []Change {
	then, now := conditionFilter(before), conditionFilter(after)
	old, next := readFilter(then), readFilter(now)
	gained, lost := false, false
	for _, ip := range borders(old, next) {
		a, b := old.admits(ip) != no, next.admits(ip) != no
		gained, lost = gained || b && !a, lost || a && !b
	}
	c := Change{Kind: KindAddresses, Old: filterText(then), New: filterText(now)}
	if (hasUnreadable(then) || hasUnreadable(now)) && c.Old != c.New {
		c.Direction, c.Undecidable = Weakens, true
		return []Change{c}
	}
	var changes []Change
	if gained {
		c.Direction = Weakens
		changes = append(changes, c)
	}
	if lost {
		c.Direction = Strengthens
		changes = append(changes, c)
	}
	return changes
}

// conditionFilter is the canonical filter of a condition, nil where it lets
// everything through.
func conditionFilter(c *edge.Condition) *edge.AddressFilter {
	if c = canonicalCondition(c); c == nil {
		return nil
	}
	return c.RequestIP
}

func filterText(f *edge.AddressFilter) string {
	if f == nil {
		return ""
	}
	return strings.TrimSpace(listed("in", f.In) + " " + listed("not_in", f.NotIn))
}

func hasUnreadable(f *edge.AddressFilter) bool {
	if f == nil {
		return false
	}
	_, unreadable := readRanges(slices.Concat(f.In, f.NotIn))
	return len(unreadable) > 0
}

// borders returns the addresses at which what filters say can change: the first
// of each range and the first behind it. Between two borders all addresses fare
// alike, so asking these is asking all.
func borders(filters ...filter) []netip.Addr {
	out := []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified(), behind(mapped)}
	for _, f := range filters {
		for _, r := range slices.Concat(f.in, f.notIn) {
			out = append(out, r.Addr())
			if next := behind(r); next.IsValid() {
				out = append(out, next)
			}
		}
	}
	return out
}

// mapped is where IPv6 holds the IPv4 addresses. They are asked as such, so that
// range is a gap, and behind it is a border.
var mapped = netip.MustParsePrefix("::ffff:0:0/96")

// behind returns the first address after a range; invalid after the last.
func behind(r netip.Prefix) netip.Addr {
	last := r.Addr().AsSlice()
	for bit := r.Bits(); bit < len(last)*8; bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
	}
	ip, _ := netip.AddrFromSlice(last)
	return ip.Next()
}

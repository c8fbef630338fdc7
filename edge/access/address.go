package access

import (
	"fmt"
	"net/netip"

	"github.com/seawall-dev/seawall/edge"
)

// filter is an address filter, read. A range inside ::ffff:0:0/96 is the IPv4
// range it maps; any other IPv6 range holds no IPv4 address.
type filter struct {
	in, notIn  []netip.Prefix
	narrowed   bool // there is an "in": without a range that holds the address it is kept out
	unreadable bool // some entry of not_in is no range
}

// readFilter reads a filter; nil lets everything through.
func readFilter(f *edge.AddressFilter) filter {
	if f == nil {
		return filter{}
	}
	in, _ := readRanges(f.In)
	notIn, unreadable := readRanges(f.NotIn)
	return filter{in: in, notIn: notIn, narrowed: f.In != nil, unreadable: len(unreadable) > 0}
}

// admits is maybe where an entry that is no range might keep the address out.
// An entry of "in" that is no range lets nothing through.
func (f filter) admits(ip netip.Addr) cover {
	ip = unmap(ip)
	switch {
	case f.narrowed && !holds(f.in, ip), holds(f.notIn, ip):
		return no
	case f.unreadable:
		return maybe
	}
	return yes
}

func holds(ranges []netip.Prefix, ip netip.Addr) bool {
	for _, r := range ranges {
		if r.Contains(ip) {
			return true
		}
	}
	return false
}

func unmap(ip netip.Addr) netip.Addr { return ip.Unmap().WithZone("") }

func readRanges(texts []string) (ranges []netip.Prefix, unreadable []string) {
	for _, text := range texts {
		r, err := parseRange(text)
		if err != nil {
			unreadable = append(unreadable, text)
			continue
		}
		ranges = append(ranges, r)
	}
	return ranges, unreadable
}

// parseRange reads CIDR notation and clears the host bits.
func parseRange(text string) (netip.Prefix, error) {
	r, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("reading the range %q: %w", text, err)
	}
	if ip := r.Addr(); ip.Is4In6() && r.Bits() >= 96 {
		r = netip.PrefixFrom(ip.Unmap(), r.Bits()-96)
	}
	return r.Masked(), nil
}

package access

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// How changes read, and that wide ones name what they leave out.
func TestChangesRead(t *testing.T) {
	const (
		allowZones   = `{"effect":"allow","resources":{"com.vendor.api.account.zone.*":"*"},"permission_groups":[{"id":"dns"}]}`
		allowNested  = `{"effect":"allow","resources":{"com.vendor.api.account.` + account1 + `":{"com.vendor.api.account.zone.*":"*"}},"permission_groups":[{"id":"dns"}]}`
		allowZone    = `{"effect":"allow","resources":{"com.vendor.api.account.zone.` + zone1 + `":"*"},"permission_groups":[{"id":"dns"}]}`
		denyZone     = `{"effect":"deny","resources":{"com.vendor.api.account.zone.` + zone1 + `":"*"},"permission_groups":[{"id":"dns"}]}`
		audit        = `{"effect":"audit","resources":{"com.vendor.api.account.zone.*":"*"},"permission_groups":[{"id":"dns"}]}`
		denyUnread   = `{"effect":"deny","resources":{"com.vendor.api.account.zone.*":"some"},"permission_groups":[{"id":"dns"}]}`
		scopedToZone = `{"effect":"allow","resources":{"com.vendor.api.account.zone.*":"*"},"permission_groups":[{"id":"dns","name":"DNS Write","scopes":["com.vendor.api.account.zone"]}]}`
	)
	for _, test := range []struct{ name, before, after, want string }{
		{
			"created", `{}`, `{"policies":[` + allowZones + `],"expires_on":"2027-01-01T00:00:00Z"}`,
			"weakens: gains group dns on com.vendor.api.account.zone.*",
		},
		{
			"widened", `{"policies":[` + allowZone + `]}`, `{"policies":[` + allowZones + `]}`,
			"weakens: gains group dns on com.vendor.api.account.zone.* except com.vendor.api.account.zone." + zone1,
		},
		{
			"a deny added", `{"policies":[` + allowZones + `]}`, `{"policies":[` + allowZones + `,` + denyZone + `]}`,
			"strengthens: loses group dns on com.vendor.api.account.zone." + zone1,
		},
		{"a policy that another covers", `{"policies":[` + allowZones + `]}`, `{"policies":[` + allowZones + `,` + allowZone + `]}`, ""},
		{
			"a zone whose account nobody says", `{"policies":[` + allowNested + `]}`, `{"policies":[` + allowZone + `]}`,
			"strengthens: loses group dns on all zones in com.vendor.api.account." + account1 + " except com.vendor.api.account.zone." + zone1 + "\n" +
				"weakens: gains group dns on com.vendor.api.account.zone." + zone1 + " except com.vendor.api.account.zone." + zone1 + " if it is in account " + account1,
		},
		{
			"what only the platform can read", `{"policies":[` + allowZones + `]}`, `{"policies":[` + allowZones + `,` + denyUnread + `]}`,
			"strengthens: loses group dns on com.vendor.api.account.zone.*\n" +
				"weakens: group dns on com.vendor.api.account.zone.* changes (only the platform can tell how)",
		},
		{
			"a deny taken from beside it", `{"policies":[` + allowZones + `,` + denyUnread + `,` + denyZone + `]}`, `{"policies":[` + allowZones + `,` + denyUnread + `]}`,
			"weakens: gains group dns on com.vendor.api.account.zone." + zone1,
		},
		{
			"a deny taken from beside an effect nobody knows", `{"policies":[` + audit + `,` + denyZone + `]}`, `{"policies":[` + audit + `]}`,
			"weakens: gains group dns on com.vendor.api.account.zone." + zone1,
		},
		{"filled in by the platform", `{"policies":[` + allowZones + `]}`, `{"policies":[` + scopedToZone + `]}`, ""},
		{"renamed", `{"name":"a","policies":[` + allowZones + `]}`, `{"name":"b","policies":[` + allowZones + `]}`, ""},
		{
			"window and addresses", `{"policies":[` + allowZones + `],"not_before":"2026-01-01T00:00:00Z","expires_on":"2027-01-01T00:00:00Z","condition":{"request.ip":{"in":["192.0.2.0/25"]}}}`,
			`{"policies":[` + allowZones + `],"not_before":"2026-06-01T00:00:00Z","condition":{"request.ip":{"in":["192.0.2.64/26","198.51.100.0/24"]}}}`,
			"strengthens: not_before: 2026-01-01T00:00:00Z -> 2026-06-01T00:00:00Z\n" +
				"weakens: expires_on: 2027-01-01T00:00:00Z -> any\n" +
				"weakens: addresses: in [192.0.2.0/25] -> in [192.0.2.64/26 198.51.100.0/24]\n" +
				"strengthens: addresses: in [192.0.2.0/25] -> in [192.0.2.64/26 198.51.100.0/24]",
		},
		{
			"ranges written otherwise", `{"policies":[` + allowZones + `],"condition":{"request.ip":{"in":["192.0.2.0/24"]}}}`,
			`{"policies":[` + allowZones + `],"condition":{"request.ip":{"in":["192.0.2.0/25","192.0.2.128/25"]}}}`, "",
		},
		{
			"what is no range and no time", `{"policies":[` + allowZones + `],"expires_on":"2027-01-01T00:00:00Z"}`,
			`{"policies":[` + allowZones + `],"expires_on":"soon","condition":{"request.ip":{"not_in":["192.0.2.1"]}}}`,
			"weakens: expires_on: 2027-01-01T00:00:00Z -> soon (only the platform can tell how)\n" +
				"weakens: addresses: any -> not_in [192.0.2.1] (only the platform can tell how)",
		},
	} {
		var lines []string
		for _, c := range Diff(spec(t, test.before), spec(t, test.after)) {
			lines = append(lines, string(c.Direction)+": "+c.String())
		}
		if got := strings.Join(lines, "\n"); got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, test.want)
		}
	}
}

// The IPv4 addresses are a gap in IPv6, and what begins behind it is compared
// although no range begins there.
func TestAddressesBehindTheMappedOnes(t *testing.T) {
	var below []string // all of IPv6 before the gap
	for bits := 81; bits <= 96; bits++ {
		from := netip.IPv6Unspecified().As16()
		first := 0xffff << (97 - bits) & 0xffff
		from[10], from[11] = byte(first>>8), byte(first)
		below = append(below, netip.PrefixFrom(netip.AddrFrom16(from), bits).String())
	}
	before := &edge.Condition{RequestIP: &edge.AddressFilter{In: []string{"::/0", "192.0.2.0/24"}, NotIn: below}}
	after := &edge.Condition{RequestIP: &edge.AddressFilter{In: []string{"192.0.2.0/24"}}}
	changes := addressChanges(before, after)
	if len(changes) != 1 || changes[0].Direction != Strengthens {
		t.Errorf("without the rest of IPv6: %v", changes)
	}
}

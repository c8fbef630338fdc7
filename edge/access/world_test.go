package access

import (
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
)

// The universe of the laws: small enough to be enumerated, and every resource
// form means something different in it.
const (
	account1 = "00000000000000000000000000000a01"
	account2 = "00000000000000000000000000000a02"
	zone1    = "00000000000000000000000000000b01" // in account 1
	zone2    = "00000000000000000000000000000b02" // in account 1
	zone3    = "00000000000000000000000000000b03" // in account 2
	user     = "u-1"
)

var (
	groups = []string{"dns", "waf", "mail"}

	targets = []Target{
		OfAccount(account1), OfAccount(account2),
		OfZone(account1, zone1), OfZone(account1, zone2), OfZone(account2, zone3),
		OfUser(user),
	}

	// One address for each piece that the ranges cut the addresses into.
	ranges    = []string{"192.0.2.0/24", "192.0.2.0/25", "192.0.2.128/25", "::ffff:198.51.100.0/120", "2001:db8::/32", "2001:db8:1::/48", "0.0.0.0/0", "::/0", "192.0.2.9/24", "no range"}
	addresses = []string{"192.0.2.1", "192.0.2.200", "::ffff:192.0.2.200", "198.51.100.1", "203.0.113.1", "2001:db8::1", "2001:db8:1::1", "2001:db9::1"}

	// Moments around the timestamps, and on them.
	timestamps = []string{"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"}
	moments    = []string{"2025-06-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z", "2027-06-01T00:00:00Z", "2028-01-01T00:00:00Z"}

	documentedKeys = []string{
		edge.ResourceAllAccounts, edge.ResourceAllZones, edge.ResourceUser + user,
		edge.ResourceAccount + account1, edge.ResourceAccount + account2,
		edge.ResourceZone + zone1, edge.ResourceZone + zone2, edge.ResourceZone + zone3,
	}
	otherKeys = []string{"com.vendor.api.user.*", "com.vendor.api.account.zone." + zone1 + ".record", "com.other"}
	others    = []string{`"all"`, `{"b": 1.0, "a": []}`, `{"com.vendor.api.account.zone.` + zone1 + `":"*"}`}
)

// questions are all that can be asked of the universe.
func questions() []Question {
	var all []Question
	for _, g := range groups {
		for _, t := range targets {
			for _, ip := range append([]string{""}, addresses...) {
				for _, at := range append([]string{""}, moments...) {
					q := Question{Group: g, Target: t}
					if ip != "" {
						q.IP = netip.MustParseAddr(ip)
					}
					if at != "" {
						q.At = moment(at)
					}
					all = append(all, q)
				}
			}
		}
	}
	return all
}

func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

// specs generates tokens: as documented, or with anything a platform might
// answer mixed in.
func specs(documented bool) *rapid.Generator[edge.TokenSpec] {
	return rapid.Custom(func(t *rapid.T) edge.TokenSpec {
		s := edge.TokenSpec{Name: rapid.SampledFrom([]string{"ci", "cd"}).Draw(t, "name")}
		s.Policies = rapid.SliceOfN(policies(documented), 0, 4).Draw(t, "policies")
		when := append([]string{"", ""}, timestamps...)
		s.NotBefore = rapid.SampledFrom(when).Draw(t, "not_before")
		s.ExpiresOn = rapid.SampledFrom(when).Draw(t, "expires_on")
		if rapid.Bool().Draw(t, "condition") {
			s.Condition = &edge.Condition{RequestIP: filters(documented).Draw(t, "filter")}
		}
		return s
	})
}

func filters(documented bool) *rapid.Generator[*edge.AddressFilter] {
	known := ranges
	if documented {
		known = ranges[:len(ranges)-1]
	}
	list := rapid.SliceOfN(rapid.SampledFrom(known), 1, 3)
	return rapid.Custom(func(t *rapid.T) *edge.AddressFilter {
		var f edge.AddressFilter
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			f.In = list.Draw(t, "in")
		case 2:
			f.NotIn = list.Draw(t, "not_in")
		case 3:
			f.In, f.NotIn = list.Draw(t, "in"), list.Draw(t, "not_in")
		case 4:
			f.In = []string{}
		}
		return &f
	})
}

func policies(documented bool) *rapid.Generator[edge.Policy] {
	return rapid.Custom(func(t *rapid.T) edge.Policy {
		effects := []edge.Effect{edge.Allow, edge.Allow, edge.Deny}
		keys := documentedKeys
		if !documented {
			effects, keys = append(effects, "audit"), slices.Concat(documentedKeys, otherKeys)
		}
		p := edge.Policy{
			ID:        rapid.SampledFrom([]string{"", "p1", "p2"}).Draw(t, "id"),
			Effect:    rapid.SampledFrom(effects).Draw(t, "effect"),
			Resources: map[string]edge.Breadth{},
		}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 3, rapid.ID).Draw(t, "keys") {
			p.Resources[key] = breadth(t, key, documented)
		}
		for _, id := range rapid.SliceOfN(rapid.SampledFrom(groups), 1, 3).Draw(t, "groups") {
			p.PermissionGroups = append(p.PermissionGroups, group(t, id))
		}
		return p
	})
}

func breadth(t *rapid.T, key string, documented bool) edge.Breadth {
	single := key == edge.ResourceAccount+account1 || key == edge.ResourceAccount+account2
	switch n := rapid.IntRange(0, 5).Draw(t, "breadth"); {
	case n <= 2 && (single || !documented):
		return edge.Breadth{AllZones: true}
	case n == 3 && !documented:
		return edge.Breadth{Other: json.RawMessage(rapid.SampledFrom(others).Draw(t, "other"))}
	}
	return edge.Breadth{}
}

// group may know what it is scoped for; "dns" is for zones, "mail" for accounts
// and users, and of "waf" nobody knows.
func group(t *rapid.T, id string) edge.PermissionGroup {
	g := edge.PermissionGroup{ID: id, Name: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "group name")}
	if id != "waf" && rapid.IntRange(0, 3).Draw(t, "scoped") == 0 {
		g.Scopes = map[string][]string{"dns": {string(TypeZone)}, "mail": {string(TypeAccount), string(TypeUser)}}[id]
	}
	return g
}

package access_test

import (
	"fmt"
	"net/netip"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

const (
	account edge.AccountID = "0123456789abcdef0123456789abcdef"
	shop    edge.ZoneID    = "000000000000000000000000000000a1"
	blog    edge.ZoneID    = "000000000000000000000000000000a2"

	dnsWrite = "4755a26eedb94da69e1066d98aa820be"
)

// dnsToken may write the DNS of all zones in one account but blog, from one network.
func dnsToken() edge.TokenSpec {
	dns := []edge.PermissionGroup{{ID: dnsWrite}}
	return edge.TokenSpec{
		Name: "ci-dns",
		Policies: []edge.Policy{
			{
				Effect:           edge.Allow,
				Resources:        map[string]edge.Breadth{edge.ResourceAccount + string(account): {AllZones: true}},
				PermissionGroups: dns,
			},
			{
				Effect:           edge.Deny,
				Resources:        map[string]edge.Breadth{edge.ResourceZone + string(blog): {}},
				PermissionGroups: dns,
			},
		},
		Condition: &edge.Condition{RequestIP: &edge.AddressFilter{In: []string{"192.0.2.0/24"}}},
	}
}

func ExampleDecide() {
	for _, q := range []access.Question{
		{Group: dnsWrite, Target: access.OfZone(account, shop), IP: netip.MustParseAddr("192.0.2.7")},
		{Group: dnsWrite, Target: access.OfZone(account, shop), IP: netip.MustParseAddr("203.0.113.7")},
		{Group: dnsWrite, Target: access.OfZone(account, blog)},
		{Group: dnsWrite, Target: access.OfAccount(account)},
	} {
		answer := access.Decide(dnsToken(), q)
		fmt.Println(answer.Allowed, answer.Because)
	}
	// Output:
	// true explicit_allow
	// false address
	// false explicit_deny
	// false implicit_deny
}

func ExampleDiff() {
	after := dnsToken()
	after.Policies = after.Policies[:1]
	after.Condition = nil
	for _, change := range access.Diff(dnsToken(), after) {
		fmt.Printf("%s: %s\n", change.Direction, change)
	}
	// Output:
	// weakens: gains group 4755a26eedb94da69e1066d98aa820be on com.vendor.api.account.zone.000000000000000000000000000000a2 if it is in account 0123456789abcdef0123456789abcdef
	// weakens: addresses: in [192.0.2.0/24] -> any
}

// The platform reorders policies and fills in names. Neither makes another token.
func ExampleHash() {
	answered := dnsToken()
	answered.Policies[0], answered.Policies[1] = answered.Policies[1], answered.Policies[0]
	answered.Policies[0].ID = "f267e341f3dd4697bd3b9f71dd96247f"
	answered.Policies[0].PermissionGroups = []edge.PermissionGroup{{ID: dnsWrite, Name: "DNS Write"}}
	fmt.Println(access.Hash(answered) == access.Hash(dnsToken()))

	answered.Name = "another"
	fmt.Println(access.Hash(answered) == access.Hash(dnsToken()))
	// Output:
	// true
	// false
}

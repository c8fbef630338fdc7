package access

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// spec reads a token as a person writes it.
func spec(t *testing.T, text string) edge.TokenSpec {
	t.Helper()
	var s edge.TokenSpec
	must.Do(t, json.Unmarshal([]byte(text), &s))
	return s
}

func onResources(t *testing.T, resources string) edge.TokenSpec {
	return spec(t, `{"policies":[{"effect":"allow","resources":{`+resources+`},"permission_groups":[{"id":"dns"}]}]}`)
}

// The six forms of the reference and what each of them reaches.
func TestSixFormsReach(t *testing.T) {
	const nested = `{"com.vendor.api.account.zone.*":"*"}`
	for name, test := range map[string]struct{ resources, reaches string }{
		"one account":                {`"com.vendor.api.account.` + account1 + `":"*"`, "account 1"},
		"all accounts":               {`"com.vendor.api.account.*":"*"`, "account 1, account 2"},
		"one zone":                   {`"com.vendor.api.account.zone.` + zone1 + `":"*"`, "zone 1"},
		"all zones in one account":   {`"com.vendor.api.account.` + account1 + `":` + nested, "zone 1, zone 2"},
		"all zones in all accounts":  {`"com.vendor.api.account.zone.*":"*"`, "zone 1, zone 2, zone 3"},
		"the calling user":           {`"com.vendor.api.user.` + user + `":"*"`, "user"},
		"a mix":                      {`"com.vendor.api.account.` + account2 + `":` + nested + `,"com.vendor.api.account.*":"*"`, "account 1, account 2, zone 3"},
		"a value nobody can read":    {`"com.vendor.api.account.zone.*":"some"`, ""},
		"a key nobody can read":      {`"com.vendor.api.account.zone.` + zone1 + `.record.*":"*"`, ""},
		"nested below all accounts":  {`"com.vendor.api.account.*":` + nested, ""},
		"every user, not documented": {`"com.vendor.api.user.*":"*"`, ""},
	} {
		got := ""
		for i, target := range targets {
			if Decide(onResources(t, test.resources), Question{Group: "dns", Target: target}).Allowed {
				if got != "" {
					got += ", "
				}
				got += []string{"account 1", "account 2", "zone 1", "zone 2", "zone 3", "user"}[i]
			}
		}
		if got != test.reaches {
			t.Errorf("%s reaches %q, want %q", name, got, test.reaches)
		}
	}
}

// A zone whose account is not known is not allowed through its account, and
// denied through any.
func TestZoneOfUnknownAccount(t *testing.T) {
	q := Question{Group: "dns", Target: OfZone("", zone1)}
	s := onResources(t, `"com.vendor.api.account.`+account1+`":{"com.vendor.api.account.zone.*":"*"}`)
	if a := Decide(s, q); a.Allowed || a.Because != ImplicitDeny {
		t.Errorf("through some account: %+v", a)
	}
	s.Policies[0].Effect = edge.Deny
	s.Policies = append(s.Policies, onResources(t, `"com.vendor.api.account.zone.*":"*"`).Policies...)
	if a := Decide(s, q); a.Because != ExplicitDeny || a.Policy != 0 {
		t.Errorf("denied through some account: %+v", a)
	}
}

func TestUserIsTheOneNamed(t *testing.T) {
	s := onResources(t, `"com.vendor.api.user.u-1":"*"`)
	for tag, want := range map[string]bool{"": true, "u-1": true, "u-2": false} {
		if a := Decide(s, Question{Group: "dns", Target: OfUser(tag)}); a.Allowed != want {
			t.Errorf("user %q: %+v", tag, a)
		}
	}
}

func TestNothingIsAllowedOnNothing(t *testing.T) {
	s := onResources(t, `"com.vendor.api.account.zone.*":"*"`)
	s.Policies[0].PermissionGroups = append(s.Policies[0].PermissionGroups, edge.PermissionGroup{})
	for _, q := range []Question{{}, {Group: "dns"}, {Target: OfZone(account1, zone1)}} {
		if a := Decide(s, q); a.Allowed || a.Because != ImplicitDeny || a.Policy != -1 {
			t.Errorf("%+v: %+v", q, a)
		}
	}
}

// A group counts only for the resource types it is scoped for.
func TestScopes(t *testing.T) {
	s := onResources(t, `"com.vendor.api.account.zone.*":"*","com.vendor.api.account.*":"*"`)
	s.Policies[0].PermissionGroups[0].Scopes = []string{"com.vendor.api.account.zone"}
	if a := Decide(s, Question{Group: "dns", Target: OfZone(account1, zone1)}); !a.Allowed {
		t.Errorf("a zone's group on a zone: %+v", a)
	}
	if a := Decide(s, Question{Group: "dns", Target: OfAccount(account1)}); a.Allowed {
		t.Errorf("a zone's group on an account: %+v", a)
	}
}

func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		filter, ip string
		want       bool
	}{
		{`{"in":["192.0.2.0/24"]}`, "192.0.2.255", true},
		{`{"in":["192.0.2.0/24"]}`, "192.0.3.0", false},
		{`{"in":["192.0.2.7/24"]}`, "192.0.2.200", true}, // host bits do not count
		{`{"in":["192.0.2.0/24"]}`, "::ffff:192.0.2.1", true},
		{`{"in":["::ffff:192.0.2.0/120"]}`, "192.0.2.1", true},
		{`{"in":["::/0"]}`, "192.0.2.1", false},
		{`{"in":["2001:db8::/32"]}`, "2001:db8::1%eth0", true},
		{`{"in":["0.0.0.0/0"],"not_in":["192.0.2.1/32"]}`, "192.0.2.1", false},
		{`{"not_in":["192.0.2.1/32"]}`, "2001:db8::1", true},
		{`{"in":[]}`, "192.0.2.1", false},
		{`{"in":["192.0.2.1"]}`, "192.0.2.1", false}, // no range
		{`{"not_in":["192.0.2.1"]}`, "198.51.100.1", false},
		{`{}`, "192.0.2.1", true},
	} {
		s := onResources(t, `"com.vendor.api.account.zone.*":"*"`)
		s.Condition = spec(t, `{"condition":{"request.ip":`+test.filter+`}}`).Condition
		a := Decide(s, Question{Group: "dns", Target: OfZone(account1, zone1), IP: netip.MustParseAddr(test.ip)})
		if a.Allowed != test.want || !a.Allowed && a.Because != Address {
			t.Errorf("%s from %s: %+v", test.filter, test.ip, a)
		}
	}
}

// A timestamp that cannot be read leaves a token that is never valid.
func TestUnreadableWindow(t *testing.T) {
	s := onResources(t, `"com.vendor.api.account.zone.*":"*"`)
	q := Question{Group: "dns", Target: OfZone(account1, zone1), At: moment("2026-06-01T00:00:00Z")}
	s.ExpiresOn = "2027-01-01"
	if a := Decide(s, q); a.Because != Expired {
		t.Errorf("expires on what is no time: %+v", a)
	}
	s.ExpiresOn, s.NotBefore = "", "soon"
	if a := Decide(s, q); a.Because != NotYet {
		t.Errorf("begins at what is no time: %+v", a)
	}
}

// What only the platform can read denies all it might be meant for, and an
// effect nobody knows denies too.
func TestUnreadableDenies(t *testing.T) {
	const everything = `{"effect":"allow","resources":{"com.vendor.api.account.*":"*","com.vendor.api.account.zone.*":"*","com.vendor.api.user.` + user + `":"*"},"permission_groups":[{"id":"dns"}]}`
	for _, test := range []struct {
		effect, resource string
		left             []Target
	}{
		{"deny", `"com.vendor.api.account.*":"some"`, targets[5:]},
		{"deny", `"com.vendor.api.account.*":{"com.vendor.api.account.zone.*":"*"}`, targets[5:]},
		{"deny", `"com.vendor.api.account.` + account1 + `":"some"`, []Target{targets[1], targets[4], targets[5]}},
		{"deny", `"com.vendor.api.account.zone.*":"some"`, []Target{targets[0], targets[1], targets[5]}},
		{"deny", `"com.vendor.api.user.` + user + `":"some"`, targets[:5]},
		{"deny", `"com.other":"*"`, nil},
		{"audit", `"com.vendor.api.account.*":"*"`, targets[2:]},
	} {
		s := spec(t, `{"policies":[`+everything+`,{"effect":"`+test.effect+`","resources":{`+test.resource+`},"permission_groups":[{"id":"dns"}]}]}`)
		var left []Target
		for _, target := range targets {
			if Decide(s, Question{Group: "dns", Target: target}).Allowed {
				left = append(left, target)
			}
		}
		if !slices.Equal(left, test.left) {
			t.Errorf("%s %s leaves %v, want %v", test.effect, test.resource, left, test.left)
		}
	}
}

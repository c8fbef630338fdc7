package permission

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

func id(n int) string { return fmt.Sprintf("%032x", n) }

// genToken has policies on few accounts and zones, so that they meet.
func genToken(t *rapid.T) desired.Token {
	resource := rapid.Custom(func(t *rapid.T) desired.Resource {
		of := id(rapid.IntRange(1, 3).Draw(t, "id"))
		return rapid.SampledFrom([]desired.Resource{
			{Key: edge.ResourceAccount + of},
			{Key: edge.ResourceAccount + of, AllZones: true},
			{Key: edge.ResourceZone + of},
			{Key: edge.ResourceAllAccounts},
			{Key: edge.ResourceAllZones},
		}).Draw(t, "resource")
	})
	policy := rapid.Custom(func(t *rapid.T) desired.Policy {
		return desired.Policy{
			Effect:           rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "effect"),
			Resources:        rapid.SliceOfN(resource, 1, 3).Draw(t, "resources"),
			PermissionGroups: []desired.PermissionGroup{{ID: rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group")}},
		}
	})
	return desired.Token{Key: "t", Policies: rapid.SliceOfN(policy, 1, 4).Draw(t, "policies")}
}

// An answer without an id is the answer with it, whichever it is; and there is none only
// where two ids have different answers.
func TestAnswerWithoutAnID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := genToken(t)
		ask := func(account, zone string) Verdict {
			return Judge(token, Query{Question: access.Question{Group: "g", Target: access.OfZone(edge.AccountID(account), edge.ZoneID(zone))}, OnWhat: "zone"})
		}
		account := rapid.SampledFrom([]string{"", id(1), id(9)}).Draw(t, "account")
		zone := rapid.SampledFrom([]string{"", id(1), id(9)}).Draw(t, "zone")
		without := ask(account, zone)
		answers := map[bool]bool{}
		for _, a := range []string{id(1), id(2), id(3), id(9)} {
			for _, z := range []string{id(1), id(2), id(3), id(9)} {
				if (account == "" || a == account) && (zone == "" || z == zone) {
					answers[ask(a, z).Allowed] = true
				}
			}
		}
		if (without.Undecided() != nil) != (len(answers) == 2) {
			t.Fatalf("%v, with the answers %v", without.Undecided(), answers)
		}
		if without.Undecided() == nil && !answers[without.Allowed] {
			t.Fatalf("allowed: %v, with the answers %v", without.Allowed, answers)
		}
		if strings.Contains(without.Why(), unnamed) {
			t.Fatalf("says %q", without.Why())
		}
	})
}

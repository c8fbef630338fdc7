package diff

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Places of one phase that are not looked at for the same reason are one, and places of zones
// without deployments, or that could not be read themselves, are none.
func TestUnlooked(t *testing.T) {
	const custom, rate = edge.PhaseFirewallCustom, edge.PhaseRateLimit
	zone := func(i int) edge.Scope { return edge.ZoneScope(edge.ZoneID(fmt.Sprint(i))) }
	declared := []desired.Deployment{{Ruleset: "core"}}
	account := desired.Account{Key: "prod", ID: "a1"}
	for i := range 5 {
		account.Zones = append(account.Zones, desired.Zone{Scope: zone(i), Deployments: declared})
	}
	account.Zones[3].Deployments = nil
	account.Zones = append(account.Zones, desired.Zone{Scope: edge.AccountScope("a1"), Deployments: declared})
	own := edge.AccountScope("a1").At(custom)
	looked, later := Ahead{At: time.Unix(9, 0)}, Ahead{At: time.Unix(5, 0), Since: &edge.Error{Status: 503, Call: "GET /b"}}
	failed := Ahead{Observed: Observed[edge.Ruleset]{Err: fmt.Errorf("reading: %w", &edge.Error{Status: 403, Call: "GET /a"})}}
	notYet := Ahead{Observed: Observed[edge.Ruleset]{Err: ErrNotYet}}
	partly := Ahead{At: time.Unix(9, 0), Executed: map[edge.RulesetID]Observed[edge.Ruleset]{"r1": {Err: errors.New("gone")}}}
	for name, c := range map[string]struct {
		ahead map[edge.Place]Ahead
		want  []string
	}{
		"off": {map[edge.Place]Ahead{own: looked}, []string{"zone http_request_firewall_custom 3 off: bypass.phases is not set"}},
		"nowhere": {nil, []string{
			"account http_request_firewall_custom 4 not yet; with the next sweep", "zone http_request_firewall_custom 3 off: bypass.phases is not set",
		}},
		"all": {map[edge.Place]Ahead{own: looked, zone(0).At(custom): looked, zone(1).At(custom): looked, zone(2).At(custom): looked}, nil},
		"another phase": {
			map[edge.Place]Ahead{own: looked, zone(0).At(rate): looked, zone(1).At(rate): notYet, zone(2).At(rate): looked},
			[]string{"zone http_ratelimit 1 not yet; with the next sweep", "zone http_request_firewall_custom 3 off: bypass.phases does not have this phase"},
		},
		"failures": {
			map[edge.Place]Ahead{own: partly, zone(0).At(custom): failed, zone(1).At(custom): later, zone(2).At(custom): notYet},
			[]string{
				"account http_request_firewall_custom 4 ruleset r1, which is executed there: gone",
				"zone http_request_firewall_custom 1 not yet; with the next sweep", "zone http_request_firewall_custom 2 reading: 403 Forbidden",
			},
		},
	} {
		live := Live{Ahead: c.ahead, EntryPoints: map[edge.Place]Observed[edge.Ruleset]{}}
		for i, z := range account.Zones {
			var err error
			if i == 4 {
				err = errors.New("unreadable")
			}
			live.EntryPoints[z.Scope.At(edge.PhaseFirewallManaged)] = Observed[edge.Ruleset]{Err: err}
		}
		var got []string
		for _, n := range live.NotLookedAt(desired.State{Accounts: []desired.Account{account}}) {
			got = append(got, fmt.Sprint(n.Level, " ", n.Phase, " ", n.Zones, " ", n.Reason))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

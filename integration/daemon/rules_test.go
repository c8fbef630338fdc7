package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
)

// declareRules declares zones with these custom rules, in their order, each of which may be
// removed.
func declareRules(zones int, keys ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package edge\n\naccount: prod: {\n\tid: %q\n", mem.Account)
	for zone := 1; zone <= zones; zone++ {
		fmt.Fprintf(&b, "\tzone: \"zone-%05d.example\": {\n\t\tid: %q\n\t\twaf: {}\n", zone, mem.FleetZone(zone).ID)
		for i, key := range keys {
			order := `"first"`
			if i > 0 {
				order = fmt.Sprintf("after: %q", keys[i-1])
			}
			fmt.Fprintf(&b, "\t\trules: custom: %s: {expression: \"true\", action: \"block\", order: %s, prune: true}\n", key, order)
		}
		b.WriteString("\t}\n")
	}
	return b.String() + "}\n"
}

// rulesOf are the refs of the custom rules of a zone, in their order.
func rulesOf(p *harness.Platform, zone int) (refs []string) {
	if entry := p.Platform.Stored(mem.FleetZone(zone).At(edge.PhaseFirewallCustom)); entry != nil {
		for _, r := range entry.Rules {
			refs = append(refs, r.Ref)
		}
	}
	return refs
}

// ruled is a daemon that may write rules.
func ruled(t *testing.T, p *harness.Platform, c harness.ServiceConfig) *harness.Service {
	s := harness.NewService(t, p, c)
	s.Configure(strings.Replace(s.Config.Text(s), "base_url:", "profile: \"extended\"\nplatform: base_url:", 1))
	return s
}

// TestKilledBetweenTheAdditionOfARuleAndItsRecord: the next process neither adds the rule again nor
// forgets that it may remove it.
func TestKilledBetweenTheAdditionOfARuleAndItsRecord(t *testing.T) {
	t.Parallel()
	config := harness.Fleet(1)
	config.Profile = mem.Extended
	p := harness.StartPlatform(t, config)
	front := harness.NewFront(t, p, 2)
	s := ruled(t, p, harness.ServiceConfig{BaseURL: front.Address})
	s.Repo.Commit("edge.cue", declareRules(1, "a", "b"))
	s.Start()
	s.PollLong(t, "the second rule is on its way", front.Holds)
	s.Kill()
	front.Release()
	p.ClearTranscript()
	s.Start()
	s.PollLong(t, "all was looked at", func() bool { return s.Runs() >= 1 })
	if got := rulesOf(p, 1); !slices.Equal(got, []string{"a", "b"}) || len(p.Writes()) > 0 {
		t.Errorf("rules %q, after the writes %v", got, p.Writes())
	}
	s.Repo.Commit("edge.cue", declareRules(1, "a"))
	s.PollLong(t, "the second rule is gone", func() bool { return slices.Equal(rulesOf(p, 1), []string{"a"}) })
	s.Kill()
	command(s, "history", "verify").Want(t, 0, "the history is whole")
}

// TestRulesOfAFleetOnAPlatformThatFails: each second write ends with an error or without an answer
// after it took effect. Each rule is there once, in its order.
func TestRulesOfAFleetOnAPlatformThatFails(t *testing.T) {
	t.Parallel()
	const zones = 8
	config := harness.Fleet(zones)
	config.Profile = mem.Extended
	config.Quirks = []string{"error-after=3", "cut-after=2"}
	p := harness.StartPlatform(t, config)
	s := ruled(t, p, harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", declareRules(zones, "a", "b", "c"))
	all := func(keys ...string) func() bool {
		return func() bool {
			for zone := 1; zone <= zones; zone++ {
				if !slices.Equal(rulesOf(p, zone), keys) {
					return false
				}
			}
			return true
		}
	}
	s.Start()
	s.PollLong(t, "all rules are there", all("a", "b", "c"))
	s.Repo.Commit("edge.cue", declareRules(zones, "c", "a"))
	s.PollLong(t, "one has gone, and one stands first", all("c", "a"))
	s.Kill()
	command(s, "history", "verify").Want(t, 0, "the history is whole")
}

package revert

import (
	"encoding/json"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// A zone in which something was deployed or removed is not put back.
func TestDeployedAndRemovedStay(t *testing.T) {
	write := func(zone edge.Scope, ruleset edge.RulesetID, action diff.Action) reconcile.Entry {
		return reconcile.Entry{
			Kind: reconcile.EntryWrite, Action: string(action),
			Subject: reconcile.Subject{Zone: zone.String(), Scope: zone, Deployment: string(ruleset), Ruleset: ruleset},
			Members: []reconcile.MemberChange{{Path: "enabled", New: json.RawMessage("true")}},
		}
	}
	state := desired.State{Accounts: []desired.Account{{ID: "a", Zones: []desired.Zone{{Scope: edge.ZoneScope("1")}, {Scope: edge.ZoneScope("2")}, {Scope: edge.ZoneScope("3")}}}}}
	targets, problems := targetsOf([]reconcile.Entry{
		write(edge.ZoneScope("1"), "core", diff.ActionDeploy), write(edge.ZoneScope("1"), "core", diff.ActionUpdate), write(edge.ZoneScope("1"), "other", diff.ActionUpdate),
		write(edge.ZoneScope("2"), "core", diff.ActionRemove), write(edge.ZoneScope("3"), "core", diff.ActionUpdate),
	}, state)
	if len(targets) != 1 || targets[0].ID.Scope != edge.ZoneScope("3") {
		t.Errorf("targets %+v", targets)
	}
	want := []string{
		"core: a revert does not remove what was deployed",
		`other: deployment "core" of the zone cannot be put back; a zone is put back only as a whole`,
		"core: a revert does not deploy what was removed",
	}
	if len(problems) != len(want) {
		t.Fatalf("problems %+v", problems)
	}
	for i, p := range problems {
		if got := p.Deployment + ": " + p.Reason; got != want[i] || p.State != diff.Blocked {
			t.Errorf("got %q (%s), want %q", got, p.State, want[i])
		}
	}
}

package deployment

import (
	"encoding/json"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// Of several deployments of one ruleset, the one whose ref was written is put back.
func TestRestoreByRef(t *testing.T) {
	account := edge.AccountScope(difftest.Account)
	live := difftest.Live()
	entry := edge.Ruleset{ID: difftest.EntryPoint, Kind: edge.KindRoot, Version: "3"}
	for i, ref := range []string{"eu", "us"} {
		rule := difftest.Execute(nil)
		rule.ID, rule.Ref, rule.Enabled = stranger(i).ID, ref, new(false)
		entry.Rules = append(entry.Rules, rule)
	}
	live.EntryPoints[account.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Value: entry}
	us := diff.ID{Scope: account, Ruleset: difftest.Core, Ref: "us"}
	c, problem := Kind{}.Restore(diff.Restoration{
		ID: us, Account: "prod", AccountID: difftest.Account, Zone: "account:prod", Deployment: "us",
		Members: []diff.Restored{{Path: "enabled", Before: json.RawMessage("true"), Written: json.RawMessage("false")}},
	}, diff.Input{Live: live})
	if c == nil || problem != nil {
		t.Fatalf("it is %+v, %+v", c, problem)
	}
	c.Scope = account
	want := edge.RulePath(account, difftest.EntryPoint, entry.Rules[1].ID)
	if r, ok := c.Request(); !ok || r.Path != want || c.ID() != us {
		t.Errorf("it sends %+v for %+v", r, c.ID())
	}
}

package reconcile

import (
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// stateWith declares accounts with so many zones each.
func stateWith(zones map[string]int) desired.State {
	state := desired.State{Commit: "c1"}
	for _, key := range []string{"a", "b", "c"} {
		account := desired.Account{Key: key, ID: edge.AccountID(key)}
		for range zones[key] {
			account.Zones = append(account.Zones, desired.Zone{Key: key})
		}
		state.Accounts = append(state.Accounts, account)
	}
	return state
}

func TestSweepRequests(t *testing.T) {
	if got := SweepRequests(stateWith(map[string]int{"a": 2, "b": 1})); got != 5 {
		t.Errorf("got %d, want two lists and three zones", got)
	}
}

// TestLanes: each account is in one lane, or in none where it has no credential or is left
// out.
func TestLanes(t *testing.T) {
	state := stateWith(map[string]int{"a": 2, "b": 1, "c": 1})
	l := Lanes{All: []Lane{{Name: "default"}, {Name: "b"}}, Of: map[string]int{"b": 1}, Rest: 0}
	parts := l.Part(state)
	if len(parts) != 2 || parts[0].Zones() != 3 || parts[1].Zones() != 1 || parts[1].Accounts[0].Key != "b" || parts[1].Commit != "c1" {
		t.Errorf("parts %+v", parts)
	}
	if l.Check(state) != nil {
		t.Errorf("missing %+v", l.Missing(state))
	}
	l.Rest, l.Of["c"], l.Skip = -1, -1, map[string]bool{"c": true}
	if err := l.Check(state); err == nil || !strings.Contains(err.Error(), "account.a has no credential") {
		t.Errorf("error %v", err)
	}
	if within := l.Within(state); len(within.Accounts) != 2 || len(state.Accounts) != 3 {
		t.Errorf("within %+v", within.Accounts)
	}
}

// TestOverloadOfLanes: a schedule is held against the budget of each credential.
func TestOverloadOfLanes(t *testing.T) {
	state := stateWith(map[string]int{"a": 100, "b": 10})
	small, large := diff.Budget{Requests: 10, Per: time.Minute}, diff.Budget{Requests: 1000, Per: time.Minute}
	l := Lanes{All: []Lane{{Budget: large}, {Budget: small}}, Of: map[string]int{"a": 0, "b": 1}}
	if o := l.Overload(state, Looking{}, time.Minute); o == nil || o.Zones != 10 {
		t.Errorf("overload %+v", o)
	}
	if o := l.Overload(state, Looking{}, time.Hour); o != nil {
		t.Errorf("overload %+v", o)
	}
	if l.LongestWindow() != time.Minute {
		t.Errorf("the longest window is %s", l.LongestWindow())
	}
}

// TestCostOfLanes: what a plan takes is told of the credential with which it takes longest.
func TestCostOfLanes(t *testing.T) {
	change := func(account string) diff.Change {
		return diff.Change{Account: account, Zone: "shop.example", Deployment: "core", Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
	}
	small, large := diff.Budget{Requests: 4, Per: time.Minute}, diff.Budget{Requests: 100, Per: time.Minute}
	p := diff.Plan{Changes: []diff.Change{change("a"), change("a"), change("a"), change("b"), change("b")}}.Counted()
	two := Lanes{All: []Lane{{Name: "default", Budget: large}, {Name: "b", Budget: small}}, Of: map[string]int{"b": 1}}
	for text, lanes := range map[string]Lanes{
		`100% of the budget of 4 in 1m for credential "b", without a wait`: two,
		"10% of the budget of 100 in 1m, without a wait":                   OneLane(two.All[0]),
		"250% of the budget of 4 in 1m, in no less than 2m":                OneLane(two.All[1]),
	} {
		if cost := lanes.Cost(p); cost == nil || cost.String() != text {
			t.Errorf("cost %v, want %s", cost, text)
		}
	}
	if cost := two.Cost(diff.Plan{}); cost != nil {
		t.Errorf("nothing costs %v", cost)
	}
	if unknown := (Lanes{All: make([]Lane, 2)}); unknown.Cost(p) != nil {
		t.Error("of a budget that is not known, no cost is known")
	}
}

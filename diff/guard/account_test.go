package guard_test

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// TestSettingsStayWithAnAccount: a new key neither ends what selects an account nor gives it
// what is another account's; a person who changes the configuration does.
func TestSettingsStayWithAnAccount(t *testing.T) {
	prod := guard.Binding{Key: "prod", Configured: true}
	of := func(keys ...string) map[string]guard.AccountSettings {
		settings := map[string]guard.AccountSettings{}
		for _, key := range keys {
			settings[key] = guard.AccountSettings{}
		}
		return settings
	}
	own := map[string]guard.AccountSettings{"prod": {Credential: "own"}}
	onProd := []guard.Observe{{Setting: "accounts.prod.mode", Account: "prod"}}
	butProd := []guard.Observe{{Setting: "mode", Except: []string{"prod"}}}
	for name, test := range map[string]struct {
		settings map[string]guard.AccountSettings
		observe  []guard.Observe
		bound    map[edge.AccountID]guard.Binding
		key      string
		want     diff.Guard // empty: written
		leaves   int        // settings
	}{
		"nothing is configured":                         {nil, nil, nil, "prod", "", 0},
		"observed by its key":                           {of("prod"), onProd, nil, "prod", diff.GuardObserve, 0},
		"observed by the key of before":                 {of("prod"), onProd, map[edge.AccountID]guard.Binding{"a": prod}, "other", diff.GuardObserve, 1},
		"the configuration has the new key alone":       {of("other"), nil, map[edge.AccountID]guard.Binding{"a": prod}, "other", "", 0},
		"excepted by its key":                           {of("prod"), butProd, nil, "prod", "", 0},
		"excepted, with another key by now":             {of("prod"), butProd, map[edge.AccountID]guard.Binding{"a": prod}, "other", diff.GuardObserve, 0},
		"it takes the key of an exception":              {of("prod"), butProd, map[edge.AccountID]guard.Binding{"a": {Key: "other"}}, "prod", diff.GuardObserve, 1},
		"another credential than that of the top":       {own, nil, map[edge.AccountID]guard.Binding{"a": {Key: "other"}}, "prod", diff.GuardAccount, 1},
		"not its own credential any more":               {own, nil, map[edge.AccountID]guard.Binding{"a": prod}, "other", diff.GuardAccount, 1},
		"its own credential":                            {own, nil, map[edge.AccountID]guard.Binding{"a": prod}, "prod", "", 0},
		"it was left out":                               {map[string]guard.AccountSettings{"prod": {Skip: true}}, nil, map[edge.AccountID]guard.Binding{"a": prod}, "other", diff.GuardAccount, 1},
		"its earlier key was configured since":          {own, nil, map[edge.AccountID]guard.Binding{"a": {Key: "prod"}}, "other", diff.GuardAccount, 1},
		"of another account":                            {own, onProd, map[edge.AccountID]guard.Binding{"b": prod}, "other", "", 0},
		"two keys with the same settings":               {of("prod", "other"), nil, map[edge.AccountID]guard.Binding{"a": prod}, "other", "", 0},
		"what is said of its new key counts as well":    {of("prod"), onProd, map[edge.AccountID]guard.Binding{"a": {Key: "other"}}, "prod", diff.GuardObserve, 0},
		"a key that the configuration has dropped":      {nil, nil, map[edge.AccountID]guard.Binding{"a": prod}, "other", "", 0},
		"an exception that the configuration has moved": {of("other"), []guard.Observe{{Setting: "mode", Except: []string{"other"}}}, map[edge.AccountID]guard.Binding{"a": prod}, "other", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			accounts := guard.Accounts{Settings: test.settings, Rest: guard.AccountSettings{}}.
				Declaring(map[string]edge.AccountID{test.key: "a"}, test.bound)
			facts := guard.Facts{Observe: test.observe, Accounts: accounts}
			change := diff.Change{Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Account: test.key, Zone: "z", Scope: edge.ZoneScope("1"), Deployment: "core"}
			leaving := accounts.Leaving(test.observe)
			plan := diff.Plan{Changes: []diff.Change{change}, Leaving: leaving}
			got := diff.Guard("")
			if refused := guard.Check(plan, facts).Changes[0].Refused; refused != nil {
				got = refused.Guard
			}
			if got != test.want {
				t.Errorf("refused by %q, want %q", got, test.want)
			}
			n := 0
			for _, l := range leaving {
				n += len(l.Left)
			}
			if n != test.leaves {
				t.Errorf("leaves %+v, want %d settings", leaving, test.leaves)
			}
			if n == 0 {
				return
			}
			facts.Approved = map[string]bool{leaving[0].Digest: true}
			if guarded := guard.Check(plan, facts); guarded.Leaving[0].Approved != true || len(guarded.Granted) != 1 ||
				guarded.Changes[0].Refused != nil {
				t.Errorf("approved, and it is %+v, granted %v", guarded.Changes[0].Refused, guarded.Granted)
			}
		})
	}
}

// TestAPlanApprovesItsDepartures: an approval of the whole plan covers what leaves settings;
// the digest of one departure covers that alone.
func TestAPlanApprovesItsDepartures(t *testing.T) {
	gold := guard.Labels{"tier": "gold"}
	rules := []guard.Rule{{Name: "gold", Labels: gold, Approve: guard.ApproveAll}}
	facts := guard.Facts{
		Rules: rules, Zones: map[edge.Scope]guard.Labels{edge.ZoneScope("1"): nil, edge.ZoneScope("2"): nil},
		LabelsBefore: map[edge.Scope][]guard.Selection{edge.ZoneScope("1"): {{Labels: gold}}, edge.ZoneScope("2"): {{Labels: gold}}},
	}
	left := []diff.Left{{Setting: "guards.gold", Labels: gold}}
	plan := diff.NewPlan("c")
	for _, id := range []edge.Scope{edge.ZoneScope("1"), edge.ZoneScope("2")} {
		plan.Changes = append(plan.Changes, diff.Change{Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Account: "prod", Zone: id.String(), Scope: id, Deployment: "core"})
		plan.Leaving = append(plan.Leaving, diff.Leaving{Account: "prod", Zone: id.String(), Scope: id, Left: left}.Sealed(""))
	}
	without := plan
	without.Leaving = nil
	if plan.ApprovalDigest() == without.ApprovalDigest() || plan.Leaving[0].Digest == plan.Leaving[1].Digest {
		t.Error("digests that must differ are the same")
	}
	for name, test := range map[string]struct {
		approved string
		refused  [2]bool
		leaves   [2]bool
	}{
		"nothing":                {"", [2]bool{true, true}, [2]bool{}},
		"one departure":          {plan.Leaving[0].Digest, [2]bool{false, true}, [2]bool{true, false}},
		"the whole plan":         {plan.ApprovalDigest(), [2]bool{}, [2]bool{true, true}},
		"a plan without leaving": {without.ApprovalDigest(), [2]bool{true, true}, [2]bool{}},
	} {
		facts.Approved = map[string]bool{test.approved: true}
		guarded := guard.Check(plan, facts)
		for i := range 2 {
			if got := guarded.Changes[i].Refused != nil; got != test.refused[i] {
				t.Errorf("%s: change %d is refused: %t", name, i, got)
			}
			if got := guarded.Leaving[i].Approved; got != test.leaves[i] {
				t.Errorf("%s: departure %d is approved: %t", name, i, got)
			}
		}
		if again := guard.Check(guarded, facts); len(again.Granted) != len(guarded.Granted) {
			t.Errorf("%s: granted %v, and then %v", name, guarded.Granted, again.Granted)
		}
	}
}

// TestAHoldStaysWithItsZone: under another key as well, and it goes by the key where the id
// is not known.
func TestAHoldStaysWithItsZone(t *testing.T) {
	for name, test := range map[string]struct {
		hold diff.Hold
		key  string
		want bool
	}{
		"its key":                 {diff.Hold{Zone: "b"}, "b", true},
		"another key":             {diff.Hold{Zone: "b"}, "c", false},
		"another key, known":      {diff.Hold{Zone: "b", Scopes: []edge.Scope{edge.ZoneScope("0"), edge.ZoneScope("1")}}, "c", true},
		"another zone":            {diff.Hold{Zone: "b", Scopes: []edge.Scope{edge.ZoneScope("0")}}, "c", false},
		"a new zone with its key": {diff.Hold{Zone: "b", Scopes: []edge.Scope{edge.ZoneScope("0")}}, "b", true},
	} {
		if _, held := diff.HoldOn([]diff.Hold{test.hold}, test.key, edge.ZoneScope("1")); held != test.want {
			t.Errorf("%s: held %t", name, held)
		}
	}
}

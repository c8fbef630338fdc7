package guard

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// lossFleet declares n zones of one account with both of its managed rulesets, and n tokens.
func lossFleet(n int) desired.State {
	a := desired.Account{Key: "prod", Name: "Prod", ID: "account", Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core"}, {Key: "other", ID: "id-other"}}}
	s := desired.State{}
	for i := 1; i <= n; i++ {
		a.Zones = append(a.Zones, lossZone(fmt.Sprintf("z%d", i), "core", "other"))
		s.Tokens = append(s.Tokens, desired.Token{Key: fmt.Sprintf("t%d", i)})
	}
	s.Accounts = []desired.Account{a}
	return s
}

func lossZone(key string, rulesets ...string) desired.Zone {
	z := desired.Zone{Key: key, Name: key + ".example", Scope: edge.ZoneScope(edge.ZoneID("id-" + key))}
	for _, ruleset := range rulesets {
		z.Deployments = append(z.Deployments, desired.Deployment{Ruleset: ruleset})
	}
	return z
}

// lossOf is [LossOf] where it is worked out what differs; it is the same where all zones are looked at.
func lossOf(t interface {
	Helper()
	Fatalf(string, ...any)
}, before, after desired.State, known Known,
) Loss {
	t.Helper()
	loss := LossOf(before, after, desired.Differ(before, after), known)
	if whole := LossOf(before, after, wholeOf(before, after), known); !reflect.DeepEqual(loss, whole) {
		t.Fatalf("lost is %+v, and of all zones %+v", loss, whole)
	}
	return loss
}

// wholeOf has all zones of two states as what differs.
func wholeOf(before, after desired.State) desired.Difference {
	return desired.Difference{Was: desired.Differ(before, desired.State{}).Was, Is: desired.Differ(desired.State{}, after).Is}
}

var everything = Known{Exists: func(edge.Scope) bool { return true }}

// What is gone is told by what it is on the platform, and not by how the repository calls it.
func TestLossIsOfThePlatform(t *testing.T) {
	sought := func(z *desired.Zone) {
		z.ByName, z.Scope = true, edge.ZoneScope(desired.SoughtZone("prod", z.Key))
	}
	for name, test := range map[string]struct {
		change func(*desired.State)
		want   Size
	}{
		"nothing": {func(*desired.State) {}, Size{}},
		"another key of a managed ruleset": {func(s *desired.State) {
			s.Accounts[0].Rulesets[0].Key = "core2"
			for i := range s.Accounts[0].Zones {
				s.Accounts[0].Zones[i].Deployments[0].Ruleset = "core2"
			}
		}, Size{}},
		"the key means another managed ruleset": {func(s *desired.State) { s.Accounts[0].Rulesets[0].Name = "Else" }, Size{Deployments: 4}},
		"by id, which nothing says is the same": {func(s *desired.State) {
			s.Accounts[0].Rulesets[0] = desired.RulesetRef{Key: "core", ID: "id-core"}
		}, Size{Deployments: 4}},
		"another key of a zone":     {func(s *desired.State) { s.Accounts[0].Zones[0].Key = "renamed" }, Size{}},
		"another key of an account": {func(s *desired.State) { s.Accounts[0].Key = "renamed" }, Size{}},
		"another zone of the key":   {func(s *desired.State) { s.Accounts[0].Zones[0].Scope = edge.ZoneScope("id-else") }, Size{Zones: 1, Deployments: 2}},
		"no deployments":            {func(s *desired.State) { s.Accounts[0].Zones[1].Deployments = nil }, Size{Deployments: 2}},
		"another key of a token":    {func(s *desired.State) { s.Tokens[2].Key = "renamed" }, Size{Tokens: 1}},
		"another owner of a token":  {func(s *desired.State) { s.Tokens[2].Account, s.Tokens[2].Owner = "prod", "account" }, Size{Tokens: 1}},
		"its name is looked up":     {func(s *desired.State) { sought(&s.Accounts[0].Zones[0]) }, Size{}},
		"another name is looked up": {func(s *desired.State) {
			sought(&s.Accounts[0].Zones[0])
			s.Accounts[0].Zones[0].Name = "else.example"
		}, Size{Zones: 1, Deployments: 2}},
		"its name is looked up in another account": {func(s *desired.State) {
			other := desired.Account{Key: "made-up", Name: "Made up", ByName: true, ID: desired.SoughtAccount("made-up")}
			other.Zones, s.Accounts[0].Zones = slices.Clone(s.Accounts[0].Zones[:1]), s.Accounts[0].Zones[1:]
			sought(&other.Zones[0])
			s.Accounts = append(s.Accounts, other)
		}, Size{Zones: 1, Deployments: 2}},
	} {
		before, after := lossFleet(4), lossFleet(4)
		test.change(&after)
		got := lossOf(t, before, after, everything)
		if got.All.Gone != test.want || got.Real.Gone != test.want {
			t.Errorf("%s: gone %+v, of what exists %+v, want %+v", name, got.All.Gone, got.Real.Gone, test.want)
		}
	}
}

// A zone that was found by its name is not gone: neither when its id becomes known, nor when
// its name has another one.
func TestLossOfZonesByName(t *testing.T) {
	by := func(id edge.Scope) desired.State {
		s := lossFleet(4)
		s.Accounts[0].Zones[0].ByName, s.Accounts[0].Zones[0].Scope = true, id
		return s
	}
	for _, test := range [][2]edge.Scope{{edge.ZoneScope(desired.SoughtZone("prod", "z1")), edge.ZoneScope("id-z1")}, {edge.ZoneScope("id-z1"), edge.ZoneScope(desired.SoughtZone("prod", "z1"))}, {edge.ZoneScope("id-z1"), edge.ZoneScope("id-again")}} {
		if got := lossOf(t, by(test[0]), by(test[1]), everything); got.All.Gone != (Size{}) {
			t.Errorf("from %s to %s: %+v is gone", test[0], test[1], got.All.Gone)
		}
	}
}

// A managed ruleset that goes by its id from now on is the same where that is known.
func TestLossKnowsManagedRulesets(t *testing.T) {
	known := everything
	known.Ruleset = func(_ desired.Account, ref desired.RulesetRef) edge.RulesetID {
		return edge.RulesetID("id-" + strings.ToLower(ref.Name))
	}
	after := lossFleet(4)
	after.Accounts[0].Rulesets[0] = desired.RulesetRef{Key: "core", ID: "id-core"}
	if got := lossOf(t, lossFleet(4), after, known); got.All.Gone != (Size{}) {
		t.Errorf("%+v is gone", got.All.Gone)
	}
}

func TestLossIsNamed(t *testing.T) {
	after := lossFleet(9)
	after.Accounts[0].Zones = after.Accounts[0].Zones[:4]
	after.Accounts[0].Zones[0].Deployments = after.Accounts[0].Zones[0].Deployments[:1]
	after.Tokens = after.Tokens[:8]
	f := Facts{Loss: lossOf(t, lossFleet(9), after, everything)}
	want := "this commit no longer declares 5 of 9 zones, 11 of 18 deployments and 1 of 9 tokens of the last accepted commit: " +
		"prod / z1 / other, prod / z5, prod / z6 and 4 more"
	if got := f.ShrinkReason(); !f.Shrunk() || got != want {
		t.Errorf("%t: %s, want %s", f.Shrunk(), got, want)
	}
	f.Loss = lossOf(t, pad(lossFleet(9), 20), pad(after, 20), Known{Exists: func(id edge.Scope) bool { return !strings.HasPrefix(id.String(), "id-pad") }})
	want = "this commit no longer declares 5 of 9 zones, 11 of 18 deployments and 1 of 9 tokens of the last accepted commit that are known to exist: " +
		"prod / z1 / other, prod / z5, prod / z6 and 4 more"
	if got := f.ShrinkReason(); !f.Shrunk() || got != want {
		t.Errorf("%t: %s, want %s", f.Shrunk(), got, want)
	}
}

// pad adds zones that are not there, in the account and in one of their own.
func pad(s desired.State, n int) desired.State {
	s.Accounts = slices.Clone(s.Accounts)
	own := desired.Account{Key: "padding", ID: "id-padding", Rulesets: s.Accounts[0].Rulesets}
	for i := range n {
		z := lossZone(fmt.Sprintf("pad%d", i), "core", "other")
		if i%2 == 0 {
			own.Zones = append(own.Zones, z)
			continue
		}
		s.Accounts[0].Zones = append(slices.Clone(s.Accounts[0].Zones), z)
	}
	s.Accounts = append(s.Accounts, own)
	return s
}

// Whatever a commit adds, and whatever an earlier one has added that is not there, what it
// drops of the fleet is held back as if it had added nothing.
func TestPaddingHidesNoLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "zones")
		before, after := lossFleet(n), lossFleet(n)
		account := &after.Accounts[0]
		account.Zones = slices.DeleteFunc(account.Zones, func(desired.Zone) bool { return rapid.Bool().Draw(t, "dropped") })
		for i := range account.Zones {
			z := &account.Zones[i]
			z.Key = rapid.SampledFrom([]string{z.Key, "renamed-" + z.Key}).Draw(t, "key")
			z.Deployments = rapid.SampledFrom([][]desired.Deployment{z.Deployments, z.Deployments[:1], nil}).Draw(t, "deployments")
		}
		after.Tokens = slices.DeleteFunc(after.Tokens, func(desired.Token) bool { return rapid.Bool().Draw(t, "no token") })
		exists := func(id edge.Scope) bool { return !strings.HasPrefix(id.String(), "id-pad") }
		shrink := Shrink{Floor: rapid.IntRange(1, 9).Draw(t, "floor"), Percent: rapid.IntRange(10, 90).Draw(t, "percent")}
		without := Facts{Loss: lossOf(t, before, after, Known{Exists: exists}), Shrink: shrink}
		earlier, now := rapid.IntRange(0, 60).Draw(t, "padded before"), rapid.IntRange(0, 60).Draw(t, "padded now")
		with := Facts{Loss: lossOf(t, pad(before, earlier), pad(after, earlier+now), Known{Exists: exists}), Shrink: shrink}
		if without.Shrunk() && !with.Shrunk() {
			t.Fatalf("held without padding: %s; with it not", without.ShrinkReason())
		}
		if earlier == 0 && without.Loss.All.Gone != with.Loss.All.Gone {
			t.Fatalf("without padding %+v is gone, with it %+v", without.Loss.All.Gone, with.Loss.All.Gone)
		}
	})
}

// Where it is not known any more what was declared, the ids on record say what is gone.
func TestLossOnRecord(t *testing.T) {
	two := Size{Deployments: 2, Others: 1}
	record := map[edge.Scope]Size{edge.ZoneScope("id-z1"): two, edge.ZoneScope("id-z2"): two, edge.ZoneScope("id-z3"): two, edge.ZoneScope("id-z4"): two, edge.ZoneScope("id-else"): {Deployments: 1}}
	after := pad(lossFleet(2), 30)
	after.Accounts[0].Zones[0].Deployments, after.Accounts[0].Zones[0].Others = nil, []desired.Other{{Kind: "toy", Key: "a"}}
	got := LossOnRecord(record, after)
	if want := (Lost{Of: Size{Zones: 5, Deployments: 9, Others: 4}, Gone: Size{Zones: 3, Deployments: 7, Others: 3}}); got.Real != want || got.All != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

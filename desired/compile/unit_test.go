package compile_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// A unit crosses a process boundary as JSON: what arrives is what was sent,
// nil and empty told apart.
func TestUnitSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := units().Draw(t, "unit")
		data, err := json.Marshal(unit)
		if err != nil {
			t.Fatal(err)
		}
		var back compile.Unit
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(unit, back); diff != "" {
			t.Fatalf("unit after JSON (-sent +received):\n%s", diff)
		}
	})
}

// Whether units are merged where they were made or after the crossing, the
// state is the same.
func TestMergeAfterJSON(t *testing.T) {
	fsys := tree(map[string]string{"cue.mod/module.cue": mod, "tokens/all.cue": allForms})
	for name, f := range exported() {
		fsys[name] = f
	}
	dirs, err := compile.Folders(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	var here, there []compile.Unit
	for _, dir := range dirs {
		u := compile.Folder(fsys, dir, "c1")
		data, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		var back compile.Unit
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		here, there = append(here, u), append(there, back)
	}
	want, problems := compile.Merge(here, "c1")
	if len(desired.Errors(problems)) > 0 {
		t.Fatal(problems)
	}
	got, _ := compile.Merge(there, "c1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-here +there):\n%s", diff)
	}
}

// Units may be kept for the next commit: merging gives their origins that
// commit and leaves the units alone.
func TestMergeRestamps(t *testing.T) {
	fsys := tree(map[string]string{"z/a.cue": oneZone})
	unit := compile.Folder(fsys, "z", "old")
	before, _ := json.Marshal(unit)
	state, problems := compile.Merge([]compile.Unit{unit}, "new")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	d := state.Accounts[0].Zones[0].Deployments[0]
	for name, o := range map[string]desired.Origin{
		"account": state.Accounts[0].Origin, "ruleset": state.Accounts[0].Rulesets[0].Origin,
		"zone": state.Accounts[0].Zones[0].Origin, "deployment": d.Origin, "paranoia": d.Paranoia.Origin,
		"score": d.Threshold.Score.Origin, "action": d.Threshold.Action.Origin,
	} {
		if o.Commit != "new" || o.Line == 0 {
			t.Errorf("origin of %s: got %+v", name, o)
		}
	}
	if !d.Enabled.Origin.IsZero() || d.Enabled.Origin.Commit != "" {
		t.Errorf("origin of the default: got %+v, want none", d.Enabled.Origin)
	}
	if after, _ := json.Marshal(unit); string(after) != string(before) {
		t.Error("merging changed the unit")
	}
}

const oneZone = `package zones

account: prod: {
	id: "` + id1 + `"
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": {
		id: "` + id2 + `"
		waf: core: {
			paranoia: 2
			threshold: {score: 40, action: "block"}
		}
	}
}
`

func units() *rapid.Generator[compile.Unit] {
	text := rapid.String()
	origin := rapid.Custom(func(t *rapid.T) desired.Origin {
		return desired.Origin{Commit: text.Draw(t, "commit"), File: text.Draw(t, "file"), Line: rapid.Int().Draw(t, "line"), Column: rapid.IntMin(0).Draw(t, "column")}
	})
	declared := rapid.Custom(func(t *rapid.T) desired.Declared[string] {
		return desired.Declared[string]{Value: text.Draw(t, "value"), Origin: origin.Draw(t, "origin")}
	})
	deployment := rapid.Custom(func(t *rapid.T) desired.Deployment {
		d := desired.Deployment{Ruleset: text.Draw(t, "ruleset"), Origin: origin.Draw(t, "origin")}
		d.Enabled.Value = rapid.Bool().Draw(t, "enabled")
		d.Expression = rapid.Ptr(declared, true).Draw(t, "expression")
		if rapid.Bool().Draw(t, "has threshold") {
			d.Threshold = &desired.Threshold{Score: desired.Declared[int]{Value: rapid.Int().Draw(t, "score")}, Action: desired.Declared[edge.Action]{Value: edge.ActionBlock}}
			d.Paranoia = &desired.Declared[int]{Value: rapid.Int().Draw(t, "paranoia"), Origin: origin.Draw(t, "origin")}
			d.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: desired.Keep}
		}
		d.Disable.Tags = slice(declared).Draw(t, "tags")
		d.Disable.Rules = slice(rapid.Just(desired.Declared[desired.RuleRef]{Value: desired.RuleRef{ID: id1, Ref: "r"}})).Draw(t, "rules")
		override := desired.Override{Enabled: &desired.Declared[bool]{Value: true, Origin: origin.Draw(t, "origin")}, Sensitivity: rapid.Ptr(declared, true).Draw(t, "sensitivity")}
		d.Tags = slice(rapid.Just(desired.TagOverride{Tag: "t", Override: override})).Draw(t, "long tags")
		d.Rules = slice(rapid.Just(desired.RuleOverride{Rule: desired.RuleRef{Ref: "r"}, Override: override})).Draw(t, "long rules")
		d.Decisions = slice(rapid.Just(desired.Decision{Unmanaged: desired.Keep, Tag: "t"})).Draw(t, "decisions")
		d.All.Action = rapid.Ptr(rapid.Just(desired.Declared[edge.Action]{Value: edge.ActionLog}), true).Draw(t, "all")
		return d
	})
	zone := rapid.Custom(func(t *rapid.T) desired.Zone {
		z := desired.Zone{Key: text.Draw(t, "key"), Scope: edge.ZoneScope(edge.ZoneID(text.Draw(t, "id"))), Origin: origin.Draw(t, "origin"), Deployments: slice(deployment).Draw(t, "deployments")}
		if rapid.Bool().Draw(t, "labelled") {
			z.Labels = rapid.MapOf(text, text).Draw(t, "labels")
		}
		return z
	})
	token := rapid.Custom(func(t *rapid.T) desired.Token {
		k := desired.Token{Key: text.Draw(t, "key"), Name: text.Draw(t, "name"), Origin: origin.Draw(t, "origin"), NotBefore: text.Draw(t, "from"), ExpiresOn: text.Draw(t, "to"), Prune: rapid.Bool().Draw(t, "prune")}
		k.Policies = slice(rapid.Just(desired.Policy{Effect: "allow", Resources: []desired.Resource{{Key: "k", AllZones: true}}, PermissionGroups: []desired.PermissionGroup{{ID: "g", Name: "n"}}})).Draw(t, "policies")
		if rapid.Bool().Draw(t, "extras") {
			k.Condition = &desired.Condition{In: slice(text).Draw(t, "in"), NotIn: slice(text).Draw(t, "not in")}
			k.Sink = &desired.Sink{Name: text.Draw(t, "sink"), Key: text.Draw(t, "sink key")}
			k.Rotate = &desired.Rotate{Every: time.Hour, Overlap: time.Minute}
		}
		return k
	})
	call := rapid.Custom(func(t *rapid.T) desired.Call {
		c := desired.Call{Origin: origin.Draw(t, "origin"), Method: text.Draw(t, "method"), Path: text.Draw(t, "path"), Body: text.Draw(t, "body")}
		if rapid.Bool().Draw(t, "headed") {
			c.Headers = rapid.MapOf(text, slice(text)).Draw(t, "headers")
		}
		return c
	})
	integration := rapid.Custom(func(t *rapid.T) desired.Integration {
		return desired.Integration{Name: text.Draw(t, "name"), Owner: text.Draw(t, "owner"), Origin: origin.Draw(t, "origin"), Calls: slice(call).Draw(t, "calls")}
	})
	entry := rapid.Custom(func(t *rapid.T) desired.CalendarEntry {
		a := deprecation.Addition{ID: text.Draw(t, "id"), Title: text.Draw(t, "title"), Date: deprecation.Date(text.Draw(t, "date")), EndOfLife: deprecation.NotDated}
		if rapid.Bool().Draw(t, "replaced") {
			a.Replacement = &deprecation.Replacement{Text: text.Draw(t, "by"), None: rapid.Bool().Draw(t, "none")}
			a.Endpoints = []deprecation.Endpoint{{Methods: []string{"GET"}, Path: text.Draw(t, "path"), Values: []deprecation.Mapping{{From: "on", To: true}}}}
			a.Query = []deprecation.Query{{On: a.Endpoints, Param: "name", Form: deprecation.FormList, To: "name", Extended: true}}
			a.Body = []deprecation.Member{{Path: "p", When: &deprecation.When{Path: "q", Equals: text.Draw(t, "equals")}, Recipe: deprecation.RecipeDrop}}
			a.Headers = []deprecation.Headers{{All: []string{text.Draw(t, "header")}}}
		}
		return desired.CalendarEntry{Origin: origin.Draw(t, "origin"), Addition: a}
	})
	return rapid.Custom(func(t *rapid.T) compile.Unit {
		return compile.Unit{
			Dir: text.Draw(t, "dir"), Commit: text.Draw(t, "commit"),
			Accounts: slice(rapid.Custom(func(t *rapid.T) desired.Account {
				return desired.Account{
					Key: text.Draw(t, "key"), ID: edge.AccountID(text.Draw(t, "id")), Origin: origin.Draw(t, "origin"),
					Rulesets: slice(rapid.Just(desired.RulesetRef{Key: "core", Name: "Core", ID: id1})).Draw(t, "rulesets"), Zones: slice(zone).Draw(t, "zones"),
				}
			})).Draw(t, "accounts"),
			Integrations: slice(integration).Draw(t, "integrations"), Calendar: slice(entry).Draw(t, "calendar"),
			Tokens:   slice(token).Draw(t, "tokens"),
			User:     rapid.Ptr(declared, true).Draw(t, "user"),
			Named:    slice(rapid.Just(compile.NamedUser{Tag: "u", Path: "p"})).Draw(t, "named"),
			Problems: slice(rapid.Just(desired.Problem{Path: "p", Message: "m", Hint: "h", Warning: true})).Draw(t, "problems"),
		}
	})
}

// slice draws nil, empty and filled ones.
func slice[T any](of *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.Just[[]T](nil), rapid.SliceOfN(of, 0, 3))
}

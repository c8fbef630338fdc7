package rule

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/redact"
)

// goes are a skip rule that goes, as the deployments say.
func goes(i int) diff.Bypass {
	return diff.Bypass{Account: "prod", Zone: "shop.example", Scope: difftest.Zone, Deployment: "core", Rule: difftest.SkipID(i), Remove: true}
}

func removingBypasses() desired.Deployment {
	d := difftest.Deployment()
	d.Bypass = difftest.Declared(17, desired.RemoveBypass)
	return d
}

// plan plans the removal of skip rules from an entry point.
func planUndeclared(rules []edge.Rule, goes ...diff.Bypass) diff.Part {
	in := difftest.One(removingBypasses(), rules...)
	in.Bypasses = goes
	return Exception.Plan(in)
}

// written are the rules of an entry point after a change.
func afterUndeclared(rules []edge.Rule, c diff.Change) []edge.Rule {
	o := c.Operation.(diff.RuleOperation)
	if o.Do == diff.ActionRemove {
		return slices.DeleteFunc(slices.Clone(rules), func(r edge.Rule) bool { return r.ID == o.Target.Rule })
	}
	body := o.Body
	body.ID, body.Version = "99999999999999999999999999999999", "1"
	at := slices.IndexFunc(rules, func(r edge.Rule) bool { return r.ID == *o.Position.Before })
	return slices.Insert(slices.Clone(rules), at, body)
}

// restoration is what the history has of a change.
func historyOf(c diff.Change) diff.Restoration {
	r := diff.Restoration{ID: c.ID(), Account: c.Account, AccountID: difftest.Account, Zone: c.Zone, Deployment: c.Deployment}
	for _, f := range c.Fields {
		before, _ := json.Marshal(f.Old)
		r.Members = append(r.Members, diff.Restored{Path: f.Path, Before: before})
	}
	return r
}

// A rule goes with one request, however many deployments it acts on, and nothing else does.
func TestARuleGoesOnce(t *testing.T) {
	rules := []edge.Rule{difftest.SkipAll(0, "true"), difftest.SkipAll(1, `http.host eq "a"`), difftest.Execute(nil)}
	other := goes(1)
	other.Deployment = "other"
	stays := goes(0)
	stays.Remove = false
	part := planUndeclared(rules, stays, goes(1), other)
	if len(part.Changes) != 1 || len(part.Problems)+len(part.Settled) > 0 {
		t.Fatalf("%+v", part)
	}
	c := part.Changes[0]
	request, _ := c.Request()
	if want := edge.RulePath(difftest.Zone, difftest.EntryPoint, difftest.SkipID(1)); request.Method != "DELETE" || request.Path != want {
		t.Errorf("it sends %s %s", request.Method, request.Path)
	}
	if c.Name() != "prod / shop.example / skip rule of core" || c.Direction != diff.Strengthens || c.Origin != difftest.At(17) || c.Do().Seen() != "11" {
		t.Errorf("%s %s, from %s, seen %s", c.Name(), c.Direction, c.Origin, c.Do().Seen())
	}
	var lines []string
	for _, f := range c.Fields {
		text, _ := json.Marshal(f.Old)
		lines = append(lines, string(f.Path)+" "+string(text))
		if f.New != nil {
			t.Errorf("%s becomes %v", f.Path, f.New)
		}
	}
	want := []string{
		`action "skip"`, `action_parameters {"ruleset":"current"}`, `description "skip 1"`, `enabled true`, `expression "http.host eq \"a\""`, `logging {"enabled":true}`,
		`position.before "` + string(difftest.Rule) + `"`, `ref "` + string(difftest.SkipID(1)) + `"`,
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
}

// A removal that was begun and is done is told, one that is not yet is planned anew, and one
// that nothing asks for any more is forgotten with the next proof.
func TestARemovalThatWasBegun(t *testing.T) {
	id := diff.ID{Kind: desired.Exception, Scope: difftest.Zone, Ref: string(difftest.SkipID(0))}
	in := difftest.One(removingBypasses(), difftest.Execute(nil))
	in.Applied = diff.Applied{id: {removalBegun}}
	if out := Exception.Plan(in); len(out.Changes) > 0 || len(out.Settled) != 1 || out.Settled[0].ID != id || !out.Settled[0].Removed {
		t.Errorf("%+v", out)
	}
	in.Live = difftest.Live(difftest.SkipAll(0, "true"), difftest.Execute(nil))
	if out := Exception.Plan(in); len(out.Changes)+len(out.Settled) > 0 {
		t.Errorf("%+v", out)
	}
	in.Bypasses = []diff.Bypass{goes(0)}
	if out := Exception.Plan(in); len(out.Changes) != 1 || len(out.Settled) > 0 {
		t.Errorf("%+v", out)
	}
	in.Live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Err: errors.New("down")}
	if out := Exception.Plan(in); len(out.Changes)+len(out.Settled) > 0 {
		t.Errorf("of what cannot be read: %+v", out)
	}
}

// What was removed and is put back is the same rule, before what it acted on; a second plan has
// nothing left to put back.
func TestRemovedAndPutBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		skip := difftest.Skip(0,
			rapid.SampledFrom([]string{"true", `http.host eq "<a>"`, "ip.src eq 192.0.2.7"}).Draw(t, "expression"),
			rapid.SampledFrom([]string{`{"ruleset":"current"}`, `{"rulesets":["c04e0000000000000000000000000001"]}`, `{"phases":[],"x":1e3}`}).Draw(t, "parameters"))
		if rapid.Bool().Draw(t, "bare") {
			skip.Enabled, skip.Description, skip.Ref, skip.Extra = nil, nil, "", nil
		}
		rules := []edge.Rule{difftest.SkipAll(1, `http.host eq "b"`), difftest.Execute(nil), difftest.SkipAll(2, "true")}
		rules = slices.Insert(rules, rapid.IntRange(0, 1).Draw(t, "place"), skip)
		c := planUndeclared(rules, goes(0)).Changes[0]
		without := afterUndeclared(rules, c)
		back, problem := Exception.Restore(historyOf(c), diff.Input{Live: difftest.Live(without...)})
		if problem != nil || back.Direction != diff.Weakens {
			t.Fatalf("%+v, %+v", back, problem)
		}
		again := afterUndeclared(without, *back)
		execute := slices.IndexFunc(again, func(r edge.Rule) bool { return r.ID == difftest.Rule })
		if d := cmp.Diff(skip.Update(), again[execute-1].Update()); d != "" {
			t.Fatal(d)
		}
		if left, problem := Exception.Restore(historyOf(c), diff.Input{Live: difftest.Live(again...)}); left != nil || problem != nil {
			t.Fatalf("then %+v, %+v is left", left, problem)
		}
		if len(c.Fields) != len(back.Fields) {
			t.Fatalf("fields %+v and %+v", c.Fields, back.Fields)
		}
	})
}

// What took its place, or cannot be known, is left as it is.
func TestNotPutBack(t *testing.T) {
	skip := difftest.SkipAll(0, "true")
	c := planUndeclared([]edge.Rule{skip, difftest.Execute(nil)}, goes(0)).Changes[0]
	r := historyOf(c)
	changed := skip
	changed.ID, changed.Expression = difftest.SkipID(7), `http.host eq "a"`
	secret := historyOf(c)
	secret.Members = slices.Clone(secret.Members)
	secret.Members[4].Before = json.RawMessage(`"` + redact.Mark + `"`)
	for name, test := range map[string]struct {
		r     diff.Restoration
		live  diff.Live
		state diff.ProblemState
		says  string
	}{
		"another has its ref":      {r, difftest.Live(changed, difftest.Execute(nil)), diff.ChangedSince, "another rule has the ref"},
		"the execute rule is gone": {r, difftest.Live(), diff.ChangedSince, "is gone"},
		"behind the execute rule":  {r, difftest.Live(difftest.Execute(nil), skip), diff.ChangedSince, "another rule has the ref"},
		"a secret was in it":       {secret, difftest.Live(difftest.Execute(nil)), diff.Blocked, "by hand"},
		"it was put back":          {diff.Restoration{ID: c.ID(), Members: []diff.Restored{{Path: "expression"}}}, difftest.Live(skip, difftest.Execute(nil)), diff.Blocked, "does not remove"},
		"it was not read":          {r, diff.Live{}, diff.Unknown, "was not read"},
	} {
		back, problem := Exception.Restore(test.r, diff.Input{Live: test.live})
		if back != nil || problem == nil || problem.State != test.state || !strings.Contains(problem.Reason, test.says) {
			t.Errorf("%s: %+v, %+v", name, back, problem)
		}
	}
}

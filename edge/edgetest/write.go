package edgetest

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/seawall-dev/seawall/edge"
)

func updateIsReadBack(t tester) {
	last, _ := t.core().Last()
	entry := t.entryPoint(t.Zone)
	body := t.body(entry)
	body.ActionParameters.Overrides = &edge.Overrides{
		Categories: paranoia(2),
		Rules: []edge.RuleOverride{
			{ID: last.ID, ScoreThreshold: new(60), Action: new(edge.ActionManagedChallenge)},
			{ID: t.core().Rules[0].ID, Enabled: new(false)},
		},
	}
	body.Enabled = new(false)
	body.Expression = `http.host eq "shop.example"`
	t.update(entry, body)
	t.sameRule(body, t.deployment(t.entryPoint(t.Zone)))
}

func updateAddsOne(t tester) {
	before := t.entryPoint(t.Zone)
	body := t.body(before)
	body.ActionParameters.Overrides = &edge.Overrides{Categories: paranoia(3)}
	answer := t.update(before, body)
	after := t.entryPoint(t.Zone)
	if was, is := version(t, before.Version), version(t, after.Version); is != was+1 {
		t.Errorf("the ruleset went from version %d to %d", was, is)
	}
	was, is := t.deployment(before), t.deployment(after)
	if version(t, is.Version) != version(t, was.Version)+1 {
		t.Errorf("the rule went from version %s to %s", was.Version, is.Version)
	}
	if is.ID != was.ID || before.ID != after.ID {
		t.Errorf("ids changed: rule %s to %s, ruleset %s to %s", was.ID, is.ID, before.ID, after.ID)
	}
	if answer != nil {
		t.same("the answer of the update", after, *answer)
	}
}

// Replacing or merging, lists are replaced as a whole on either kind of server.
func updateReplacesLists(t tester) {
	core := t.core()
	for _, rules := range [][]edge.RuleOverride{
		{{ID: core.Rules[0].ID, Enabled: new(false)}, {ID: core.Rules[1].ID, Enabled: new(false)}},
		{{ID: core.Rules[2].ID, Action: new(edge.ActionLog)}},
	} {
		t.sameRule(t.override(&edge.Overrides{Categories: paranoia(1), Rules: rules}))
	}
}

// An update without overrides clears them on a server that replaces and
// touches nothing on one that merges.
func updateLeavesOut(t tester) {
	full, _ := t.override(&edge.Overrides{Categories: paranoia(2)})
	want, got := t.override(nil)
	if t.Merges {
		want = full
	}
	t.sameRule(want, got)
}

// Members that were not sent do not appear: neither an enabled nor an action.
func absentIsNotFalse(t tester) {
	rules := t.core().Rules
	sent, got := t.override(&edge.Overrides{
		Categories: []edge.CategoryOverride{{Category: "paranoia-level-4", Action: new(edge.ActionLog)}},
		Rules: []edge.RuleOverride{
			{ID: rules[0].ID, Action: new(edge.ActionLog)},
			{ID: rules[1].ID, Enabled: new(false)},
			{ID: rules[2].ID, Enabled: new(true)},
		},
	})
	t.same("the overrides", sent.ActionParameters.Overrides, got.ActionParameters.Overrides)
}

// Where two categories hit one rule the last listed wins, so order has meaning.
func categoriesKeepOrder(t tester) {
	categories := []edge.CategoryOverride{
		{Category: "paranoia-level-4", Enabled: new(false)},
		{Category: "paranoia-level-2", Enabled: new(true)},
		{Category: "paranoia-level-3", Enabled: new(false)},
	}
	for range 2 {
		slices.Reverse(categories)
		_, got := t.override(&edge.Overrides{Categories: slices.Clone(categories)})
		t.same("the categories", categories, got.ActionParameters.Overrides.Categories)
	}
}

// Members we do not know go back as they came, at every level.
func unknownMembersSurvive(t tester) {
	extra := func(name string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"x_" + name: json.RawMessage(`{"level":"` + name + `","n":[1.50,null,true]}`)}
	}
	entry := t.entryPoint(t.Zone)
	body := t.body(entry)
	if t.Strict {
		body.Extra = extra("rule")
		_, err := t.send(edge.UpdateRule(t.Zone, entry.ID, t.deployment(entry).ID, body))
		t.wantIs(err, edge.ErrInvalid, edge.ErrOutcomeUnknown)
		return
	}
	body.Extra = extra("rule")
	body.ActionParameters.Extra = extra("parameters")
	body.ActionParameters.Overrides = &edge.Overrides{
		SensitivityLevel: new("low"),
		Categories:       []edge.CategoryOverride{{Category: "paranoia-level-4", Enabled: new(false), Extra: extra("category")}},
		Rules:            []edge.RuleOverride{{ID: t.core().Rules[0].ID, Enabled: new(false), Extra: extra("override")}},
		Extra:            extra("overrides"),
	}
	t.update(entry, body)

	entry = t.entryPoint(t.Zone)
	again := t.body(entry)
	again.ActionParameters.Overrides.Categories[0].Enabled = new(true)
	t.update(entry, again)
	body.ActionParameters.Overrides.Categories[0].Enabled = new(true)
	got := t.deployment(t.entryPoint(t.Zone))
	for _, extra := range []map[string]json.RawMessage{
		got.Extra, got.ActionParameters.Extra, got.ActionParameters.Overrides.Extra,
		got.ActionParameters.Overrides.Categories[0].Extra, got.ActionParameters.Overrides.Rules[0].Extra,
	} {
		if len(extra) == 0 {
			t.Error("a level lost its unknown members")
		}
	}
	t.sameRule(again, got)
	t.same("the overrides", body.ActionParameters.Overrides, got.ActionParameters.Overrides)
}

func readersBesideWriter(t tester) {
	first := version(t, t.entryPoint(t.Zone).Version)
	var wg sync.WaitGroup
	defer wg.Wait()
	for range 4 {
		wg.Go(func() {
			for range 20 {
				seen, err := t.patiently(t.Zone)
				if err != nil {
					t.Error(err)
					return
				}
				t.wholeWrite(seen, first)
			}
		})
	}
	for i := range 5 {
		entry, err := t.patiently(t.Zone)
		t.must(err)
		body := t.body(entry)
		body.ActionParameters.Overrides = &edge.Overrides{Rules: []edge.RuleOverride{
			{ID: nowhere, ScoreThreshold: new(first + i + 1), Action: new(edge.ActionLog)},
		}}
		t.update(entry, body)
	}
}

// wholeWrite checks that the version a reader saw belongs to the overrides it
// saw: the writer puts the version that its write will have into the score.
func (t tester) wholeWrite(seen edge.Ruleset, first int) {
	at := version(t, seen.Version)
	if at == first {
		return
	}
	i := slices.IndexFunc(seen.Rules, func(r edge.Rule) bool { return r.Executes(t.Core) })
	if i < 0 {
		t.Errorf("version %d came without the deployment", at)
		return
	}
	o := seen.Rules[i].ActionParameters.Overrides
	if o == nil || len(o.Rules) != 1 || o.Rules[0].ScoreThreshold == nil || *o.Rules[0].ScoreThreshold != at {
		t.Errorf("version %d came with overrides %+v", at, o)
	}
}

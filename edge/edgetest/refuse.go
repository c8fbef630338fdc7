package edgetest

import (
	"encoding/json"
	"errors"

	"github.com/seawall-dev/seawall/edge"
)

// A body is spoiled through its unknown members where the type of a rule cannot
// say it: an empty list and none are different requests.
var spoiled = []struct {
	name     string
	leaveOut bool // leaves a member out, which a merging server takes for "keep"
	spoil    func(*edge.Rule)
}{
	{"blank expression", false, func(r *edge.Rule) { r.Expression = " " }},
	{"empty expression", false, func(r *edge.Rule) { r.Expression = ""; setRaw(&r.Extra, "expression", `""`) }},
	{"no expression", true, func(r *edge.Rule) { r.Expression = "" }},
	{"empty action", false, func(r *edge.Rule) { r.Action = ""; setRaw(&r.Extra, "action", `""`) }},
	{"no action", true, func(r *edge.Rule) { r.Action = "" }},
	{"no action parameters", true, func(r *edge.Rule) { r.ActionParameters = nil }},
	{"no ruleset to execute", true, func(r *edge.Rule) { r.ActionParameters.ID = "" }},
	{"an empty id of a ruleset to execute", false, func(r *edge.Rule) {
		r.ActionParameters.ID = ""
		setRaw(&r.ActionParameters.Extra, "id", `""`)
	}},
	{"an unknown ruleset to execute", false, func(r *edge.Rule) { r.ActionParameters.ID = nowhere }},
	{"empty overrides", false, func(r *edge.Rule) { r.ActionParameters.Overrides = &edge.Overrides{} }},
	{"empty categories", false, overridesWith("categories", `[]`)},
	{"empty rules", false, overridesWith("rules", `[]`)},
	{"a category and nothing about it", false, overridesWith("categories", `[{"category":"paranoia-level-4"}]`)},
	{"a rule and nothing about it", false, overridesWith("rules", `[{"id":"`+nowhere+`"}]`)},
	{"an override of nothing", false, overridesWith("rules", `[{"enabled":false,"action":"log"}]`)},
	{"a score that is no integer", false, overridesWith("rules", `[{"id":"`+nowhere+`","score_threshold":"40"}]`)},
}

func overridesWith(name, raw string) func(*edge.Rule) {
	return func(r *edge.Rule) {
		r.ActionParameters.Overrides = &edge.Overrides{Extra: map[string]json.RawMessage{name: json.RawMessage(raw)}}
	}
}

func setRaw(extra *map[string]json.RawMessage, name, raw string) {
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	(*extra)[name] = json.RawMessage(raw)
}

func invalidBodies(t tester) {
	for _, s := range spoiled {
		if s.leaveOut && t.Merges {
			continue // not a mistake there: "an update keeps or loses what it leaves out"
		}
		t.Log(s.name)
		before := t.entryPoint(t.Zone)
		body := t.body(before)
		s.spoil(&body)
		_, err := t.send(edge.UpdateRule(t.Zone, before.ID, t.deployment(before).ID, body))
		t.wantIs(err, edge.ErrInvalid, edge.ErrNotFound, edge.ErrOutcomeUnknown, edge.ErrUnavailable)
		var described *edge.Error
		if !errors.As(err, &described) || len(described.Details) == 0 {
			t.Errorf("the error does not say what is wrong: %v", err)
		}
		t.same("the entry point", before, t.entryPoint(t.Zone))
	}
}

func otherZonesRule(t tester) {
	here, there := t.entryPoint(t.Zone), t.entryPoint(t.Other)
	mine := t.deployment(here)
	if len(there.Rules) == 0 {
		t.Fatal("the other zone has no rule")
	}
	body := t.body(here)
	body.Enabled = new(false)
	for _, at := range []struct {
		zone       edge.Scope
		entryPoint edge.Ruleset
		rule       edge.RuleID
	}{
		{t.Zone, there, there.Rules[0].ID}, // all of it is the other zone's
		{t.Zone, here, there.Rules[0].ID},
		{t.Zone, there, mine.ID},
		{t.Bare, here, mine.ID},
	} {
		_, err := t.send(edge.UpdateRule(at.zone, at.entryPoint.ID, at.rule, body))
		t.wantIs(err, edge.ErrNotFound, edge.ErrInvalid)
	}
	t.same("the entry point", here, t.entryPoint(t.Zone))
	t.same("the entry point of the other zone", there, t.entryPoint(t.Other))
}

func updateUnknown(t tester) {
	entry := t.entryPoint(t.Zone)
	rule := t.deployment(entry)
	_, err := t.send(edge.UpdateRule(t.Zone, entry.ID, nowhere, rule.Update()))
	t.wantIs(err, edge.ErrNotFound)
	_, err = t.send(edge.UpdateRule(edge.ZoneScope(nowhere), entry.ID, rule.ID, rule.Update()))
	t.wantIs(err, edge.ErrNotFound)
	for _, id := range []edge.RulesetID{nowhere, t.Core} {
		_, err = t.send(edge.UpdateRule(t.Zone, id, rule.ID, rule.Update()))
		t.wantIs(err, edge.ErrNotFound, edge.ErrEntryPointNotFound)
	}
	t.same("the entry point", entry, t.entryPoint(t.Zone))
}

// denied is a case for platforms that have credentials.
func denied(run func(tester)) func(tester) {
	return func(t tester) {
		if t.Denied == nil {
			t.Log("this platform has no credentials")
			return
		}
		run(t)
	}
}

func wrongCredential(t tester) {
	before := t.entryPoint(t.Zone)
	rule := t.deployment(before)
	granted := t.Platform
	t.Platform = t.Denied
	_, listErr := t.Platform.Rulesets(t.Context(), edge.AccountScope(t.Account))
	_, getErr := t.Platform.Ruleset(t.Context(), edge.AccountScope(t.Account), t.Core)
	_, entryErr := t.Platform.EntryPoint(t.Context(), t.Zone, edge.PhaseFirewallManaged)
	_, bareErr := t.Platform.EntryPoint(t.Context(), t.Bare, edge.PhaseFirewallManaged)
	t.Platform = deniedWriter{granted, t.Denied, t.Denied}
	_, writeErr := t.send(edge.UpdateRule(t.Zone, before.ID, rule.ID, rule.Update()))
	for _, err := range []error{listErr, getErr, entryErr, bareErr, writeErr} {
		t.wantIs(err, edge.ErrUnauthenticated, edge.ErrForbidden, edge.ErrNotFound, edge.ErrEntryPointNotFound)
	}
	t.Platform = granted
	t.same("the entry point", before, t.entryPoint(t.Zone))
}

func forbiddenZone(t tester) {
	if t.Forbid == nil {
		t.Log("this platform permits everything")
		return
	}
	before, other := t.entryPoint(t.Zone), t.entryPoint(t.Other)
	rule := t.deployment(before)
	t.must(t.Forbid(t.Zone))
	_, readErr := t.patiently(t.Zone)
	_, writeErr := t.send(edge.UpdateRule(t.Zone, before.ID, rule.ID, rule.Update()))
	for _, err := range []error{readErr, writeErr} {
		t.wantIs(err, edge.ErrForbidden, edge.ErrUnauthenticated, edge.ErrNotFound, edge.ErrEntryPointNotFound, edge.ErrOutcomeUnknown)
	}
	there, err := t.patiently(t.Other)
	t.must(err)
	t.same("the entry point of the other zone", other, there)
}

// deniedWriter reads with one credential and writes with another.
type deniedWriter struct {
	edge.Reader
	edge.Writer
	edge.DryRunner
}

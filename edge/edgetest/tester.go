package edgetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
)

// maxUpdates bounds how often an update is tried.
const maxUpdates = 10

// send makes a write as a caller has to: where the outcome is unknown it reads, and
// tries again only where nothing changed. A throttled write is one that did not happen.
func (t tester) send(write edge.Write) (*edge.Ruleset, error) {
	t.Helper()
	before, beforeErr := t.patiently(write.Scope)
	for range maxUpdates {
		answer, err := t.Platform.Send(t.Context(), write)
		switch {
		case errors.Is(err, edge.ErrThrottled):
			continue
		case !errors.Is(err, edge.ErrOutcomeUnknown):
			return answer, err
		}
		now, err := t.patiently(write.Scope)
		if (err == nil) != (beforeErr == nil) || err == nil && now.Version != before.Version {
			return nil, nil
		}
	}
	t.Fatalf("%s did not come through in %d attempts", write, maxUpdates)
	return nil, nil
}

// try is a dry run of a write.
func (t tester) try(write edge.Write) error {
	return patient(func() error { return t.Platform.Try(t.Context(), write) })
}

// update updates the deployment in Zone, of which entry is the entry point as
// it is now.
func (t tester) update(entry edge.Ruleset, body edge.Rule) *edge.Ruleset {
	t.Helper()
	answer, err := t.send(edge.UpdateRule(t.Zone, entry.ID, t.deployment(entry).ID, body))
	t.must(err)
	return answer
}

// override gives the deployment in Zone these overrides, and returns what was sent and what
// is read after it.
func (t tester) override(overrides *edge.Overrides) (sent, got edge.Rule) {
	t.Helper()
	entry := t.entryPoint(t.Zone)
	sent = t.body(entry)
	sent.ActionParameters.Overrides = overrides
	t.update(entry, sent)
	return sent, t.deployment(t.entryPoint(t.Zone))
}

func (t tester) core() edge.Ruleset {
	t.Helper()
	core, err := t.Platform.Ruleset(t.Context(), edge.AccountScope(t.Account), t.Core)
	t.must(err)
	return core
}

func (t tester) entryPoint(zone edge.Scope) edge.Ruleset {
	t.Helper()
	entry, err := t.Platform.EntryPoint(t.Context(), zone, edge.PhaseFirewallManaged)
	t.must(err)
	return entry
}

// patiently reads an entry point while others do. Every call may fail for
// reasons that pass, and a fault on every nth request can hit one of many
// callers again and again.
func (t tester) patiently(zone edge.Scope) (entry edge.Ruleset, err error) {
	for range 10 {
		entry, err = t.Platform.EntryPoint(t.Context(), zone, edge.PhaseFirewallManaged)
		if !errors.Is(err, edge.ErrThrottled) && !errors.Is(err, edge.ErrUnavailable) && !errors.Is(err, edge.ErrUnreadable) {
			return entry, err
		}
	}
	return entry, err
}

// deployment returns the rule of an entry point that executes Core.
func (t tester) deployment(entry edge.Ruleset) edge.Rule {
	t.Helper()
	for _, rule := range entry.Rules {
		if rule.Executes(t.Core) {
			return rule
		}
	}
	t.Fatalf("no rule of the entry point executes %s", t.Core)
	return edge.Rule{}
}

// body returns an update of the deployment that says what it is now, sharing
// no memory with entry.
func (t tester) body(entry edge.Ruleset) edge.Rule {
	t.Helper()
	data, err := json.Marshal(t.deployment(entry).Update())
	t.must(err)
	var body edge.Rule
	t.must(json.Unmarshal(data, &body))
	return body
}

// ended is a context that has ended.
func (t tester) ended() context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func (t tester) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantIs checks what an error is and what it must not be taken for.
func (t tester) wantIs(err, want error, not ...error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
	for _, n := range not {
		if errors.Is(err, n) {
			t.Errorf("error %v reads as %v too", err, n)
		}
	}
}

// same compares two values of the platform in canonical form.
func (t tester) same(what string, want, got any) {
	t.Helper()
	if d := gocmp.Diff(canonical(t, want), canonical(t, got)); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, d)
	}
}

// sameRule compares a rule that was read with the body that wrote it.
func (t tester) sameRule(body, got edge.Rule) {
	t.Helper()
	t.same("the rule", body, got.Update())
}

// canonical is the JSON of a value as Go values, override rules sorted by id:
// their order says nothing, and servers change it.
func canonical(t testing.TB, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Error(err)
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		t.Error(err)
	}
	sortRuleOverrides(out)
	return out
}

func sortRuleOverrides(value any) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			sortRuleOverrides(element)
		}
	case map[string]any:
		// A ruleset has rules too, and theirs is an order with a meaning.
		_, isRuleset := value["phase"]
		if rules, ok := value["rules"].([]any); ok && !isRuleset {
			slices.SortFunc(rules, func(a, b any) int { return cmp.Compare(idOf(a), idOf(b)) })
		}
		for _, member := range value {
			sortRuleOverrides(member)
		}
	}
}

func idOf(value any) string {
	members, _ := value.(map[string]any)
	id, _ := members["id"].(string)
	return id
}

// version reads a version, a decimal number carried as text.
func version(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || strconv.Itoa(n) != text {
		t.Errorf("version %q is not a decimal number", text)
	}
	return n
}

// paranoia is what sets a paranoia level: the tags of the levels above it off.
func paranoia(level int) []edge.CategoryOverride {
	var off []edge.CategoryOverride
	for l := level + 1; l <= edge.MaxParanoia; l++ {
		off = append(off, edge.CategoryOverride{Category: edge.ParanoiaTag(l), Enabled: new(false)})
	}
	return off
}

package edgetest

import (
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// executeAs is a rule that deploys a ruleset at account level.
func executeAs(id edge.RulesetID, ref string) edge.Rule {
	rule := execute(id)
	rule.Ref, rule.Expression = ref, `http.host eq "`+ref+`" and cf.zone.plan eq "ENT"`
	return rule
}

// The entry point of an account is one of its own, where one managed ruleset may run
// several times. Rules keep their refs, and nothing in a zone changes.
func accountDeploys(t tester) {
	account, zone := edge.AccountScope(t.Account), t.entryPoint(t.Zone)
	_, err := t.patiently(account)
	t.wantIs(err, edge.ErrEntryPointNotFound, edge.ErrNotOffered)
	t.must(t.createEntryPoint(account, executeAs(t.Core, "eu")))
	t.wantIs(t.createEntryPoint(account, executeAs(t.Core, "eu")), edge.ErrEntryPointExists, edge.ErrInvalid, edge.ErrOutcomeUnknown)
	_, err = t.send(edge.AddRule(account, t.entryPoint(account).ID, executeAs(t.Core, "us")))
	t.must(err)
	entry := t.entryPoint(account)
	if entry.Kind != edge.KindRoot || len(entry.Rules) != 2 || !entry.Rules[0].Executes(t.Core) || !entry.Rules[1].Executes(t.Core) {
		t.Fatalf("got %+v", entry)
	}
	wantRefs(t, entry, "eu", "us")

	tuned := entry.Rules[0].Update()
	tuned.ActionParameters.Overrides = &edge.Overrides{Categories: paranoia(2)}
	_, err = t.send(edge.UpdateRule(account, entry.ID, entry.Rules[0].ID, tuned))
	t.must(err)
	after := t.entryPoint(account)
	wantRefs(t, after, "eu", "us")
	t.sameRule(tuned, after.Rules[0])
	t.same("the other rule", entry.Rules[1], after.Rules[1])

	t.must(t.deleteRule(account, after, after.Rules[1].ID))
	wantRefs(t, t.entryPoint(account), "eu")
	t.same("the entry point of a zone", zone, t.entryPoint(t.Zone))
}

func wantRefs(t tester, entry edge.Ruleset, want ...string) {
	t.Helper()
	var refs []string
	for _, rule := range entry.Rules {
		refs = append(refs, rule.Ref)
	}
	if !slices.Equal(refs, want) {
		t.Fatalf("rules with the refs %q, want %q", refs, want)
	}
}

package status

import (
	"maps"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestTokenCounts(t *testing.T) {
	create := func(key string) diff.Change {
		return diff.Change{Scope: edge.CredentialScope(""), Token: key, Operation: diff.Creation{As: diff.ActionCreate}}
	}
	refused := create("refused")
	refused.Refused = &diff.Refusal{}
	report := reconcile.Report{
		Plan: diff.Plan{
			Summary: diff.Summary{Tokens: 9},
			Changes: []diff.Change{
				create("created"), create("lost"), create("failed"), refused,
				{Scope: edge.CredentialScope(""), Token: "gone", Operation: diff.Orphan{}},
				{Operation: diff.RuleOperation{Do: diff.ActionUpdate}},
			},
			Problems: []diff.Problem{
				{Scope: edge.CredentialScope(""), Token: "a", State: diff.Quarantined},
				{Scope: edge.CredentialScope(""), Token: "b", State: diff.Undelivered},
				{Scope: edge.CredentialScope(""), Token: "c", State: diff.Unknown},
				{Zone: "z", State: diff.Unknown},
			},
		},
		Results: []reconcile.Result{
			{Change: create("created"), Outcome: reconcile.Converged},
			{Change: create("lost"), Outcome: reconcile.Quarantined},
			{Change: create("failed"), Outcome: reconcile.Failed},
			{Change: create("delivered late"), Outcome: reconcile.Converged},
			{Change: diff.Change{Operation: diff.RuleOperation{Do: diff.ActionUpdate}}, Outcome: reconcile.Converged},
		},
	}
	want := map[string]int{
		"in_sync":   3, // created, and two that nobody mentions
		"to_create": 1, "refused": 1, "unknown": 1, "quarantined": 2, "undelivered": 1, "orphan": 1,
	}
	if got := tokenCounts(report); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

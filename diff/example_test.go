package diff_test

import (
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

// What could not be read is unknown, and never an empty zone.
func ExampleObserved() {
	observed := difftest.Live(difftest.Execute(nil))
	observed.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Err: edge.ErrForbidden}
	plan := planner.Make(planner.Input{State: difftest.State(difftest.Deployment()), Live: observed})
	fmt.Println(len(plan.Changes), "changes,", len(plan.Problems), "problem:", plan.Problems[0].State)
	// Output:
	// 0 changes, 1 problem: forbidden
}

// What a change does is one of a few operations, each with what it needs.
func ExampleOperation() {
	plan := planner.Make(difftest.One(difftest.Deployment(difftest.DisableTag("sqli")), difftest.Execute(nil)))
	for _, change := range plan.Changes {
		switch o := change.Operation.(type) {
		case diff.RuleOperation:
			fmt.Println("write rule", o.Body.Ref, "of the entry point at version", o.Target.Version)
		case diff.Creation:
			fmt.Println("create token", o.Spec.Name)
		}
	}
	// Output:
	// write rule deploy-core of the entry point at version 11
}

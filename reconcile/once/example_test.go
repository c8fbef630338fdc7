package once_test

import (
	"context"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// folder is a repository that declares one zone, which switches a tag of rules off.
type folder struct{}

func (folder) Fetch(context.Context) (string, error) { return "", nil }

func (folder) Compile(context.Context, string) (desired.State, []desired.Problem, error) {
	waf := desired.Deployment{Ruleset: "core", Enabled: desired.Declared[bool]{Value: true}}
	waf.Disable.Tags = []desired.Declared[string]{{Value: "wordpress"}}
	return desired.State{Accounts: []desired.Account{{
		Key: "prod", ID: mem.Account, Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}},
		Zones: []desired.Zone{{Key: "shop.example", Scope: mem.FleetZone(1), Deployments: []desired.Deployment{waf}}},
	}}}, nil, nil
}

func Example() {
	platform, err := mem.New(mem.Config{Seed: mem.Fleet(1)})
	if err != nil {
		panic(err)
	}
	run := &once.Run{
		Source:  source.New(source.Config{Source: folder{}, Compiler: folder{}, Now: time.Now}),
		Records: &reconcile.Forgetful{},
		Lanes:   reconcile.OneLane(reconcile.Lane{Reader: edge.ReadOnly(platform), Writer: platform}), Now: time.Now,
	}
	ctx := context.Background()
	for _, report := range []reconcile.Report{
		run.Plan(ctx, once.Order{}), run.Apply(ctx, once.Order{}), run.Plan(ctx, once.Order{}),
	} {
		fmt.Println(len(report.Plan.Changes), "to change,", report.Count(reconcile.Converged), "changed and proved:", report.Converged())
	}
	// Output:
	// 1 to change, 0 changed and proved: true
	// 1 to change, 1 changed and proved: true
	// 0 to change, 0 changed and proved: true
}

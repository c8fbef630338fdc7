package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// Live is what one declared deployment is on the platform.
type Live struct {
	// As is the declaration with which the live state agrees: that of the repository where
	// nothing differs, else one that changes as little of it as possible.
	As desired.Deployment
	// Describe says in words what a rule of the managed ruleset is; empty where it has no words.
	Describe func(desired.RuleRef) string
	Err      error // why it is not known
}

// ReadLive reads what the declared deployments of a zone are on the platform, one for each,
// and the id of the zone.
func ReadLive(ctx context.Context, platform Platform, account desired.Account, zone desired.Zone) ([]Live, edge.Scope, error) {
	a := &absorber{platform: platform, names: platform.Names, account: account, zone: zone}
	if err := a.resolve(ctx); err != nil {
		return nil, edge.Scope{}, a.explain(err)
	}
	in, err := a.read(ctx)
	if err != nil {
		return nil, a.zone.Scope, a.explain(err)
	}
	live := make([]Live, len(zone.Deployments))
	for i, d := range zone.Deployments {
		one, err := in.liveOf(ctx, d)
		if err != nil {
			live[i].Err = a.explain(err)
			continue
		}
		live[i] = Live{As: one.declared(d), Describe: one.declarer.RuleText}
	}
	return live, a.zone.Scope, nil
}

// liveZone is what a zone runs.
type liveZone struct {
	*absorber
	listed []edge.Ruleset // of the account
	rules  []edge.Rule    // of the entry point
}

func (a *absorber) read(ctx context.Context) (*liveZone, error) {
	listed, err := a.survey.listed(ctx, a.account.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the rulesets of account %s: %w", a.account.Key, err)
	}
	entryPoint, err := a.survey.reader(a.account.ID).EntryPoint(ctx, a.zone.Scope, edge.PhaseFirewallManaged)
	if err != nil && !errors.Is(err, edge.ErrEntryPointNotFound) {
		return nil, fmt.Errorf("reading zone %s: %w", a.zone.Key, err)
	}
	return &liveZone{a, listed, entryPoint.Rules}, nil
}

// liveDeployment is what a declared deployment is on the platform.
type liveDeployment struct {
	key      string
	declarer *planner.Declarer
	rule     edge.Rule
}

// liveOf finds a declared deployment.
func (z *liveZone) liveOf(ctx context.Context, d desired.Deployment) (one liveDeployment, err error) {
	i := slices.IndexFunc(z.account.Rulesets, func(r desired.RulesetRef) bool { return r.Key == d.Ruleset })
	found, err := rulesets.Find(z.account.Rulesets[i], z.listed)
	if err != nil {
		return one, err
	}
	owner := z.zone.Scope.Level
	rules := slices.DeleteFunc(slices.Clone(z.rules), func(r edge.Rule) bool {
		return !r.Executes(found.ID) || owner == edge.LevelAccount && r.Ref != d.Ref // there, several may run one managed ruleset
	})
	switch n := len(rules); n {
	case 0:
		return one, cli.Fail(fmt.Errorf("%q is declared for the %s, but not deployed in it", d.Name(), owner),
			fmt.Sprintf("deploy it on the platform, or remove waf: %s of the %s: %s", d.Name(), owner, z.at(d.Origin)))
	case 1:
	default:
		return one, cli.Fail(fmt.Errorf("%d execute rules of the %s run %q", n, owner, found.Name), "remove all but one of them on the platform")
	}
	one = liveDeployment{key: d.Ruleset, rule: rules[0]}
	m, err := z.survey.managed(ctx, z.account.ID, found.ID)
	if err == nil {
		one.declarer, err = z.survey.declarer(ctx, z.account.ID, m, one.rule)
	}
	if err != nil {
		return one, fmt.Errorf("reading managed ruleset %q: %w", found.Name, err)
	}
	return one, nil
}

// declared is a declaration with which the live state agrees.
func (l liveDeployment) declared(d desired.Deployment) desired.Deployment {
	if l.declarer.Agrees(d, l.rule) {
		return d
	}
	return l.declarer.Redeclare(d, l.rule)
}

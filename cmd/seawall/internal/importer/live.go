package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// Live is what one declared deployment, or something of another kind, is on the platform.
type Live struct {
	// As is the declaration with which the live state agrees: that of the repository where
	// nothing differs, else one that changes as little of it as possible.
	As desired.Declaring
	// Describe says in words what a rule of the managed ruleset is; empty where it has no words.
	Describe func(desired.RuleRef) string
	Bypasses []diff.Bypass // the skip rules that act on a deployment
	Absent   error         // that it is not on the platform, with what to do; nil where it is
	Err      error         // why it is not known
}

// absentError is that something is declared and not on the platform.
type absentError struct{ error }

// placed puts an error of looking for it where it belongs.
func (l Live) placed(err error) Live {
	if absent := (absentError{}); errors.As(err, &absent) {
		return Live{Absent: err}
	}
	l.Err = err
	return l
}

// LiveZone is what a zone declares as it is on the platform.
type LiveZone struct {
	Scope    edge.Scope
	Parts    []Live             // of each of its deployments, and then of each of the others
	Unlooked []diff.NotLookedAt // where nobody could look for skip rules
}

// ReadLive reads what a zone declares. Of a failure the scope is known, if anything is.
func ReadLive(ctx context.Context, platform Platform, account desired.Account, zone desired.Zone) (LiveZone, error) {
	a := &absorber{platform: platform, names: platform.Names, account: account, zone: zone}
	if err := a.resolve(ctx); err != nil {
		return LiveZone{}, a.explain(err)
	}
	in, err := a.read(ctx)
	if err != nil {
		return LiveZone{Scope: a.zone.Scope}, a.explain(err)
	}
	live := make([]Live, len(zone.Deployments))
	for i, d := range zone.Deployments {
		one, err := in.liveOf(ctx, d)
		if err != nil {
			live[i] = live[i].placed(a.explain(err))
			continue
		}
		live[i] = Live{As: one.declared(d), Describe: one.declarer.RuleText, Bypasses: one.acting}
	}
	for _, o := range zone.Others {
		now, err := in.otherOf(ctx, o)
		live = append(live, Live{As: now}.placed(a.explain(err)))
	}
	return LiveZone{Scope: a.zone.Scope, Parts: live, Unlooked: unlooked(in.ahead)}, nil
}

// liveZone is what a zone runs.
type liveZone struct {
	*absorber
	listed []edge.Ruleset // of the account
	rules  []edge.Rule    // of the entry point
	ahead  map[edge.Place]diff.Ahead

	entryPoints map[edge.Phase]edge.Ruleset
}

func (a *absorber) read(ctx context.Context) (*liveZone, error) {
	listed, err := a.survey.listed(ctx, a.account.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the rulesets of account %s: %w", a.account.Key, err)
	}
	z := &liveZone{absorber: a, listed: listed, entryPoints: map[edge.Phase]edge.Ruleset{}}
	entryPoint, err := z.entryPoint(ctx, edge.PhaseFirewallManaged)
	if err != nil {
		return nil, err
	}
	z.rules = entryPoint.Rules
	if len(a.zone.Deployments) > 0 {
		z.ahead = a.survey.ahead(ctx, a.account.ID, a.zone.Scope)
	}
	return z, nil
}

// entryPoint reads that of a phase, once. One that is not there has no rules.
func (z *liveZone) entryPoint(ctx context.Context, phase edge.Phase) (edge.Ruleset, error) {
	if known, read := z.entryPoints[phase]; read {
		return known, nil
	}
	entryPoint, err := z.survey.reader(z.account.ID).EntryPoint(ctx, z.zone.Scope, phase)
	if err != nil && !errors.Is(err, edge.ErrEntryPointNotFound) {
		return entryPoint, fmt.Errorf("reading zone %s: %w", z.zone.Key, err)
	}
	z.entryPoints[phase] = entryPoint
	return entryPoint, nil
}

// otherOf is a declaration of another kind with which the live state agrees.
func (z *liveZone) otherOf(ctx context.Context, o desired.Other) (desired.Other, error) {
	for _, kind := range planner.Declarers(z.deployed(ctx), time.Now()) {
		if kind.Name() != o.Kind {
			continue
		}
		entryPoint, err := z.entryPoint(ctx, kind.Phase())
		if err != nil {
			return o, err
		}
		if now, live := kind.Redeclare(o, entryPoint); live {
			return now, nil
		}
		if i := slices.IndexFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.Ref == o.Key }); i >= 0 {
			return o, cli.Fail(fmt.Errorf("%s %q is live with the action %s, which cannot be declared for it", o.Kind.Word(), o.Key, entryPoint.Rules[i].Action),
				fmt.Sprintf("declare it by another key, or change the rule on the platform: %s", z.at(o.Origin)))
		}
		return o, cli.Fail(absentError{fmt.Errorf("%s %q is declared for the %s, but it is not there", o.Kind.Word(), o.Key, z.zone.Scope.Level)},
			fmt.Sprintf("remove %s of the %s: %s, or have Seawall write it", strings.Join(o.Path(), ": "), z.zone.Scope.Level, z.at(o.Origin)))
	}
	return o, fmt.Errorf("%s %q cannot be declared from what is live", o.Kind.Word(), o.Key)
}

// deployed is what is known of a declared deployment.
func (z *liveZone) deployed(ctx context.Context) func(string) diff.Deployed {
	return func(name string) diff.Deployed {
		i := slices.IndexFunc(z.zone.Deployments, func(d desired.Deployment) bool { return d.Name() == name })
		if i < 0 {
			return diff.Deployed{}
		}
		one, err := z.liveOf(ctx, z.zone.Deployments[i])
		if err != nil { // which is told of the deployment
			return diff.Deployed{}
		}
		return one.declarer.Deployed(z.zone.Scope, name, one.rule)
	}
}

// liveDeployment is what a declared deployment is on the platform.
type liveDeployment struct {
	key      string
	declarer *planner.Declarer
	rule     edge.Rule
	acting   []diff.Bypass
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
		again := "deploy it on the platform"
		if d.Deploy && !z.platform.Documented {
			again = "seawall apply deploys it again, because of deploy: true"
		}
		return one, cli.Fail(absentError{fmt.Errorf("%q is declared for the %s, but not deployed in it", d.Name(), owner)},
			fmt.Sprintf("%s; or remove waf: %s of the %s: %s", again, d.Name(), owner, z.at(d.Origin)))
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
	one.acting = one.declarer.Bypasses(d, planner.Deployed{
		Account: z.account, Zone: z.zone, EntryPoint: z.entryPoints[edge.PhaseFirewallManaged], Execute: one.rule, Ahead: z.ahead, Skips: planner.Skips,
	}, time.Now())
	return one, nil
}

// declared is a declaration with which the live state agrees.
func (l liveDeployment) declared(d desired.Deployment) desired.Deployment {
	if l.declarer.Agrees(d, l.rule) {
		return d
	}
	return l.declarer.Redeclare(d, l.rule)
}

package setup

import (
	"fmt"
	"maps"
	"slices"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// guards translates what the configuration says of guards.
func guards(all schema.Config) (reconcile.Guards, error) {
	config := all.Guards
	g := reconcile.Guards{Shrink: guard.Shrink(config.Shrink), ApprovalsExpire: config.ApprovalsExpire, ReportUnmanaged: config.ReportUnmanaged, Looking: looking(all.Bypass)}
	for _, rule := range config.Rules {
		if rule.Off {
			continue
		}
		g.Rules = append(g.Rules, guard.Rule{
			Name: rule.Name, Labels: rule.Labels, Approve: guard.Approve(rule.Approve),
			Changes: (*guard.Limit)(rule.Changes), Weakening: (*guard.Limit)(rule.Weakening),
		})
	}
	for _, f := range config.Freezes {
		schedule, err := cron.ParseStandard(f.Cron)
		if err != nil {
			return g, fmt.Errorf("reading freezes.%s.cron: %w", f.Name, err)
		}
		g.Freezes = append(g.Freezes, reconcile.Freeze{
			Name: f.Name, Labels: f.Labels, Schedule: schedule, For: f.For, Zone: f.Timezone,
			Strengthening: f.Strengthening, Override: f.Override,
		})
	}
	for _, w := range config.Waves {
		g.Waves = append(g.Waves, reconcile.Wave{
			Labels: w.Labels, Count: w.Count, Percent: w.Percent, Soak: w.Soak,
			Halt: reconcile.Halt{NonConvergent: w.NonConvergent, FailedPercent: w.FailedPercent},
		})
	}
	for i, o := range config.Observe {
		g.Observe = append(g.Observe, guard.Observe{Setting: fmt.Sprintf("observe[%d]", i), Account: o.Account, Labels: o.Labels})
	}
	g.Observe = append(append(g.Observe, observed(all)...), skipped(all)...)
	return g, nil
}

// looking is where skip rules are looked for.
func looking(config schema.Bypass) reconcile.Looking {
	l := reconcile.Looking{Every: config.Every}
	for _, phase := range config.Phases {
		l.Phases = append(l.Phases, edge.Phase(phase))
	}
	return l
}

// skipped selects what is left out: a zone that a commit takes out of it is not written.
func skipped(config schema.Config) (list []guard.Observe) {
	for _, key := range slices.Sorted(maps.Keys(config.Credentials.Accounts)) {
		if config.Credentials.Accounts[key].Skip {
			list = append(list, guard.Observe{Setting: "accounts." + key + ".skip", Account: key})
		}
	}
	return list
}

// accountSettings are what must not become another when a commit renames an account.
func (s Settings) accountSettings() guard.Accounts {
	list := s.TokenCredentials()
	of := func(account string) (of guard.AccountSettings) {
		of.Skip = s.Credentials.Accounts[account].Skip
		if lane, ok := s.LaneOf(account); ok {
			of.Credential = lane.Path
		}
		if c, ok := s.TokenCredentialOf(account); ok {
			of.Tokens = list[slices.IndexFunc(list, c.same)].Path
		}
		return of
	}
	accounts := guard.Accounts{Settings: map[string]guard.AccountSettings{}, Rest: of("")}
	for key := range s.Credentials.Accounts {
		accounts.Settings[key] = of(key)
	}
	for _, o := range s.Guards.Observe {
		if o.Account != "" {
			accounts.Settings[o.Account] = of(o.Account)
		}
	}
	return accounts
}

// observed is what the modes select: of the top level, and of single accounts.
func observed(config schema.Config) (list []guard.Observe) {
	all := guard.Observe{Setting: "mode"}
	for _, key := range slices.Sorted(maps.Keys(config.Credentials.Accounts)) {
		switch a := config.Credentials.Accounts[key]; {
		case a.Skip || a.Observing == config.Guards.Observing:
		case a.Observing:
			list = append(list, guard.Observe{Setting: "accounts." + key + ".mode", Account: key})
		default:
			all.Except = append(all.Except, key)
		}
	}
	if config.Guards.Observing {
		list = append(list, all)
	}
	return list
}

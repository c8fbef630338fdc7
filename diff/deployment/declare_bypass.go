package deployment

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Deployed is a live execute rule with all that may keep requests from it.
type Deployed struct {
	Account    desired.Account
	Zone       desired.Zone
	EntryPoint edge.Ruleset
	Execute    edge.Rule // of the entry point
	Ahead      map[edge.Place]diff.Ahead
	Skips      func(diff.SkipAsked) diff.DeclaredSkip // as in [diff.Input]
}

// Bypasses are the skip rules that act on a deployment, by what its declaration accepts at a
// time. Nothing is remembered: each that it does not name is [diff.BypassFound].
func (d *Declarer) Bypasses(declared desired.Deployment, live Deployed, now time.Time) (all []diff.Bypass) {
	p := &planner{in: diff.Input{Live: diff.Live{Ahead: live.Ahead}, Now: now, Skips: live.Skips}}
	p.known = func(name string) diff.Deployed {
		if name == declared.Name() {
			return d.Deployed(live.Zone.Scope, name, live.Execute)
		}
		return because(diff.Deployed{Scope: live.Zone.Scope, Deployment: name}, diff.Problem{State: diff.Unknown})
	}
	p.look(live.Account, live.Zone, live.EntryPoint)
	for _, b := range p.bypasses(place{account: live.Account, zone: live.Zone, d: declared}, live.EntryPoint, live.Execute, d.managed, nil) {
		all = append(all, b.Bypass)
	}
	return all
}

// Deployed is a deployment that has a live execute rule of the managed ruleset.
func (d *Declarer) Deployed(scope edge.Scope, name string, execute edge.Rule) diff.Deployed {
	v := d.inverse()
	return diff.Deployed{
		Scope: scope, Deployment: name, Execute: execute.ID, Managed: &running{managed: v.managed, overrides: []*edge.Overrides{overridesOf(execute)}},
	}
}

package zone

import (
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// onPlan are names that know the plan of each zone.
type onPlan struct {
	Declared
	plan string
}

func (n onPlan) Plan(edge.AccountID, edge.Scope) string { return n.plan }

// What the plan of a zone does not take is blocked, by the worker and by who plans a whole state,
// without a request more.
func TestPlansAreOfTheNames(t *testing.T) {
	z := declare(1)
	rule, err := desired.NewOther(desired.CustomRule, "seen", desired.Origin{}, map[string]any{"action": "log", "expression": "ssl", "enabled": true})
	must.Do(t, err)
	z.Others = []desired.Other{rule}
	var calls []string // of the first plan, and of each
	for plan, blocked := range map[string]int{"free": 1, "enterprise": 0, "": 0} {
		f := fixtureOn(t, mem.Config{Seed: mem.Fleet(1), Profile: mem.Extended})
		f.Names = onPlan{plan: plan}
		task := f.task(z)
		sight, got := f.plan(t.Context(), task)
		if calls == nil {
			calls = f.calls()
		}
		f.wantCalls(f.calls(), calls...)
		check := func(how string, p diff.Plan) {
			if len(p.Problems) != blocked || blocked > 0 && p.Problems[0].State != diff.Blocked {
				t.Errorf("%s, the plan %q: %+v", how, plan, p.Problems)
			}
		}
		check("a worker", got)
		if sight.Plan != plan {
			t.Errorf("%q was seen", sight.Plan)
		}
		many := Many{Lanes: reconcile.OneLane(reconcile.Lane{Reader: f.Platform, Writer: f.Platform, Concurrency: 1}), Names: onPlan{plan: plan}, Now: f.clock.Now}
		seen, err := many.Read(t.Context(), task.State)
		must.Do(t, err)
		check("many", Plan(task, seen.sightOf(task.Account().ID, z, nil), nil))
	}
}

package zone

import (
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// A person makes another rule of a new skip rule while Seawall is about to remove it: what is
// there is read again, and stays.
func TestARuleThatIsAnotherIsNotRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		age   time.Duration
		calls []string
		stays bool
	}{
		"at once":            {time.Second, []string{"delete 1", "read 1"}, false},
		"some seconds later": {recheckAfter + time.Second, []string{"read 1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fixtureOn(t, mem.Config{Seed: mem.Fleet(1), Profile: mem.Extended})
			d := core()
			d.Bypass = declared(desired.RemoveBypass)
			settled := f.converge(declare(1, d)).plan.Settled
			must.Do(t, f.gate.Proved(t.Context(), Task{}, settled))
			put := func(change func(*edge.Rule)) {
				entry, rule := f.Entry(1), difftest.SkipAll(0, "true")
				change(&rule)
				entry.Rules = append([]edge.Rule{rule}, slices.DeleteFunc(entry.Rules, func(r edge.Rule) bool { return r.ID == rule.ID })...)
				must.Do(t, f.Platform.SetEntryPoint(mem.FleetZone(1), entry))
			}
			put(func(*edge.Rule) {})
			f.between = func() {
				f.clock.Advance(c.age)
				if c.stays {
					put(func(r *edge.Rule) { r.Action, r.ActionParameters = edge.ActionBlock, nil })
				}
			}
			done := f.work(declare(1, d))
			f.wantCalls(done.calls, c.calls...)
			f.wantOutcomes(done, converged)
			if got := slices.ContainsFunc(f.Entry(1).Rules, func(r edge.Rule) bool { return r.Action == edge.ActionBlock }); got != c.stays {
				t.Errorf("the rule is there: %v", got)
			}
		})
	}
}

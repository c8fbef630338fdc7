package zone

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// alter changes the first rule of a zone the way a person in a dashboard does.
func (f *fixture) alter(zone int, change func(*edge.Rule)) {
	f.t.Helper()
	entry := f.Entry(zone)
	change(&entry.Rules[0])
	must.Do(f.t, f.Platform.SetEntryPoint(mem.FleetZone(zone), entry))
}

// expressions is what an expression should be and what is remembered, by the rules of
// docs/desired-state.md.
type expressions struct {
	live, proved string // proved is empty before the first proof
}

// apply is what an apply of a declaration makes of it, and whether it reports drift.
func (m *expressions) apply(declared string, mode desired.ExpressionDrift) (drift bool) {
	switch {
	case declared != "":
		m.live = declared
	case m.proved == "", mode == desired.IgnoreDrift, m.live == m.proved:
	case mode == desired.RestoreDrift:
		m.live = m.proved
	default:
		return true
	}
	m.proved = m.live
	return false
}

// Over any sequence of commits, changes by hand and applies, an expression that is not
// declared stays, is put back or is accepted as declared, and an apply heals everything
// beside it.
func TestExpressionDrift(t *testing.T) {
	all := []string{"true", "false", `http.host eq "a"`}
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(rt, 1, rapid.SampledFrom([]string{"patch=replace", "patch=merge"}).Draw(rt, "platform"))
		model := expressions{live: f.Entry(1).Rules[0].Expression}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "by hand") {
				model.live = rapid.SampledFrom(all).Draw(rt, "live")
				f.alter(1, func(r *edge.Rule) { r.Expression, r.Enabled = model.live, new(rapid.Bool().Draw(rt, "on")) })
			}
			d, declared := core(rapid.SampledFrom(someTags).Draw(rt, "off")), ""
			d.Unmanaged = declaredAs(desired.Remove)
			mode := rapid.SampledFrom([]desired.ExpressionDrift{"", desired.ReportDrift, desired.RestoreDrift, desired.IgnoreDrift}).Draw(rt, "mode")
			if mode != "" {
				d.ExpressionDrift = &desired.Declared[desired.ExpressionDrift]{Value: mode}
			}
			if rapid.IntRange(0, 3).Draw(rt, "is declared") == 0 {
				declared = rapid.SampledFrom(all).Draw(rt, "declared")
				d.Expression = &desired.Declared[string]{Value: declared}
			}
			drift := model.apply(declared, mode)
			done := f.work(declare(1, d))
			must.Do(rt, f.gate.Proved(f.t.Context(), Task{}, unchanged(done))) // as who plans does
			named := slices.ContainsFunc(done.plan.Problems, func(p diff.Problem) bool { return p.State == diff.Undecided })
			rule := f.Entry(1).Rules[0]
			if rule.Expression != model.live || named != drift || !rule.IsEnabled() || fmt.Sprint(f.Off(1)) != fmt.Sprint([]string{d.Disable.Tags[0].Value}) {
				rt.Fatalf("mode %q, declared %q: expression %q, want %q; drift %v, want %v; on %v, off %v",
					mode, declared, rule.Expression, model.live, named, drift, rule.IsEnabled(), f.Off(1))
			}
			if again := f.work(declare(1, d)); writes(again.calls) > 0 {
				rt.Fatalf("then %v", again.calls)
			}
		}
	})
}

func declaredAs(u desired.Unmanaged) *desired.Declared[desired.Unmanaged] {
	return &desired.Declared[desired.Unmanaged]{Value: u}
}

// unchanged are the deployments that a plan has found to agree.
func unchanged(d done) []diff.Settled {
	if len(d.results) > 0 {
		return nil // proved by the apply
	}
	return d.plan.Settled
}

// A zone that runs a version of the past, or is to run it, converges as any other: what is
// declared is resolved against the version that is to run, whatever is published meanwhile.
func TestPinnedVersionsConverge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newDeployFixture(rt, 1)
		reader := f.recorder
		f.Reader, f.Accounts = reader, NewAccounts(reader, f.clock.Now)
		published := []edge.Ruleset{f.managed(mem.CoreRuleset)}
		publish := func() {
			next := f.managed(mem.CoreRuleset)
			drop := rapid.IntRange(0, 2).Draw(rt, "drop") // none of them has one of someTags
			next.Rules = slices.Delete(slices.Clone(next.Rules), drop, drop+1)
			next.Rules[drop].Enabled = new(!next.Rules[drop].IsEnabled())
			must.Do(rt, f.Platform.SetRuleset(mem.Account, next))
			published = append(published, f.managed(mem.CoreRuleset))
		}
		publish()
		f.converge(declare(1, deployed1(core())))
		for range 3 {
			f.alter(1, func(r *edge.Rule) {
				r.ActionParameters.Version = rapid.SampledFrom([]string{"latest", "1", "2"}).Draw(rt, "runs")
				r.ActionParameters.Overrides = genLive(rt, published[0])
			})
			if rapid.Bool().Draw(rt, "publish") {
				publish()
			}
			latest := published[len(published)-1]
			i := rapid.IntRange(0, len(published)-1).Draw(rt, "version")
			d := genDeployment(rt, published[i])
			d.Unmanaged = declaredAs(desired.Remove)
			if want := published[i].Version; i < len(published)-1 || rapid.Bool().Draw(rt, "by its number") {
				d.Version = &desired.Declared[string]{Value: want}
			}
			f.clock.Advance(freshFor * 2) // the list of rulesets is read anew
			f.work(declare(1, d))
			again := f.work(declare(1, d))
			runs := f.Entry(1).Rules[0].ActionParameters.Version
			if writes(again.calls) > 0 || !quiet(again.plan) || len(again.plan.Changes) > 0 {
				rt.Fatalf("version %s of %s: %v, %+v, problems %+v", published[i].Version, latest.Version, again.calls, again.plan.Changes, again.plan.Problems)
			}
			if d.Version != nil && runs != d.Version.Value || d.Version == nil && runs != "latest" && runs != "" {
				rt.Fatalf("runs %q, declared %+v", runs, d.Version)
			}
		}
	})
}

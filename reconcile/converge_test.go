package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

func declared[T any](v T) *desired.Declared[T] { return &desired.Declared[T]{Value: v} }

// managedCore is the core ruleset as the platform has it.
func (w *world) managedCore() edge.Ruleset {
	for _, r := range w.platform.State().Accounts[0].Rulesets {
		if r.ID == mem.CoreRuleset {
			return r
		}
	}
	w.t.Fatal("no core ruleset")
	return edge.Ruleset{}
}

var someTags = []string{"sqli", "xss", "php", "wordpress"}

func genDeployment(t *rapid.T, core edge.Ruleset) desired.Deployment {
	d := desired.Deployment{Ruleset: "core", Enabled: *declared(rapid.Bool().Draw(t, "enabled"))}
	if rapid.Bool().Draw(t, "has expression") {
		d.Expression = declared(rapid.SampledFrom([]string{"true", `http.host eq "a"`}).Draw(t, "expression"))
	}
	if rapid.Bool().Draw(t, "has paranoia") {
		d.Paranoia = declared(rapid.IntRange(1, 4).Draw(t, "paranoia"))
	}
	if rapid.Bool().Draw(t, "has threshold") {
		d.Threshold = &desired.Threshold{
			Score:  *declared(rapid.IntRange(1, 99).Draw(t, "score")),
			Action: *declared(rapid.SampledFrom([]edge.Action{"block", "log"}).Draw(t, "action")),
		}
	}
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(core.Rules)-2), 0, 3, rapid.ID).Draw(t, "rules off") {
		d.Disable.Rules = append(d.Disable.Rules, *declared(desired.RuleRef{ID: core.Rules[i].ID}))
	}
	for _, tag := range rapid.SliceOfNDistinct(rapid.SampledFrom(someTags), 0, 2, rapid.ID).Draw(t, "tags off") {
		d.Disable.Tags = append(d.Disable.Tags, *declared(tag))
	}
	d.Unmanaged = declared(rapid.SampledFrom([]desired.Unmanaged{desired.Keep, desired.Remove}).Draw(t, "decision"))
	return d
}

// genLive is what hands may have left in a zone; nil is nothing.
func genLive(t *rapid.T, core edge.Ruleset) *edge.Overrides {
	flag, action := rapid.Ptr(rapid.Bool(), true), rapid.Ptr(rapid.SampledFrom([]edge.Action{"block", "log"}), true)
	o := edge.Overrides{}
	if rapid.IntRange(0, 4).Draw(t, "wide") == 0 {
		o.Enabled, o.Action = flag.Draw(t, "wide enabled"), action.Draw(t, "wide action")
	}
	tags := append([]string{"paranoia-level-1", "paranoia-level-3", "paranoia-level-4", "gone"}, someTags...)
	for _, tag := range rapid.SliceOfNDistinct(rapid.SampledFrom(tags), 0, 4, rapid.ID).Draw(t, "live tags") {
		c := edge.CategoryOverride{Category: tag, Enabled: flag.Draw(t, "tag enabled"), Action: action.Draw(t, "tag action")}
		if c.Enabled != nil || c.Action != nil {
			o.Categories = append(o.Categories, c)
		}
	}
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(core.Rules)-1), 0, 4, rapid.ID).Draw(t, "live rules") {
		r := edge.RuleOverride{ID: core.Rules[i].ID, Enabled: flag.Draw(t, "rule enabled"), Action: action.Draw(t, "rule action")}
		if rapid.IntRange(0, 3).Draw(t, "extra") == 0 {
			r.Extra = map[string]json.RawMessage{"x_future": json.RawMessage(`{"a":1}`)}
		}
		if r.Enabled != nil || r.Action != nil || r.Extra != nil {
			o.Rules = append(o.Rules, r)
		}
	}
	if o.Enabled == nil && o.Action == nil && len(o.Categories) == 0 && len(o.Rules) == 0 {
		return nil
	}
	return &o
}

func genQuirks(t *rapid.T) (quirks []string, merging bool) {
	merging = rapid.Bool().Draw(t, "merging")
	if quirks = []string{"patch=replace"}; merging {
		quirks = []string{"patch=merge"}
	}
	for _, q := range []string{"reorder", "defaults", "omit-empty-rules", fmt.Sprint("ruleset-bump=", rapid.IntRange(1, 2).Draw(t, "bump"))} {
		if rapid.Bool().Draw(t, q) {
			quirks = append(quirks, q)
		}
	}
	return quirks, merging
}

// unsayable reports whether a body takes away what a merging server can only
// keep: a ruleset-wide member, or all of a list (see diff).
func unsayable(live *edge.Overrides, body edge.Rule) bool {
	if live == nil {
		return false
	}
	o := edge.Overrides{}
	if body.ActionParameters.Overrides != nil {
		o = *body.ActionParameters.Overrides
	}
	return live.Enabled != nil && o.Enabled == nil || live.Action != nil && o.Action == nil ||
		len(live.Categories) > 0 && len(o.Categories) == 0 || len(live.Rules) > 0 && len(o.Rules) == 0
}

// After one apply nothing is left to do, under every quirk of a platform. Where
// a merging one cannot be told to remove something, that is said once and
// nothing is sent again.
func TestRunConverges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		quirks, merging := genQuirks(rt)
		w := newWorld(t, 1, quirks...)
		managed := w.managedCore()
		live := genLive(rt, managed)
		if live != nil {
			w.click(1, func(o *edge.Overrides) { *o = *live })
		}
		var kept []string
		for _, name := range []string{"c1", "c2"} {
			w.repo.push(name, zone(1, genDeployment(rt, managed)))
			live = w.entry(1).Rules[0].ActionParameters.Overrides
			first, _ := w.run(Order{Trigger: TriggerManual})
			again, calls := w.run(Order{Trigger: TriggerManual})
			if first.Err != nil || again.Err != nil || writes(calls) != 0 {
				rt.Fatalf("%s: errors %v, %v; a second run sends %v", name, first.Err, again.Err, calls)
			}
			kept = append(kept, outcomes(first)...)
			switch {
			case first.Converged() && again.Converged() && len(again.Plan.Changes) == 0:
			case first.Count(NonConvergent) == 1 && merging && unsayable(live, first.Results[0].Change.Request.Body) &&
				slices.Equal(refusals(again), []string{"non_convergent"}):
				return
			default:
				rt.Fatalf("%s under %v: %v, then %v, refused %v, problems %+v", name, quirks, kept, again.Plan.Changes, refusals(again), again.Plan.Problems)
			}
		}
	})
}

// stubborn is a zone of a merging platform from which the only override, which
// changes an action, cannot be taken away.
func stubborn(t *testing.T) *world {
	w := newWorld(t, 1, "patch=merge")
	w.click(1, func(o *edge.Overrides) { o.Action = new(edge.ActionLog) })
	w.repo.push("c1", zone(1, removing(core("xss"))))
	return w
}

var sweep = Order{Trigger: TriggerSweep, FallBack: true}

func TestNonConvergentIsSentOnce(t *testing.T) {
	w := stubborn(t)
	report, calls := w.run(sweep)
	w.wantCalls(calls[3:], "write 1", "read 1")
	wantOutcomes(t, report, "1 non_convergent")
	result := report.Results[0]
	if len(result.Left) != 1 || result.Left[0].Path != "overrides.action" || result.Concurrent {
		t.Errorf("left %+v, concurrent %v", result.Left, result.Concurrent)
	}
	for range 2 {
		report, calls = w.run(sweep)
		if writes(calls) != 0 || !slices.Equal(refusals(report), []string{"non_convergent"}) || report.Converged() {
			t.Errorf("calls %v, refused %v", calls, refusals(report))
		}
	}
	w.restart()
	if _, calls = w.run(sweep); writes(calls) != 0 {
		t.Error("a new process tries it again")
	}
	_, calls = w.run(Order{Trigger: TriggerSync, FallBack: true, ChangedOnly: true})
	w.wantCalls(calls)
}

func TestNonConvergentIsLifted(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*world)
		order   Order
		outcome string
	}{
		"by a person": {func(*world) {}, manual, "1 non_convergent"},
		"by a person, on a platform that was mended": {func(w *world) {
			if err := w.platform.SetQuirks(nil); err != nil {
				t.Fatal(err)
			}
		}, manual, "1 converged"},
		"by another declaration": {func(w *world) { w.repo.push("c2", zone(1, removing(core("xss", "php")))) }, sweep, "1 non_convergent"},
		"by live": {func(w *world) {
			w.click(1, func(o *edge.Overrides) {
				o.Action, o.Categories = nil, []edge.CategoryOverride{{Category: "php", Enabled: new(false)}}
			})
		}, sweep, "1 converged"},
	} {
		t.Run(name, func(t *testing.T) {
			w := stubborn(t)
			w.run(sweep)
			c.change(w)
			report, calls := w.run(c.order)
			if writes(calls) != 1 {
				t.Errorf("calls %v", calls)
			}
			wantOutcomes(t, report, c.outcome)
			if _, held := w.recall().NonConvergent[deploymentID(1)]; held != (c.outcome == "1 non_convergent") {
				t.Errorf("still held: %v", held)
			}
		})
	}
}

// Another change may end where an earlier one did: not kept, which is no failure
// to be tried again.
func TestNonConvergentInTheSameWayAgain(t *testing.T) {
	w := stubborn(t)
	w.run(sweep)
	w.click(1, func(o *edge.Overrides) {
		o.Categories = []edge.CategoryOverride{{Category: "php", Enabled: new(false)}}
	})
	report, _ := w.run(sweep)
	wantOutcomes(t, report, "1 non_convergent")
	if _, calls := w.run(sweep); writes(calls) != 0 {
		t.Errorf("calls %v", calls)
	}
}

// One that was put right by hand is forgiven without a write.
func TestNonConvergentIsForgivenOnceInSync(t *testing.T) {
	w := stubborn(t)
	w.run(sweep)
	w.click(1, func(o *edge.Overrides) { o.Action = nil })
	_, calls := w.converge(sweep)
	if writes(calls) != 0 || len(w.recall().NonConvergent) != 0 {
		t.Errorf("calls %v, held %v", calls, w.recall().NonConvergent)
	}
}

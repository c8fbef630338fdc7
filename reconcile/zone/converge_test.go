package zone

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

func declared[T any](v T) *desired.Declared[T] { return &desired.Declared[T]{Value: v} }

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

// quiet reports whether a plan needs no one, but for a declaration that was written and
// has no effect beside what is kept.
func quiet(p diff.Plan) bool {
	p.Problems = slices.DeleteFunc(slices.Clone(p.Problems), func(problem diff.Problem) bool {
		return problem.State == diff.Blocked && strings.Contains(problem.Reason, " has no effect: ")
	})
	return !p.Attention()
}

// Once a zone was worked on nothing is left to do, under every quirk of a platform.
// Where a merging one cannot be told to remove something, that is said once and nothing
// is sent again.
func TestWorkConverges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		quirks, merging := genQuirks(rt)
		f := newFixture(rt, 1, quirks...)
		f.gate.widens = true
		managed := f.managed(mem.CoreRuleset)
		if live := genLive(rt, managed); live != nil {
			f.Click(1, func(o *edge.Overrides) { *o = *live })
		}
		for range 2 {
			z := declare(1, genDeployment(rt, managed))
			live := f.Entry(1).Rules[0].ActionParameters.Overrides
			first := f.work(z)
			again := f.work(z)
			most := map[bool]int{true: 2}[merging] // the second where the first left something out
			if writes(first.calls) > max(1, most) || writes(again.calls) != 0 {
				rt.Fatalf("%v, then %v", first.calls, again.calls)
			}
			switch all := slices.ContainsFunc(first.results, func(r reconcile.Result) bool { return r.Outcome != converged }); {
			case !all && quiet(first.plan) && len(again.plan.Changes) == 0 && quiet(again.plan):
			case len(first.results) == 1 && first.results[0].Outcome == reconcile.NonConvergent && merging &&
				unsayable(live, first.results[0].Change.Operation.(diff.RuleOperation).Body) && slices.Equal(refusals(again.plan), []string{"non_convergent"}):
				return
			default:
				rt.Fatalf("under %v: %v, then %v, refused %v, problems %+v", quirks, outcomes(first), again.plan.Changes, refusals(again.plan), again.plan.Problems)
			}
		}
	})
}

// Where it keeps what an update leaves out, it is sent a value that changes nothing.
func TestWhatIsLeftOutAndKeptIsOverwritten(t *testing.T) {
	for name, c := range map[string]struct {
		live  edge.Overrides
		tags  []string // that are declared to be off
		want  string   // overrides in the end
		calls []string
	}{
		"ruleset-wide members": {
			edge.Overrides{Action: new(edge.ActionLog), SensitivityLevel: new("low")},
			nil,
			`{"action":"block","sensitivity_level":"default"}`,
			[]string{"write 1", "read 1", "write 1", "read 1"},
		},
		"a lone rule inside a tag that is off": {
			edge.Overrides{Rules: []edge.RuleOverride{{ID: "c04e000000000000000000010000000a", Action: new(edge.ActionLog)}}},
			[]string{"xss"},
			`{"categories":[{"category":"xss","enabled":false}],"rules":[{"id":"c04e000000000000000000010000000a","enabled":false}]}`,
			[]string{"write 1", "read 1", "write 1", "read 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1, "patch=merge")
			f.Click(1, func(o *edge.Overrides) { *o = c.live })
			z := declare(1, removing(core(c.tags...)))
			d := f.work(z)
			f.wantCalls(d.calls, c.calls...)
			f.wantOutcomes(d, converged)
			have, err := json.Marshal(f.Entry(1).Rules[0].ActionParameters.Overrides)
			if err != nil || string(have) != c.want {
				t.Errorf("live is %s, %v", have, err)
			}
			if again := f.work(z); writes(again.calls) != 0 || !quiet(again.plan) {
				t.Errorf("then %v, %+v", again.calls, again.plan.Problems)
			}
		})
	}
}

// What is written in the place of an entry that goes never contradicts the declaration: the
// next plan would remove it.
func TestWhatOverwritesAgreesWithTheDeclaration(t *testing.T) {
	off := func(tag string) edge.CategoryOverride {
		return edge.CategoryOverride{Category: tag, Enabled: new(false)}
	}
	for name, live := range map[string]edge.Overrides{
		"a tag of its own level is off": {Categories: []edge.CategoryOverride{off("paranoia-level-1")}},
		"all is off, and levels too":    {Enabled: new(false), Categories: []edge.CategoryOverride{off("paranoia-level-3"), off("paranoia-level-4")}},
	} {
		for _, decision := range []desired.Unmanaged{desired.Keep, desired.Remove} {
			t.Run(name+", "+string(decision), func(t *testing.T) {
				f := newFixture(t, 1, "patch=merge")
				f.Click(1, func(o *edge.Overrides) { *o = live })
				d := core()
				d.Paranoia, d.Unmanaged = declared(4), declared(decision)
				z := declare(1, d)
				first, again := f.work(z), f.work(z)
				if writes(first.calls) > 2 || writes(again.calls) != 0 {
					t.Errorf("%v, then %v", first.calls, again.calls)
				}
			})
		}
	}
}

// A platform that merges keeps an override that changes an action: nothing that can be
// sent takes it away.
func TestChangeThatIsNotKept(t *testing.T) {
	f := newFixture(t, 1, "patch=merge")
	mixed := f.managed(mem.CoreRuleset)
	mixed.Rules[0].Action = edge.ActionLog // no action over all rules says nothing
	must.Do(t, f.Platform.SetRuleset(mem.Account, mixed))
	f.Click(1, func(o *edge.Overrides) { o.Action = new(edge.ActionLog) })
	z := declare(1, removing(core("xss")))
	d := f.work(z)
	f.wantCalls(d.calls, "write 1", "read 1")
	f.wantOutcomes(d, reconcile.NonConvergent)
	result := d.results[0]
	if len(result.Left) != 1 || result.Left[0].Path != "overrides.action" || result.Concurrent || result.Err != nil {
		t.Errorf("left %+v, concurrent %v, error %v", result.Left, result.Concurrent, result.Err)
	}
	if d = f.work(z); writes(d.calls) != 0 || !slices.Equal(refusals(d.plan), []string{"non_convergent"}) {
		t.Errorf("calls %v, refused %v", d.calls, refusals(d.plan))
	}

	// Another change may end where an earlier one did.
	f.Click(1, func(o *edge.Overrides) {
		o.Categories = []edge.CategoryOverride{{Category: "php", Enabled: new(false)}}
	})
	f.wantOutcomes(f.work(z), reconcile.NonConvergent)
	if d = f.work(z); writes(d.calls) != 0 {
		t.Errorf("calls %v", d.calls)
	}

	// One that cannot be remembered says so, and is not kept all the same.
	f.Click(1, func(o *edge.Overrides) { o.Categories = nil })
	f.gate.unkept, f.gate.full = nil, errFull
	d = f.work(z)
	f.wantOutcomes(d, reconcile.NonConvergent)
	if d.results[0].Err == nil {
		t.Error("that it could not be remembered is not told")
	}
}

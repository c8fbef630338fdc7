package scenarios

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/once"
)

var update = flag.Bool("update", false, "rewrite plan.txt and apply.txt in testdata")

// fewest is the number of scenarios below which the search for them has failed.
const fewest = 60

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < fewest {
		t.Fatalf("found %d scenarios: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(start))
				runFile(t, file)
			})
		})
	}
}

// runFile takes the steps of one archive, and compares or rewrites what they show.
func runFile(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	must.Do(t, err)
	s := newScene(t, string(archive.Comment))
	for i := range archive.Files {
		step := &archive.Files[i]
		shown, ok := s.take(step.Name, step.Data)
		switch {
		case !ok:
		case *update:
			step.Data = []byte(shown)
		default:
			if d := gocmp.Diff(string(step.Data), shown); d != "" {
				t.Errorf("step %d, %s (-want +got):\n%s", i+1, step.Name, d)
			}
		}
	}
	if *update && !t.Failed() {
		must.Do(t, os.WriteFile(file, txtar.Format(archive), 0o644)) //nolint:gosec // it is source
	}
}

// words are those of the line "NAME: WORD …" of a scenario's comment.
func words(comment, name string) []string {
	for line := range strings.Lines(comment) {
		if words, ok := strings.CutPrefix(strings.TrimSpace(line), name+": "); ok {
			return strings.Fields(words)
		}
	}
	return nil
}

// take takes one step. shown is what a plan or an apply shows; ok is false for a step that
// changes what is declared or live.
func (s *scene) take(name string, data []byte) (shown string, ok bool) {
	s.t.Helper()
	switch name {
	case "overrides.json":
		s.setOverrides(data)
	case "rule.json":
		s.changeRule(data)
	case "entrypoint.json":
		s.setEntryPoint(data)
	case "first.json":
		s.putFirst(data)
	case "team.json":
		s.setTeam(data)
	case "core.json":
		s.publish(data)
	case "plan.txt":
		return s.plan(), true
	case "plan.json":
		return s.planJSON(), true
	case "apply.txt":
		return s.apply(once.Order{}), true
	case "approve.txt":
		return s.approve(), true
	case "shrink.txt":
		return s.apply(once.Order{AllowShrink: true}), true
	case "revert.txt":
		return s.revert(), true
	case "status.txt":
		return s.status(), true
	case "live.txt":
		return s.live(), true
	case "faults.txt":
		s.setFaults(data)
	default:
		switch {
		case strings.HasSuffix(name, ".cue"):
			s.commit(name, data)
		case !s.beforeWrite(name, data) && !s.plant(name, data):
			s.t.Fatalf("unknown step %s", name)
		}
	}
	return "", false
}

// plan shows what seawall plan does, and its exit code with --detailed-exitcode.
func (s *scene) plan() string {
	p := s.planned()
	return text(s.t, p) + fmt.Sprintf("exit code %d\n", exitCode(p))
}

func (s *scene) planned() diff.Plan {
	report := s.run(true).Plan(s.t.Context(), once.Order{})
	if report.Err != nil {
		s.t.Fatalf("planning: %v; %v", report.Err, report.Problems)
	}
	for _, w := range s.wire.began() {
		s.t.Errorf("a plan sent %s", w.call)
	}
	s.last = report.Plan
	return report.Plan
}

// planJSON is what seawall plan -o json says of skip rules, with what it counts.
func (s *scene) planJSON() string {
	var whole, b bytes.Buffer
	must.Do(s.t, render.JSON(&whole, s.planned()))
	var part struct {
		Summary     map[string]int  `json:"summary"`
		Problems    json.RawMessage `json:"problems"`
		Bypasses    json.RawMessage `json:"bypasses,omitempty"`
		NotLookedAt json.RawMessage `json:"not_looked_at,omitempty"`
	}
	must.Do(s.t, json.Unmarshal(whole.Bytes(), &part))
	maps.DeleteFunc(part.Summary, func(_ string, n int) bool { return n == 0 })
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must.Do(s.t, encoder.Encode(part))
	return b.String()
}

// apply shows each request that changed something, with its body, then the results, then
// what a plan finds afterwards.
func (s *scene) apply(order once.Order) string {
	report := s.run(false).Apply(s.t.Context(), order)
	if report.Err != nil {
		s.t.Fatalf("applying: %v; %v", report.Err, report.Problems)
	}
	var b strings.Builder
	b.WriteString(s.sent())
	must.Do(s.t, report.TextOfResults(&b, false))
	again := s.run(true).Plan(context.WithoutCancel(s.t.Context()), once.Order{})
	fmt.Fprintf(&b, "then a plan says: %s\n", again.Plan.Summary)
	for _, c := range again.Plan.Changes {
		if c.Applies() && report.Converged() {
			s.t.Errorf("%s converged, and a second plan changes %v", c.Name(), c.Fields)
		}
	}
	return b.String()
}

// sent shows the requests since the last run began that changed something, each with its body.
func (s *scene) sent() string {
	var b strings.Builder
	for _, w := range s.wire.began() {
		fmt.Fprintf(&b, "%s  %s\n", w.call, w.answer)
		if len(w.body) > 0 {
			b.WriteString(bodyText(s.t, w.body))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// setOverrides is what a person leaves in a dashboard: these overrides of the execute rule.
func (s *scene) setOverrides(data []byte) {
	s.changeExecute(func(rule *edge.Rule) error {
		rule.ActionParameters.Overrides = nil
		return json.Unmarshal(data, &rule.ActionParameters.Overrides)
	})
}

// changeRule sets members of the execute rule.
func (s *scene) changeRule(data []byte) {
	s.changeExecute(func(rule *edge.Rule) error { return json.Unmarshal(data, rule) })
}

func (s *scene) changeExecute(change func(*edge.Rule) error) {
	s.t.Helper()
	entry := s.entryPoint()
	i := slices.IndexFunc(entry.Rules, func(r edge.Rule) bool { return r.Executes(mem.CoreRuleset) })
	if i < 0 {
		s.t.Fatal("no rule executes the core ruleset")
	}
	must.Do(s.t, change(&entry.Rules[i]))
	must.Do(s.t, s.sim.Platform.SetEntryPoint(mem.ShopZone, entry))
}

// setEntryPoint makes these all the rules that the zone has; null removes its entry point.
func (s *scene) setEntryPoint(data []byte) {
	s.t.Helper()
	if strings.TrimSpace(string(data)) == "null" {
		must.Do(s.t, s.sim.Platform.RemoveEntryPoint(mem.ShopZone))
		return
	}
	entry := s.entryPoint()
	entry.Rules = nil
	must.Do(s.t, json.Unmarshal(data, &entry.Rules))
	must.Do(s.t, s.sim.Platform.SetEntryPoint(mem.ShopZone, entry))
}

func (s *scene) entryPoint() edge.Ruleset {
	for _, z := range s.sim.Platform.State().Zones {
		if edge.ZoneScope(z.ID) == mem.ShopZone && z.EntryPoint != nil {
			return *z.EntryPoint
		}
	}
	return edge.Ruleset{}
}

// publish is a new version of the core ruleset: members of rules by their ref, null for a
// rule that is gone. An unknown ref is a new rule, before the last one.
func (s *scene) publish(data []byte) {
	s.t.Helper()
	var changes map[string]json.RawMessage
	must.Do(s.t, json.Unmarshal(data, &changes))
	all := s.sim.Platform.State().Accounts[0].Rulesets
	core := all[slices.IndexFunc(all, func(r edge.Ruleset) bool { return r.ID == mem.CoreRuleset })]
	for _, ref := range slices.Sorted(maps.Keys(changes)) {
		change := changes[ref]
		i := slices.IndexFunc(core.Rules, func(r edge.Rule) bool { return r.Ref == ref })
		switch {
		case string(change) == "null":
			core.Rules = slices.Delete(core.Rules, i, i+1)
		case i < 0:
			rule := edge.Rule{Ref: ref, Action: edge.ActionBlock, Enabled: new(true)}
			must.Do(s.t, json.Unmarshal(change, &rule))
			core.Rules = slices.Insert(core.Rules, len(core.Rules)-1, rule)
		default:
			must.Do(s.t, json.Unmarshal(change, &core.Rules[i]))
		}
	}
	slices.SortStableFunc(core.Rules, func(a, b edge.Rule) int { return cmp.Compare(scores(a), scores(b)) })
	must.Do(s.t, s.sim.Platform.SetRuleset(mem.Account, core))
}

// scores keeps the rule that evaluates the score the last one.
func scores(r edge.Rule) int {
	if r.ScoreThreshold != nil {
		return 1
	}
	return 0
}

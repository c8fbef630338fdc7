package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/show"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// custom is a kind of rules with an action in a phase, as far as import, absorb and show ask it.
type custom struct {
	diff.Kind
	phase  edge.Phase
	action edge.Action
}

const customPhase edge.Phase = "http_request_sbfm"

// The workers that evaluate are this program, too: they must know it as well. That it is in the
// table changes nothing for zones without such rules.
func declareCustom() {
	desired.Declarations = append(desired.Declarations, desired.Declaration{
		Kind: "toy", Path: []string{"rules", "toy"}, Members: []string{"expression", "match.hosts", "match.paths"},
	})
	schema.Altered = func(name string, text []byte) []byte {
		if name != "rules.cue" {
			return text
		}
		return append(bytes.Replace(text, []byte("\n#Rules: {\n"), []byte("\n#Rules: {\n\ttoy?: [#Key]: #Toy\n"), 1),
			"\n#Toy: {expression!: #Text, match?: {hosts?: [...string], paths?: [...string]}, prune?: bool}\n"...)
	}
}

func (custom) Name() desired.KindName { return "toy" }
func (k custom) Phase() edge.Phase    { return k.phase }

func (k custom) Declare(entryPoint edge.Ruleset) (all []desired.Other) {
	for _, rule := range entryPoint.Rules {
		if rule.Action != k.action {
			continue
		}
		o, _ := desired.NewOther("toy", rule.Ref, desired.Origin{}, map[string]any{
			"expression": rule.Expression, "match": map[string]any{"hosts": strings.Fields(*rule.Description)},
		})
		all = append(all, o)
	}
	return all
}

func (k custom) Redeclare(o desired.Other, entryPoint edge.Ruleset) (desired.Other, bool) {
	for _, live := range k.Declare(entryPoint) {
		if live.Key != o.Key {
			continue
		}
		var was, now map[string]any
		_ = json.Unmarshal([]byte(o.Value), &was)
		_ = json.Unmarshal([]byte(live.Value), &now)
		if _, declared := was["match"]; !declared {
			delete(now, "match")
		}
		now["prune"] = o.Prune
		live, _ = desired.NewOther("toy", o.Key, o.Origin, now)
		live.Places = o.Places
		return live, true
	}
	return o, false
}

// withCustom is a platform of two zones, the first with rules of that kind.
func withCustom(t *testing.T, rules ...edge.Rule) Platform {
	t.Helper()
	keep(t, custom{phase: customPhase, action: edge.ActionBlock})
	p, err := mem.New(mem.Config{Seed: mem.Fleet(2), Profile: mem.Extended})
	if err == nil && len(rules) > 0 {
		_, err = p.Send(t.Context(), edge.CreateEntryPoint(mem.FleetZone(1), customPhase, rules...))
	}
	if err != nil {
		t.Fatal(err)
	}
	return Platform{
		Lanes: reconcile.OneLane(reconcile.Lane{Reader: p, Concurrency: 1}), Lists: true, Rules: true,
		Names: directory.New(directory.Config{Now: time.Now, Of: func(string) edge.Directory { return p }}),
	}
}

// keep has a kind in the table.
func keep(t *testing.T, kind custom) {
	t.Helper()
	before := planner.Kinds
	planner.Kinds = append(slices.Clone(before), kind)
	t.Cleanup(func() { planner.Kinds = before })
}

func rule(ref, expression, hosts string) edge.Rule {
	return edge.Rule{Ref: ref, Action: edge.ActionBlock, Expression: expression, Description: &hosts}
}

// declaring is a folder with zones in a file.
func declaring(t *testing.T, zones string) string {
	t.Helper()
	dir := t.TempDir()
	text := "package edge\n\naccount: prod: {\n\tid: \"" + string(mem.Account) + "\"\n\truleset: core: name: \"Core Ruleset\"\n}\n" + zones
	if err := os.WriteFile(filepath.Join(dir, "edge.cue"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func zoneText(members string) string {
	return "account: prod: zone: \"zone-00001.example\": {\n\tid: \"" + mem.FleetZone(1).ID + "\"\n\twaf: {}\n" + members + "}\n"
}

// What is live of another kind than deployments is absorbed where it is declared, and in
// nothing that zones share.
func TestAbsorbOfAnotherKind(t *testing.T) {
	for name, test := range map[string]struct{ declared, want string }{
		"a value": {
			zoneText("\trules: toy: \"a.b\": {\n\t\texpression: \"old\" // why\n\t\tprune:      true\n\t}\n"),
			zoneText("\trules: toy: \"a.b\": {\n\t\texpression: \"new\" // why\n\t\tprune:      true\n\t}\n"),
		},
		"a list": {
			zoneText("\trules: toy: \"a.b\": {\n\t\texpression: \"new\"\n\t\tmatch: hosts: [\"one\", \"old\"]\n\t}\n"),
			zoneText("\trules: toy: \"a.b\": {\n\t\texpression: \"new\"\n\t\tmatch: hosts: [\"one\", \"two\"]\n\t}\n"),
		},
		"a tier": {
			"_tier: \"a.b\": expression: *\"old\" | string\n" + zoneText("\trules: toy: _tier\n"),
			"_tier: \"a.b\": expression: *\"old\" | string\n" + zoneText("\trules: toy: _tier\n\trules: toy: \"a.b\": expression: \"new\"\n"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := declaring(t, test.declared)
			var out bytes.Buffer
			terminal := &cli.Terminal{Out: &out, Err: &out}
			absorb := func() error {
				return Absorb(inProcess(t), terminal, withCustom(t, rule("a.b", "new", "one two")), WorkingCopy(terminal, dir, false), "zone-00001.example")
			}
			if err := absorb(); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			text, _ := os.ReadFile(filepath.Join(dir, "edge.cue"))
			if _, got, _ := strings.Cut(string(text), "Ruleset\"\n}\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			out.Reset()
			if err := absorb(); err != nil || !strings.Contains(out.String(), "in sync") {
				t.Errorf("then %v\n%s", err, &out)
			}
		})
	}
}

// What is declared and not there cannot be absorbed.
func TestAbsorbOfAnotherKindThatIsGone(t *testing.T) {
	dir := declaring(t, zoneText("\trules: toy: \"a.b\": expression: \"old\"\n"))
	var out bytes.Buffer
	terminal := &cli.Terminal{Out: &out, Err: &out}
	err := Absorb(inProcess(t), terminal, withCustom(t), WorkingCopy(terminal, dir, false), "zone-00001.example")
	if err == nil || !strings.Contains(err.Error(), `toy "a.b" is declared for the zone, but it is not there`) {
		t.Errorf("%v", err)
	}
}

// A rule that is live with an action that its kind does not declare cannot be absorbed, and is
// not called gone.
func TestAbsorbOfAnotherAction(t *testing.T) {
	dir := declaring(t, zoneText("\trules: toy: \"a.b\": expression: \"old\"\n"))
	live := rule("a.b", "true", "")
	live.Action = edge.ActionLog
	var out bytes.Buffer
	terminal := &cli.Terminal{Out: &out, Err: &out}
	err := Absorb(inProcess(t), terminal, withCustom(t, live), WorkingCopy(terminal, dir, false), "zone-00001.example")
	if err == nil || !strings.Contains(err.Error(), `toy "a.b" is live with the action log, which cannot be declared for it`) {
		t.Errorf("%v", err)
	}
}

// forbidding does not permit to read the entry points of a phase.
type forbidding struct {
	edge.Reader
	phase edge.Phase
}

func (f forbidding) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if phase == f.phase {
		return edge.Ruleset{}, edge.ErrForbidden
	}
	return f.Reader.EntryPoint(ctx, scope, phase)
}

// A phase that may not be read is left out of an import, which says so and is partial; the rest of
// the zone is imported.
func TestImportWithoutAPhase(t *testing.T) {
	platform := withCustom(t, rule("a.b", "ip.src eq 192.0.2.1", "one"))
	platform.Lanes.All[0].Reader = forbidding{platform.Lanes.All[0].Reader, edge.PhaseRateLimit}
	dir := filepath.Join(t.TempDir(), "edge")
	var out bytes.Buffer
	err := Import(inProcess(t), &cli.Terminal{Out: &out, Err: &out}, platform, Order{IDs: true, Unmanaged: desired.Remove, Dir: dir, Module: "edge.example/desired"}, nil)
	if err == nil || !strings.Contains(out.String(), "): its rate limits could not be read: ") || !strings.Contains(out.String(), "imported 2 zones") {
		t.Errorf("%v\n%s", err, &out)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "zones.cue"))
	if !strings.Contains(string(text), "rules: toy:") || !strings.Contains(string(text), "// Not imported: its rate limits could not be read") || !strings.Contains(string(text), "paranoia") && !strings.Contains(string(text), "core") {
		t.Errorf("%s", text)
	}
}

// An import declares other kinds, too.
func TestImportOfAnotherKind(t *testing.T) {
	platform := withCustom(t, rule("a.b", "ip.src eq 192.0.2.1", "one"), rule("admins", "true", ""))
	dir := filepath.Join(t.TempDir(), "edge")
	var out bytes.Buffer
	err := Import(inProcess(t), &cli.Terminal{Out: &out, Err: &out}, platform, Order{IDs: true, Unmanaged: desired.Remove, Dir: dir, Module: "edge.example/desired"}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "zones.cue"))
	const want = `		rules: toy: {
			"a.b": {
				expression: "ip.src eq 192.0.2.1"
				match: hosts: ["one"]
			}
			admins: {
				expression: "true"
				match: hosts: []
			}
		}
`
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%v\n%s", err, text)
	}
}

// What another kind declares of the phase of deployments is not called what Seawall leaves alone.
func TestImportOfAKindBesideDeployments(t *testing.T) {
	platform := withCustom(t)
	keep(t, custom{phase: edge.PhaseFirewallManaged, action: "skip"})
	p := platform.Lanes.All[0].Reader.(*mem.Platform)
	entryPoint, err := p.EntryPoint(t.Context(), mem.FleetZone(1), edge.PhaseFirewallManaged)
	for i, action := range []edge.Action{"skip", "skip", "log"} {
		added := rule(fmt.Sprint("r", i), "true", "")
		added.ID, added.Action = edge.RuleID(fmt.Sprintf("%032x", 100+i)), action
		entryPoint.Rules = append(entryPoint.Rules, added)
	}
	if err = errors.Join(err, p.SetEntryPoint(mem.FleetZone(1), entryPoint)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "edge")
	var out bytes.Buffer
	if err := Import(inProcess(t), &cli.Terminal{Out: &out, Err: &out}, platform, Order{IDs: true, Unmanaged: desired.Remove, Dir: dir, Module: "edge.example/desired"}, nil); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "zones.cue"))
	if !strings.Contains(string(text), "Its entry point has 1 other rule,") || strings.Count(string(text), "match: hosts: []") != 2 {
		t.Errorf("%s", text)
	}
}

// Show has other kinds with their places, and what is live beside them.
func TestShowOfAnotherKind(t *testing.T) {
	dir := declaring(t, zoneText("\trules: toy: \"a.b\": {\n\t\texpression: \"old\"\n\t\tmatch: hosts: [\"one\"]\n\t\tprune: true\n\t}\n"))
	platform := withCustom(t, rule("a.b", "new", "one"))
	state, err := loadValid(inProcess(t), dir, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	account := state.Accounts[0]
	read, err := ReadLive(t.Context(), platform, account, account.Zones[0])
	if err != nil || len(read.Parts) != 1 || read.Parts[0].Err != nil {
		t.Fatalf("%v, %+v", err, read)
	}
	gone, err := ReadLive(t.Context(), withCustom(t), account, account.Zones[0])
	if err != nil || gone.Parts[0].Absent == nil || gone.Parts[0].Err != nil {
		t.Errorf("of what is not there: %v, %+v", err, gone)
	}
	s := show.Zone(account, account.Zones[0], "", []show.Live{{As: read.Parts[0].As}}, "")
	var text, cue bytes.Buffer
	if s.Text(&text) != nil || s.CUE(&cue) != nil {
		t.Fatal("it was not written")
	}
	for _, want := range []string{"toy a.b  edge.cue:10:14", `"old"`, `"new"`, `["one"]`, "as declared", "edge.cue:11:3"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, &text)
		}
	}
	for _, want := range []string{`rules: toy: "a.b": {`, `expression: "old" // edge.cue:11:3; live: "new"`, `match: hosts: ["one"] // edge.cue:12:10`, "prune: true"} {
		if !strings.Contains(cue.String(), want) {
			t.Errorf("%q is not in\n%s", want, &cue)
		}
	}
}

package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

func TestMain(m *testing.M) {
	worker.Main(nil, nil) // a worker knows no job: see inProcess
	declareCustom()
	os.Exit(soak.Main(m, 0))
}

// inProcess is the context of a test, in which files are evaluated in this process.
func inProcess(t testing.TB) context.Context { return worker.InProcess(t.Context(), evaluate.Jobs) }

// live is a platform in memory, as odd as the real one can be: the twin in edge/mem
// refuses some of it.
type live struct {
	edge.Reader // nil: the calls below are all that are made

	zones       []edge.Zone
	entryPoints map[edge.ZoneID]edge.Ruleset
	rulesets    map[edge.AccountID][]edge.Ruleset

	reads  atomic.Int64                           // of entry points
	before func()                                 // each read of an entry point; nil does nothing
	ahead  func(edge.Scope) (edge.Ruleset, error) // reads those of earlier phases; nil: there are none
}

func (l *live) Offers(call edge.Call, _ edge.Level) bool { return call != edge.CallRulesetVersion }

func (l *live) Rulesets(_ context.Context, scope edge.Scope) (listed []edge.Ruleset, _ error) {
	for _, r := range l.rulesets[edge.AccountID(scope.ID)] {
		r.Rules = nil
		listed = append(listed, r)
	}
	return listed, nil
}

func (l *live) Ruleset(_ context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	for _, r := range l.rulesets[edge.AccountID(scope.ID)] {
		if r.ID == id {
			return r, nil
		}
	}
	return edge.Ruleset{}, edge.ErrNotFound
}

func (l *live) EntryPoint(ctx context.Context, id edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if phase != edge.PhaseFirewallManaged && l.ahead != nil {
		return l.ahead(id)
	}
	if phase == edge.PhaseFirewallManaged {
		l.reads.Add(1)
		if l.before != nil {
			l.before()
		}
	}
	entryPoint, deployed := l.entryPoints[edge.ZoneID(id.ID)]
	switch {
	case ctx.Err() != nil:
		return entryPoint, context.Cause(ctx)
	case !deployed, phase != edge.PhaseFirewallManaged:
		return entryPoint, edge.ErrEntryPointNotFound
	}
	return entryPoint, nil
}

func (l *live) Zones(context.Context, edge.ZoneFilter) ([]edge.Zone, error) { return l.zones, nil }
func (l *live) Accounts(context.Context) ([]edge.Account, error)            { return nil, nil }
func (l *live) Zone(context.Context, edge.ZoneID) (edge.Zone, error) {
	return edge.Zone{}, edge.ErrNotFound
}

// managedRulesets are those of an account: two of one name among them, and one that is
// not managed.
func managedRulesets() []edge.Ruleset {
	core, twin, other, custom := difftest.Managed(), difftest.Managed(), difftest.Managed(), difftest.Managed()
	twin.ID, other.ID, custom.ID = "c04e0000000000000000000000000002", "c04e0000000000000000000000000003", "c04e0000000000000000000000000004"
	other.Name, custom.Name, custom.Kind = "Vendor Managed Ruleset", "Ours", edge.KindCustom
	core.Name, twin.Name = "Core Ruleset", "Core Ruleset"
	return []edge.Ruleset{custom, twin, core, other}
}

// genLive draws a platform: accounts of one name, zones that run none, one or several
// managed rulesets, and others.
func genLive(t *rapid.T) *live {
	l := &live{entryPoints: map[edge.ZoneID]edge.Ruleset{}, rulesets: map[edge.AccountID][]edge.Ruleset{}}
	shapes := rapid.SliceOfN(rapid.Custom(genEntryPoint), 1, 6).Draw(t, "shapes")
	for i := range 40 {
		account := edge.AccountID(fmt.Sprintf("%032x", i%2))
		l.rulesets[account] = managedRulesets()
		z := edge.Zone{ID: edge.ZoneID(fmt.Sprintf("%032x", 1000+i)), Name: fmt.Sprintf("z%02d.example", i), Account: edge.Account{ID: account, Name: "Ours"}}
		l.zones = append(l.zones, z)
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
		case 1:
			l.entryPoints[z.ID] = genEntryPoint(t)
		default:
			l.entryPoints[z.ID] = rapid.SampledFrom(shapes).Draw(t, "shape")
		}
	}
	return l
}

func genEntryPoint(t *rapid.T) edge.Ruleset {
	entryPoint := edge.Ruleset{ID: difftest.EntryPoint, Kind: edge.KindZone, Phase: edge.PhaseFirewallManaged, Version: "11"}
	for _, ruleset := range managedRulesets() {
		if rapid.Bool().Draw(t, "runs "+string(ruleset.ID)) {
			rule := difftest.Execute(withoutTwins(difftest.GenOverrides(t)))
			parameters := *rule.ActionParameters
			parameters.ID = ruleset.ID
			rule.ActionParameters = &parameters
			rule.Enabled = rapid.Ptr(rapid.Bool(), true).Draw(t, "enabled")
			rule.Expression = rapid.SampledFrom([]string{"true", `http.host eq "a"`}).Draw(t, "expression")
			entryPoint.Rules = append(entryPoint.Rules, rule)
		}
	}
	return withSkipRules(t, entryPoint)
}

// withoutTwins keeps a tag once: two have no declaration.
func withoutTwins(o *edge.Overrides) *edge.Overrides {
	if o == nil {
		return nil
	}
	seen := map[string]bool{}
	kept := o.Categories[:0:0]
	for _, c := range o.Categories {
		if !seen[c.Category] {
			kept = append(kept, c)
		}
		seen[c.Category] = true
	}
	o.Categories = kept
	return o
}

// platformOf reads it with one credential, and lists it.
func platformOf(l *live, documented bool) Platform {
	lanes := reconcile.OneLane(reconcile.Lane{Reader: l, Concurrency: 4})
	names := directory.New(directory.Config{Now: time.Now, Of: func(string) edge.Directory { return l }})
	return Platform{Lanes: lanes, Names: names, Lists: true, Documented: documented}
}

func importInto(t *testing.T, ctx context.Context, l *live, dir string, documented, ids bool) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Import(ctx, &cli.Terminal{Out: &out, Err: &out}, platformOf(l, documented),
		Order{IDs: ids, Unmanaged: desired.Remove, Dir: dir, Module: "edge.example/desired", Origin: "https://api.example/client/v4", Plan: "seawall plan"}, nil)
	return out.String(), err
}

// A plan of what was imported is empty, for every platform, and the files are valid: with
// the ids of zones, and with their names alone.
func TestAPlanOfWhatWasImportedIsEmpty(t *testing.T) {
	for seed := range 4 {
		if !soak.On && seed != 1 && seed != 2 { // each value of both occurs
			continue
		}
		l, documented, ids := rapid.Custom(genLive).Example(seed), seed%2 == 1, seed >= 2
		dir := filepath.Join(t.TempDir(), "edge")
		out, err := importInto(t, inProcess(t), l, dir, documented, ids)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, out)
		}
		state, problems, err := setup.Folder{Dir: dir}.Compile(inProcess(t), "")
		if err != nil || len(desired.Errors(problems)) > 0 {
			t.Fatalf("seed %d: %v %v", seed, err, problems)
		}
		if state.Zones() != len(l.zones) {
			t.Fatalf("seed %d: %d zones of %d", seed, state.Zones(), len(l.zones))
		}
		p := planOf(t, l, state, documented)
		if len(p.Changes)+len(unexpected(p)) > 0 {
			t.Fatalf("seed %d: %+v %+v", seed, p.Changes, p.Problems)
		}
	}
}

func planOf(t *testing.T, l *live, state desired.State, documented bool) diff.Plan {
	t.Helper()
	names := platformOf(l, documented).Names
	names.Look(t.Context(), state)
	state = names.Resolve(state)
	many := zone.Many{Lanes: reconcile.OneLane(reconcile.Lane{Reader: l, Concurrency: 4}), Documented: documented, Now: time.Now}
	seen, err := many.Read(t.Context(), state)
	must.Do(t, err)
	return planner.Make(planner.Input{State: state, Live: seen.Live, Now: time.Now()})
}

// Files of a new repository that are there already stay as they are.
func TestStarterLeavesWhatIsThere(t *testing.T) {
	o := Order{Dir: t.TempDir(), Module: "edge.example/desired"}
	named := func(name string) bool {
		return slices.ContainsFunc(starter(o), func(f cuefile.File) bool { return f.Name == name })
	}
	if !named(".gitattributes") {
		t.Error("a new repository gets no .gitattributes")
	}
	must.Do(t, os.WriteFile(filepath.Join(o.Dir, ".gitattributes"), nil, 0o644))
	if named(".gitattributes") {
		t.Error("the .gitattributes that is there would be overwritten")
	}
}

// An import that was interrupted goes on where it ended, and writes the same.
func TestAnImportThatWasInterruptedGoesOn(t *testing.T) {
	l := rapid.Custom(genLive).Example(7)
	whole := filepath.Join(t.TempDir(), "whole")
	if out, err := importInto(t, inProcess(t), l, whole, false, false); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir := filepath.Join(t.TempDir(), "edge")
	ctx, cancel := context.WithCancelCause(inProcess(t))
	stopped := errors.New("stopped")
	l.reads.Store(0)
	l.before = func() {
		if l.reads.Load() == 20 {
			cancel(stopped)
		}
	}
	if out, err := importInto(t, ctx, l, dir, false, false); !errors.Is(err, stopped) {
		t.Fatalf("%v\n%s", err, out)
	}
	if files, err := cueFiles(dir); err != nil || len(files) > 0 {
		t.Fatalf("an import that was interrupted has written %v (%v)", files, err)
	}
	l.before = nil
	l.reads.Store(0)
	out, err := importInto(t, inProcess(t), l, dir, false, false)
	var before int64
	if _, scanErr := fmt.Sscanf(out, "resuming: %d of 40 zones", &before); err != nil || scanErr != nil || before == 0 || l.reads.Load() != 40-before {
		t.Fatalf("%v, %v, %d reads of 40\n%s", err, scanErr, l.reads.Load(), out)
	}
	files, err := cueFiles(whole)
	must.Do(t, err)
	for _, name := range files {
		want, _ := os.ReadFile(filepath.Join(whole, name))
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, workDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", workDir, err)
	}
}

// Whatever someone does to a zone by hand, absorb declares it, so that a plan of all zones
// is empty.
func TestAbsorbFollowsWhatWasDoneByHand(t *testing.T) {
	l := rapid.Custom(genLive).Example(11)
	dir := filepath.Join(t.TempDir(), "edge")
	if out, err := importInto(t, inProcess(t), l, dir, false, false); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	absorbed, zones := 0, l.zones[:6]
	if soak.On {
		zones = l.zones[:12]
	}
	for i, z := range zones {
		changed := rapid.Custom(genEntryPoint).Example(100 + i)
		entryPoint, deployed := l.entryPoints[z.ID]
		if !deployed {
			continue
		}
		entryPoint.Rules = append([]edge.Rule{}, entryPoint.Rules...)
		for j, rule := range entryPoint.Rules { // only what is deployed there
			for _, other := range changed.Rules {
				if rule.Action == edge.ActionExecute && rule.Executes(other.ActionParameters.ID) {
					entryPoint.Rules[j] = other
				}
			}
		}
		for _, other := range changed.Rules {
			at := slices.IndexFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.ID == other.ID })
			switch {
			case other.Action == edge.ActionExecute:
			case at < 0:
				entryPoint.Rules = append([]edge.Rule{other}, entryPoint.Rules...)
			default:
				entryPoint.Rules[at] = other
			}
		}
		l.entryPoints[z.ID] = entryPoint
		var out bytes.Buffer
		term := &cli.Terminal{Out: &out, Err: &out}
		err := Absorb(inProcess(t), term, platformOf(l, false), WorkingCopy(term, dir, false), z.Name)
		if err != nil {
			t.Fatalf("%s: %v\n%s", z.Name, err, out.String())
		}
		absorbed++
	}
	state, problems, err := setup.Folder{Dir: dir}.Compile(inProcess(t), "")
	if err != nil || len(desired.Errors(problems)) > 0 {
		t.Fatalf("%v %v", err, problems)
	}
	if p := planOf(t, l, state, false); len(p.Changes)+len(unexpected(p)) > 0 {
		t.Fatalf("%+v %+v", p.Changes, p.Problems)
	}
	if absorbed < 2 {
		t.Errorf("only %d zones were absorbed", absorbed)
	}
}

// A resource with the segment of a vendor tells which one, and how to say so.
func TestATokenOfAnotherVendorNamesTheFlag(t *testing.T) {
	of := func(resource string) error {
		_, err := declareToken(edge.Token{TokenSpec: edge.TokenSpec{Name: "ci", Policies: []edge.Policy{{
			Effect: edge.Allow, Resources: map[string]edge.Breadth{resource: {}}, PermissionGroups: []edge.PermissionGroup{{ID: "4755a26eedb94da69e1066d98aa820be"}},
		}}}})
		return err
	}
	if err := of("com.cloudflare.api.account.zone.*"); err == nil || !strings.HasSuffix(err.Error(), "is of the vendor cloudflare: import with --vendor cloudflare") {
		t.Errorf("%v", err)
	}
	if err := of("com.vendor.api.account.zone.*"); err != nil {
		t.Error(err)
	}
}

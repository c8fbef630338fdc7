package daemon

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// The benchmarks measure what people wait for, at a thousand zones, each beside
// the floor it stands on. docs/performance.md sums them up.

const (
	benchZones       = 1000
	benchFolders     = 20
	benchConcurrency = 16
)

// benchTree declares the zones of a mem.Fleet, spread over folders.
func benchTree() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range harness.TunedTree(benchZones, benchZones/benchFolders, 25).Files() {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

// still is a source and a compiler of what was compiled before.
type still struct{ state desired.State }

func (s still) Fetch(context.Context) (string, error) { return s.state.Commit, nil }

func (s still) Compile(context.Context, string) (desired.State, []desired.Problem, error) {
	return s.state, nil, nil
}

func benchState(b *testing.B) desired.State {
	b.Helper()
	state, problems := compiletest.Tree(benchTree(), ".", "c0ffee")
	if errs := desired.Errors(problems); len(errs) > 0 || state.Zones() != benchZones {
		b.Fatalf("%d zones, %v", state.Zones(), errs)
	}
	return state
}

// benchClient is a client without a limit of its own.
func benchClient(b *testing.B, p *harness.Platform) *client.Client {
	b.Helper()
	c, err := client.New(client.Config{
		BaseURL:     p.BaseURL,
		Token:       func() (edge.Secret, error) { return p.RulesetsToken, nil },
		Budget:      client.NewBudget(1<<30, time.Minute),
		Concurrency: benchConcurrency,
	})
	must.Do(b, err)
	return c
}

// BenchmarkPlan1000 plans a thousand zones over HTTP: all of them differ, or all
// agree. The floor asks for the same thousand entry points with a bare client,
// as many at a time, and decodes them.
func BenchmarkPlan1000(b *testing.B) {
	p := harness.StartPlatform(b, harness.Fleet(benchZones))
	state := benchState(b)
	b.Run("floor", func(b *testing.B) { benchFloor(b, p) })
	b.Run("changed", func(b *testing.B) { benchPlan(b, p, state, benchZones) })
	apply(b, p, state)
	b.Run("floor_in_sync", func(b *testing.B) { benchFloor(b, p) })
	b.Run("in_sync", func(b *testing.B) { benchPlan(b, p, state, 0) })
}

func benchPlan(b *testing.B, p *harness.Platform, state desired.State, changes int) {
	platform := benchClient(b, p)
	var requests int64
	b.ReportAllocs()
	for b.Loop() {
		// A new run each time: nothing is remembered, as in `seawall plan`.
		report := stillRun(state, edge.ReadOnly(platform), nil, platform.Requests).Plan(b.Context(), once.Order{})
		if report.Err != nil || len(report.Plan.Changes) != changes {
			b.Fatalf("%d changes, want %d: %v", len(report.Plan.Changes), changes, report.Err)
		}
		requests += report.Requests
	}
	b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
}

// stillRun is a run over a state that stays the same.
func stillRun(state desired.State, reader edge.Reader, writer edge.Writer, requests func() int64) *once.Run {
	git := source.New(source.Config{Source: still{state}, Compiler: still{state}, Now: time.Now})
	return &once.Run{
		Source: git, Records: &reconcile.Forgetful{}, Requests: requests, Now: time.Now,
		Lanes: reconcile.OneLane(reconcile.Lane{Reader: reader, Writer: writer, Concurrency: benchConcurrency}),
	}
}

// apply makes the platform agree.
func apply(b *testing.B, p *harness.Platform, state desired.State) {
	b.Helper()
	platform := benchClient(b, p)
	if report := stillRun(state, platform, platform, platform.Requests).Apply(b.Context(), once.Order{}); !report.Converged() {
		b.Fatalf("not converged: %v", report.Err)
	}
}

func benchFloor(b *testing.B, p *harness.Platform) {
	bare := harness.NewBareClient(p.BaseURL, p.RulesetsToken.Reveal(), benchConcurrency)
	b.ReportAllocs()
	for b.Loop() {
		must.Do(b, bare.ReadFleet(benchZones))
	}
	b.ReportMetric(benchZones, "requests/op")
}

// BenchmarkCompile1000 evaluates a thousand zones in twenty folders: in this
// process, and the way the program does it, in a bounded child.
func BenchmarkCompile1000(b *testing.B) {
	b.Run("in_process", func(b *testing.B) {
		tree := benchTree()
		b.ReportAllocs()
		for b.Loop() {
			if state, _ := compiletest.Tree(tree, ".", ""); state.Zones() != benchZones {
				b.Fatalf("%d zones", state.Zones())
			}
		}
	})
	b.Run("worker", func(b *testing.B) {
		dir := b.TempDir()
		must.Do(b, os.CopyFS(dir, benchTree()))
		runner := worker.Runner{Executable: harness.Seawall(b), Limits: worker.Limits{Output: 512 << 20}}
		b.ReportAllocs()
		for b.Loop() {
			if state := compileInWorker(b, runner, dir); state.Zones() != benchZones {
				b.Fatalf("%d zones", state.Zones())
			}
		}
	})
}

// compileInWorker does what the program does with a folder.
func compileInWorker(b *testing.B, runner worker.Runner, dir string) desired.State {
	b.Helper()
	tree := map[string]string{"dir": dir}
	var list struct{ Answer struct{ Folders []string } }
	err := runner.Run(b.Context(), "listing the folders", tree, func(_ string, out json.RawMessage) error { return json.Unmarshal(out, &list) })
	must.Do(b, err)
	var units []compile.Unit
	err = runner.Run(b.Context(), "evaluate", map[string]any{"Tree": tree, "Folders": list.Answer.Folders}, func(_ string, out json.RawMessage) error {
		var unit compile.Unit
		err := json.Unmarshal(out, &unit)
		units = append(units, unit)
		return err
	})
	must.Do(b, err)
	state, problems := compile.Merge(units, "")
	if errs := desired.Errors(problems); len(errs) > 0 {
		b.Fatal(errs)
	}
	return state
}

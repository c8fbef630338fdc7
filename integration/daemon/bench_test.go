package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
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
	tree := fstest.MapFS{
		"cue.mod/module.cue": {Data: []byte("module: \"edge.example/fleet\"\nlanguage: version: \"v0.16.0\"\n")},
		"base.cue": {Data: fmt.Appendf(nil,
			"package edge\n\naccount: prod: {\n\tid: %q\n\truleset: core: name: \"Core Ruleset\"\n}\n", mem.Account)},
	}
	for folder := range benchFolders {
		text := []byte("package edge\n\naccount: prod: zone: {\n")
		for i := folder*benchZones/benchFolders + 1; i <= (folder+1)*benchZones/benchFolders; i++ {
			text = fmt.Appendf(text, "\t\"zone-%05d.example\": {\n\t\tid: %q\n\t\twaf: core: {\n\t\t\tparanoia: %d\n"+
				"\t\t\tthreshold: {score: %d, action: \"block\"}\n\t\t\tdisable: tags: [\"wordpress\"]\n\t\t}\n\t}\n",
				i, mem.FleetZone(i), i%4+1, 25+i%40)
		}
		tree[fmt.Sprintf("team-%02d/zones.cue", folder)] = &fstest.MapFile{Data: append(text, "}\n"...)}
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
	if err != nil {
		b.Fatal(err)
	}
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
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = benchConcurrency, benchConcurrency
	defer transport.CloseIdleConnections()
	bare := &http.Client{Transport: transport}
	b.ReportAllocs()
	for b.Loop() {
		if err := readFleet(bare, p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(benchZones, "requests/op")
}

// readFleet reads and decodes every entry point.
func readFleet(bare *http.Client, p *harness.Platform) error {
	zones := make(chan edge.Scope)
	failures := make(chan error, benchConcurrency)
	var group sync.WaitGroup
	for range benchConcurrency {
		group.Go(func() {
			for zone := range zones {
				if err := readZone(bare, p, zone); err != nil {
					select {
					case failures <- err:
					default:
					}
				}
			}
		})
	}
	for i := 1; i <= benchZones; i++ {
		zones <- mem.FleetZone(i)
	}
	close(zones)
	group.Wait()
	close(failures)
	return <-failures
}

func readZone(bare *http.Client, p *harness.Platform, zone edge.Scope) error {
	req, err := http.NewRequest(http.MethodGet, p.BaseURL+edge.EntryPointPath(zone, edge.PhaseFirewallManaged), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+p.RulesetsToken.Reveal())
	res, err := bare.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	var answer struct{ Result edge.Ruleset }
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	if len(answer.Result.Rules) == 0 {
		return fmt.Errorf("zone %s: %s without rules", zone, res.Status)
	}
	return nil
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
		if err := os.CopyFS(dir, benchTree()); err != nil {
			b.Fatal(err)
		}
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
	if err != nil {
		b.Fatal(err)
	}
	var units []compile.Unit
	err = runner.Run(b.Context(), "evaluate", map[string]any{"Tree": tree, "Folders": list.Answer.Folders}, func(_ string, out json.RawMessage) error {
		var unit compile.Unit
		err := json.Unmarshal(out, &unit)
		units = append(units, unit)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	state, problems := compile.Merge(units, "")
	if errs := desired.Errors(problems); len(errs) > 0 {
		b.Fatal(errs)
	}
	return state
}

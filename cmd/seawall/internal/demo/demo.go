// Package demo shows Seawall against its simulator, step by step, and checks that each step
// did what it says.
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/once"
)

// demo is a simulator, a repository, and what the commands use.
type demo struct {
	*cli.Terminal
	dir        string
	platform   *sim.Running
	repository *demoRepository
	assembly   *setup.Assembly
	settings   setup.Settings
	act        int
}

// Run shows, in a temporary folder, what Seawall does with zones and tokens.
func Run(ctx context.Context, t *cli.Terminal) error {
	d := demo{Terminal: t}
	return d.inFolder(func() error {
		err := inTurn(ctx, d.raiseCurtain, d.plan,
			d.applying("seawall apply: one PATCH, read back to prove it", 1, "an apply sends one PATCH and converges"),
			d.applying("Again: nothing to do, so no write is sent", 0, "a second run sends no write"),
			d.heal, d.holdBack, d.createToken, d.crash)
		if err != nil {
			return err
		}
		d.say("\n%s", d.bold("End of the demo. Git defines the desired state, and reviewers read the plan."))
		d.say("Next: seawall demo --serve, to try it yourself. seawall demo --deprecations shows deprecated parts of the API.")
		return nil
	})
}

// inFolder has act use a temporary folder, and ends what it has started.
func (d *demo) inFolder(act func() error) (err error) {
	if d.dir, err = os.MkdirTemp("", "seawall-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	return errors.Join(act(), d.end())
}

// inTurn plays acts one after the other. Each checks that what it tells is true.
func inTurn(ctx context.Context, acts ...func(context.Context) error) error {
	for _, act := range acts {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) title(format string, args ...any) {
	d.act++
	fmt.Fprintf(d.Out, "\n%s\n\n", d.bold(fmt.Sprintf("%d. ", d.act)+fmt.Sprintf(format, args...)))
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }

func (d *demo) bold(s string) string {
	if !d.ColourOut {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

func (d *demo) raiseCurtain(ctx context.Context) error {
	d.title("A simulated platform and a real git repository")
	var err error
	if d.platform, err = sim.Start(sim.Config{}); err != nil { //nolint:contextcheck // it runs until it is closed
		return err
	}
	d.say("platform    %s", d.platform.BaseURL)
	if d.repository, err = newDemoRepository(ctx, filepath.Join(d.dir, "repository"), "single-zone"); err != nil {
		return err
	}
	d.say("repository  %s, commit %.7s", d.repository.dir, d.repository.head)
	d.say("\n%s:", demoFile)
	d.say("%s", indent(d.repository.read(demoFile)))

	return d.configure(ctx, "")
}

// configure writes the configuration of the demo, with more to it, and puts
// together what it asks for, as the daemon would.
func (d *demo) configure(ctx context.Context, more string) error {
	if d.assembly != nil {
		d.assembly.Close()
	}
	secrets := map[string]string{
		"rulesets-token": d.platform.RulesetsToken.Reveal(),
		"tokens-token":   d.platform.TokensToken.Reveal(),
	}
	for name, value := range secrets {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(value), 0o600); err != nil {
			return err
		}
	}
	text := fmt.Sprintf(demoConfig, "file://"+d.repository.dir, d.platform.BaseURL, d.path("rulesets-token"), d.path("state")) + more
	if err := os.WriteFile(d.path("config.cue"), []byte(text), 0o600); err != nil {
		return err
	}
	var err error
	if d.settings, err = setup.LoadConfig(d.Terminal, d.path("config.cue")); err != nil {
		return err
	}
	d.assembly, err = setup.Assemble(ctx, d.settings, setup.ToServe, slog.New(slog.DiscardHandler))
	return err
}

const demoConfig = `source: url: %q
platform: base_url: %q
credentials: rulesets: file: %q
state: dir: %q
schedule: {sync: "@every 2s", sweep: "@every 10s"}
listen: "127.0.0.1:0"
`

func (d *demo) path(name string) string { return filepath.Join(d.dir, name) }

func (d *demo) run(ctx context.Context) (reconcile.Report, int, error) {
	d.platform.ClearTranscript()
	report := d.assembly.Once(nil).Apply(ctx, once.Order{})
	return d.counted(report)
}

// runInFull is run, with its report shown.
func (d *demo) runInFull(ctx context.Context) (reconcile.Report, int, error) {
	report, writes, err := d.run(ctx)
	if err == nil {
		err = report.Text(d.Out, d.ColourOut)
	}
	return report, writes, err
}

// counted adds how many writes a report took.
func (d *demo) counted(report reconcile.Report) (reconcile.Report, int, error) {
	writes := 0
	for _, entry := range d.platform.Transcript() {
		if entry.Method != http.MethodGet {
			writes++
		}
	}
	return report, writes, report.Err
}

// expect turns a show that went differently into an error.
func expect(ok bool, what string) error {
	if !ok {
		return fmt.Errorf("the demo did not do what it should: %s", what)
	}
	return nil
}

func (d *demo) plan(ctx context.Context) error {
	d.title("seawall plan: what would change, and which line declares it")
	report, writes, err := d.counted(d.assembly.Once(nil).Plan(ctx, once.Order{}))
	if err != nil {
		return err
	}
	if err := render.Text(d.Out, report.Plan, d.ColourOut); err != nil {
		return err
	}
	return expect(writes == 0 && len(report.Plan.Changes) == 1, "a plan has one change and writes nothing")
}

// applying shows a run of apply, and holds it to how many writes it sends.
func (d *demo) applying(title string, writes int, what string) func(context.Context) error {
	return func(ctx context.Context) error {
		d.title("%s", title)
		report, sent, err := d.run(ctx)
		if err != nil {
			return err
		}
		d.transcript()
		d.result(report)
		return expect(sent == writes && report.Converged(), what)
	}
}

// demoZone is the zone of the example.
const demoZone edge.ZoneID = "00000000000000000000000000000a01"

func (d *demo) heal(ctx context.Context) error {
	d.title("A manual change weakens the zone; the next sweep corrects it")
	if err := d.plantDrift(ctx); err != nil {
		return err
	}
	d.say("In the dashboard, the execute rule was disabled and the threshold set to 1000.\n")
	report, writes, err := d.runInFull(ctx)
	if err != nil {
		return err
	}
	return expect(writes == 1 && report.Converged(), "one PATCH heals the drift")
}

func (d *demo) plantDrift(ctx context.Context) error {
	entryPoint, err := d.platform.Platform.EntryPoint(ctx, edge.ZoneScope(demoZone), edge.PhaseFirewallManaged)
	if err != nil {
		return err
	}
	off, loose := false, 1000
	for i := range entryPoint.Rules {
		rule := &entryPoint.Rules[i]
		rule.Enabled = &off
		for j := range rule.ActionParameters.Overrides.Rules {
			rule.ActionParameters.Overrides.Rules[j].ScoreThreshold = &loose
		}
	}
	return d.platform.Platform.SetEntryPoint(edge.ZoneScope(demoZone), entryPoint)
}

func (d *demo) holdBack(ctx context.Context) error {
	d.title("A bad commit is rejected; the last good one stays in force")
	good := d.repository.head
	bad := strings.Replace(d.repository.read(demoFile), `"managed_challenge"`, `"manage_challenge"`, 1)
	if err := d.repository.commit(ctx, demoFile, bad, "Typo"); err != nil {
		return err
	}
	d.say("commit %.7s misspells an action.\n", d.repository.head)
	if err := d.plantDrift(ctx); err != nil {
		return err
	}
	held, healed, err := d.serveUntilHealed(ctx)
	if err != nil {
		return err
	}
	d.ShowProblems(d.Out, held.Problems)
	d.say("\nheld      %.7s: %s", held.Commit, held.Reason)
	d.say("in force  %.7s: drift in the meantime was corrected with %s", healed.Commit, cli.Plural(len(healed.Results), "PATCH", "PATCHes"))
	return expect(healed.Commit == good, "the good commit goes on healing")
}

// serveUntilHealed runs the daemon until it has held a commit and healed a drift.
func (d *demo) serveUntilHealed(ctx context.Context) (held *reconcile.Held, healed reconcile.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	watch := reporting(func(r reconcile.Report) {
		if r.Held != nil {
			held = r.Held
		}
		if r.Slice && r.Count(reconcile.Converged) > 0 {
			healed = r
		}
		if held != nil && healed.Commit != "" {
			cancel()
		}
	})
	heart, err := controller.New(ctx, controller.Config{
		Source: d.assembly.Look(nil), Good: d.assembly.Good, First: d.assembly.First, Records: d.assembly.Records, Guards: d.assembly.Guards,
		Lanes: d.assembly.Lanes, Reporters: []reconcile.Reporter{watch},
	})
	if err != nil {
		return nil, healed, err
	}
	heart.Run(ctx)
	return held, healed, expect(held != nil && healed.Commit != "", "the bad commit is held, and the drift is healed")
}

// reporting is a [reconcile.Reporter].
type reporting func(reconcile.Report)

// Report implements [reconcile.Reporter].
func (f reporting) Report(_ context.Context, r reconcile.Report) { f(r) }

func (d *demo) transcript() {
	for _, entry := range d.platform.Transcript() {
		d.say("  %d  %s %s", entry.Status, entry.Method, entry.Path)
	}
	d.say("")
}

func (d *demo) result(report reconcile.Report) {
	for _, result := range report.Results {
		d.say("%s: %s", result.Change.Zone, result.Outcome)
	}
	d.say("%s, %s", report.Plan.Summary, cli.Plural(int(report.Requests), "request", "requests"))
}

func (d *demo) end() error {
	if d.assembly != nil {
		d.assembly.Close()
	}
	if d.platform != nil {
		return d.platform.Close()
	}
	return nil
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

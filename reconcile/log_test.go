package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// logged returns the lines of a report in the log, each as "LEVEL message".
func logged(t *testing.T, report Report) (lines []string, text string) {
	t.Helper()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	(&Logger{Log: log}).Report(t.Context(), report)
	text = out.String()
	for line := range strings.Lines(text) {
		var record struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, record.Level+" "+record.Msg)
	}
	return lines, text
}

func count(lines []string, line string) int {
	n := 0
	for _, l := range lines {
		if l == line {
			n++
		}
	}
	return n
}

func TestLoggerIsNoFlood(t *testing.T) {
	const n = 500
	report := Report{Trigger: TriggerSweep}
	for i := range n {
		c := diff.Change{Zone: zoneKey(i), Fields: []diff.Field{{Path: "enabled"}}}
		refused := c
		refused.Refused = &diff.Refusal{Guard: "unmanaged"}
		report.Problems = append(report.Problems, desired.Problem{Message: "odd", Warning: true})
		report.Plan.Changes = append(report.Plan.Changes, c, refused)
		report.Plan.Problems = append(report.Plan.Problems, diff.Problem{Zone: zoneKey(i), State: diff.Unknown})
		report.Results = append(report.Results, Result{Change: c, Outcome: Converged}, Result{Change: c, Outcome: NotStarted})
	}
	lines, text := logged(t, report)
	for line, want := range map[string]int{
		"WARN odd": 20, "WARN change refused": 20, "WARN cannot plan": 20, "INFO change applied and proved": 20,
		"WARN and more of the same": 4, "INFO run finished": 1,
	} {
		if got := count(lines, line); got != want {
			t.Errorf("%d times %q, not %d", got, line, want)
		}
	}
	if len(lines) != 85 || strings.Count(text, `"left_out":480`) != 4 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestLoggerTellsOfAHeldCommit(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	w.repo.pushInvalid("c2", desired.Problem{
		Origin: desired.Origin{File: "zones/shop.cue", Line: 4, Column: 10}, Path: "account.prod", Message: "blok", Hint: "did you mean block?",
	})
	report, _ := w.run(syncing)
	lines, text := logged(t, report)
	for _, want := range []string{`"held":"c2"`, `"in_force":"c1"`, "zones/shop.cue:4:10: account.prod: blok", "did you mean block?"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in the log:\n%s", want, text)
		}
	}
	if count(lines, "ERROR a commit is held; the last good one stays in force") != 1 {
		t.Errorf("lines %v", lines)
	}
	report, _ = w.run(syncing)
	if lines, text = logged(t, report); lines[0] != "DEBUG a commit is still held" || strings.Contains(text, "blok") {
		t.Errorf("the next sync: %v", lines)
	}
	report, _ = w.run(sweep)
	if lines, _ = logged(t, report); lines[0] != "WARN a commit is still held" {
		t.Errorf("the next sweep: %v", lines)
	}
}

func TestLoggerLevels(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(*world) Report
		want []string
	}{
		"nothing new": {func(w *world) Report { r, _ := w.run(syncing); return r }, []string{"DEBUG nothing new"}},
		"in sync":     {func(w *world) Report { r, _ := w.run(sweep); return r }, []string{"INFO run finished"}},
		"stopped": {func(w *world) Report {
			ctx, cancel := context.WithCancel(w.t.Context())
			cancel()
			return w.Run(ctx, sweep)
		}, []string{"INFO run stopped"}},
		"credential rejected in the middle": {func(w *world) Report {
			w.repo.push("c2", zones(5, core("php"))...)
			w.tamper.write = func(context.Context, edge.ZoneID, send) (*edge.Ruleset, error) { return nil, errUnauthenticated }
			r, _ := w.run(syncing)
			return r
		}, []string{"ERROR change not applied", "ERROR run failed"}},
		"concurrent writer": {func(w *world) Report {
			w.repo.push("c2", append(zones(4, core("xss")), zone(5, core("php")))...)
			w.tamper.write = func(_ context.Context, _ edge.ZoneID, send send) (*edge.Ruleset, error) {
				w.click(5, func(*edge.Overrides) {})
				return send()
			}
			r, _ := w.run(syncing)
			return r
		}, []string{"INFO change applied and proved", "WARN somebody else wrote to the entry point at the same time", "INFO run finished"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 5)
			w.repo.push("c1", zones(5, core("xss"))...)
			w.converge(sweep)
			lines, text := logged(t, c.run(w))
			if fmt.Sprint(lines) != fmt.Sprint(c.want) {
				t.Errorf("lines %q\n%s", lines, text)
			}
		})
	}
}

func TestLoggerNamesWhatWasNotKept(t *testing.T) {
	w := stubborn(t)
	report, _ := w.run(sweep)
	lines, text := logged(t, report)
	if lines[0] != "ERROR the platform did not keep a change; it is tried again later" || !strings.Contains(text, `"left":["overrides.action"]`) {
		t.Errorf("log:\n%s", text)
	}
}

// The log tells which members changed and never what is in them: what stands in
// a live rule may be anything. A secret in an error conceals itself.
func TestLoggerShowsNoSecret(t *testing.T) {
	const secret = "sim-rulesets-token-0000000000000000000001"
	w := seededWorld(t, mem.DefaultSeed())
	zones := []desired.Zone{{Key: "shop", ID: mem.ShopZone}, {Key: "blog", ID: mem.BlogZone}, {Key: "new", ID: mem.NewZone}}
	for i := range zones {
		zones[i].Deployments = []desired.Deployment{core("xss")}
	}
	zones[1].Deployments = []desired.Deployment{removing(core("xss"))}
	w.repo.push("c1", zones...)
	c := w.repo.commits["c1"]
	c.state.Tokens = []desired.Token{{Key: "ci", Name: "ci", Condition: &desired.Condition{In: []string{"192.0.2.7/32"}}}}
	w.repo.commits["c1"] = c
	w.tamper.write = func(_ context.Context, zone edge.ZoneID, send send) (*edge.Ruleset, error) {
		if zone == mem.ShopZone {
			return nil, fmt.Errorf("%w: sent with %v %#v", edge.ErrUnavailable, edge.NewSecret(secret), edge.NewSecret(secret))
		}
		return send()
	}
	report, _ := w.run(sweep)
	wantOutcome := map[string]Outcome{"shop": Failed, "blog": Converged}
	for _, result := range report.Results {
		if wantOutcome[result.Change.Zone] != result.Outcome {
			t.Errorf("results %v", outcomes(report))
		}
	}
	_, text := logged(t, report)
	if !strings.Contains(text, "[secret]") {
		t.Errorf("the error is not in the log:\n%s", text)
	}
	for _, hidden := range []string{secret, "public_key", "c2ltdWxhdGVk", "192.0.2.7"} {
		if strings.Contains(text, hidden) {
			t.Errorf("%s is in the log:\n%s", hidden, text)
		}
	}
}

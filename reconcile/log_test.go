package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
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
	problem := desired.Problem{
		Origin: desired.Origin{File: "zones/shop.cue", Line: 4, Column: 10}, Path: "account.prod", Message: "blok", Hint: "did you mean block?",
	}
	held := Report{Trigger: TriggerSync, Commit: "c1", Held: &Held{Commit: "c2", Reason: "it is invalid", Problems: []desired.Problem{problem}}}
	lines, text := logged(t, held)
	for _, want := range []string{`"held":"c2"`, `"in_force":"c1"`, "zones/shop.cue:4:10: account.prod: blok", "did you mean block?"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in the log:\n%s", want, text)
		}
	}
	if count(lines, "ERROR a commit is held; the last good one stays in force") != 1 {
		t.Errorf("lines %v", lines)
	}
	held.Held.Again = true
	if lines, text = logged(t, held); lines[0] != "DEBUG a commit is still held" || strings.Contains(text, "blok") {
		t.Errorf("the next look at git: %v", lines)
	}
	held.Trigger, held.Sum = TriggerSweep, true
	if lines, _ = logged(t, held); lines[0] != "WARN a commit is still held" {
		t.Errorf("the next sweep: %v", lines)
	}
}

// madeOf is a report of one change and what became of it.
func madeOf(slice bool, result Result) Report {
	result.Change.Kind, result.Change.Zone, result.Change.Deployment = diff.KindDeployment, "shop.example", "core"
	return Report{Trigger: TriggerSync, Commit: "c1", Slice: slice, Results: []Result{result}}
}

func TestLoggerLevels(t *testing.T) {
	for name, c := range map[string]struct {
		report Report
		want   string
	}{
		"nothing new":   {Report{Trigger: TriggerSync}, "DEBUG nothing new"},
		"accepted":      {Report{Trigger: TriggerSync, Begun: &Begun{Zones: 1}}, "INFO commit accepted"},
		"in sync":       {Report{Trigger: TriggerSweep, Sum: true, Plan: diff.Plan{Summary: diff.Summary{Zones: 1, InSync: 1}}}, "INFO run finished"},
		"a look":        {Report{Trigger: TriggerSweep, Slice: true}, "DEBUG some zones looked at"},
		"stopped":       {Report{Trigger: TriggerSweep, Err: context.Canceled}, "INFO run stopped"},
		"failed":        {Report{Trigger: TriggerSync, Err: errors.New("no")}, "ERROR run failed"},
		"applied":       {madeOf(true, Result{Outcome: Converged}), "INFO change applied and proved, DEBUG some zones looked at"},
		"not applied":   {madeOf(true, Result{Outcome: Failed, Err: errors.New("no")}), "ERROR change not applied, DEBUG some zones looked at"},
		"not come to":   {madeOf(true, Result{Outcome: NotStarted}), "DEBUG some zones looked at"},
		"not kept":      {madeOf(true, Result{Outcome: NonConvergent}), "ERROR the platform did not keep a change; it is tried again later, DEBUG some zones looked at"},
		"still not":     {madeOf(true, Result{Outcome: NonConvergent, Again: true}), "DEBUG the platform did not keep a change; it is tried again later, DEBUG some zones looked at"},
		"another wrote": {madeOf(true, Result{Outcome: Converged, Concurrent: true}), "INFO change applied and proved, WARN somebody else wrote to the entry point at the same time, DEBUG some zones looked at"},
	} {
		t.Run(name, func(t *testing.T) {
			if lines, text := logged(t, c.report); strings.Join(lines, ", ") != c.want {
				t.Errorf("lines %q, want %q\n%s", lines, c.want, text)
			}
		})
	}
}

func TestLoggerNamesWhatWasNotKept(t *testing.T) {
	_, text := logged(t, madeOf(false, Result{Outcome: NonConvergent, Left: []diff.Field{{Path: "overrides.action", Old: "hidden", New: "hidden"}}}))
	if !strings.Contains(text, `"left":["overrides.action"]`) || strings.Contains(text, "hidden") {
		t.Errorf("log:\n%s", text)
	}
}

// The log tells which members changed and never what is in them: what stands in
// a live rule may be anything. A secret in an error conceals itself.
func TestLoggerShowsNoSecret(t *testing.T) {
	const secret = "sim-rulesets-token-0000000000000000000001"
	err := fmt.Errorf("%w: sent with %v %#v", edge.ErrUnavailable, edge.NewSecret(secret), edge.NewSecret(secret))
	result := Result{Outcome: Failed, Err: err}
	result.Change.Fields = []diff.Field{{Path: "expression", Old: "http.host eq 1", New: "http.host eq 2"}}
	result.Change.Request = &diff.Request{Body: edge.Rule{Expression: "http.host eq 2"}}
	_, text := logged(t, madeOf(true, result))
	if !strings.Contains(text, "[secret]") || strings.Contains(text, secret) || strings.Contains(text, "http.host") {
		t.Errorf("log:\n%s", text)
	}
}

func zoneKey(i int) string { return fmt.Sprintf("zone-%05d.example", i) }

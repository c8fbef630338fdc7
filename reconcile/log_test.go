package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
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
		must.Do(t, json.Unmarshal([]byte(line), &record))
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

// logs is a logger that keeps what it was told, and returns the lines since it was asked
// last, each as "LEVEL message".
type logs struct {
	t *testing.T
	Logger
	out bytes.Buffer
}

func newLogs(t *testing.T) *logs {
	l := &logs{t: t}
	l.Log = slog.New(slog.NewJSONHandler(&l.out, &slog.HandlerOptions{Level: slog.LevelInfo}))
	return l
}

func (l *logs) report(r Report) (lines []string) {
	l.t.Helper()
	l.out.Reset()
	l.Report(l.t.Context(), r)
	for line := range strings.Lines(l.out.String()) {
		var record struct{ Level, Msg string }
		must.Do(l.t, json.Unmarshal([]byte(line), &record))
		lines = append(lines, record.Level+" "+record.Msg)
	}
	return lines
}

// look is the report of a look at one zone.
func look(i int, problems []diff.Problem, changes []diff.Change, results ...Result) Report {
	id := edge.ZoneScope(edge.ZoneID(fmt.Sprint("z", i)))
	return Report{Trigger: TriggerSweep, Scope: Scope{Slice: true, Zone: id}, Plan: diff.Plan{Changes: changes, Problems: problems}, Results: results}
}

func TestLoggerIsNoFlood(t *testing.T) {
	l := newLogs(t)
	var lines []string
	const n = 500
	for i := range n {
		c := diff.Change{Zone: zoneKey(i), Fields: []diff.Field{{Path: "enabled"}}, Refused: &diff.Refusal{Guard: diff.GuardHold}}
		lines = append(lines, l.report(look(i, []diff.Problem{{Zone: zoneKey(i), State: diff.NotDeployed}}, []diff.Change{c},
			Result{Change: c, Outcome: Failed, Err: errors.New("no")}, Result{Change: c, Outcome: NotStarted}))...)
	}
	for line, want := range map[string]int{
		"WARN change refused": 20, "WARN cannot plan": 3, "ERROR change not applied": 20,
		"WARN further lines of this kind are left out until the next turn of the sweep": 2,
	} {
		if got := count(lines, line); got != want {
			t.Errorf("%d times %q, not %d", got, line, want)
		}
	}
	if len(lines) != 45 {
		t.Errorf("%d lines", len(lines))
	}
}

// Zones that cannot be planned for one reason are told of in one line, once, and so is their end.
func TestLoggerTellsOfManyZonesAtOnce(t *testing.T) {
	l := newLogs(t)
	const n = 500
	empty := func(i int) []diff.Problem {
		return []diff.Problem{{Zone: zoneKey(i), Scope: look(i, nil, nil).Zone, State: diff.Blocked, Reason: "the account has no managed ruleset"}}
	}
	turn := func(problems func(i int) []diff.Problem) (lines []string) {
		sum := Report{Trigger: TriggerSweep, Scope: Scope{Sum: true, Full: true}}
		for i := range n {
			lines = append(lines, l.report(look(i, problems(i), nil))...)
			sum.Plan.Problems = append(sum.Plan.Problems, problems(i)...)
		}
		return slices.DeleteFunc(append(lines, l.report(sum)...), func(line string) bool { return line == "INFO run finished" })
	}
	const own, all, end = "WARN cannot plan", "WARN many zones cannot be planned for the same reason", "INFO zones can be planned again"
	if lines := turn(empty); !slices.Equal(lines, []string{own, own, own, all}) {
		t.Errorf("the first turn: %q", lines)
	}
	if lines := turn(empty); len(lines) > 0 {
		t.Errorf("the second turn: %q", lines)
	}
	for i := range n { // an outage: nothing is known of them
		r := look(i, []diff.Problem{{Zone: zoneKey(i), State: diff.Unknown, Reason: "503"}}, nil)
		if r.Told = true; len(l.report(r)) > 0 {
			t.Fatalf("an outage is told as the end: %s", l.out.String())
		}
	}
	if lines := turn(func(int) []diff.Problem { return nil }); !slices.Equal(lines, []string{end}) {
		t.Errorf("the end: %q", lines)
	}
}

// What lasts is said when it is new, not at each look; what comes back is news.
func TestLoggerSaysWhatIsNew(t *testing.T) {
	l := newLogs(t)
	problem := []diff.Problem{{Zone: "shop.example", State: diff.NotDeployed, Reason: "not since 10:31"}}
	later := []diff.Problem{{Zone: "shop.example", State: diff.NotDeployed, Reason: "not since 10:47"}}
	for i, step := range []struct {
		problems []diff.Problem
		want     int
	}{{problem, 1}, {problem, 0}, {later, 0}, {nil, 0}, {problem, 1}} {
		if lines := l.report(look(1, step.problems, nil)); len(lines) != step.want {
			t.Errorf("look %d: lines %q", i, lines)
		}
	}
	l.report(Report{Trigger: TriggerSweep, Scope: Scope{Sum: true, Full: true}})
	if len(l.said) != 0 {
		t.Errorf("kept: %v", l.said)
	}
}

// A change that was not kept, and is held back for that from then on, has one line.
func TestLoggerTellsOnceOfWhatIsNotKept(t *testing.T) {
	l := newLogs(t)
	c := diff.Change{Zone: "shop.example", Deployment: "core"}
	held := c
	held.Refused = &diff.Refusal{Guard: diff.GuardNonConvergent}
	if lines := l.report(look(1, nil, []diff.Change{c}, Result{Change: c, Outcome: NonConvergent, Concurrent: true})); len(lines) != 1 {
		t.Errorf("lines %q", lines)
	}
	if lines := l.report(look(1, nil, []diff.Change{held})); len(lines) != 0 {
		t.Errorf("lines %q", lines)
	}
	if lines := newLogs(t).report(look(1, nil, []diff.Change{held})); len(lines) != 1 { // of an earlier process
		t.Errorf("lines %q", lines)
	}
}

// What could not be read or written is an outage, which has its own lines: but for a write
// of unknown outcome each is the same outage again.
func TestLoggerLeavesOutagesOut(t *testing.T) {
	l := newLogs(t)
	c := diff.Change{Zone: "shop.example", Deployment: "core"}
	report := look(1, []diff.Problem{{State: diff.Unknown}}, nil, Result{Change: c, Outcome: Failed, Err: edge.ErrUnavailable})
	report.Told = true
	if lines := l.report(report); len(lines) != 0 {
		t.Errorf("lines %q", lines)
	}
	report = look(1, nil, nil, Result{Change: c, Outcome: Failed, Err: edge.ErrOutcomeUnknown})
	report.Told = true
	if lines := l.report(report); len(lines) != 1 || lines[0] != "INFO the outcome of a write is unknown; the zone is read again" {
		t.Errorf("lines %q", lines)
	}
	if lines := l.report(report); len(lines) != 0 {
		t.Errorf("again: lines %q", lines)
	}
	if lines := l.report(Report{Trigger: TriggerSync, Err: errors.New("disk"), Told: true}); len(lines) != 0 {
		t.Errorf("lines %q", lines)
	}
	if lines := l.report(Report{Trigger: TriggerSync, Held: &Held{Reason: "git is away"}}); len(lines) != 0 {
		t.Errorf("lines %q", lines)
	}
}

func TestLoggerNamesEveryWrite(t *testing.T) {
	l := newLogs(t)
	fields := []diff.Field{
		{Path: "enabled", Old: false, New: true},
		{Path: "overrides.action", Old: "log", New: "block"},
		{Path: "overrides.rules[x].score_threshold", New: 25},
		{Path: "expression", Old: "http.host eq 1", New: "http.host eq 2"},
	}
	for i := range 7 {
		fields = append(fields, diff.Field{Path: diff.Member(fmt.Sprint("m", i)), Old: "on"})
	}
	c := diff.Change{
		Account: "prod", Zone: "shop.example", Deployment: "core", Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Direction: diff.Strengthens, Fields: fields,
		Origin: desired.Origin{Commit: "c7", File: "shop.cue", Line: 4, Column: 2},
	}
	for i := range 100 {
		if lines := l.report(look(i, nil, nil, Result{Change: c, Outcome: Converged, Calls: 2, Version: "9"})); len(lines) != 1 {
			t.Fatalf("write %d: lines %q", i, lines)
		}
	}
	for _, want := range []string{
		`"zone":"shop.example","account":"prod","deployment":"core"`, `"commit":"c7","trigger":"drift","direction":"strengthens"`,
		`"enabled: false → true","overrides.action: log → block","overrides.rules[x].score_threshold: none → 25"`,
		`"expression: (14 bytes) → (14 bytes)"`, `"and 3 more"]`, `"origin":"shop.cue:4:2","requests":2,"proof":"read back as version 9"`,
	} {
		if !strings.Contains(l.out.String(), want) {
			t.Errorf("%s is not in\n%s", want, l.out.String())
		}
	}
}

// Of a token's policies a line says which rights come and go.
func TestLoggerNamesRights(t *testing.T) {
	l := newLogs(t)
	c := diff.Change{
		Scope: edge.CredentialScope(""), Token: "ci", Operation: diff.Amendment{}, Direction: diff.Weakens,
		Fields: []diff.Field{{Path: "name", Old: "a", New: "b"}, {Path: "policies", Old: "x", New: "y"}},
		Rights: []diff.Right{{Text: `gains group "DNS Write" (g1) on all zones`, Direction: diff.Weakens}},
	}
	l.report(look(1, nil, nil, Result{Change: c, Outcome: Converged}))
	if want := `"changes":["gains group \"DNS Write\" (g1) on all zones","name: a → b"]`; !strings.Contains(l.out.String(), want) {
		t.Errorf("%s is not in\n%s", want, l.out.String())
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

// Waves that are halted are told of once.
// A commit that stays held is one line at first, and one an hour: turns of the sweep may be
// seconds apart.
func TestLoggerRemindsOfAHeldCommitOnceAnHour(t *testing.T) {
	l := newLogs(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	held := &Held{Commit: "c2", Reason: "it is over a bound"}
	told := len(l.report(Report{Trigger: TriggerSync, Commit: "c1", Held: held, Finished: at}))
	for range 3599 / 4 {
		at = at.Add(4 * time.Second)
		told += count(l.report(Report{Trigger: TriggerSweep, Commit: "c1", Held: held, Finished: at, Scope: Scope{Sum: true, Full: true}}), "WARN a commit is still held")
	}
	if told != 1 {
		t.Errorf("%d lines in an hour, not 1", told)
	}
	lines := l.report(Report{Trigger: TriggerSweep, Commit: "c1", Held: held, Finished: at.Add(time.Minute), Scope: Scope{Sum: true, Full: true}})
	if count(lines, "WARN a commit is still held") != 1 {
		t.Errorf("lines %q after an hour", lines)
	}
}

func TestLoggerTellsOnceOfWaves(t *testing.T) {
	l := newLogs(t)
	halted := Report{Trigger: TriggerSync, Rollout: &guard.Rollout{Halted: "a zone failed"}}
	if lines := l.report(halted); len(lines) != 1 {
		t.Errorf("lines %q", lines)
	}
	if lines := l.report(halted); len(lines) != 0 {
		t.Errorf("again: lines %q", lines)
	}
}

// madeOf is a report of one change and what became of it.
func madeOf(slice bool, result Result) Report {
	result.Change.Zone, result.Change.Deployment = "shop.example", "core"
	if result.Change.Operation == nil {
		result.Change.Operation = diff.RuleOperation{Do: diff.ActionUpdate}
	}
	return Report{Trigger: TriggerSync, Commit: "c1", Scope: Scope{Slice: slice}, Results: []Result{result}}
}

func TestLoggerLevels(t *testing.T) {
	for name, c := range map[string]struct {
		report Report
		want   string
	}{
		"nothing new":   {Report{Trigger: TriggerSync}, "DEBUG nothing new"},
		"accepted":      {Report{Trigger: TriggerSync, Scope: Scope{Begun: &Begun{Zones: 1}}}, "INFO commit accepted"},
		"in sync":       {Report{Trigger: TriggerSweep, Scope: Scope{Sum: true}, Plan: diff.Plan{Summary: diff.Summary{Zones: 1, InSync: 1}}}, "INFO run finished"},
		"a look":        {Report{Trigger: TriggerSweep, Scope: Scope{Slice: true}}, "DEBUG some zones were read"},
		"stopped":       {Report{Trigger: TriggerSweep, Err: context.Canceled}, "INFO run stopped"},
		"failed":        {Report{Trigger: TriggerSync, Err: errors.New("no")}, "ERROR run failed"},
		"applied":       {madeOf(true, Result{Outcome: Converged}), "INFO change applied and proved, DEBUG some zones were read"},
		"not applied":   {madeOf(true, Result{Outcome: Failed, Err: errors.New("no")}), "ERROR change not applied, DEBUG some zones were read"},
		"not come to":   {madeOf(true, Result{Outcome: NotStarted}), "DEBUG some zones were read"},
		"not kept":      {madeOf(true, Result{Outcome: NonConvergent}), "ERROR the platform did not keep a change; it is tried again later, DEBUG some zones were read"},
		"still not":     {madeOf(true, Result{Outcome: NonConvergent, Again: true}), "DEBUG the platform did not keep a change; it is tried again later, DEBUG some zones were read"},
		"another wrote": {madeOf(true, Result{Outcome: Converged, Concurrent: true}), "INFO change applied and proved, WARN another client wrote to the entry point at the same time, DEBUG some zones were read"},
	} {
		t.Run(name, func(t *testing.T) {
			if lines, text := logged(t, c.report); strings.Join(lines, ", ") != c.want {
				t.Errorf("lines %q, want %q\n%s", lines, c.want, text)
			}
		})
	}
}

func TestLoggerNamesWhatWasNotKept(t *testing.T) {
	_, text := logged(t, madeOf(true, Result{Outcome: NonConvergent, Left: []diff.Field{{Path: "overrides.action", Old: "hidden", New: "hidden"}}}))
	if !strings.Contains(text, `"left":["overrides.action"]`) || strings.Contains(text, "hidden") {
		t.Errorf("log:\n%s", text)
	}
}

// The log tells what becomes of members, and never what is in an expression: that may be
// anything. A secret in an error conceals itself.
func TestLoggerShowsNoSecret(t *testing.T) {
	const secret = "sim-key-225c709542b0ce5d74da716d2c2514d2"
	err := fmt.Errorf("%w: sent with %v %#v", edge.ErrUnavailable, edge.NewSecret(secret), edge.NewSecret(secret))
	result := Result{Outcome: Failed, Err: err}
	result.Change.Fields = []diff.Field{{Path: "expression", Old: "http.host eq 1", New: "http.host eq 2"}}
	result.Change.Operation = diff.RuleOperation{Do: diff.ActionUpdate, Body: edge.Rule{Expression: "http.host eq 2"}}
	_, text := logged(t, madeOf(true, result))
	if !strings.Contains(text, "[secret]") || strings.Contains(text, secret) || strings.Contains(text, "http.host") {
		t.Errorf("log:\n%s", text)
	}
}

func zoneKey(i int) string { return fmt.Sprintf("zone-%05d.example", i) }

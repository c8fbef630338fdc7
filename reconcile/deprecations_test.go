package reconcile

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

func leansOn(rule, integration string, state deprecation.State) deprecation.Notice {
	return deprecation.Notice{
		Rule: rule, State: state, Date: "2025-06-15", DaysLeft: 3, Detail: "GET /x", Replacement: "rules",
		Where: deprecation.Where{File: "edge.cue", Line: 7, Integration: integration},
	}
}

func TestSunsetTellsOnceADay(t *testing.T) {
	var out bytes.Buffer
	s := &Sunset{Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	now := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	report := func(full bool, notices ...deprecation.Notice) string {
		out.Reset()
		s.Report(t.Context(), Report{Scope: Scope{Full: full}, Finished: now, Plan: diff.Plan{Deprecations: notices}})
		return out.String()
	}
	past, soon := leansOn("a", "billing", deprecation.PastEnd), leansOn("b", "", deprecation.Announced)
	changes := leansOn("c", "billing", deprecation.Deprecated)
	changes.Info = true
	got := report(true, past, past, soon, changes)
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, `level=WARN msg="a call is deprecated" standing="is past its end since 2025-06-15" rule=a integration=billing call="GET /x" replacement=rules file=edge.cue line=7`) ||
		!strings.Contains(got, `level=INFO msg="a call is deprecated" standing="ends on 2025-06-15, in 3 days" rule=b`) {
		t.Errorf("told\n%s", got)
	}
	if got := report(true, past, soon); got != "" {
		t.Errorf("told again on the same day: %s", got)
	}
	if got := report(false) + report(true, past); got != "" {
		t.Errorf("a run that did not look forgot: %s", got)
	}
	now = now.Add(14 * time.Hour)
	if got := report(true, past); strings.Count(got, "\n") != 1 {
		t.Errorf("told on the next day: %s", got)
	}
	many := make([]deprecation.Notice, 50)
	for i := range many {
		many[i] = leansOn(fmt.Sprint("rule", i), "billing", deprecation.PastEnd)
	}
	if got := report(true, many...); strings.Count(got, "\n") != linesPerRun+1 || !strings.Contains(got, "left_out=30") {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}

// A call that merely is affected must not keep quiet one that goes away.
func TestSunsetTellsBehindInformation(t *testing.T) {
	var out bytes.Buffer
	s := &Sunset{Log: slog.New(slog.NewTextHandler(&out, nil))}
	info, past := leansOn("a", "billing", deprecation.PastEnd), leansOn("a", "billing", deprecation.PastEnd)
	info.Info = true
	s.Report(t.Context(), Report{Scope: Scope{Full: true}, Finished: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC), Plan: diff.Plan{Deprecations: []deprecation.Notice{info, past}}})
	if strings.Count(out.String(), "rule=a") != 1 {
		t.Errorf("told\n%s", out.String())
	}
}

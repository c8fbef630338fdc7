package status

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// ours returns the lines of /metrics that carry our numbers, without buckets.
func ours(t *testing.T, s *Status) []string {
	t.Helper()
	_, body := get(t, s, "/metrics")
	var lines []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "seawall_") && !strings.Contains(line, "_bucket{") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// wantMetric looks for one series; a negative value means that there is none.
func wantMetric(t *testing.T, s *Status, series string, want float64) {
	t.Helper()
	for _, line := range ours(t, s) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			if got, err := strconv.ParseFloat(value, 64); err != nil || got != want {
				t.Errorf("%s is %s, want %v", series, value, want)
			}
			return
		}
	}
	if want >= 0 {
		t.Errorf("%s is not there, want %v", series, want)
	}
}

// change is a change to the deployment of a zone.
func change(n int) diff.Change {
	return diff.Change{
		Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprint("zone-", n))), Direction: diff.Strengthens,
		Operation: diff.RuleOperation{Do: diff.ActionUpdate, Target: diff.Target{Ruleset: "ruleset"}},
	}
}

// TestMetricsBeforeTheFirstRun: what is not known is not there, and what is
// counted starts at zero.
func TestMetricsBeforeTheFirstRun(t *testing.T) {
	s, _ := start(t)
	got := ours(t, s)
	for i, line := range got {
		name, value, _ := strings.Cut(line, " ")
		if family, _, _ := strings.Cut(name, "{"); value == "0" {
			got[i] = family
		}
	}
	want := []string{
		`seawall_build_info{version="v1.2.3"} 1`, "seawall_changes_total", "seawall_logins_total", "seawall_notifications_total", "seawall_platform_errors_total", "seawall_ready",
		"seawall_requests_total", "seawall_review_failures_total", "seawall_ruleset_version_zones_total", "seawall_ruleset_versions_total",
		"seawall_run_duration_seconds_count", "seawall_run_duration_seconds_sum",
		"seawall_runs_total", "seawall_webhooks_total", "seawall_writes_total",
	}
	slices.Sort(got)
	if d := cmp.Diff(want, slices.Compact(got)); d != "" {
		t.Errorf("metrics (-want +got):\n%s", d)
	}
}

func TestMetricsOfASweep(t *testing.T) {
	s, c := start(t)
	r := full(c)
	r.Requests = 42
	r.Plan.Summary = diff.Summary{Zones: 20, InSync: 9, Changed: 4, Weakening: 1, Refused: 3, Blocked: 2, NotDeployed: 5, Unknown: 6, Forbidden: 7}
	weak := change(2)
	weak.Direction = diff.Weakens
	r.Results = []reconcile.Result{
		{Change: change(1), Outcome: reconcile.Converged},
		{Change: weak, Outcome: reconcile.Failed, Err: errors.New("no")},
		{Change: change(3), Outcome: reconcile.NonConvergent},
		{Change: change(4), Outcome: reconcile.NonConvergent},
	}
	r.Plan.Summary.Bypassed = 8
	r.Acceptances = []time.Time{r.Finished.Add(12 * time.Hour), r.Finished.Add(10 * day), r.Finished.Add(15 * day)}
	s.Report(t.Context(), r)
	var got []string
	for _, line := range ours(t, s) {
		if !strings.HasSuffix(line, " 0") {
			got = append(got, line)
		}
	}
	want := []string{
		`seawall_acceptances_ending{within="14d"} 2`,
		`seawall_acceptances_ending{within="1d"} 1`,
		`seawall_acceptances_ending{within="7d"} 1`,
		`seawall_build_info{version="v1.2.3"} 1`,
		`seawall_changes_total{direction="strengthens",outcome="converged"} 1`,
		`seawall_changes_total{direction="strengthens",outcome="non_convergent"} 2`,
		`seawall_changes_total{direction="weakens",outcome="failed"} 1`,
		`seawall_declared_zones 20`,
		`seawall_last_run_timestamp_seconds{trigger="sweep"} 1.7723574e+09`,
		`seawall_last_sweep_timestamp_seconds 1.7723574e+09`,
		`seawall_nonconvergent_deployments 2`,
		`seawall_ready 1`,
		`seawall_requests_total 42`,
		`seawall_run_duration_seconds_count{trigger="sweep"} 1`,
		`seawall_run_duration_seconds_sum{trigger="sweep"} 90`,
		`seawall_runs_total{outcome="partial",trigger="sweep"} 1`,
		`seawall_writes_total{direction="strengthens",trigger="drift"} 3`,
		`seawall_writes_total{direction="weakens",trigger="drift"} 1`,
		`seawall_zones{state="blocked"} 2`,
		`seawall_zones{state="bypassed"} 8`,
		`seawall_zones{state="changed"} 4`,
		`seawall_zones{state="forbidden"} 7`,
		`seawall_zones{state="in_sync"} 9`,
		`seawall_zones{state="not_deployed"} 5`,
		`seawall_zones{state="refused"} 3`,
		`seawall_zones{state="unknown"} 6`,
		`seawall_zones{state="weakening"} 1`,
	}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("metrics (-want +got):\n%s", d)
	}
}

// The slices of a sweep count for what they do, and their sum for the sweep.
func TestMetricsOfSlices(t *testing.T) {
	s, c := start(t)
	s.Report(t.Context(), full(c))
	first := c.now
	held := reconcile.Report{Trigger: reconcile.TriggerSync, Commit: "c1", Held: &reconcile.Held{Commit: "c2"}, Finished: c.now}
	s.Report(t.Context(), held)
	c.set(t, "09:45")
	for range 3 {
		slice := full(c)
		slice.Full, slice.Slice, slice.Requests = false, true, 5
		slice.Plan.Summary = diff.Summary{Zones: 4, InSync: 4}
		slice.Results = []reconcile.Result{{Change: change(1), Outcome: reconcile.Converged}}
		s.Report(t.Context(), slice)
	}
	wantSeries(t, s, map[string]float64{
		`seawall_changes_total{direction="strengthens",outcome="converged"}`: 3,
		"seawall_requests_total": 15, "seawall_commit_held": 1,
		`seawall_runs_total{outcome="converged",trigger="sweep"}`: 1,
		"seawall_last_sweep_timestamp_seconds":                    unix(first),
		`seawall_last_run_timestamp_seconds{trigger="sweep"}`:     unix(first),
	})
	sum := full(c)
	sum.Sum, sum.Requests, sum.Held = true, 15, &reconcile.Held{Commit: "c2", Again: true}
	sum.Plan.Summary = diff.Summary{Zones: 12, InSync: 11, Changed: 1}
	sum.Results = []reconcile.Result{{Change: change(1), Outcome: reconcile.Converged}}
	s.Report(t.Context(), sum)
	wantSeries(t, s, map[string]float64{
		`seawall_changes_total{direction="strengthens",outcome="converged"}`: 3,
		"seawall_requests_total": 15, "seawall_commit_held": 1, "seawall_declared_zones": 12,
		`seawall_runs_total{outcome="partial",trigger="sweep"}`: 1,
		`seawall_run_duration_seconds_count{trigger="sweep"}`:   2,
		"seawall_last_sweep_timestamp_seconds":                  unix(c.now),
		`seawall_last_run_timestamp_seconds{trigger="sweep"}`:   unix(c.now),
		`seawall_zones{state="changed"}`:                        1,
	})
}

// TestSweepOutlivesOtherRuns: runs over a part, and runs that fail, leave what
// the last full one found.
func TestSweepOutlivesOtherRuns(t *testing.T) {
	s, c := start(t)
	r := full(c)
	r.Plan.Summary = diff.Summary{Zones: 7, InSync: 7}
	s.Report(t.Context(), r)
	ended := unix(c.now)
	c.set(t, "09:45")
	part, failed := full(c), full(c)
	part.Full, part.Trigger = false, reconcile.TriggerSync
	failed.Err = errors.New("the credential is not accepted")
	s.Report(t.Context(), part)
	s.Report(t.Context(), failed)
	for series, want := range map[string]float64{
		"seawall_declared_zones":                                  7,
		`seawall_zones{state="in_sync"}`:                          7,
		"seawall_last_sweep_timestamp_seconds":                    ended,
		"seawall_last_converged_timestamp_seconds":                ended,
		`seawall_last_run_timestamp_seconds{trigger="sync"}`:      unix(c.now),
		`seawall_last_run_timestamp_seconds{trigger="sweep"}`:     unix(c.now),
		`seawall_runs_total{outcome="converged",trigger="sweep"}`: 1,
		`seawall_runs_total{outcome="failed",trigger="sweep"}`:    1,
		`seawall_runs_total{outcome="converged",trigger="sync"}`:  1,
	} {
		wantMetric(t, s, series, want)
	}
}

func TestNonConvergentDeployments(t *testing.T) {
	s, c := start(t)
	report := func(isFull bool, change func(*reconcile.Report)) {
		r := full(c)
		r.Full = isFull
		change(&r)
		s.Report(t.Context(), r)
	}
	stuck := func(numbers ...int) func(*reconcile.Report) {
		return func(r *reconcile.Report) {
			for _, n := range numbers {
				r.Results = append(r.Results, reconcile.Result{Change: change(n), Outcome: reconcile.NonConvergent})
			}
		}
	}
	const name = "seawall_nonconvergent_deployments"
	report(false, stuck(1))
	wantMetric(t, s, name, -1) // nobody has looked at all zones yet
	report(true, stuck(1, 2, 3, 4))
	wantMetric(t, s, name, 4)
	report(false, stuck(2, 5))
	wantMetric(t, s, name, 5)
	report(false, func(r *reconcile.Report) {
		r.Results = []reconcile.Result{{Change: change(1), Outcome: reconcile.Converged}, {Change: change(2), Outcome: reconcile.Failed}}
		r.Plan.Settled = []diff.Settled{{ID: change(3).ID()}}
	})
	wantMetric(t, s, name, 3)
	report(true, func(r *reconcile.Report) { // not sent again, and still not as it should be
		r.Plan = guard.Check(diff.Plan{Changes: []diff.Change{change(2), change(6)}}, guard.Facts{
			NonConvergent: map[diff.ID]string{change(2).ID(): change(2).Fingerprint()},
		})
	})
	wantMetric(t, s, name, 1)
}

func TestCommitMetrics(t *testing.T) {
	mistake, warning := desired.Problem{Message: "no"}, desired.Problem{Message: "hm", Warning: true}
	s, c := start(t)
	for _, step := range []struct {
		name                   string
		change                 func(*reconcile.Report)
		held, errors, warnings float64
	}{
		{"a first commit that is invalid", func(r *reconcile.Report) {
			r.Commit, r.Err, r.Problems = "", reconcile.ErrInvalid, []desired.Problem{mistake}
		}, -1, 1, 0},
		{"a good one", func(r *reconcile.Report) { r.Problems = []desired.Problem{warning, warning} }, 0, 0, 2},
		{"the same, not compiled again", func(*reconcile.Report) {}, 0, 0, 2},
		{"an invalid one", func(r *reconcile.Report) {
			r.Held = &reconcile.Held{Commit: "c2", Problems: []desired.Problem{mistake, mistake, mistake}}
		}, 1, 3, 0},
		{"git away", func(r *reconcile.Report) { r.Held = &reconcile.Held{Reason: "no answer"} }, 1, 3, 0},
		{"the ledger broken", func(r *reconcile.Report) { r.Commit, r.Err = "", errors.New("reading") }, 1, 3, 0},
		{"the next one, without a flaw", func(r *reconcile.Report) { r.Commit = "c3" }, 0, 0, 0},
	} {
		r := full(c)
		step.change(&r)
		s.Report(t.Context(), r)
		t.Run(step.name, func(t *testing.T) {
			wantMetric(t, s, "seawall_commit_held", step.held)
			wantMetric(t, s, `seawall_commit_problems{severity="error"}`, step.errors)
			wantMetric(t, s, `seawall_commit_problems{severity="warning"}`, step.warnings)
		})
	}
}

// TestMetricsNameEveryRowOfTheSummary keeps zoneStates complete, and each row
// under the name that the plan's JSON has for it.
func TestMetricsNameEveryRowOfTheSummary(t *testing.T) {
	summary := reflect.New(reflect.TypeFor[diff.Summary]()).Elem()
	var want, got []string
	for i := range summary.NumField() {
		summary.Field(i).SetInt(int64(i))
		if name, _, _ := strings.Cut(summary.Type().Field(i).Tag.Get("json"), ","); name != "zones" && !strings.HasPrefix(name, "tokens") {
			want = append(want, fmt.Sprint(name, " ", i))
		}
	}
	for _, state := range zoneStates {
		got = append(got, fmt.Sprint(state.name, " ", state.count(summary.Interface().(diff.Summary))))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("states (-summary +ours):\n%s", d)
	}
}

// TestMetricsFollowTheRules lets the linter of the format's authors judge ours.
func TestMetricsFollowTheRules(t *testing.T) {
	s, c := start(t)
	s.Report(t.Context(), full(c))
	_, body := get(t, s, "/metrics")
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	must.Do(t, err)
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "seawall_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// TestControlMetrics: what is held back by people and waves, as the last run that
// had a plan saw it.
func TestControlMetrics(t *testing.T) {
	s, c := start(t)
	wantSeries(t, s, map[string]float64{"seawall_held_zones": -1, "seawall_waves_halted": -1})
	r := full(c)
	r.Plan.Holds = []diff.Hold{{Zone: "a"}, {Zone: "b"}}
	r.Rollout = &guard.Rollout{Halted: "no"}
	s.Report(t.Context(), r)
	want := map[string]float64{"seawall_held_zones": 2, "seawall_waves_halted": 1}
	wantSeries(t, s, want)
	failed := full(c)
	failed.Err = errors.New("no answer")
	s.Report(t.Context(), failed)
	wantSeries(t, s, want)
	part := full(c)
	part.Full, part.Rollout = false, &guard.Rollout{}
	s.Report(t.Context(), part)
	wantSeries(t, s, map[string]float64{"seawall_held_zones": 0, "seawall_waves_halted": 0})
}

// A new version of a managed ruleset counts once, and each zone that it concerns.
func TestNewVersionsAreCounted(t *testing.T) {
	s, _ := start(t)
	group := func(d diff.Direction, blocked bool, zones int) radar.Group {
		return radar.Group{Direction: d, Blocked: blocked, Zones: make([]radar.Zone, zones)}
	}
	s.Published(radar.Report{Rulesets: []radar.Published{{Groups: []radar.Group{
		group(diff.Weakens, false, 3), group(diff.Weakens, true, 2), group(diff.Strengthens, false, 7), group(diff.Neutral, true, 1),
	}}}})
	for effect, want := range map[string]float64{string(diff.Weakens): 5, effectBlocks: 3, string(diff.Strengthens): 7} {
		wantMetric(t, s, fmt.Sprintf("seawall_ruleset_version_zones_total{effect=%q}", effect), want)
	}
	wantMetric(t, s, "seawall_ruleset_versions_total", 1)
}

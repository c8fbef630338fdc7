package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// signs are what an operator sees of a daemon at one time, beside its log.
type signs struct {
	metrics map[string]float64 // by name and labels
	ready   string             // status and first line of /readyz
	status  []string           // `seawall status`: its verdict with the reasons, and its exit code
}

// signMetrics are those by which an alert finds a fault.
var signMetrics = []string{
	"seawall_outages", "seawall_ready", "seawall_commit_held", "seawall_platform_errors_total",
	"seawall_nonconvergent_deployments", "seawall_waves_halted",
	`seawall_zone_outcomes{outcome="unknown"`, `seawall_zone_outcomes{outcome="forbidden"`, `seawall_zone_outcomes{outcome="failed"`,
	`seawall_zone_outcomes{outcome="non_convergent"`,
}

// signs asks the daemon, as an operator would.
func (f *fixture) signs(ctx context.Context) (s signs, err error) {
	if s.metrics, err = f.daemon.metrics(ctx); err != nil {
		return s, err
	}
	code, page, err := f.daemon.Get(ctx, "/readyz")
	if err != nil {
		return s, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(page)), "\n")
	s.ready = fmt.Sprintf("%d %s", code, first)
	cmd := f.command(ctx, "status")
	text, _ := cmd.Output() // the exit code is shown
	s.status = append(verdictOf(string(text)), fmt.Sprintf("exit code %d", cmd.ProcessState.ExitCode()))
	return s, nil
}

func (d *daemon) metrics(ctx context.Context) (map[string]float64, error) {
	code, page, err := d.Get(ctx, "/metrics")
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("/metrics answered %d", code)
	}
	return metricsIn(page), err
}

// metricsIn are the values on a page of metrics.
func metricsIn(page []byte) map[string]float64 {
	values := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(page)); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = value
		}
	}
	return values
}

// changing are times and counts in a verdict, which differ from run to run.
var changing = regexp.MustCompile(`, as of .*$`)

// moment is the part of a reason of /readyz that differs from run to run.
var moment = regexp.MustCompile(` since .*$`)

// verdictOf is the first part of a status: the verdict and its reasons.
func verdictOf(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "status ") || len(lines) > 0 && strings.HasPrefix(line, " ") {
			lines = append(lines, changing.ReplaceAllString(line, ""))
		} else if len(lines) > 0 {
			break
		}
	}
	return lines
}

// moved are the metrics of signMetrics that differ from what they were before.
func (s signs) moved(before signs) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.metrics)) {
		isSign := slices.ContainsFunc(signMetrics, func(sign string) bool { return strings.HasPrefix(name, sign) })
		if isSign && before.metrics[name] != s.metrics[name] {
			names = append(names, name)
		}
	}
	return names
}

// wellCell is the cell of a daemon that is well.
const wellCell = "`healthy` (0)"

// cell is the verdict with its exit code, and /readyz where it is not 200.
func (s signs) cell() string {
	if len(s.status) < 2 {
		return ""
	}
	text := fmt.Sprintf("`%s` (%s)", strings.TrimSpace(strings.TrimPrefix(s.status[0], "status ")), strings.TrimPrefix(s.status[len(s.status)-1], "exit code "))
	if code, reason, _ := strings.Cut(s.ready, " "); code != "200" {
		text += "; `/readyz` " + code + ": " + moment.ReplaceAllString(reason, "")
	}
	return text
}

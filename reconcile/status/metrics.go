package status

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// metrics are the numbers of one daemon, in a registry of their own; each by its name.
type metrics struct {
	registry *prometheus.Registry
	counters map[string]*prometheus.CounterVec
	gauges   map[string]*prometheus.GaugeVec
	duration *prometheus.HistogramVec
	shown    string // the commit whose problems are shown
	look     func() inspect.Status
}

func newMetrics(version string, ready func() bool, look func() inspect.Status) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), look: look, counters: map[string]*prometheus.CounterVec{}, gauges: map[string]*prometheus.GaugeVec{}}
	for _, of := range toldMetrics() {
		m.register(of)
	}
	m.set(buildInfo, 1, version)
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: readiness.name, Help: readiness.help}, func() float64 { return truth(ready()) }),
		newLive(look),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// countRun adds a run to what only grows. The slices of a sweep are one run: they
// count for what they have done, and their sum for the rest.
func (m *metrics) countRun(r reconcile.Report) {
	trigger := string(r.Trigger)
	if r.Begun == nil && !r.Slice || r.Err != nil {
		m.count(runsTotal, trigger, outcome(r)).Inc()
		m.duration.WithLabelValues(trigger).Observe(r.Finished.Sub(r.Started).Seconds())
		m.set(lastRun, unix(r.Finished), trigger)
	}
	if r.Sum {
		return
	}
	m.count(requestsTotal).Add(float64(r.Requests))
	m.countWrites(r)
	for _, result := range r.Results {
		m.count(changesTotal, string(result.Outcome), string(result.Change.Direction)).Inc()
	}
}

// outcome sums a run up in a word.
func outcome(r reconcile.Report) string {
	switch {
	case r.Err != nil:
		return outcomeFailed
	case r.Converged():
		return outcomeConverged
	}
	return outcomePartial
}

// showCommit shows what became of the newest commit. A run that failed before it
// chose a commit says nothing about one; nor is a commit that is in force
// compiled again, so its problems are told once.
func (m *metrics) showCommit(r reconcile.Report) {
	commit, all := r.Commit, r.Problems
	if r.Held != nil {
		commit, all = r.Held.Commit, r.Held.Problems
	}
	if r.Err == nil || r.Held != nil {
		m.set(commitHeld, truth(r.Held != nil))
	}
	unseen := r.Err != nil || r.Held != nil && commit == "" || commit != "" && commit == m.shown
	if len(all) == 0 && unseen {
		return
	}
	m.shown = commit
	errs := len(desired.Errors(all))
	m.set(commitProblems, float64(errs), severityError)
	m.set(commitProblems, float64(len(all)-errs), severityWarning)
}

// showControl shows what people and waves hold back. A run that failed before it
// had a plan says nothing about that.
func (m *metrics) showControl(r reconcile.Report) {
	if r.Err != nil {
		return
	}
	m.set(heldZones, float64(len(r.Plan.Holds)))
	m.set(wavesHalted, truth(r.Rollout != nil && r.Rollout.Halted != ""))
}

// showSweep shows what a complete look at every declared zone has found.
func (m *metrics) showSweep(r reconcile.Report) {
	m.set(lastSweep, unix(r.Finished))
	if r.Converged() {
		m.set(lastConverged, unix(r.Finished))
	}
	summary := r.Plan.Summary
	m.set(declaredZones, float64(summary.Zones))
	for _, state := range zoneStates {
		m.set(zones, float64(state.count(summary)), state.name)
	}
	m.showAcceptances(r)
	m.showTokens(r)
	m.showDeprecations(r)
}

// zoneStates are the rows of a plan's summary.
var zoneStates = []struct {
	name  string
	count func(diff.Summary) int
}{
	{"in_sync", func(s diff.Summary) int { return s.InSync }},
	{"changed", func(s diff.Summary) int { return s.Changed }},
	{"weakening", func(s diff.Summary) int { return s.Weakening }},
	{"refused", func(s diff.Summary) int { return s.Refused }},
	{"waiting", func(s diff.Summary) int { return s.Waiting }},
	{"observed", func(s diff.Summary) int { return s.Observed }},
	{"put_back", func(s diff.Summary) int { return s.PutBack }},
	{"undecided", func(s diff.Summary) int { return s.Undecided }},
	{"bypassed", func(s diff.Summary) int { return s.Bypassed }},
	{"blocked", func(s diff.Summary) int { return s.Blocked }},
	{"not_deployed", func(s diff.Summary) int { return s.NotDeployed }},
	{"unknown", func(s diff.Summary) int { return s.Unknown }},
	{"forbidden", func(s diff.Summary) int { return s.Forbidden }},
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(prometheus.GathererFunc(m.gather), promhttp.HandlerOpts{})
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

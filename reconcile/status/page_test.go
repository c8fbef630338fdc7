package status

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

const page = "../../docs/metrics.md"

// TestGeneratedMetricsPage compares docs/metrics.md with the catalogue.
func TestGeneratedMetricsPage(t *testing.T) {
	want := render(catalogue())
	if *update {
		must.Do(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got, err := os.ReadFile(page)
	must.Do(t, err)
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("%s (-code +page); rewrite it with -update:\n%s", page, d)
	}
}

const introduction = `<!-- Written by the tests of reconcile/status from what the code registers; rewrite it with -update. -->

# Metrics

` + "`seawall run`" + ` serves these at ` + "`/metrics`" + `, in the format of Prometheus. Times are seconds since 1970, and a label has no values
but those listed. A counter starts at zero; a gauge is there as soon as its value is known, so that a daemon that has just started claims nothing about zones it
has not read. Of [several replicas](several-machines.md) each has the numbers of its own work alone: of its zones, and those of git and of tokens
where it has their lease. So add up zones over all replicas; the alerts that ship with Seawall need no change.

| metric | type | labels | meaning |
|---|---|---|---|
`

const ending = `
The usual ` + "`go_…` and `process_…`" + ` metrics of the runtime come beside them.
`

func render(all []metric) string {
	var b strings.Builder
	b.WriteString(introduction)
	for _, m := range all {
		labels := make([]string, len(m.labels))
		for i, l := range m.labels {
			labels[i] = "`" + l.name + "`"
			if l.values != nil {
				labels[i] += ": " + strings.Join(l.values, ", ")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, m.kind, strings.Join(labels, "; "), m.help)
	}
	b.WriteString(ending)
	return b.String()
}

// TestCatalogueIsWhatIsServed: after a full run every metric of the catalogue is
// served, as it is described, and nothing else of ours.
func TestCatalogueIsWhatIsServed(t *testing.T) {
	w := watch(t)
	w.fresh()
	for _, o := range inspect.Outcomes() {
		w.look.Zones.Outcomes[o] = 1
	}
	for _, p := range priorities.values {
		w.look.Queue = append(w.look.Queue, inspect.Priority{Priority: p})
	}
	leases := []string{"commits", "credential a", "tokens"}
	w.look.Replicas = &inspect.Replicas{Name: "r1", Known: w.clock.now}
	for _, name := range leases {
		w.look.Replicas.Leases = append(w.look.Replicas.Leases, inspect.Lease{Name: name, Replica: "r1", This: true})
	}
	s, c := w.Status, w.clock
	for _, trigger := range triggers.values {
		r := full(c)
		r.Trigger = reconcile.Trigger(trigger)
		r.Plan.Expiries = []diff.Expiry{{Token: "k", At: c.now, Current: true}}
		s.Report(t.Context(), r)
	}
	s.HeadsRefused(0)
	families, err := s.metrics.registry.Gather()
	must.Do(t, err)
	var got []metric
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "seawall_") {
			continue
		}
		served := metric{name: family.GetName(), kind: strings.ToLower(family.GetType().String()), help: family.GetHelp()}
		values := map[string][]string{}
		for _, series := range family.GetMetric() {
			for _, pair := range series.GetLabel() {
				values[pair.GetName()] = append(values[pair.GetName()], pair.GetValue())
			}
		}
		for name, all := range values {
			slices.Sort(all)
			served.labels = append(served.labels, label{name, slices.Compact(all)})
		}
		got = append(got, served)
	}
	want := catalogue()
	for i := range want {
		want[i].labels = slices.Clone(want[i].labels)
		for j, l := range want[i].labels {
			if l.values == nil {
				l.values = map[string][]string{"version": {"v1.2.3"}, "credential": {onlyCredential}, "lease": leases}[l.name]
			}
			want[i].labels[j] = label{l.name, slices.Sorted(slices.Values(l.values))}
		}
	}
	if d := cmp.Diff(byName(want), byName(got), cmp.AllowUnexported(metric{}, label{})); d != "" {
		t.Errorf("metrics (-catalogue +served):\n%s", d)
	}
}

func byName(all []metric) []metric {
	for _, m := range all {
		slices.SortFunc(m.labels, func(a, b label) int { return strings.Compare(a.name, b.name) })
	}
	slices.SortFunc(all, func(a, b metric) int { return strings.Compare(a.name, b.name) })
	return all
}

// catalogue returns all metrics, in the order of the documentation.
func catalogue() []metric {
	all := append(toldMetrics(), liveMetrics()...)
	return slices.Insert(all, 1, readiness)
}

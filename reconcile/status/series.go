package status

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// counter registers a counter, with every series at zero: a rate is then right
// from the first event on.
func (m *metrics) counter(of metric) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: of.name, Help: of.help}, of.labelNames())
	m.registry.MustRegister(vec)
	of.eachSeries(func(values ...string) { vec.WithLabelValues(values...) })
	return vec
}

// histogram registers a histogram of seconds, from a look at git to a sweep that
// is spread over a day.
func (m *metrics) histogram(of metric) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: of.name, Help: of.help,
		Buckets: []float64{.1, .3, 1, 3, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 86400},
	}, of.labelNames())
	m.registry.MustRegister(vec)
	of.eachSeries(func(values ...string) { vec.WithLabelValues(values...) })
	return vec
}

// gauge is a gauge without series until the first value is known.
type gauge struct{ vec *prometheus.GaugeVec }

func (m *metrics) gauge(of metric) gauge {
	vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: of.name, Help: of.help}, of.labelNames())
	m.registry.MustRegister(vec)
	return gauge{vec}
}

func (g gauge) set(value float64, labels ...string) { g.vec.WithLabelValues(labels...).Set(value) }

// unset takes back every value: what was known is not any more.
func (g gauge) unset() { g.vec.Reset() }

func (of metric) labelNames() []string {
	names := make([]string, len(of.labels))
	for i, l := range of.labels {
		names[i] = l.name
	}
	return names
}

// eachSeries calls do with every combination of label values.
func (of metric) eachSeries(do func(values ...string)) {
	series := [][]string{nil}
	for _, l := range of.labels {
		var longer [][]string
		for _, s := range series {
			for _, value := range l.values {
				longer = append(longer, append(s[:len(s):len(s)], value))
			}
		}
		series = longer
	}
	for _, s := range series {
		do(s...)
	}
}

// unix is a time as Prometheus has it: seconds with a fraction.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

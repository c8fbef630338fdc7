package status

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// buckets are of seconds, from a look at git to a sweep that is spread over a day.
var buckets = []float64{.1, .3, 1, 3, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 86400}

// register registers a metric. A counter and the histogram have every series at zero: a rate is
// then right from the first event on. A gauge has none until the first value is known.
func (m *metrics) register(of metric) {
	switch of.kind {
	case "counter":
		vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: of.name, Help: of.help}, of.labelNames())
		of.eachSeries(func(values ...string) { vec.WithLabelValues(values...) })
		m.counters[of.name] = vec
		m.registry.MustRegister(vec)
	case "gauge":
		vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: of.name, Help: of.help}, of.labelNames())
		m.gauges[of.name] = vec
		m.registry.MustRegister(vec)
	default:
		m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: of.name, Help: of.help, Buckets: buckets}, of.labelNames())
		of.eachSeries(func(values ...string) { m.duration.WithLabelValues(values...) })
		m.registry.MustRegister(m.duration)
	}
}

// count is one series of a counter.
func (m *metrics) count(of metric, labels ...string) prometheus.Counter {
	return m.counters[of.name].WithLabelValues(labels...)
}

// set gives one series of a gauge its value.
func (m *metrics) set(of metric, value float64, labels ...string) {
	m.gauges[of.name].WithLabelValues(labels...).Set(value)
}

// unset takes back every value of a gauge: what was known is not any more.
func (m *metrics) unset(of metric) { m.gauges[of.name].Reset() }

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

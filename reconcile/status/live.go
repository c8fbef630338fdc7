package status

import (
	"errors"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// live collects what is asked of the daemon when metrics are read, and not told by
// reports. Without an answer there are no numbers.
type live struct {
	look  func() inspect.Status
	descs map[string]*prometheus.Desc
}

func newLive(look func() inspect.Status) *live {
	l := &live{look: look, descs: map[string]*prometheus.Desc{}}
	for _, of := range liveMetrics() {
		l.descs[of.name] = prometheus.NewDesc(of.name, of.help, of.labelNames(), nil)
	}
	return l
}

// Describe implements [prometheus.Collector].
func (l *live) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range l.descs {
		to <- desc
	}
}

// Collect implements [prometheus.Collector].
func (l *live) Collect(to chan<- prometheus.Metric) {
	s := l.look()
	if s.At.IsZero() {
		return
	}
	for _, one := range samples(s) {
		if !tells(s, one.of.name) {
			continue
		}
		kind := prometheus.GaugeValue
		if one.of.kind == "counter" {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(l.descs[one.of.name], kind, one.value, one.labels...)
	}
}

// sample is the value of one series.
type sample struct {
	of     metric
	value  float64
	labels []string
}

// samples are the numbers in a status. What is not known has none.
func samples(s inspect.Status) (all []sample) {
	add := func(of metric, value float64, labels ...string) { all = append(all, sample{of, value, labels}) }
	if !s.Source.LastSuccess.IsZero() {
		add(lastFetch, unix(s.Source.LastSuccess))
	}
	if !s.Zones.Observed.IsZero() {
		add(lastObservation, unix(s.Zones.Observed))
	}
	outcomes := s.Zones.Outcomes
	if s.Zones.Here != nil {
		outcomes = s.Zones.Here
	}
	for outcome, n := range outcomes {
		add(zoneOutcomes, float64(n), string(outcome))
	}
	switch {
	case s.Zones.Drift != nil:
		add(oldestDrift, s.Zones.Drift.AgeSeconds)
	case !s.Zones.Observed.IsZero():
		add(oldestDrift, 0)
	}
	for _, p := range s.Queue {
		add(queueZones, float64(p.Waiting-p.Due), p.Priority, queueLater)
		add(queueZones, float64(p.Due), p.Priority, queueDue)
		add(queueZones, float64(p.AtWork), p.Priority, queueAtWork)
		add(queueOldest, p.OldestSeconds, p.Priority)
	}
	add(ledgerPutBack, truth(s.Commit.LedgerPutBack))
	add(workInProgress, float64(s.Work.AtWork))
	add(workOldest, s.Work.OldestSeconds)
	add(budgetLeft, float64(s.Budget.Left))
	add(budgetWaited, s.Budget.WaitedSeconds, waitedZones)
	add(budgetWaited, s.Budget.RequestsWaitedSeconds, waitedRequests)
	all = append(append(all, credentialSamples(s)...), replicaSamples(s.Replicas)...)
	counts := map[reconcile.OutageSubject]int{}
	for _, o := range s.Outages {
		counts[o.Subject]++
	}
	for _, subject := range outageSubjects {
		add(outages, float64(counts[reconcile.OutageSubject(subject)]), subject)
	}
	return all
}

// onlyCredential is the label where there is one credential.
const onlyCredential = "default"

// credentialSamples are the numbers of each credential, also where there is only one.
func credentialSamples(s inspect.Status) (all []sample) {
	list := s.Work.Credentials
	if len(list) == 0 {
		one := inspect.Credential{Name: onlyCredential, Budget: s.Budget}
		for _, p := range s.Queue {
			one.Due += p.Due
		}
		if s.Work.PlatformDown {
			one.Down = "down"
		}
		list = []inspect.Credential{one}
	}
	for _, c := range list {
		down := 0.0
		if c.Down != "" {
			down = 1
		}
		all = append(all, sample{credentialDown, down, []string{c.Name}}, sample{credentialZones, float64(c.Due), []string{c.Name}},
			sample{credentialLeft, float64(c.Budget.Left), []string{c.Name}})
	}
	return all
}

// replicaSamples are the numbers of the daemons that share a database; none where there is only this
// one. What the database has said before it was away may be otherwise by now.
func replicaSamples(r *inspect.Replicas) (all []sample) {
	switch {
	case r == nil, r.Known.IsZero() && r.Silent.IsZero():
		return nil
	case !r.Silent.IsZero():
		return []sample{{databaseUp, 0, nil}}
	}
	all = append(all, sample{databaseUp, 1, nil}, sample{replicasRun, float64(len(r.Replicas)), nil})
	for _, l := range r.Leases {
		all = append(all, sample{leaseFree, truth(l.Replica == ""), []string{l.Name}})
	}
	return all
}

// The values of labels.
const (
	queueLater  = "later"
	queueDue    = "due"
	queueAtWork = "at_work"

	waitedZones    = "zones"
	waitedRequests = "requests"

	triggerCommit = "commit"
	triggerDrift  = "drift"
	triggerToken  = "token"

	reviewRound       = "round"
	reviewPullRequest = "pull_request"
)

var outageSubjects = []string{
	string(reconcile.OutageGit), string(reconcile.OutagePlatform), string(reconcile.OutageCredential), string(reconcile.OutageAccount),
	string(reconcile.OutageZone), string(reconcile.OutageSink), string(reconcile.OutageForge), string(reconcile.OutageRoute), string(reconcile.OutageState),
}

// platformCodes are the codes of the platform that are counted by themselves.
var platformCodes = []int{
	edge.CodeThrottled, edge.CodeInvalidToken, edge.CodeNoRoute, edge.CodeNotPermitted, edge.CodeAuthentication, edge.CodeRulesetNotFound,
	edge.CodeEntryPointNotFound, edge.CodeActionParameters, edge.CodeExpressionBlank,
}

// What is counted of errors without one of these codes.
const (
	codeNoAnswer   = "no_answer"
	codeUnreadable = "unreadable"
	codeOther4xx   = "http_4xx"
	codeOther5xx   = "http_5xx"
	codeOther      = "other"
)

func errorCodes() []string {
	var codes []string
	for _, code := range platformCodes {
		codes = append(codes, strconv.Itoa(code))
	}
	return append(codes, codeOther4xx, codeOther5xx, codeNoAnswer, codeUnreadable, codeOther)
}

// errorCode is the value of the label for an error.
func errorCode(err error) string {
	var e *edge.Error
	switch {
	case errors.As(err, &e):
		for _, code := range platformCodes {
			if e.Code() == code {
				return strconv.Itoa(code)
			}
		}
		switch e.Status / 100 {
		case 4:
			return codeOther4xx
		case 5:
			return codeOther5xx
		}
	case errors.Is(err, edge.ErrUnreadable):
		return codeUnreadable
	case errors.Is(err, edge.ErrUnavailable):
		return codeNoAnswer
	}
	return codeOther
}

// PlatformError counts a request to the platform that failed.
func (s *Status) PlatformError(err error) {
	s.metrics.count(platformErrors, errorCode(err)).Inc()
}

// ReviewFailed counts a pull request that could not be reviewed, or a round in which none
// could be read.
func (s *Status) ReviewFailed(round bool) {
	what := reviewPullRequest
	if round {
		what = reviewRound
	}
	s.metrics.count(reviewFailures, what).Inc()
}

// HeadsRefused shows how many open pull requests have a head that is not fetched, because
// it is over a limit or has ended its worker.
func (s *Status) HeadsRefused(n int) { s.metrics.set(headsRefused, float64(n)) }

// Published counts a new version of a managed ruleset, and the zones that it concerns.
func (s *Status) Published(r radar.Report) {
	s.metrics.count(rulesetVersions).Inc()
	s.metrics.count(rulesetZones, string(diff.Weakens)).Add(float64(r.Towards(diff.Weakens)))
	s.metrics.count(rulesetZones, effectBlocks).Add(float64(r.Blocked()))
	s.metrics.count(rulesetZones, string(diff.Strengthens)).Add(float64(r.Towards(diff.Strengthens)))
}

// Notified counts a try to send a notification, by one of [NotificationOutcomes].
func (s *Status) Notified(outcome string) {
	s.metrics.count(notifications, outcome).Inc()
}

// Webhook counts a request to the webhooks, by one of [WebhookOutcomes].
func (s *Status) Webhook(outcome string) {
	s.metrics.count(webhooks, outcome).Inc()
}

// Login counts a login, by one of [LoginOutcomes].
func (s *Status) Login(outcome string) {
	s.metrics.count(logins, outcome).Inc()
}

// countWrites counts the writes of a run that were sent.
func (m *metrics) countWrites(r reconcile.Report) {
	for _, result := range r.Results {
		if result.Outcome == reconcile.NotStarted {
			continue
		}
		trigger := triggerDrift
		switch {
		case result.Change.Level() == edge.LevelCredential:
			trigger = triggerToken
		case r.Trigger == reconcile.TriggerSync:
			trigger = triggerCommit
		}
		m.count(writesTotal, trigger, string(result.Change.Direction)).Inc()
	}
}

package notify

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Route says what is sent where.
type Route struct {
	Name     string
	Least    Severity          // less severe causes are not sent
	Labels   map[string]string // of zones: others are not counted; none counts all
	Digest   cron.Schedule     // nil: no digest
	Template Template
	Sender   Sender
}

// Send sends a message to the route as the service would: with its template.
func (r Route) Send(ctx context.Context, m Message) error {
	return r.Sender.Send(ctx, redacted(r.Template.apply(m)))
}

// Config is what a [Service] is made from. All of it is required but Heartbeat.
type Config struct {
	Routes []Route
	Outbox reconcile.Outbox
	// Look returns how the daemon is; a zero Started says that it does not run yet.
	Look func() inspect.Status
	// Groups returns the zones with these labels that need a person.
	Groups func(labels map[string]string) []inspect.Group
	// Summary says what was written in a span of time.
	Summary func(ctx context.Context, from, to time.Time) (Summary, error)
	// Failed and Worked say how sending to a route goes. They keep count and say it once.
	Failed func(route string, err error)
	Worked func(route string)
	Count  func(outcome string) // each message that was sent, failed or refused
	Log    *slog.Logger

	Heartbeat *Heartbeat

	every time.Duration // between looks; zero as usual
}

// The outcomes of a try to send a message.
const (
	OutcomeSent    = "sent"
	OutcomeFailed  = "failed"
	OutcomeRefused = "refused"
)

const (
	// every is how often causes are looked at, usually.
	every = 2 * time.Second
	// mostWaiting bounds the messages that wait for one route. A route with more learns nothing
	// new; what is wrong then is said once there is room.
	mostWaiting = 1000
	// mostNews bounds the news that wait for such a route; the oldest go first.
	mostNews = 100
)

// Service runs the routes. Make it with [New].
type Service struct {
	*share                                // of all, or of what concerns all parts
	parts  map[reconcile.LeaseName]*share // where there are several processes
	taken  func(reconcile.LeaseName) bool
}

// New returns a service; what was kept is read by [Service.Run].
func New(c Config) *Service {
	c.every = cmp.Or(c.every, every)
	return &Service{share: &share{config: c, Part: Part{
		Look:   func(context.Context) inspect.Status { return c.Look() },
		Groups: func(_ context.Context, labels map[string]string) []inspect.Group { return c.Groups(labels) },
	}}}
}

// Run looks, judges and sends until ctx ends; without routes it forgets those of before. What is not sent by then is kept.
// Of several replicas one at a time may.
func (s *Service) Run(ctx context.Context) {
	s.begin()
	s.others.begin()
	if !s.recall(ctx, s.read) {
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	if h := s.config.Heartbeat; h != nil {
		all.Go(func() { h.run(ctx, s.config) })
	}
	s.run(ctx, func() {
		if s.others.due() {
			s.others.remind(ctx)
			s.adopt(ctx)
		}
	})
}

// read reads what was kept, and forgets routes that are not configured any more.
func (s *Service) read(ctx context.Context) error {
	kept, err := s.config.Outbox.Notified(ctx)
	if err != nil {
		return err
	}
	if err := s.take(kept); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if err := s.config.Outbox.ForgetRoute(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Published has a new version of a managed ruleset reported with the next look, by who tells of its
// account; lease is that of the account.
func (s *Service) Published(lease reconcile.LeaseName, r radar.Report) {
	if part := s.parts[lease]; part != nil {
		part.published(r)
		return
	}
	s.published(r)
}

// redacted is a message without what looks like a secret.
func redacted(m Message) Message {
	m.Title, m.Text = edge.Redact(m.Title), edge.Redact(m.Text)
	return m
}

// wait waits, and reports whether ctx goes on.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Summarize adds up the entries of a history.
func Summarize(ctx context.Context, h reconcile.History, from, to time.Time) (s Summary, err error) {
	corrected, applied := map[edge.Scope]bool{}, map[edge.Scope]bool{}
	_, err = h.History(ctx, reconcile.HistoryFilter{Since: from}, func(e reconcile.Entry) error {
		if e.Kind != reconcile.EntryWrite || e.Subject.Token != "" || !e.At.Before(to) {
			return nil
		}
		if e.Result == nil || e.Result.Outcome != reconcile.Converged {
			s.Failed++
			return nil
		}
		if e.Trigger == reconcile.TriggerSweep {
			s.Corrected++
			if !corrected[e.Subject.Scope] && len(s.First) < mostNamed {
				s.First = append(s.First, e.Subject.Zone)
			}
			corrected[e.Subject.Scope] = true
			return nil
		}
		s.Applied++
		applied[e.Subject.Scope] = true
		return nil
	})
	s.CorrectedZones, s.AppliedZones = len(corrected), len(applied)
	return s, err
}

package notify

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Part is what is told of by whoever has one lease, while other processes have others. What its
// routes know of it is kept apart from the rest, so that the next holder goes on with that: nothing
// is said twice, and nothing has ended only because another looks for it now.
type Part struct {
	Lease reconcile.LeaseName
	Name  string // of the credential, for people, where there are several
	// Look returns how that is, by whoever has the lease of the context; a zero Started says that
	// this is not known yet.
	Look func(context.Context) inspect.Status
	// Groups returns the zones of it with these labels that need a person.
	Groups func(ctx context.Context, labels map[string]string) []inspect.Group
}

// causes are those of a part. Two parts may have the same at one time, so that each has keys of its
// own where what it is about does not tell them apart.
func (p Part) causes(s inspect.Status, groups []inspect.Group) []Cause {
	all := Causes(s, groups)
	for i, c := range all {
		if p.Lease == "" || c.About != AboutZones && !strings.HasPrefix(c.Key, keyOfOutage(reconcile.OutageZone, "")) {
			continue
		}
		all[i].Key += "@" + strings.TrimPrefix(string(p.Lease), string(reconcile.LeaseOf(reconcile.Lane{})))
		if p.Name != "" {
			all[i].Text = lines(c.Text, "Of credential "+p.Name+".")
		}
	}
	return all
}

// share has each route know of a part, or of all there is. One goroutine runs it at a time.
type share struct {
	Part   // with no lease: all, or what concerns all parts
	config Config
	others *shared // nil: this process is the only one
	routes []*delivery
	began  time.Time // when this one began to look; zero: not yet, or it is the only one

	mu   sync.Mutex
	news []radar.Report // new versions of managed rulesets that no route knows of
}

// begin begins anew: what was seen at an earlier time may be outdated.
func (s *share) begin() { s.began = time.Time{} }

// started is since when this process has looked for what is over: a replica that has got the lease
// just now has seen nothing yet.
func (s *share) started(status inspect.Status) time.Time {
	if s.others == nil {
		return status.Started
	}
	if s.began.IsZero() {
		s.began = status.At
	}
	if s.began.After(status.Started) {
		return s.began
	}
	return status.Started
}

// recall reads what was kept, as long as it takes. read is given what that is.
func (s *share) recall(ctx context.Context, read func(context.Context) error) bool {
	err := read(ctx)
	for failed := false; err != nil; err = read(ctx) {
		if ctx.Err() != nil {
			return false // it failed because the daemon ends or is reloaded
		}
		if !failed {
			s.config.Log.Error("what was notified cannot be read; no notification is sent until it can", "error", err.Error())
			failed = true
		}
		if !wait(ctx, s.config.every) {
			return false
		}
	}
	return ctx.Err() == nil
}

// take has the routes go on with what was kept. Those that it takes are not in kept any more.
func (s *share) take(kept map[string]reconcile.Kept) error {
	s.routes = nil
	for _, r := range s.config.Routes {
		known, messages, err := recalled(kept[r.Name], string(s.Lease))
		if err != nil {
			return fmt.Errorf("route %s: %w", r.Name, err)
		}
		if s.Lease != "" {
			r.Digest = nil // there is one of all parts
		}
		d := newDelivery(r, s.config, known, messages)
		d.part = string(s.Lease)
		s.routes = append(s.routes, s.others.take(d))
		delete(kept, r.Name)
	}
	return nil
}

// run looks, judges and sends until ctx ends. each is called after each look.
func (s *share) run(ctx context.Context, each func()) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, r := range s.routes {
		all.Go(func() { r.run(ctx) })
	}
	if len(s.routes) == 0 {
		return
	}
	ticker := time.NewTicker(s.config.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.look(ctx)
			each()
		}
	}
}

// published has a new version of a managed ruleset reported with the next look.
func (s *share) published(r radar.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = append(s.news, r)
	s.news = s.news[max(0, len(s.news)-mostNews):]
}

// look has each route learn what is wrong.
func (s *share) look(ctx context.Context) {
	status := s.Look(ctx)
	if status.Started.IsZero() {
		return
	}
	status.Started = s.started(status)
	s.mu.Lock()
	news := s.news
	s.news = nil
	s.mu.Unlock()
	for _, r := range s.routes {
		r.news = append(r.news, news...)
		r.news = r.news[max(0, len(r.news)-mostNews):]
		r.learn(ctx, status, s.causes(status, s.Groups(ctx, r.Labels)))
	}
}

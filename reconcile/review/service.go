package review

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/jobs"
)

// Service is what a daemon runs for reviewers: [Reviews] of pull requests, and [Merges] for
// the commits of the followed branch. It is a [reconcile.Reporter]. The zero value is for a
// daemon without a forge: it does nothing.
type Service struct {
	reviews *Reviews
	merges  *Merges
	poked   reconcile.Pokes
}

// NewService makes a service; both parts use the forge, the log and the outages of c.
func NewService(c Config) *Service {
	reviews := New(c)
	return &Service{reviews, NewMerges(c.Forge.Status, reviews.Log, reviews.Outages), reconcile.NewPokes()}
}

// Join has plans made by whichever replica is free, and all of them know what was planned. Without,
// this process makes them itself. The status of a commit is told by the one that leads, from what each
// says of its part. To be called before anything runs.
func (s *Service) Join(r *jobs.Replicas, of Credentials) {
	if s.reviews != nil {
		s.reviews.join(r, s.Poke)
		s.merges.divide(of, r)
	}
}

// RunMerges sends commit statuses until ctx ends.
func (s *Service) RunMerges(ctx context.Context) {
	if s.merges != nil {
		s.merges.Run(ctx)
	}
}

// Begin reports that a commit is about to be applied.
func (s *Service) Begin(commit string) {
	if s.merges != nil {
		s.merges.Begin(commit)
	}
}

// Report implements [reconcile.Reporter].
func (s *Service) Report(ctx context.Context, r reconcile.Report) {
	if s.merges != nil {
		s.merges.Report(ctx, r)
	}
}

// PullRequests is what is known of the open pull requests.
func (s *Service) PullRequests(now time.Time) inspect.PullRequestList {
	if s.reviews == nil {
		return inspect.PullRequestList{Version: inspect.Version, At: now, PullRequests: []inspect.PullRequest{}}
	}
	return s.reviews.pulls.list(now)
}

// PullRequest is what is known of an open pull request, with the plan of its newest review;
// false where there is none.
func (s *Service) PullRequest(number int) (inspect.PullRequest, bool) {
	if s.reviews == nil {
		return inspect.PullRequest{}, false
	}
	return s.reviews.pulls.one(number)
}

// Poke asks for a round of reviews at once; it does not wait.
func (s *Service) Poke() { s.poked.Poke() }

// Run reviews pull requests at each tick and when poked, until ctx ends. Of several replicas one at
// a time may.
func (s *Service) Run(ctx context.Context, ticks <-chan time.Time) {
	if s.reviews == nil {
		<-ctx.Done()
		return
	}
	if s.reviews.others != nil {
		defer s.reviews.lead()()
		s.merges.lead()
	}
	s.reviews.Run(ctx, ticks, s.poked)
}

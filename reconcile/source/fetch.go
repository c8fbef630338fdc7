package source

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/edge/trace"
)

// failing are the fetches that failed, in a row.
type failing struct {
	times int
	at    time.Time     // when the last one ended
	took  time.Duration // how long it took
}

// pause is how long to leave git alone, from the end of the last failure on. What it took
// counts: a server that was waited for had its pause.
func (f failing) pause(interval time.Duration) time.Duration {
	policy := retry.Git
	if interval > 0 {
		policy = policy.Within(max(interval, retry.GitOften))
	}
	return max(policy.First, policy.Delay(f.times)-f.took)
}

// sinceFailure is how long to leave git alone where someone pokes.
func (f failing) sinceFailure(now time.Time) time.Duration {
	if f.times == 0 {
		return 0
	}
	return retry.Git.First - now.Sub(f.at)
}

// errCut is a fetch that was ended, to begin another one. It says nothing new.
var errCut = errors.New("the fetch was ended, to begin another one")

const (
	// patience is how long a fetch may take at least before it is ended.
	patience = 3 * time.Second
	// usualTimes is after how many times the usual time a fetch takes far too long.
	usualTimes = 4
	// patientEvery: during an outage every so many fetches may take as long as the limits
	// allow, for a server that has become slow, or a commit that is large.
	patientEvery = 4
)

// fetches knows how long a fetch usually takes, and ends one that hangs: the server it waits
// for may be well again, and the connection is not.
type fetches struct {
	mu    sync.Mutex
	usual time.Duration // how long those took that succeeded, the last ones most; zero: none has
	cuts  int           // since then, because someone woke

	// Of the one that goes on; end is nil where none does.
	began   time.Time
	end     context.CancelFunc
	hurried bool // someone has poked
}

// limit is how long a fetch may take before it takes far too long; zero is not known.
func (f *fetches) limit() time.Duration {
	if f.usual == 0 {
		return 0
	}
	return max(patience, usualTimes*f.usual)
}

// begin notes that a fetch begins. It is ended after the returned time; zero is never.
func (f *fetches) begin(now time.Time, failures int, end context.CancelFunc) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began, f.end, f.hurried = now, end, false
	if failures%patientEvery == 0 { // as the first one
		return 0
	}
	return f.limit()
}

// ended notes that it has ended.
func (f *fetches) ended(now time.Time, err error) (took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	took = now.Sub(f.began)
	if err == nil {
		f.usual, f.cuts = max(took, f.usual*3/4, time.Millisecond), 0
	}
	f.end = nil
	return took
}

// hurry ends a fetch as soon as it takes far too long, because someone knows of something
// new. The next one may take twice as long: whoever pokes often keeps no fetch from its end.
func (f *fetches) hurry(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	limit := f.limit()
	if f.end == nil || limit == 0 || f.hurried {
		return
	}
	f.hurried = true
	time.AfterFunc(limit<<min(f.cuts, 10)-now.Sub(f.began), f.end)
	f.cuts++
}

// fetch has the source fetch. The error is errCut where it took far too long.
func (s *Source) fetch(ctx context.Context) (string, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	if limit := s.fetches.begin(s.Now(), s.failing.times, cancel); limit > 0 {
		timer := time.AfterFunc(limit, cancel)
		defer timer.Stop()
	}
	traced, span := trace.Start(within, trace.Fetch)
	commit, err := s.Source.Fetch(traced)
	span.Text(trace.Commit, commit)
	span.End(err)
	now := s.Now()
	took := s.fetches.ended(now, err)
	switch {
	case err == nil || commit != "":
		return commit, err
	case within.Err() != nil && ctx.Err() == nil:
		err = errCut
		if s.failing.times == 0 {
			return "", err
		}
	}
	s.failing = failing{s.failing.times + 1, now, took}
	return "", err
}

// rehearsal ends the evaluation of the commit in force: somebody waits for another one.
type rehearsal struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil: none goes on
}

func (r *rehearsal) begin(cancel context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel = cancel
}

func (r *rehearsal) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		r.cancel()
		r.cancel = nil
	}
}

// Package source looks at git: it fetches the configured ref, has the commit evaluated,
// and proposes it. It alone knows when to look again.
//
//	s := source.New(source.Config{Source: git, Compiler: cue, …})
//	s.Run(ctx, …, propose)      // a daemon: on a schedule, and when poked
//	proposal := s.Look(ctx)     // once
//
// What comes in are a ref and a schedule; what goes out are proposals. Nothing that
// happens to a proposal holds the source up for longer than it takes to accept it,
// and nothing that happens here, not even a server that never answers, holds anyone
// else up. It may not import the parts that work on zones or tokens.
package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
)

// Config is what a [Source] is made from. Source, Compiler and Now are required.
type Config struct {
	Source   reconcile.Source
	Compiler reconcile.Compiler
	// Agreed returns the approvals that a commit itself carries; nil: none does.
	Agreed func(ctx context.Context, commit string) ([]reconcile.Approval, error)
	// Author returns who wrote a commit, and the first line of its message; nil, and an
	// error, is not known.
	Author func(ctx context.Context, commit string) (author, message string, err error)
	// Moved says how the ref came from one commit to another; nil: it always moved forward.
	// Its error is [ErrNotKnown] where the history does not say it; after any other, a commit is held.
	Moved func(ctx context.Context, from, to string) (Move, error)
	// FastForward says that a commit which does not contain the one in force is held.
	FastForward bool
	// Schedule says when to look; nil only when poked.
	Schedule cron.Schedule
	Now      func() time.Time
	Log      *slog.Logger // nil discards
}

// Source looks at git. Make it with [New]. But for Poke and Progress, its methods are
// not safe for concurrent use.
type Source struct {
	Config
	poked reconcile.Pokes

	last     evaluated // the newest commit, while it is not in force
	reported string    // the move that was logged last
	unheard  string    // the commit that could not be asked for its approvals
	printed  string    // by the process that crashed with the look before, without numbers

	urgent    func(evaluates bool) // see Run
	evaluated bool                 // this process has evaluated a commit

	failing   failing
	rehearsal rehearsal
	fetches   fetches
	progress  progress
}

// evaluated is what a commit came to.
type evaluated struct {
	commit   string
	state    desired.State
	problems []desired.Problem
	at       time.Time
	ended    int // how often its evaluation was ended, one time after the other
}

// invalidFor is how long a commit with mistakes is not evaluated again. One whose evaluation was
// ended may do soon, on a quieter machine: it is evaluated again after endedFor, then after
// twice that, and so on.
const (
	invalidFor = time.Hour
	endedFor   = time.Minute
)

// holds is how long it stands.
func (e evaluated) holds() time.Duration {
	if e.ended == 0 {
		return invalidFor
	}
	return min(invalidFor, endedFor<<min(e.ended-1, 10))
}

// New returns a source that has not looked yet.
func New(c Config) *Source {
	if c.Agreed == nil {
		c.Agreed = func(context.Context, string) ([]reconcile.Approval, error) { return nil, nil }
	}
	if c.Author == nil {
		c.Author = func(context.Context, string) (string, string, error) { return "", "", nil }
	}
	if c.Moved == nil {
		c.Moved = func(context.Context, string, string) (Move, error) { return Forward, nil }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Source{Config: c, poked: reconcile.NewPokes(), urgent: func(bool) {}}
}

// Poke asks for a look at once. It ends a pause after a failure, and a fetch that takes far
// longer than they do. It returns without waiting, and may be called at any time.
func (s *Source) Poke() {
	s.poked.Poke()
	s.rehearsal.end()
	s.fetches.hurry(s.Now())
}

// Look looks once. A commit that is in force, or that was evaluated just before, is
// not evaluated again.
func (s *Source) Look(ctx context.Context, inForce string) reconcile.Proposal {
	commit, err := s.fetch(ctx)
	if err != nil {
		return reconcile.Proposal{Commit: commit, Author: s.author(ctx, commit), Err: fmt.Errorf("fetching desired state: %w", err)}
	}
	if commit != "" && commit == inForce {
		s.last = evaluated{}
		p := reconcile.Proposal{Commit: commit, Same: true}
		if s.unheard == commit {
			p.Approvals = s.approvals(ctx, commit)
		}
		return p
	}
	if err := s.follows(ctx, inForce, commit); err != nil {
		return reconcile.Proposal{Commit: commit, Author: s.author(ctx, commit), Err: err}
	}
	return s.Evaluate(ctx, commit)
}

// Evaluate proposes a commit that is in the store already.
func (s *Source) Evaluate(ctx context.Context, commit string) reconcile.Proposal {
	now := s.Now()
	age := now.Sub(s.last.at)
	known := s.last.commit == commit && commit != "" && !s.last.at.IsZero() && age >= 0 &&
		(age < s.last.holds() || len(desired.Errors(s.last.problems)) == 0)
	if !known {
		ended := 0
		if s.last.commit == commit {
			ended = s.last.ended
		}
		s.last = evaluated{}
		s.urgent(true)
		s.evaluated = true
		within, span := trace.Start(ctx, trace.Evaluate)
		state, problems, err := s.Compiler.Compile(within, commit)
		span.Text(trace.Commit, commit)
		span.End(err)
		if err != nil {
			return reconcile.Proposal{Commit: commit, Author: s.author(ctx, commit), Err: fmt.Errorf("compiling desired state: %w", err)}
		}
		if slices.ContainsFunc(problems, func(p desired.Problem) bool { return p.Ended }) {
			ended++
		} else {
			ended = 0
		}
		s.last = evaluated{commit, state, problems, now, ended}
	}
	p := reconcile.Proposal{Commit: commit, State: s.last.state, Problems: s.last.problems}
	if len(desired.Errors(p.Problems)) == 0 && commit != "" {
		p.Approvals = s.approvals(ctx, commit)
	}
	p.Author, p.Message = s.words(ctx, commit)
	return p
}

// author is who wrote a commit, as it says itself; empty where that is not known.
func (s *Source) author(ctx context.Context, commit string) string {
	author, _ := s.words(ctx, commit)
	return author
}

// words are who wrote a commit, and the first line of its message.
func (s *Source) words(ctx context.Context, commit string) (author, message string) {
	if commit == "" {
		return "", ""
	}
	author, message, err := s.Author(ctx, commit)
	if err != nil {
		s.Log.DebugContext(ctx, "who wrote a commit is not known", "commit", commit, "error", err.Error())
	}
	return author, message
}

// approvals asks a commit for the approvals it carries. One that cannot be asked (a
// file of keys is away) is asked again later, though it is in force by then.
func (s *Source) approvals(ctx context.Context, commit string) []reconcile.Approval {
	approvals, err := s.Agreed(ctx, commit)
	if err == nil {
		s.unheard = ""
		return approvals
	}
	level := slog.LevelWarn
	if s.unheard == commit {
		level = slog.LevelDebug
	}
	s.Log.Log(ctx, level, "the approvals in a commit's trailers do not count", "commit", commit, "error", err.Error())
	s.unheard = commit
	return nil
}

// Run looks at once, then on the schedule and when poked, until ctx ends. It waits by
// the monotonic clock: a wall clock that is set back keeps no one from looking. inForce says which
// commit is in force then. urgent is called with false before each fetch that someone has poked for,
// and with true before each evaluation of a commit: somebody waits for what comes of them.
//
// A commit that is in force from an earlier process is evaluated once, while nobody waits for another
// one, and given to rehearsed: evaluating the next commit then costs what that changes.
func (s *Source) Run(ctx context.Context, inForce func() string, urgent func(evaluates bool), propose func(context.Context, reconcile.Proposal), rehearsed func(desired.State)) {
	s.urgent = urgent
	for ctx.Err() == nil {
		if p := s.once(ctx, inForce(), propose); p.Same {
			s.rehearse(ctx, p.Commit, rehearsed)
		}
		if poked := s.wait(ctx); poked {
			urgent(false)
		}
	}
}

// rehearse evaluates a commit that is in force, unless this process has evaluated one, or someone has
// poked: a poke ends it, and it is not tried again. What comes of it is of use, and nothing depends on it.
func (s *Source) rehearse(ctx context.Context, commit string, rehearsed func(desired.State)) {
	if s.evaluated || len(s.poked) > 0 {
		return
	}
	s.evaluated = true
	within, cancel := context.WithCancel(ctx)
	s.rehearsal.begin(cancel)
	defer s.rehearsal.end()
	if len(s.poked) > 0 { // just before
		return
	}
	state, problems, err := s.Compiler.Compile(within, commit)
	if err == nil && len(desired.Errors(problems)) == 0 {
		rehearsed(state)
		return
	}
	s.Log.DebugContext(ctx, "the commit in force cannot be evaluated ahead of the next one", "commit", commit)
}

// once looks once, and proposes what it has found.
func (s *Source) once(ctx context.Context, inForce string, propose func(context.Context, reconcile.Proposal)) (p reconcile.Proposal) {
	s.progress.begin(s.Now())
	defer s.progress.end()
	ctx, span := trace.Start(ctx, trace.Look)
	p = s.Look(ctx, inForce)
	span.Text(trace.Commit, p.Commit)
	defer span.End(p.Err)
	if ctx.Err() != nil || errors.Is(p.Err, errCut) {
		return p
	}
	s.progress.looked(p, s.Now())
	s.crashed(ctx, p)
	if p.Err == nil || p.Commit != "" { // a commit that is not trusted costs git nothing
		s.failing = failing{}
	}
	propose(ctx, p)
	return p
}

// wait returns when it is time to look again, and whether someone has poked: after a failure at the
// end of a pause, which is the sooner the oftener the schedule looks.
func (s *Source) wait(ctx context.Context) (poked bool) {
	var next <-chan time.Time
	now := s.Now()
	if d, ok := s.untilNext(now); ok {
		s.progress.waits(now.Add(d))
		next = time.After(d)
	}
	select {
	case <-ctx.Done():
	case <-next:
	case <-s.poked:
		s.pause(ctx, s.failing.sinceFailure(s.Now()))
		return true
	}
	return false
}

// untilNext is how long to wait; false for as long as no one pokes.
func (s *Source) untilNext(now time.Time) (time.Duration, bool) {
	var interval, tick time.Duration
	if s.Schedule != nil {
		if next := s.Schedule.Next(now); !next.IsZero() {
			tick, interval = next.Sub(now), s.Schedule.Next(next).Sub(next)
		}
	}
	if s.failing.times > 0 {
		return s.failing.pause(interval), true
	}
	return tick, tick > 0
}

func (s *Source) pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

package review

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/reconcile"
)

// ForkPlans says of which forks plans are made.
type ForkPlans string

// The choices. On a project that everybody can see, everybody can open a pull request.
const (
	ForksAuto  ForkPlans = "auto"  // known for a project that everybody can see, else all
	ForksKnown ForkPlans = "known" // of authors who may write, and where one who may has asked for it
	ForksAll   ForkPlans = "all"
)

// Forks says what becomes of pull requests from forks.
type Forks struct {
	Plans ForkPlans // empty is all
	Label string    // with which a person who may write asks for plans of one; empty for none
	// PerHour bounds the plans in an hour for each author who is not known; zero has no
	// bound.
	PerHour int
}

// gate is what is known of forks and of those who open them.
type gate struct {
	*Config
	approvers *approvers

	closed  bool                  // forks of unknown authors wait
	asked   time.Time             // when that was found out
	known   map[int64]bool        // whether an author may write, by id
	knownAt time.Time             // since when
	allowed map[int]bool          // pull requests for which plans were asked for
	looked  map[int]time.Time     // when the comments of one were read
	waiting map[int]string        // the head of each that waits, once that is told
	planned map[int64][]time.Time // by author
}

func newGate(c *Config, a *approvers) gate {
	return gate{
		Config: c, approvers: a,
		known: map[int64]bool{}, allowed: map[int]bool{}, looked: map[int]time.Time{}, waiting: map[int]string{}, planned: map[int64][]time.Time{},
	}
}

// gateFor is how long the visibility of the project, and what authors may do, is taken for
// unchanged.
const gateFor = 10 * time.Minute

// remarksEvery is how often the comments of a fork that waits are read: there may be many
// of them.
const remarksEvery = 2 * time.Minute

// request asks for plans of a pull request, alone on a line of a comment.
var request = lazyregexp.New(`(?m)^\s*/?seawall plan\s*$`)

// pass returns the pull requests that are to be planned, and tells of the others what they
// wait for. A fork about which the forge does not answer waits.
func (r *Reviews) pass(ctx context.Context, open []reconcile.PullRequest) (passed []reconcile.PullRequest) {
	r.gate.forget(func(number int) bool {
		return !slices.ContainsFunc(open, func(p reconcile.PullRequest) bool { return p.Number == number })
	})
	if err := r.bounded(ctx, r.gate.forksWait); err != nil {
		r.gate.closed = true
		r.Log.DebugContext(ctx, "forks wait, because the forge does not say whether the project is private", "error", err.Error())
	}
	asked := 0
	for _, pull := range open {
		if !pull.Fork || !r.gate.closed {
			passed = append(passed, pull)
			continue
		}
		if asked == mostReviewed {
			continue // the others have their turn when these are closed
		}
		asked++
		wanted := false
		err := r.bounded(ctx, func(ctx context.Context) (err error) {
			if wanted, err = r.gate.wanted(ctx, pull); err != nil || wanted {
				return err
			}
			return r.gate.tellWaiting(ctx, pull)
		})
		if wanted {
			passed = append(passed, pull)
			continue
		}
		r.logFailure(ctx, pull.Number, err)
		if err == nil {
			r.pulls.failed(pull.Number, r.gate.Trust.Forks.waitsFor(func(text string) string { return text }))
		}
	}
	return passed
}

// forksWait finds out whether forks of unknown authors wait.
func (g *gate) forksWait(ctx context.Context) error {
	now := g.Now()
	if now.Sub(g.knownAt) > gateFor {
		g.knownAt = now
		clear(g.known)
	}
	if g.Trust.Forks.Plans != ForksAuto {
		g.closed = g.Trust.Forks.Plans == ForksKnown
		return nil
	}
	if !g.asked.IsZero() && now.Sub(g.asked) < gateFor {
		return nil
	}
	private, err := g.Forge.Private(ctx)
	if err != nil {
		return fmt.Errorf("finding out whether the project is private: %w", err)
	}
	g.closed, g.asked = !private, now
	return nil
}

// wanted reports whether plans are made for a fork: its author may write, or a person who
// may has set the label or written the request.
func (g *gate) wanted(ctx context.Context, pull reconcile.PullRequest) (bool, error) {
	if g.allowed[pull.Number] || g.Trust.Forks.Label != "" && slices.Contains(pull.Labels, g.Trust.Forks.Label) {
		return true, nil
	}
	if known, err := g.writes(ctx, reconcile.Account{ID: pull.AuthorID, Name: pull.Author}); known || err != nil {
		return known, err
	}
	if at, ok := g.looked[pull.Number]; ok && g.Now().Sub(at) < remarksEvery {
		return false, nil
	}
	remarks, err := g.Forge.Remarks(ctx, pull.Number)
	if err != nil {
		return false, err
	}
	g.looked[pull.Number] = g.Now()
	for _, remark := range remarks {
		if !request().MatchString(remark.Body) {
			continue
		}
		known, err := g.writes(ctx, remark.Author)
		if err != nil {
			return false, err
		}
		if known {
			g.allowed[pull.Number] = true
			return true, nil
		}
	}
	return false, nil
}

// writes reports whether the forge says that an account may write to the project, or it is
// an approver.
func (g *gate) writes(ctx context.Context, account reconcile.Account) (bool, error) {
	if account.ID == 0 {
		return false, nil
	}
	if known, ok := g.known[account.ID]; ok {
		return known, nil
	}
	access, err := g.Forge.Access(ctx, account)
	if err != nil {
		return false, err
	}
	known := access == reconcile.AccessWrite || access == reconcile.AccessUnknown && g.approvers.is(account)
	g.known[account.ID] = known
	return known, nil
}

// tellWaiting says, once for each head, what a fork waits for.
func (g *gate) tellWaiting(ctx context.Context, pull reconcile.PullRequest) error {
	if g.waiting[pull.Number] == pull.Head {
		return nil
	}
	if g.Comments {
		if err := g.Forge.Comment(ctx, pull.Number, marker, waitingComment(g.Trust.Forks)); err != nil {
			return fmt.Errorf("commenting: %w", err)
		}
	}
	plain := func(text string) string { return text }
	status := reconcile.CommitStatus{Context: planContext, State: reconcile.StatusPending, Description: g.Trust.Forks.waitsFor(plain)}
	if err := g.Forge.Status(ctx, pull.Head, status); err != nil {
		return fmt.Errorf("setting the commit status: %w", err)
	}
	g.waiting[pull.Number] = pull.Head
	g.Log.InfoContext(ctx, "a pull request from a fork waits until a person with write access asks for its plan", "number", pull.Number, "head", pull.Head)
	return nil
}

func (f Forks) waitsFor(code func(string) string) string {
	text := "waits for the comment " + code("seawall plan")
	if f.Label != "" {
		text = "waits for the label " + code(f.Label) + " or the comment " + code("seawall plan")
	}
	return text + " by a person with write access"
}

func waitingComment(f Forks) string {
	return "### Seawall: no plan yet\n\nThis pull request comes from a fork of an author without write access. Its plan " + f.waitsFor(render.Code) + ".\n"
}

// errTooMany says that an author has used up the plans of an hour.
var errTooMany = errors.New("the author has had as many plans as forge.forks.per_hour allows")

// mayPlan counts a plan for an author who is not known, and fails where there were as many
// in the last hour as there may be.
func (g *gate) mayPlan(ctx context.Context, pull reconcile.PullRequest) error {
	most := g.Trust.Forks.PerHour
	if !pull.Fork || most == 0 {
		return nil
	}
	if known, err := g.writes(ctx, reconcile.Account{ID: pull.AuthorID, Name: pull.Author}); known || err != nil {
		return err
	}
	before := g.Now().Add(-time.Hour)
	for author, times := range g.planned {
		times = slices.DeleteFunc(times, func(at time.Time) bool { return !at.After(before) })
		if g.planned[author] = times; len(times) == 0 {
			delete(g.planned, author)
		}
	}
	times := g.planned[pull.AuthorID]
	if len(times) >= most {
		return fmt.Errorf("%w (%d)", errTooMany, most)
	}
	g.planned[pull.AuthorID] = append(times, g.Now())
	return nil
}

// forget drops what is known of pull requests that are closed.
func (g *gate) forget(gone func(number int) bool) {
	maps.DeleteFunc(g.allowed, func(number int, _ bool) bool { return gone(number) })
	maps.DeleteFunc(g.looked, func(number int, _ time.Time) bool { return gone(number) })
	maps.DeleteFunc(g.waiting, func(number int, _ string) bool { return gone(number) })
}

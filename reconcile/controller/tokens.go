package controller

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// tokensDueEvery is how often the ledger is asked whether a token's time has come.
const tokensDueEvery = time.Minute

// TokenWork is the work on the tokens of a credential: a [*token.Worker], or a
// [token.Observer] that writes nothing.
type TokenWork interface {
	Work(ctx context.Context, scope token.Scope, guard token.Guard) token.Outcome
	Due(ctx context.Context, declared []desired.Token) (map[string]bool, error)
	Unkept() map[diff.ID]string
	CheckSink(s desired.Sink) error
}

// tokenLoop does the token work of the credential.
type tokenLoop struct {
	work         TokenWork // nil: there is none
	control      *control.Control
	queue        *queue.Queue[struct{}]
	sweep        *turns
	reports      *reports
	outcomes     *outcomes
	outages      *outage.Tracker
	deprecations reconcile.Deprecations
	requests     reconcile.Requests
	leases       reconcile.Leases

	orders   orders
	last     time.Time // when the tokens were read; zero for never
	failures int       // in a row
}

// run does the work when it is due, until ctx ends: one item, so one thing at a time. A
// doubt about tokens holds no zone back.
func (l *tokenLoop) run(ctx context.Context) {
	defer l.orders.end()
	if l.work == nil {
		return
	}
	for {
		item, err := l.queue.Next(ctx)
		if err != nil {
			return
		}
		next := l.turn(ctx, item)
		l.queue.Done(item.Key, &next)
	}
}

// turn does what is due, unless another process does the work, and returns when to ask again.
func (l *tokenLoop) turn(ctx context.Context, item queue.Item[struct{}]) queue.Item[struct{}] {
	next := queue.Item[struct{}]{Due: time.Now().Add(l.every()), Priority: queue.Sweep, Reason: "its turn"}
	ctx, end, held := reconcile.Begin(ctx, l.leases, reconcile.LeaseTokens)
	defer end()
	if !held {
		l.orders.refuse(ErrElsewhere, false)
		return next
	}
	l.orders.carryOut(ctx)
	if g := l.control.Current(); g != nil && l.due(ctx, g, item) {
		_, next.Due = l.look(ctx, g, Rotation{})
	}
	return next
}

// every is how long to wait before it is asked again whether anything is due.
func (l *tokenLoop) every() time.Duration {
	if turn := l.sweep.turn(time.Now()); turn > 0 {
		return min(turn, tokensDueEvery)
	}
	return tokensDueEvery
}

// due reports whether anything is to be done about tokens: it was asked for, the last try
// has failed, it is their turn in the sweep, or the time of a token has come.
func (l *tokenLoop) due(ctx context.Context, g *control.Generation, item queue.Item[struct{}]) bool {
	turn := l.sweep.turn(time.Now())
	if item.Priority == queue.Push || l.failures > 0 || turn > 0 && time.Since(l.last) >= turn {
		return true
	}
	due, err := l.work.Due(ctx, g.State.Tokens)
	return err == nil && len(due) > 0 // what keeps the ledger from being read, the next turn tells
}

// look looks at the tokens, with the rotation that a person asks for, and returns what became
// of them, and when to look again at the latest.
func (l *tokenLoop) look(ctx context.Context, g *control.Generation, r Rotation) (o token.Outcome, again time.Time) {
	began := time.Now()
	ctx, span := trace.Start(ctx, trace.Tokens)
	defer func() { tellTokens(span, g, o) }()
	scope := token.Scope{Commit: g.State.Commit, Tokens: g.State.Tokens, Accounts: g.State.Accounts, Rotate: r.From}
	asks := edge.BeforeSend(ctx, func() error { return l.control.MaySend(ctx) })
	o = l.work.Work(asks, scope, func(_ context.Context, plan diff.Plan) (diff.Plan, error) {
		plan = l.control.GuardTokens(g, plan, l.work.Unkept())
		return plan, r.Expected(plan)
	})
	if left, bounded := reconcile.Left(ctx); bounded && left <= 0 || anotherDoes(o.Err) {
		return o, time.Time{} // whoever has the lease now finds out what has become of it
	}
	if errors.Is(o.Err, errOther) { // nothing was done
		return o, time.Time{}
	}
	lingering, cancel := reconcile.Lingering(ctx)
	defer cancel()
	l.reports.state(ctx, "note tokens", l.control.NoteTokens(lingering, control.Outcome{Plan: o.Plan, Results: o.Results}))
	told := noteTokens(l.outages, o)
	if ctx.Err() != nil && len(o.Results) == 0 {
		return o, time.Time{}
	}
	o.Plan.Deprecations = append(o.Plan.Deprecations, l.deprecations(g.State, time.Now())...)
	l.outcomes.worked(o, time.Now())
	l.reports.work(ctx, o, began, told)
	now := time.Now()
	l.last = now
	if o.Err == nil && len(o.Unfinished()) == 0 {
		l.failures = 0
		return o, now.Add(l.every())
	}
	l.failures++
	policy := retry.Tokens
	if undelivered(o) {
		policy = retry.Delivery
	}
	return o, now.Add(policy.Delay(l.failures))
}

// undelivered reports whether a sink did not take a secret.
func undelivered(o token.Outcome) bool {
	return slices.ContainsFunc(o.Results, func(r reconcile.Result) bool { _, sink := errors.AsType[*reconcile.SinkError](r.Err); return sink })
}

// order has something done about tokens while no other work on them goes on; see
// [Controller.OrderTokens].
func (l *tokenLoop) order(ctx context.Context, do func(ctx context.Context) error) error {
	return l.orders.wait(ctx, do, func() { l.queue.Set(queue.Item[struct{}]{Reason: "ordered"}) })
}

// rotate makes the successor of a token now; see [Controller.RotateToken].
func (l *tokenLoop) rotate(ctx context.Context, r Rotation, begin func(context.Context) (context.Context, error)) (report reconcile.Report, err error) {
	err = l.order(ctx, func(ctx context.Context) error {
		ctx, err := begin(ctx)
		if err != nil {
			return err
		}
		g := l.control.Current()
		if g == nil {
			return errors.New("no commit is in force yet")
		}
		if err := rotates(g.State.Tokens, r.Key); err != nil {
			return err
		}
		before := l.requests.Sent()
		o, _ := l.look(ctx, g, r)
		if errors.Is(o.Err, errOther) {
			return o.Err
		}
		report = o.About(r.Key)
		report.Plan.Requests.Used = l.requests.Sent() - before // and those of work that went on beside it
		return nil
	})
	return report, err
}

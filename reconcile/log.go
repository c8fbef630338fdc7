package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Logger is a [Reporter] that writes a log: a line for each write, a line for the end of a
// commit and of each turn of the sweep, and a line for each thing that needs attention,
// when it is new. What lasts is not repeated; the line of a turn counts it. Outages have
// lines of their own, which package outage writes. It is not safe for concurrent use: the
// controller has one report at a time.
type Logger struct {
	Log    *slog.Logger
	Memory LogMemory // nil: each process logs what is refused

	turn   map[string]int             // lines of a kind since the sweep began anew
	said   map[string]map[string]bool // what was said and lasts, by zone; of tokens under ""
	holds  map[string]bool
	halted string
	kept   time.Time // when a held commit was logged last

	refusals refusals
	alike    gathers
}

// heldEvery is how often it is logged at most that a commit is still held: turns of the
// sweep may be seconds apart.
const heldEvery = time.Hour

// linesPerRun bounds the lines of one kind in a turn of the sweep. Writes have no bound:
// each is a request that was sent.
const linesPerRun = 20

// Report implements [Reporter].
func (l *Logger) Report(ctx context.Context, r Report) {
	l.waves(ctx, r)
	switch {
	case r.Sum:
		l.turn = nil
		l.keep(ctx, r)
		l.newHolds(ctx, r)
		l.stillHeld(ctx, r)
	case r.Slice:
		l.slice(ctx, r)
	default:
		l.held(ctx, r)
		l.problems(ctx, r)
		if !r.Plan.IsEmpty() || len(r.Results) > 0 {
			l.slice(ctx, r)
		}
	}
	l.summary(ctx, r)
}

// held writes of a commit that is not acted on, when it is new. A source that cannot be
// reached is an outage.
func (l *Logger) held(ctx context.Context, r Report) {
	switch {
	case r.Held == nil || r.Held.Commit == "":
	case r.Held.Again:
		l.Log.DebugContext(ctx, "a commit is still held", "held", r.Held.Commit, "reason", r.Held.Reason, "in_force", r.Commit)
	default:
		l.kept = r.Finished
		l.Log.ErrorContext(ctx, "a commit is held; the last good one stays in force",
			"held", r.Held.Commit, "reason", r.Held.Reason, "in_force", r.Commit)
		l.lines(ctx, "mistakes", len(r.Held.Problems), func(i int) {
			p := r.Held.Problems[i]
			l.Log.ErrorContext(ctx, "a mistake in the desired state", "problem", p.String(), "hint", p.Hint)
		})
	}
}

// stillHeld reminds of a held commit at the end of a turn, once in a while.
func (l *Logger) stillHeld(ctx context.Context, r Report) {
	if r.Held == nil || r.Held.Commit == "" || !l.kept.IsZero() && r.Finished.Sub(l.kept) < heldEvery {
		return
	}
	l.kept = r.Finished
	l.Log.WarnContext(ctx, "a commit is still held", "held", r.Held.Commit, "reason", r.Held.Reason, "in_force", r.Commit)
}

func (l *Logger) problems(ctx context.Context, r Report) {
	if r.Told {
		return
	}
	l.lines(ctx, "warnings", len(r.Problems), func(i int) {
		p := r.Problems[i]
		l.Log.WarnContext(ctx, "a warning about the desired state", "problem", p.String(), "hint", p.Hint)
	})
}

// lines writes n lines of a kind, as far as there is room in this turn.
func (l *Logger) lines(ctx context.Context, kind string, n int, write func(i int)) {
	for i := range n {
		if l.room(ctx, kind) {
			write(i)
		}
	}
}

// room reports whether another line of a kind may be written. That it may not is said once
// a turn.
func (l *Logger) room(ctx context.Context, kind string) bool {
	if l.turn == nil {
		l.turn = map[string]int{}
	}
	l.turn[kind]++
	if l.turn[kind] == linesPerRun+1 {
		l.Log.WarnContext(ctx, "further lines of this kind are left out until the next turn of the sweep", "kind", kind)
	}
	return l.turn[kind] <= linesPerRun
}

// slice writes of one look: at a zone, or at the tokens.
func (l *Logger) slice(ctx context.Context, r Report) {
	l.recall(ctx, r)
	lasts := map[string]bool{}
	news := func(kind, what string, write func()) {
		lasts[what] = true
		switch {
		case l.said[r.Zone.String()][what]:
		case l.room(ctx, kind):
			write()
		default:
			l.refusals.cut = true
		}
	}
	many := l.gather(ctx, r)
	for _, p := range r.Plan.Problems {
		if r.Told && p.State.Unread() {
			continue // the outage says so
		}
		what := problemOf(p)
		if lasts[what] = true; many[what] {
			continue
		}
		news("zones", what, func() { l.problem(ctx, p) })
	}
	for _, c := range r.Plan.Changes {
		switch {
		case c.Refused == nil, c.Refused.PutBack(): // control logs those that were put back, in one line
		case l.refusals.recalls:
			lasts[refusalOf(c)] = true
			l.refusals.as++
		default:
			news("refused changes", refusalOf(c), func() { l.refused(ctx, c) })
		}
	}
	l.results(ctx, r, news)
	l.remember(ctx, r)
	if l.said == nil {
		l.said = map[string]map[string]bool{}
	}
	if l.said[r.Zone.String()] = lasts; len(lasts) == 0 {
		delete(l.said, r.Zone.String())
	}
}

// results writes of what was sent, or was to be: each write that was proved, and of the
// others what is news.
func (l *Logger) results(ctx context.Context, r Report, news func(kind, what string, write func())) {
	for _, result := range r.Results {
		switch {
		case result.Outcome == Converged:
			l.wrote(ctx, r, result)
		case result.Outcome == NotStarted:
		case result.Outcome == Failed && r.Told && !errors.Is(result.Err, edge.ErrOutcomeUnknown):
			l.Log.DebugContext(ctx, "change not applied", l.change(r, result)...)
		default:
			l.unproved(ctx, r, result, news)
		}
	}
}

// problemOf is the same for what is no news, and for zones that are alike.
func problemOf(p diff.Problem) string {
	return fmt.Sprint(diff.Called(p.Kind, p.Deployment), p.Token, p.State, withoutNumbers(p.Line()))
}

// refusalOf and failureOf are the same for what is no news. A change that was not kept is
// held back by a guard from then on: the write that was not kept has said so.
func refusalOf(c diff.Change) string {
	if c.Refused.Guard == diff.GuardNonConvergent {
		return "not kept " + c.Called()
	}
	return fmt.Sprint(c.Called(), c.Token, c.Refused.Guard, withoutNumbers(c.Refused.Reason))
}

func failureOf(r Result) string {
	if r.Outcome == NonConvergent {
		return "not kept " + r.Change.Called()
	}
	return fmt.Sprint(r.Change.Called(), r.Change.Token, r.Outcome, withoutNumbers(errorText(r.Err)))
}

// keep forgets what was said of zones about which nothing stands out.
func (l *Logger) keep(ctx context.Context, r Report) {
	if !r.Full {
		return
	}
	stand := map[string]bool{"": true}
	for _, c := range r.Plan.Changes {
		stand[c.Scope.String()] = true
	}
	for _, p := range r.Plan.Problems {
		stand[p.Scope.String()] = true
	}
	for _, result := range r.Results {
		stand[result.Change.Scope.String()] = true
	}
	l.endTurn(ctx, stand)
	l.tellAlike(ctx, stand, r.Finished)
	for zone := range l.said {
		if !stand[zone] {
			delete(l.said, zone)
		}
	}
}

// withoutNumbers is a text for comparison: what counts or tells the time is not news.
func withoutNumbers(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}

func (l *Logger) waves(ctx context.Context, r Report) {
	halted := ""
	if r.Rollout != nil {
		halted = r.Rollout.Halted
	}
	if halted != "" && halted != l.halted {
		l.Log.ErrorContext(ctx, "the waves are halted", "reason", halted, "release", "seawall waves resume")
	}
	l.halted = halted
}

func (l *Logger) newHolds(ctx context.Context, r Report) {
	lasts := map[string]bool{}
	for _, h := range r.Plan.Holds {
		if h.Reverted() {
			continue // control logs them, all in one line
		}
		until := h.End()
		what := fmt.Sprint(h.Zone, until, h.Reason)
		if lasts[what] = true; !l.holds[what] && l.room(ctx, "holds") {
			l.Log.WarnContext(ctx, "a zone is held", "zone", h.Zone, "until", until, "reason", h.Reason)
		}
	}
	l.holds = lasts
}

func (l *Logger) problem(ctx context.Context, p diff.Problem) {
	l.Log.WarnContext(ctx, "cannot plan", "zone", p.Zone, "deployment", diff.Called(p.Kind, p.Deployment), "token", p.Token,
		"state", string(p.State), "reason", p.Line(), "hint", p.Hint, "origin", p.Origin.String())
}

func (l *Logger) refused(ctx context.Context, c diff.Change) {
	if c.Refused.Observed() {
		l.Log.InfoContext(ctx, "change observed only, not written", "zone", c.Zone, "deployment", c.Called(), "token", c.Token,
			"direction", string(c.Direction), "changes", members(c.Fields))
		return
	}
	attrs := []any{
		"zone", c.Zone, "deployment", c.Called(), "token", c.Token,
		"guard", string(c.Refused.Guard), "reason", c.Refused.Reason, "release", c.Refused.Release, "changes", members(c.Fields),
	}
	if c.Refused.WaitsForTime() {
		l.Log.InfoContext(ctx, "change waiting", attrs...)
		return
	}
	l.Log.WarnContext(ctx, "change refused", attrs...)
}

// wrote writes of a change that was sent and proved.
func (l *Logger) wrote(ctx context.Context, r Report, result Result) {
	attrs := l.change(r, result)
	switch {
	case result.Change.Level() == edge.LevelCredential:
		l.Log.InfoContext(ctx, "token written", append(attrs, "done", result.achieved())...)
	case result.Elsewhere:
		l.Log.InfoContext(ctx, "change applied by another Seawall process, and proved", attrs...)
	default:
		l.Log.InfoContext(ctx, "change applied and proved", attrs...)
	}
	if result.Concurrent {
		l.Log.WarnContext(ctx, "another client wrote to the entry point at the same time", "zone", result.Change.Zone)
	}
}

// failed writes of a change that was not made, or not proved.
func (l *Logger) failed(ctx context.Context, r Report, result Result) {
	attrs := l.change(r, result)
	switch {
	case result.Outcome == Quarantined:
		l.Log.ErrorContext(ctx, "a token may exist and its secret is lost; see seawall token resolve", attrs...)
	case result.Outcome == NonConvergent:
		level := slog.LevelError
		if result.Again {
			level = slog.LevelDebug
		}
		l.Log.Log(ctx, level, "the platform did not keep a change; it is tried again later", append(attrs, "left", fieldNames(result.Left), "next_try", instant(result.Next), "hint", unkeptHint(result))...)
	case errors.Is(result.Err, edge.ErrOutcomeUnknown):
		l.Log.InfoContext(ctx, "the outcome of a write is unknown; the zone is read again", attrs...)
	default:
		l.Log.ErrorContext(ctx, "change not applied", attrs...)
	}
	if result.Concurrent && result.Outcome != NonConvergent { // a write that is not kept leaves an odd version, too
		l.Log.WarnContext(ctx, "another client wrote to the entry point at the same time", "zone", result.Change.Zone)
	}
}

// instant is a time in a log; empty for the zero time.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func unkeptHint(r Result) string {
	_, hint := diff.NotKept(r.Left)
	return hint
}

func (l *Logger) summary(ctx context.Context, r Report) {
	switch {
	case errors.Is(r.Err, context.Canceled):
		l.Log.InfoContext(ctx, "run stopped", "trigger", string(r.Trigger), "applied", r.Count(Converged), "not_started", r.Count(NotStarted))
		return
	case r.Err != nil:
		level := slog.LevelError
		if r.Told {
			level = slog.LevelDebug
		}
		l.Log.Log(ctx, level, "run failed", "trigger", string(r.Trigger), "commit", r.Commit,
			"applied", r.Count(Converged), "not_started", r.Count(NotStarted), "error", r.Err.Error())
		return
	}
	s := r.Plan.Summary
	switch {
	case r.Begun != nil:
		l.Log.InfoContext(ctx, "commit accepted", "commit", r.Commit, "zones", r.Declared, "changed", r.Begun.Zones)
		return
	case r.Slice:
		l.Log.DebugContext(ctx, "some zones were read", "zones", s.Zones, "in_sync", s.InSync, "requests", r.Requests,
			"took", r.Finished.Sub(r.Started).Round(time.Millisecond).String())
		return
	case r.Trigger == TriggerSync && s.Zones == 0:
		l.Log.DebugContext(ctx, "nothing new", "commit", r.Commit)
		return
	}
	attrs := []any{
		"trigger", string(r.Trigger), "commit", r.Commit,
		"zones", s.Zones, "in_sync", s.InSync, "applied", r.Count(Converged), "failed", r.Count(Failed),
		"non_convergent", r.Count(NonConvergent), "refused", s.Refused, "waiting", s.Waiting, "undecided", s.Undecided, "bypassed", s.Bypassed, "blocked", s.Blocked,
		"not_deployed", s.NotDeployed, "unknown", s.Unknown, "forbidden", s.Forbidden, "requests", r.Requests,
		"took", r.Finished.Sub(r.Started).Round(time.Millisecond).String(),
	}
	if s.Observed > 0 {
		attrs = append(attrs, "observed", s.Observed)
	}
	if s.PutBack > 0 {
		attrs = append(attrs, "put_back", s.PutBack)
	}
	if r.Sum {
		attrs = append(attrs, "busy", r.Busy.Round(time.Millisecond).String())
	}
	l.Log.InfoContext(ctx, "run finished", attrs...)
}

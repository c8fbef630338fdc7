package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// Logger is a [Reporter] that writes a run to a log: one line for the run, one
// for each thing that a person should know of, and never a flood. Of a sweep it
// writes what its slices find when they find it, and a line when it has come
// around. It is not safe for concurrent use; [Loop] has one report at a time.
type Logger struct {
	Log *slog.Logger

	told map[string]int // lines of a kind that the slices of this sweep wanted to write
}

// linesPerRun bounds the lines of one kind that a run, or a sweep, may write.
const linesPerRun = 20

// room returns how many of n lines of a kind may be written, and how many are
// left out: none where that was said before.
func (l *Logger) room(r Report, what string, n int) (lines, leftOut int) {
	before := 0
	if r.Slice {
		if l.told == nil {
			l.told = map[string]int{}
		}
		before = l.told[what]
		l.told[what] += n
	}
	lines = min(n, max(0, linesPerRun-before))
	if before <= linesPerRun {
		leftOut = n - lines
	}
	return lines, leftOut
}

// Report implements [Reporter].
func (l *Logger) Report(ctx context.Context, r Report) {
	lines := func(what string, n int, write func(i int)) {
		n, leftOut := l.room(r, what, n)
		for i := range n {
			write(i)
		}
		if leftOut > 0 {
			l.Log.WarnContext(ctx, "and more of the same", "what", what, "left_out", leftOut)
		}
	}
	if r.Sum {
		l.told = nil
		l.sum(ctx, r, lines)
		return
	}
	switch {
	case r.Held != nil && r.Held.Again:
		// A sync may come every minute; a sweep is often enough to say it again.
		level := slog.LevelWarn
		if r.Trigger == TriggerSync {
			level = slog.LevelDebug
		}
		l.Log.Log(ctx, level, "a commit is still held", "held", r.Held.Commit, "reason", r.Held.Reason, "in_force", r.Commit)
	case r.Held != nil:
		l.Log.ErrorContext(ctx, "a commit is held; the last good one stays in force",
			"held", r.Held.Commit, "reason", r.Held.Reason, "in_force", r.Commit)
		lines("problems", len(r.Held.Problems), func(i int) {
			p := r.Held.Problems[i]
			l.Log.ErrorContext(ctx, p.String(), "hint", p.Hint)
		})
	}
	lines("problems", len(r.Problems), func(i int) {
		p := r.Problems[i]
		l.Log.WarnContext(ctx, p.String(), "hint", p.Hint)
	})
	lines("zones", len(r.Plan.Problems), func(i int) { l.problem(ctx, r.Plan.Problems[i]) })
	refused := refusedChanges(r.Plan)
	lines("refused changes", len(refused), func(i int) {
		c := refused[i]
		l.Log.WarnContext(ctx, "change refused", "zone", c.Zone, "deployment", c.Deployment, "token", c.Token,
			"guard", c.Refused.Guard, "reason", c.Refused.Reason, "release", c.Refused.Release)
	})
	if r.Full {
		l.holds(ctx, r, lines)
	}
	if !r.Slice {
		l.halted(ctx, r)
	}
	results := begun(r)
	lines("results", len(results), func(i int) { l.result(ctx, results[i]) })
	if r.Slice && r.Err != nil {
		lines("failures", 1, func(int) { l.summary(ctx, r) })
		return
	}
	l.summary(ctx, r)
}

func (l *Logger) halted(ctx context.Context, r Report) {
	if r.Rollout != nil && r.Rollout.Halted != "" {
		l.Log.ErrorContext(ctx, "the waves are halted", "reason", r.Rollout.Halted, "release", "seawall waves resume")
	}
}

// sum writes what is worth saying once a sweep.
func (l *Logger) sum(ctx context.Context, r Report, lines func(string, int, func(int))) {
	if r.Held != nil {
		l.Log.WarnContext(ctx, "a commit is still held", "held", r.Held.Commit, "reason", r.Held.Reason, "in_force", r.Commit)
	}
	l.holds(ctx, r, lines)
	l.halted(ctx, r)
	l.summary(ctx, r)
}

func (l *Logger) holds(ctx context.Context, r Report, lines func(string, int, func(int))) {
	var held []diff.Hold // by people: what a revert holds is one line
	var reverted []diff.Hold
	for _, h := range r.Plan.Holds {
		if h.Reverted() {
			reverted = append(reverted, h)
		} else {
			held = append(held, h)
		}
	}
	if len(reverted) > 0 {
		l.Log.WarnContext(ctx, "zones are held since a revert", "zones", len(reverted),
			"until", reverted[0].End(), "reason", reverted[0].Reason, "release", "a commit that declares them otherwise")
	}
	lines("holds", len(held), func(i int) {
		h := held[i]
		l.Log.WarnContext(ctx, "a zone is held", "zone", h.Zone, "until", h.End(), "reason", h.Reason)
	})
}

// begun returns the results of changes that the run came to; of the others the
// summary says how many there were.
func begun(r Report) []Result {
	return slices.DeleteFunc(slices.Clone(r.Results), func(result Result) bool { return result.Outcome == NotStarted })
}

func refusedChanges(p diff.Plan) []diff.Change {
	var refused []diff.Change
	for _, c := range p.Changes {
		if c.Refused != nil {
			refused = append(refused, c)
		}
	}
	return refused
}

func (l *Logger) problem(ctx context.Context, p diff.Problem) {
	l.Log.WarnContext(ctx, "cannot plan", "zone", p.Zone, "deployment", p.Deployment, "token", p.Token,
		"state", string(p.State), "reason", p.Reason, "hint", p.Hint, "origin", p.Origin.String())
}

func (l *Logger) result(ctx context.Context, result Result) {
	attrs := []any{
		"zone", result.Change.Zone, "deployment", result.Change.Deployment, "token", result.Change.Token,
		"direction", string(result.Change.Direction), "origin", result.Change.Origin.String(), "fields", len(result.Change.Fields),
	}
	if result.Err != nil {
		attrs = append(attrs, "error", result.Err.Error())
	}
	switch result.Outcome {
	case Converged:
		l.Log.InfoContext(ctx, result.subject()+" "+result.achieved(), attrs...)
	case Quarantined:
		l.Log.ErrorContext(ctx, "a token may exist whose secret nobody has; see seawall token resolve", attrs...)
	case NonConvergent:
		left := make([]string, len(result.Left))
		for i, f := range result.Left {
			left[i] = string(f.Path)
		}
		level := slog.LevelError
		if result.Again {
			level = slog.LevelDebug
		}
		l.Log.Log(ctx, level, "the platform did not keep a change; it is tried again later", append(attrs, "left", left)...)
	default:
		l.Log.ErrorContext(ctx, "change not applied", append(attrs, "outcome", string(result.Outcome))...)
	}
	if result.Concurrent {
		l.Log.WarnContext(ctx, "somebody else wrote to the entry point at the same time", "zone", result.Change.Zone)
	}
}

func (l *Logger) summary(ctx context.Context, r Report) {
	if errors.Is(r.Err, context.Canceled) {
		l.Log.InfoContext(ctx, "run stopped", "trigger", string(r.Trigger), "applied", r.Count(Converged), "not_started", r.Count(NotStarted))
		return
	}
	if r.Err != nil {
		l.Log.ErrorContext(ctx, "run failed", "trigger", string(r.Trigger), "commit", r.Commit,
			"applied", r.Count(Converged), "not_started", r.Count(NotStarted), "error", r.Err.Error())
		return
	}
	s := r.Plan.Summary
	switch {
	case r.Begun != nil:
		l.Log.InfoContext(ctx, "commit accepted", "commit", r.Commit, "zones", r.Declared, "changed", r.Begun.Zones)
		return
	case r.Slice:
		l.Log.DebugContext(ctx, "some zones looked at", "zones", s.Zones, "in_sync", s.InSync, "requests", r.Requests,
			"took", r.Finished.Sub(r.Started).Round(time.Millisecond).String())
		return
	case r.Trigger == TriggerSync && s.Zones == 0:
		l.Log.DebugContext(ctx, "nothing new", "commit", r.Commit)
		return
	}
	attrs := []any{
		"trigger", string(r.Trigger), "commit", r.Commit,
		"zones", s.Zones, "in_sync", s.InSync, "applied", r.Count(Converged), "failed", r.Count(Failed),
		"non_convergent", r.Count(NonConvergent), "refused", s.Refused, "blocked", s.Blocked,
		"not_deployed", s.NotDeployed, "unknown", s.Unknown, "forbidden", s.Forbidden, "requests", r.Requests,
		"took", r.Finished.Sub(r.Started).Round(time.Millisecond).String(),
	}
	if r.Sum {
		attrs = append(attrs, "busy", r.Busy.Round(time.Millisecond).String())
	}
	l.Log.InfoContext(ctx, "run finished", attrs...)
}

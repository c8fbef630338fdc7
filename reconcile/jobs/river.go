package jobs

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivertype"

	"github.com/seawall-dev/seawall/edge/retry"
)

const (
	// shortJob is for how long a job may take of whose kind nothing is said.
	shortJob = 20 * time.Second
	// endWithin is how long jobs have to end by themselves when the process ends.
	endWithin = time.Second
	// stopWithin is for how long what they came to is put on record, where the database is away.
	stopWithin = 5 * time.Second
	// keptFor is for how long jobs are kept that have ended, for people who look at the database.
	keptFor = 24 * time.Hour
)

// inserting returns the client that inserts jobs. It runs nothing.
func (r *Replicas) inserting() (*river.Client[*sql.Tx], error) {
	return river.NewClient(riverdatabasesql.New(r.DB), &river.Config{Logger: slog.New(quiet{r.Log.Handler()})})
}

// working returns the client that does jobs.
func (r *Replicas) working() (*river.Client[*sql.Tx], error) {
	workers, queues := river.NewWorkers(), map[string]river.QueueConfig{}
	for kind, w := range r.workers {
		river.AddWorkerArgs(workers, args{Job{Kind: kind}}, river.Worker[args](&worker{Worker: w, kind: kind, replicas: r}))
		queues[string(kind)] = river.QueueConfig{MaxWorkers: w.AtOnce}
	}
	return river.NewClient(riverdatabasesql.New(r.DB), &river.Config{
		Workers: workers, Queues: queues, PollOnly: true, FetchPollInterval: r.FetchEvery, Logger: slog.New(quiet{r.Log.Handler()}),
		JobTimeout: min(shortJob, r.AbandonedAfter/2), RescueStuckJobsAfter: r.AbandonedAfter, SoftStopTimeout: endWithin, RetryPolicy: pauses{r.Now},
		CancelledJobRetentionPeriod: keptFor, CompletedJobRetentionPeriod: keptFor, DiscardedJobRetentionPeriod: keptFor,
		ReindexerIndexNames: []string{}, // none: it would need connections to the server itself
	})
}

// work does jobs until ctx ends.
func (r *Replicas) work(ctx context.Context) {
	for failing := false; ctx.Err() == nil; failing = true {
		client, err := r.working()
		if err == nil {
			err = client.Start(ctx)
		}
		if err == nil {
			<-ctx.Done()
			select {
			case <-client.Stopped():
			case <-time.After(stopWithin):
			}
			return
		}
		if !failing && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "no jobs can be taken; it is tried again", "error", err.Error())
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry.Begin.First):
		}
	}
}

// worker does jobs of a kind for River.
type worker struct {
	river.WorkerDefaults[args]
	Worker
	kind     Kind
	replicas *Replicas
}

// errFailed is all that the database keeps of a failure: what a stranger has written, or an address
// with a secret in it, may be in an error.
var errFailed = errors.New("it failed: the log of the replica says why")

func (w *worker) Work(ctx context.Context, row *river.Job[args]) error {
	job := row.Args.Job
	job.Kind = w.kind
	err := w.Do(ctx, job)
	if later, ok := errors.AsType[LaterError](err); ok {
		return river.JobSnooze(time.Duration(later))
	}
	if err != nil {
		w.replicas.Log.DebugContext(ctx, "a job failed", "kind", string(w.kind), "number", job.Number, "attempt", row.Attempt, "error", err.Error())
		return errFailed
	}
	return nil
}

// Timeout implements [river.Worker].
func (w *worker) Timeout(*river.Job[args]) time.Duration { return w.Within }

// pauses are those before a job is tried again.
type pauses struct{ now func() time.Time }

func (p pauses) NextRetry(row *rivertype.JobRow) time.Time {
	return p.now().Add(kinds[Kind(row.Kind)].policy.Spread(row.Attempt))
}

// quiet is a log in which River says what fails to those who look for faults: that the database is
// away is logged by who waits for it.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, slog.LevelDebug)
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level, r.Message = slog.LevelDebug, "river: "+r.Message
	return q.Handler.Handle(ctx, r)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }
func (q quiet) WithGroup(name string) slog.Handler       { return quiet{q.Handler.WithGroup(name)} }

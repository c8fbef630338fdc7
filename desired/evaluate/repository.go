package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/edge/trace"
)

// Remote says where commits come from, and what a commit must show.
type Remote struct {
	// Source returns the server, the ref and the secrets. It is called for each fetch, so
	// that rotated secrets are picked up.
	Source  func() (gitrepo.Source, error)
	Policy  *gitrepo.Policy // nil accepts each commit
	Path    string          // the folder in which desired state begins
	Timeout time.Duration   // of a fetch; zero is 5 minutes
	Workers Workers
}

// Repository is desired state in git. It implements reconcile.Source, Compiler
// and GoodCommit. Fetch, Compile and Trailers are for one goroutine at a time.
type Repository struct {
	Evaluator Evaluator

	store  string
	remote Remote
	repo   *gitrepo.Repo
	log    *slog.Logger
	spare  *worker.Spare // a process that fetches, started ahead; nil for none
	ahead  ahead
	move   moved  // of the fetch before
	moveTo string // the commit of that fetch
}

// ahead is what the worker that fetched a commit has read of it besides. Each answer
// is used once: whoever asks again may have a reason to.
type ahead struct {
	commit   string // the newest that was read
	list     *reply[listing]
	trailers *reply[Trailers]
}

// OpenRepository opens the store in a state folder, and creates it if it is missing.
func OpenRepository(state string, remote Remote, log *slog.Logger) (*Repository, error) {
	store := storeIn(state)
	repo, err := gitrepo.Open(store)
	if err != nil {
		return nil, err
	}
	return &Repository{store: store, remote: remote, repo: repo, log: log, Evaluator: New(state, log, remote.Workers)}, nil
}

// storeIn is the store of a state folder.
func storeIn(state string) string { return filepath.Join(state, "git") }

// Close releases the cache.
func (r *Repository) Close() { _ = r.Evaluator.cache.Close() }

// FetchLimits are those of a worker that fetches: a little more than the fetch
// gives itself, so that the fetch reports why it ended.
func FetchLimits(timeout time.Duration) worker.Limits {
	const spare = 10 * time.Second
	timeout = cmp.Or(timeout, 5*time.Minute)
	return worker.Limits{PerStep: timeout + spare, Total: timeout + 2*spare}
}

// fetchEnv is what a fetch needs; times in a file of allowed signers are of the
// local zone.
var fetchEnv = append(slices.Clone(worker.NetworkEnv), "TZ")

// KeepSpares is for a daemon, which evaluates one commit after the other: it has a process to
// fetch and one to evaluate started ahead of each push, until closed, and what a commit does not
// change is shared with the state before. busy says for how long, at the most, a push is under way yet:
// no process is started beside one until then, or until it has ended before. That is up to a second for
// the fetch, and up to a second for the rest.
func (r *Repository) KeepSpares(busy func() time.Duration) (closeAll func()) {
	r.Evaluator.merger = &compile.Merger{}
	r.spare = &worker.Spare{Limits: FetchLimits(r.remote.Timeout), Busy: busy}
	r.Evaluator.spare = &worker.Spare{Limits: r.Evaluator.bounds, Ahead: jobWarmUp, Busy: busy}
	r.spare.Prepare()
	r.Evaluator.spare.Prepare()
	return func() { r.spare.Close(); r.Evaluator.spare.Close() }
}

// Fetch brings the configured ref into the store, and verifies it. A commit that
// is not signed as the configuration asks is returned beside the error.
func (r *Repository) Fetch(ctx context.Context) (string, error) {
	source, err := r.remote.Source()
	if err != nil {
		return "", err
	}
	order := fetching{r.store, source.Wire(), r.remote.Policy, r.remote.Path, r.ahead.commit}
	came, err := r.fetch(ctx, source, order)
	if err != nil {
		return "", err
	}
	answer, err := came.get()
	if answer.Rebuilt {
		r.log.WarnContext(ctx, "the local git store was damaged and has been rebuilt", "store", r.store)
	}
	if v := answer.Verify; v != nil {
		trace.Past(ctx, trace.Verify, v.Began, v.Ended, err)
	}
	r.move, r.moveTo = answer.Moved, answer.Commit
	return answer.Commit, err
}

// Moved says how the ref came from one commit to another.
func (r *Repository) Moved(from, to string) (gitrepo.Move, error) {
	if r.move.From == from && r.moveTo == to {
		if r.move.Git != nil {
			return "", r.move.Git
		}
		return r.move.How, nil
	}
	return r.repo.Move(from, to) // the one in force is not the one that was accepted last
}

// trust are the files of keys.
func (r *Repository) trust() []string {
	if r.remote.Policy == nil {
		return nil
	}
	return []string{r.remote.Policy.OpenPGP, r.remote.Policy.SSH}
}

// readAheadFor bounds what a worker does after it has fetched. It is as long as each
// of that may take in a worker of its own.
const readAheadFor = 20 * time.Second

// fetch runs the worker. What fails after the fetch itself is read again, and its error
// returned, when it is needed.
func (r *Repository) fetch(ctx context.Context, source gitrepo.Source, order fetching) (answer reply[fetched], err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := os.MkdirAll(r.store, 0o700); err != nil { // a worker may write below it, not beside it
		return answer, err
	}
	var read ahead
	done := false
	reading := time.AfterFunc(readAheadFor, func() { cancel(errors.New("reading the commit takes too long")) })
	reading.Stop()       // until the commit is known
	defer reading.Stop() // what follows has all of the time of a fetch
	runner := worker.Runner{Limits: FetchLimits(r.remote.Timeout), Env: fetchEnv, Sandbox: r.Evaluator.confine.fetch(r.store, source, r.trust()...), Room: r.Evaluator.rooms.branch, Spare: r.spare}
	err = runner.Run(ctx, toFetch.name, order, func(step string, out json.RawMessage) error {
		switch step {
		case toList.name:
			if order.Policy == nil {
				reading.Stop()
			}
			return json.Unmarshal(out, &read.list)
		case toReadTrailers.name:
			reading.Stop()
			return json.Unmarshal(out, &read.trailers)
		case toTidy.name:
			return r.tidied(ctx, out)
		}
		if err := json.Unmarshal(out, &answer); err != nil {
			return err
		}
		done = true
		if answer.Git == nil && answer.Answer.Commit != order.Known {
			reading.Reset(readAheadFor)
		}
		return nil
	})
	commit := answer.Answer.Commit
	if !done || err == nil && (answer.Git != nil || commit == order.Known) {
		return answer, err
	}
	if err != nil {
		r.log.DebugContext(ctx, "what was fetched is read again", "commit", commit, "error", err.Error())
	}
	r.ahead = read
	r.ahead.commit = commit
	return answer, nil
}

// tidied tells of a store that still serves and was not tidied.
func (r *Repository) tidied(ctx context.Context, out json.RawMessage) error {
	var answer reply[struct{}]
	err := json.Unmarshal(out, &answer)
	if err == nil && answer.Git != nil {
		r.log.DebugContext(ctx, "the local git store was not tidied", "store", r.store, "error", answer.Git.Error())
	}
	return err
}

// Compile evaluates a commit straight from the store.
func (r *Repository) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	t := tree{Store: r.store, Commit: commit, Path: r.remote.Path}
	read := r.ahead.list
	if read == nil || r.ahead.commit != commit {
		return r.Evaluator.compile(ctx, t)
	}
	r.ahead.list = nil
	list, err := read.get()
	if err != nil {
		return desired.State{}, nil, err
	}
	return r.Evaluator.compileListed(t, list, r.Evaluator.evaluation(ctx, t))
}

// CompileOnly is [Repository.Compile] for questions about a few zones: of folders that are kept,
// and declare none of them, no more is read than which zones there are. All mistakes are found
// that Compile finds. In the state, zones that are not wanted declare nothing; see
// [compile.MergeOnly].
func (r *Repository) CompileOnly(ctx context.Context, commit string, wanted compile.Wanted) (desired.State, []desired.Problem, error) {
	only := r.Evaluator
	only.wanted = wanted
	return only.compile(ctx, tree{Store: r.store, Commit: commit, Path: r.remote.Path})
}

// Trailers returns what a commit's trailers approve of. It returns none where the policy
// asks for no signature: anybody could write a trailer then. A worker reads them, unless one has
// done so.
func (r *Repository) Trailers(ctx context.Context, commit string) (Trailers, error) {
	if read := r.ahead.trailers; read != nil && r.ahead.commit == commit {
		r.ahead.trailers = nil
		return read.get()
	}
	if r.remote.Policy == nil {
		return Trailers{}, nil
	}
	order := readingTrailers{r.store, commit, r.remote.Policy.Trust}
	return toReadTrailers.run(ctx, worker.Runner{Env: fetchEnv, Sandbox: r.Evaluator.confine.trailers(order), Room: r.Evaluator.rooms.branch}, order)
}

// Author returns who wrote a commit, as the commit says, and the first line of its message.
func (r *Repository) Author(_ context.Context, commit string) (author, message string, err error) {
	info, err := r.repo.Commit(commit)
	return info.Author, info.Subject, err
}

// Good returns the last accepted commit.
func (r *Repository) Good(context.Context) (string, bool, error) { return r.repo.Good() }

// SetGood remembers the last accepted commit.
func (r *Repository) SetGood(_ context.Context, commit string) error { return r.repo.SetGood(commit) }

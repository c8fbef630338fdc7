package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// folder is desired state in a folder that is not git. It implements
// reconcile.Source and reconcile.Compiler.
type folder struct {
	dir      string
	progress func(done, total int) // nil shows none
}

func newFolder(dir string) folder { return folder{dir: dir} }

// Fetch returns the empty commit: a folder has none.
func (f folder) Fetch(context.Context) (string, error) { return "", nil }

// Compile evaluates the folder as it is now.
func (f folder) Compile(ctx context.Context, _ string) (desired.State, []desired.Problem, error) {
	const hint = "name the folder that holds the CUE files"
	if info, err := os.Stat(f.dir); errors.Is(err, fs.ErrNotExist) {
		return desired.State{}, nil, fail(fmt.Errorf("there is no folder %q", f.dir), hint)
	} else if err != nil {
		return desired.State{}, nil, fail(err, hint)
	} else if !info.IsDir() {
		return desired.State{}, nil, fail(fmt.Errorf("%s is not a folder", f.dir), hint)
	}
	return evaluator{bounds: evaluationBounds, progress: f.progress}.compile(ctx, tree{Dir: f.dir})
}

// repository is desired state in git. It implements reconcile.Source, Compiler
// and GoodCommit. Fetch, Compile and approvals are for one goroutine at a time.
type repository struct {
	store  string
	source schema.Source
	repo   *gitrepo.Repo
	log    *slog.Logger

	evaluator evaluator
	spare     *worker.Spare // a process that fetches, started ahead; nil for none
	ahead     ahead
	move      moved // of the fetch before
	moveTo    string
}

// ahead is what the worker that fetched a commit has read of it besides. Each answer
// is used once: whoever asks again may have a reason to.
type ahead struct {
	commit   string // the newest that was read
	list     *listing
	trailers *trailersRead
}

func newRepository(config schema.Config, log *slog.Logger) (*repository, error) {
	if err := checkSandbox(config.Workers, sandbox.Here()); err != nil {
		return nil, err
	}
	store := filepath.Join(config.StateDir, "git")
	repo, err := gitrepo.Open(store)
	if err != nil {
		return nil, explain(err)
	}
	return &repository{store: store, source: config.Source, repo: repo, log: log, evaluator: newEvaluator(config.StateDir, log, config.Workers)}, nil
}

// fetchBounds are those of a worker that fetches: a little more than the fetch
// gives itself, so that it is what says why it ended.
func fetchBounds(timeout time.Duration) worker.Limits {
	const spare = 10 * time.Second
	timeout = cmp.Or(timeout, 5*time.Minute)
	return worker.Limits{PerStep: timeout + spare, Total: timeout + 2*spare}
}

// fetchEnv is what a fetch needs; times in a file of allowed signers are of the
// local zone.
var fetchEnv = append(slices.Clone(worker.NetworkEnv), "TZ")

// keepSpares has a process to fetch and one to evaluate started ahead of each push,
// until closed.
func (r *repository) keepSpares() (closeAll func()) {
	r.spare = &worker.Spare{Limits: fetchBounds(r.source.Timeout)}
	r.evaluator.spare = &worker.Spare{Limits: r.evaluator.bounds, Ahead: jobWarmUp}
	r.spare.Prepare()
	r.evaluator.spare.Prepare()
	return func() { r.spare.Close(); r.evaluator.spare.Close() }
}

// Fetch brings the configured ref into the store, and verifies it. A commit that
// is not signed as the configuration asks is returned beside the error.
func (r *repository) Fetch(ctx context.Context) (string, error) {
	source, err := gitSource(r.source)
	if err != nil {
		return "", err
	}
	order := fetching{r.store, source.Wire(), policyOf(r.source), r.source.Path, r.ahead.commit}
	answer, err := r.fetch(ctx, order)
	if err != nil {
		return "", err
	}
	if answer.Rebuilt {
		r.log.WarnContext(ctx, "the local git store was damaged and has been rebuilt", "store", r.store)
	}
	r.move, r.moveTo = answer.Moved, answer.Commit
	if answer.Git != nil {
		return answer.Commit, answer.Git
	}
	return answer.Commit, nil
}

// moved says how the ref came from one commit to another.
func (r *repository) moved(_ context.Context, from, to string) (source.Move, error) {
	if r.move.From == from && r.moveTo == to {
		if r.move.Git != nil {
			return "", r.move.Git
		}
		return source.Move(r.move.How), nil
	}
	how, err := r.repo.Move(from, to) // the one in force is not the one that was accepted last
	return source.Move(how), err
}

// readAheadFor bounds what a worker does after it has fetched. It is as long as each
// of that may take in a worker of its own.
const readAheadFor = 20 * time.Second

// fetch runs the worker. What fails after the fetch itself is done again by whoever
// needs it, and told then.
func (r *repository) fetch(ctx context.Context, order fetching) (answer fetched, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := os.MkdirAll(r.store, 0o700); err != nil { // a worker may write below it, not beside it
		return answer, err
	}
	var read ahead
	done := false
	runner := worker.Runner{Limits: fetchBounds(r.source.Timeout), Env: fetchEnv, Sandbox: r.evaluator.confine.fetch(r.store, order.Source.Source(), r.trust()...), Room: r.evaluator.rooms.branch, Spare: r.spare}
	err = runner.Run(ctx, jobFetch, order, func(step string, out json.RawMessage) error {
		switch step {
		case stepListing:
			return json.Unmarshal(out, &read.list)
		case stepTrailers:
			return json.Unmarshal(out, &read.trailers)
		}
		if err := json.Unmarshal(out, &answer); err != nil {
			return err
		}
		done = true
		time.AfterFunc(readAheadFor, func() { cancel(errors.New("reading the commit takes too long")) })
		return nil
	})
	if !done || err == nil && (answer.Git != nil || answer.Commit == order.Known) {
		return answer, err
	}
	if err != nil {
		r.log.DebugContext(ctx, "what was fetched is read again", "commit", answer.Commit, "error", err.Error())
	}
	r.ahead = read
	r.ahead.commit = answer.Commit
	return answer, nil
}

// trust are the files of keys.
func (r *repository) trust() []string {
	if r.source.Verify == nil {
		return nil
	}
	return []string{r.source.Verify.OpenPGP, r.source.Verify.SSH}
}

// policyOf says what a commit must show; nil for nothing.
func policyOf(s schema.Source) *gitrepo.Policy {
	if s.Verify == nil {
		return nil
	}
	return &gitrepo.Policy{
		Trust:   signature.Trust{OpenPGP: s.Verify.OpenPGP, SSH: s.Verify.SSH},
		Require: gitrepo.Require(s.Verify.Require), Ref: s.Ref,
	}
}

// Compile evaluates a commit straight from the store.
func (r *repository) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	t := tree{Store: r.store, Commit: commit, Path: r.source.Path}
	if list := r.ahead.list; list != nil && r.ahead.commit == commit {
		r.ahead.list = nil
		return r.evaluator.compileListed(ctx, t, *list)
	}
	return r.evaluator.compile(ctx, t)
}

// approvals are those that a commit's trailers carry.
func (r *repository) approvals(ctx context.Context, commit string) ([]reconcile.Approval, error) {
	read := r.ahead.trailers
	if read == nil || r.ahead.commit != commit {
		return r.agreed(ctx, commit)
	}
	r.ahead.trailers = nil
	if read.Git != nil {
		return nil, read.Git
	}
	var approvals []reconcile.Approval
	for _, digest := range slices.Compact(read.Digests) {
		approvals = append(approvals, reconcile.Approval{
			Digest: digest, Kind: reconcile.Approved, Who: read.Who, Reason: "trailer of commit " + commit, At: time.Now(),
		})
	}
	return approvals, nil
}

// author says who wrote a commit, as it says itself.
func (r *repository) author(_ context.Context, commit string) (string, error) {
	info, err := r.repo.Commit(commit)
	return info.Author, err
}

// Good returns the last accepted commit.
func (r *repository) Good(context.Context) (string, bool, error) { return r.repo.Good() }

// SetGood remembers the last accepted commit.
func (r *repository) SetGood(_ context.Context, commit string) error { return r.repo.SetGood(commit) }

// gitSource reads the secrets a source needs, anew for each fetch.
func gitSource(s schema.Source) (gitrepo.Source, error) {
	source := gitrepo.Source{URL: s.URL, Ref: s.Ref, Shallow: s.Shallow, Idle: s.IdleTimeout, Timeout: s.Timeout, Limits: fetchLimits(s.Limits)}
	if policy := policyOf(s); policy != nil {
		source.Tags = policy.Tags()
	}
	var err error
	switch {
	case s.Auth.Token != nil:
		source.Auth.Token, err = readSecret(*s.Auth.Token)
	case s.Auth.Basic != nil:
		source.Auth.Basic = &gitrepo.Basic{Username: s.Auth.Basic.Username}
		source.Auth.Basic.Password, err = readSecret(s.Auth.Basic.Password)
	case s.Auth.SSH != nil:
		source.Auth.SSH, err = sshAuth(*s.Auth.SSH)
	}
	if err != nil {
		return gitrepo.Source{}, fmt.Errorf("source.auth: %w", err)
	}
	return source, nil
}

func fetchLimits(l schema.FetchLimits) gitrepo.FetchLimits {
	return gitrepo.FetchLimits{
		Objects: l.Objects, ObjectBytes: l.Object, UnpackedBytes: l.Unpacked, PackBytes: l.Pack, StoreBytes: l.Store,
	}
}

func sshAuth(s schema.SSH) (*gitrepo.SSH, error) {
	auth := &gitrepo.SSH{User: s.User, KnownHostsFile: s.KnownHosts}
	var err error
	if auth.Key, err = readSecret(s.Key); err != nil {
		return nil, err
	}
	if s.Passphrase != nil {
		auth.Passphrase, err = readSecret(*s.Passphrase)
	}
	return auth, err
}

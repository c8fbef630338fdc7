package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// folder is desired state in a folder that is not git. It implements
// reconcile.Source and reconcile.Compiler.
type folder struct{ dir string }

func newFolder(dir string) folder { return folder{dir} }

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
	return compileTree(ctx, tree{Dir: f.dir}, evaluationBounds)
}

// repository is desired state in git. It implements reconcile.Source, Compiler
// and GoodCommit.
type repository struct {
	store  string
	source schema.Source
	repo   *gitrepo.Repo
}

func newRepository(config schema.Config) (*repository, error) {
	store := filepath.Join(config.StateDir, "git")
	repo, err := gitrepo.Open(store)
	if err != nil {
		return nil, explain(err)
	}
	return &repository{store: store, source: config.Source, repo: repo}, nil
}

// fetchBounds are those of a fetch: the first one of a large repository takes
// its time.
var fetchBounds = worker.Limits{PerStep: 5 * time.Minute}

// fetchEnv is what a fetch needs; times in a file of allowed signers are of the
// local zone.
var fetchEnv = append(slices.Clone(worker.NetworkEnv), "TZ")

// Fetch brings the configured ref into the store, and verifies it. A commit that
// is not signed as the configuration asks is returned beside the error.
func (r *repository) Fetch(ctx context.Context) (string, error) {
	source, err := gitSource(r.source)
	if err != nil {
		return "", err
	}
	order := fetching{r.store, source.Wire(), policyOf(r.source)}
	var answer fetched
	runner := worker.Runner{Limits: fetchBounds, Env: fetchEnv}
	err = runner.Run(ctx, jobFetch, order, func(_ string, out json.RawMessage) error {
		return json.Unmarshal(out, &answer)
	})
	if err != nil {
		return "", err
	}
	if answer.Git != nil {
		return answer.Commit, answer.Git
	}
	return answer.Commit, nil
}

// policyOf says what a commit must show; nil for nothing.
func policyOf(s schema.Source) *gitrepo.Policy {
	if s.Verify == nil {
		return nil
	}
	return &gitrepo.Policy{
		Trust:   gitrepo.Trust{OpenPGP: s.Verify.OpenPGP, SSH: s.Verify.SSH},
		Require: gitrepo.Require(s.Verify.Require), Ref: s.Ref,
	}
}

// Compile evaluates a commit straight from the store.
func (r *repository) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	return compileTree(ctx, tree{Store: r.store, Commit: commit, Path: r.source.Path}, evaluationBounds)
}

// Good returns the last accepted commit.
func (r *repository) Good(context.Context) (string, bool, error) { return r.repo.Good() }

// SetGood remembers the last accepted commit.
func (r *repository) SetGood(_ context.Context, commit string) error { return r.repo.SetGood(commit) }

// gitSource reads the secrets a source needs, anew for each fetch.
func gitSource(s schema.Source) (gitrepo.Source, error) {
	source := gitrepo.Source{URL: s.URL, Ref: s.Ref, Shallow: s.Shallow}
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

// evaluationBounds are those of an evaluation. What it may hand over is some
// 100,000 zones' worth.
var evaluationBounds = worker.Limits{Output: 512 << 20}

// trippedOver says which bound ended an evaluation.
func trippedOver(b *worker.BoundError) string {
	if b.Bound == worker.BoundCrash {
		return "crashed the evaluator: " + b.Limit
	}
	return fmt.Sprintf("exceeded the %s bound of %s", b.Bound, b.Limit)
}

// compileTree lists a tree's folders and evaluates each in a worker. A folder
// that trips a bound is a problem of its own; the others are evaluated all the
// same, so that all mistakes are told at once.
func compileTree(ctx context.Context, t tree, bounds worker.Limits) (desired.State, []desired.Problem, error) {
	var list listing
	runner := worker.Runner{Limits: bounds}
	err := runner.Run(ctx, jobFolders, t, func(_ string, out json.RawMessage) error { return json.Unmarshal(out, &list) })
	switch {
	case err != nil:
		return desired.State{}, nil, err
	case list.Git != nil:
		return desired.State{}, nil, list.Git
	case len(list.Problems) > 0:
		return desired.State{}, list.Problems, nil
	}
	var units []compile.Unit
	tripped, err := runner.RunSteps(ctx, jobEvaluate, list.Folders,
		func(remaining []string) any { return evaluation{t, remaining} },
		func(_ string, out json.RawMessage) error {
			var unit compile.Unit
			if err := json.Unmarshal(out, &unit); err != nil {
				return err
			}
			units = append(units, unit)
			return nil
		})
	if err != nil {
		return desired.State{}, nil, err
	}
	for _, bound := range tripped {
		units = append(units, compile.Unit{Dir: bound.Step, Problems: []desired.Problem{{
			Origin:  desired.Origin{Commit: t.Commit, File: bound.Step},
			Message: "evaluating this folder " + trippedOver(bound),
			Hint:    "look for a comprehension, a reference or nested text that multiplies; split a folder that is merely large",
		}}})
	}
	state, problems := compile.Merge(units, t.Commit)
	return state, problems, nil
}

package reconciletest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

// Repo is git and the compiler in one: a head and what each commit says.
type Repo struct {
	sync.Mutex // guards the rest while it is used
	Head       string
	FetchErr   error // of each fetch, which knows the head all the same
	Commits    map[string]Commit
	Compiled   map[string]int // how often
	Fetches    []time.Time
	fetch      func(context.Context) error // before each fetch; nil does nothing
}

// Commit is what a commit says.
type Commit struct {
	State     desired.State
	Problems  []desired.Problem
	Approvals []reconcile.Approval
	Err       error
}

// NewRepo is an empty repository.
func NewRepo() *Repo { return &Repo{Commits: map[string]Commit{}, Compiled: map[string]int{}} }

// Push makes a commit the head, which declares these zones.
func (r *Repo) Push(name string, zones ...desired.Zone) {
	r.Commit(name, Commit{State: State(name, zones...)})
}

// Commit makes a commit the head.
func (r *Repo) Commit(name string, c Commit) {
	r.Lock()
	defer r.Unlock()
	r.Head, r.Commits[name] = name, c
}

// FetchBy has a function called before each fetch; it fails with its error.
func (r *Repo) FetchBy(fetch func(context.Context) error) {
	r.Lock()
	defer r.Unlock()
	r.fetch = fetch
}

// Fetch implements [reconcile.Source].
func (r *Repo) Fetch(ctx context.Context) (string, error) {
	r.Lock()
	fetch := r.fetch
	r.Fetches = append(r.Fetches, time.Now())
	r.Unlock()
	if fetch != nil {
		if err := fetch(ctx); err != nil {
			return "", err
		}
	}
	r.Lock()
	defer r.Unlock()
	if len(r.Commits) == 0 && r.FetchErr == nil {
		return "", errors.New("there is no branch")
	}
	return r.Head, r.FetchErr
}

// Compile implements [reconcile.Compiler].
func (r *Repo) Compile(_ context.Context, name string) (desired.State, []desired.Problem, error) {
	r.Lock()
	defer r.Unlock()
	r.Compiled[name]++
	c, ok := r.Commits[name]
	if !ok {
		return desired.State{}, nil, errors.New("object not found")
	}
	return c.State, c.Problems, c.Err
}

// Agreed are the approvals that a commit carries.
func (r *Repo) Agreed(_ context.Context, name string) ([]reconcile.Approval, error) {
	r.Lock()
	defer r.Unlock()
	return r.Commits[name].Approvals, nil
}

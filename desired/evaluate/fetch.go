package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// The steps of a fetch, each with an answer of its own.
const (
	stepFetching = "fetching"
	stepListing  = "listing the folders"
	stepTrailers = "reading trailers"
)

// fetching asks for a fetch. It carries secrets and only ever goes over the pipe
// to a worker.
type fetching struct {
	Store  string
	Source gitrepo.Wire
	Policy *gitrepo.Policy // nil for any commit
	// Path is where desired state begins. A commit other than Known is listed from
	// there, and read for its trailers where there is a policy: whoever evaluates it
	// then needs no worker for that.
	Path, Known string
}

// fetched is what the fetch job answers first: a commit, an error, or a commit with
// the error that says why it must not be acted on. A listing and a trailersRead may
// follow.
type fetched struct {
	Commit  string
	Rebuilt bool // the store was damaged, and was fetched anew
	Git     *gitrepo.Error
	Moved   moved
}

// moved is how the ref came from the commit that was accepted last.
type moved struct {
	From string // empty: none was accepted yet, or it is the same
	How  gitrepo.Move
	Git  *gitrepo.Error // why that is not known
}

func fetchJob(ctx context.Context, in []byte, out *worker.Output) error {
	var f fetching
	if err := json.Unmarshal(in, &f); err != nil {
		return errors.New("reading the order to fetch") // never the data: it holds a credential
	}
	var answer fetched
	err := step(out, stepFetching, func() any { answer = f.fetch(ctx); return answer })
	if err != nil || answer.Git != nil || answer.Commit == f.Known {
		return err
	}
	return f.readAhead(answer.Commit, out)
}

// readAhead answers what will be asked next about a new commit.
func (f fetching) readAhead(commit string, out *worker.Output) error {
	err := step(out, stepListing, func() any { return tree{Store: f.Store, Commit: commit, Path: f.Path}.list() })
	if err != nil || f.Policy == nil {
		return err
	}
	return step(out, stepTrailers, func() any { return readingTrailers{f.Store, commit, f.Policy.Trust}.read() })
}

func (f fetching) fetch(ctx context.Context) fetched {
	repo, err := gitrepo.Open(f.Store)
	if err != nil {
		return fetched{Git: asGitError("fetching", err)}
	}
	source := f.Source.Source()
	if f.Policy != nil {
		source.Accept = f.Policy.Accept(time.Now())
	}
	got, err := repo.Fetch(ctx, source)
	if err == nil && f.Policy != nil {
		err = repo.Verify(got.Commit, *f.Policy, time.Now())
	}
	if err != nil {
		return fetched{Commit: got.Commit, Rebuilt: got.Rebuilt, Git: asGitError("fetching", err)}
	}
	return fetched{Commit: got.Commit, Rebuilt: got.Rebuilt, Moved: movedTo(repo, got.Commit)}
}

func movedTo(repo *gitrepo.Repo, commit string) (m moved) {
	good, ok, err := repo.Good()
	if err != nil || !ok || good == commit {
		return moved{}
	}
	m.From = good
	if m.How, err = repo.Move(good, commit); err != nil {
		m.Git = asGitError("comparing commits", err)
	}
	return m
}

func asGitError(doing string, err error) *gitrepo.Error {
	var known *gitrepo.Error
	if errors.As(err, &known) {
		return known
	}
	return &gitrepo.Error{Kind: gitrepo.ErrFetch, Doing: doing, Reason: err.Error()}
}

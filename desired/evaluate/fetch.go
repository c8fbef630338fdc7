package evaluate

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// toFetch is the first step of a fetch. Those of toList, toReadTrailers
// and toTidy may follow.
var toFetch = call[fetching, fetched]{"fetching", fetching.fetch}

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

// fetched is what a fetch comes to: a commit, beside an error where it must not be acted on.
type fetched struct {
	Commit  string
	Rebuilt bool // the store was damaged, and was fetched anew
	Moved   moved
	Verify  *verified // nil: nothing was checked
}

// verified is when a commit was checked for what the policy asks.
type verified struct{ Began, Ended time.Time }

// moved is how the ref came from the commit that was accepted last.
type moved struct {
	From string // empty: none was accepted yet, or it is the same
	How  gitrepo.Move
	Git  *gitrepo.Error // why that is not known
}

func fetchJob(ctx context.Context, in []byte, out *worker.Output) error {
	f, err := decoded[fetching](in, toFetch.name)
	if err != nil {
		return err
	}
	got, err := toFetch.step(ctx, out, f)
	commit := got.Answer.Commit
	if err != nil || commit == "" {
		return err
	}
	reads := got.Git == nil && commit != f.Known
	if reads {
		if err := f.readAhead(ctx, out, commit); err != nil {
			return err
		}
	}
	_, err = toTidy.step(ctx, out, tidying{f.Store, f.Source.Source().Limits, reads})
	return err
}

// readAhead reads what will be asked next about a new commit.
func (f fetching) readAhead(ctx context.Context, out *worker.Output, commit string) error {
	if _, err := toList.step(ctx, out, tree{Store: f.Store, Commit: commit, Path: f.Path}); err != nil || f.Policy == nil {
		return err
	}
	_, err := toReadTrailers.step(ctx, out, readingTrailers{f.Store, commit, f.Policy.Trust})
	return err
}

// toTidy is the last step of a fetch: whatever becomes of it, the commit has been told.
var toTidy = call[tidying, struct{}]{"tidying the clone", tidying.tidy}

// tidying asks for a store to be tidied. A push that follows others waits for what its
// fetch does, and so may one that begins with a process: that of a moment in which nothing is pushed
// does most of this.
type tidying struct {
	Store  string
	Limits gitrepo.FetchLimits
	Waited bool
}

func (t tidying) tidy(context.Context) (struct{}, error) {
	repo, err := gitrepo.Open(t.Store)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, repo.Tidy(t.Limits, t.Waited)
}

func (f fetching) fetch(ctx context.Context) (fetched, error) {
	repo, err := gitrepo.Open(f.Store)
	if err != nil {
		return fetched{}, err
	}
	source := f.Source.Source()
	if f.Policy != nil {
		source.Accept = f.Policy.Accept(time.Now())
	}
	got, err := repo.Fetch(ctx, source)
	answer := fetched{Commit: got.Commit, Rebuilt: got.Rebuilt}
	if err == nil && f.Policy != nil {
		began := time.Now()
		err = repo.Verify(got.Commit, *f.Policy, began)
		answer.Verify = &verified{began, time.Now()}
	}
	if err == nil {
		answer.Moved = movedTo(repo, got.Commit)
	}
	return answer, err
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

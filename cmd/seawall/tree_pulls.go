package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/desired/worker"
)

// The jobs about what strangers push: heads of pull requests, and messages of
// commits.
const (
	jobPulls    = "pulls"
	jobTrailers = "trailers"
)

// fetchingPulls asks for the heads of pull requests. Like fetching it carries
// secrets and only ever goes over the pipe to a worker.
type fetchingPulls struct {
	Store   string
	Source  gitrepo.Wire
	Numbers []int
	Refs    string            // how the names of the refs begin
	Refused map[string]string // commits that were over the bound, and what was told of each
}

type fetchedPulls struct {
	Heads   map[int]string
	Failed  map[int]string
	Refused map[string]string // those among Failed that are over the bound, by commit
	Git     *gitrepo.Error
}

func pullsJob(ctx context.Context, in []byte, out *worker.Output) error {
	var f fetchingPulls
	if err := json.Unmarshal(in, &f); err != nil {
		return errors.New("reading the order to fetch pull requests") // never the data: it holds a credential
	}
	return step(out, "fetching pull requests", func() any { return f.fetch(ctx) })
}

func (f fetchingPulls) fetch(ctx context.Context) fetchedPulls {
	answer := fetchedPulls{Heads: map[int]string{}, Failed: map[int]string{}, Refused: map[string]string{}}
	here, failed, err := f.fetchOpen(ctx, &answer)
	if err != nil {
		answer.Git = asGitError("fetching pull requests", err)
		return answer
	}
	for _, pull := range here {
		answer.Heads[pull.Number] = pull.Commit
	}
	for _, e := range failed {
		answer.Failed[e.Pull.Number] = e.Err.Error()
		if e.Err.Kind == gitrepo.ErrTooLarge {
			answer.Refused[e.Pull.Commit] = e.Err.Error()
		}
	}
	return answer
}

func (f fetchingPulls) fetchOpen(ctx context.Context, answer *fetchedPulls) ([]gitrepo.Pull, []gitrepo.PullError, error) {
	pulls, err := gitrepo.OpenPulls(f.Store)
	if err != nil {
		return nil, nil, err
	}
	source := f.Source.Source()
	// The forge says which are open; a server may keep the refs of many closed ones.
	listed, err := pulls.List(ctx, source, gitrepo.PullLimits{Newest: 1 << 20})
	if err != nil {
		return nil, nil, err
	}
	open := slices.DeleteFunc(listed, func(p gitrepo.Pull) bool {
		return !strings.HasPrefix(p.Ref, f.Refs) || !slices.Contains(f.Numbers, p.Number) || f.knows(p, answer)
	})
	return pulls.Fetch(ctx, source, open, gitrepo.PullLimits{Newest: len(f.Numbers)})
}

// knows reports whether a head was over the bound before, and says so again.
func (f fetchingPulls) knows(p gitrepo.Pull, answer *fetchedPulls) bool {
	reason, ok := f.Refused[p.Commit]
	if ok {
		answer.Failed[p.Number], answer.Refused[p.Commit] = reason, reason
	}
	return ok
}

func asGitError(doing string, err error) *gitrepo.Error {
	var known *gitrepo.Error
	if errors.As(err, &known) {
		return known
	}
	return &gitrepo.Error{Kind: gitrepo.ErrFetch, Doing: doing, Reason: err.Error()}
}

// readingTrailers asks for the approvals in a commit's message, if a trusted key
// has signed it.
type readingTrailers struct {
	Store  string
	Commit string
	Trust  signature.Trust
}

type trailersRead struct {
	Who     string
	Digests []string // sorted
	Git     *gitrepo.Error
}

// approvalTrailer is the key of the trailer that approves of a digest.
const approvalTrailer = "seawall-approve"

func trailersJob(_ context.Context, in []byte, out *worker.Output) error {
	var r readingTrailers
	if err := json.Unmarshal(in, &r); err != nil {
		return err
	}
	return step(out, "reading trailers", func() any { return r.read() })
}

func (r readingTrailers) read() trailersRead {
	repo, err := gitrepo.Open(r.Store)
	if err != nil {
		return trailersRead{Git: asGitError("reading trailers", err)}
	}
	found, err := repo.Trailers(r.Commit)
	if err != nil || len(found[approvalTrailer]) == 0 {
		return trailersRead{Git: gitErrorOrNone(err)}
	}
	signer, err := repo.Signer(r.Commit, r.Trust, time.Now())
	if err != nil {
		return trailersRead{Git: asGitError("reading trailers", err)}
	}
	digests := slices.Clone(found[approvalTrailer])
	slices.Sort(digests)
	return trailersRead{Who: signer.Principal + " (" + signer.Fingerprint + ")", Digests: digests}
}

func gitErrorOrNone(err error) *gitrepo.Error {
	if err == nil {
		return nil
	}
	return asGitError("reading trailers", err)
}

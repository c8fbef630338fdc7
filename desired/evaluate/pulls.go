package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// The jobs about heads of pull requests: which there are, and to fetch one.
const (
	jobPulls = "pulls"
	jobPull  = "pull"
)

// fetchingPulls asks which heads of pull requests there are, and drops those that are
// not among them. Like fetching it carries secrets and only ever goes over the pipe to a
// worker.
type fetchingPulls struct {
	Store   string
	Source  gitrepo.Wire
	Numbers []int
	Refs    string // how the names of the refs begin
}

type fetchedPulls struct {
	Heads     []listedPull
	UsedBytes int64 // by the heads that are here
	Git       *gitrepo.Error
}

// listedPull is a head that the server shows.
type listedPull struct {
	Pull    gitrepo.Pull
	Here    bool
	Refused *gitrepo.Error // why it was refused before; nil where it was not
}

func pullsJob(ctx context.Context, in []byte, out *worker.Output) error {
	var f fetchingPulls
	if err := json.Unmarshal(in, &f); err != nil {
		return errors.New("reading the order to list pull requests") // never the data: it holds a credential
	}
	return step(out, "listing pull requests", func() any { return f.list(ctx) })
}

func (f fetchingPulls) list(ctx context.Context) (answer fetchedPulls) {
	fail := func(err error) fetchedPulls { return fetchedPulls{Git: asGitError("listing pull requests", err)} }
	pulls, err := gitrepo.OpenPulls(f.Store)
	if err != nil {
		return fail(err)
	}
	source := f.Source.Source()
	// The forge says which are open; a server may keep the refs of many closed ones.
	listed, err := pulls.List(ctx, source)
	if err != nil {
		return fail(err)
	}
	var commits []string
	for _, p := range listed {
		if !strings.HasPrefix(p.Ref, f.Refs) || !slices.Contains(f.Numbers, p.Number) {
			continue
		}
		commits = append(commits, p.Commit)
		here, refused := pulls.Known(p, source.Limits)
		head := listedPull{Pull: p, Here: here}
		if refused != nil {
			head.Refused = asGitError("", refused)
		}
		answer.Heads = append(answer.Heads, head)
	}
	if err := pulls.KeepOnly(commits); err != nil {
		return fail(err)
	}
	answer.UsedBytes = pulls.UsedBytes()
	return answer
}

// fetchingPull asks for one head.
type fetchingPull struct {
	Store  string
	Source gitrepo.Wire
	Pull   gitrepo.Pull
}

type fetchedPull struct {
	Pull      gitrepo.Pull // with the commit that it was by then
	UsedBytes int64
	Git       *gitrepo.Error
	Later     bool // with Git: it may do better another time, not soon
}

func pullJob(ctx context.Context, in []byte, out *worker.Output) error {
	var f fetchingPull
	if err := json.Unmarshal(in, &f); err != nil {
		return errors.New("reading the order to fetch a pull request") // never the data: it holds a credential
	}
	return step(out, "fetching a pull request", func() any { return f.fetch(ctx) })
}

func (f fetchingPull) fetch(ctx context.Context) fetchedPull {
	pulls, err := gitrepo.OpenPulls(f.Store)
	if err != nil {
		return fetchedPull{Git: asGitError("fetching a pull request", err)}
	}
	got, err := pulls.Fetch(ctx, f.Source.Source(), f.Pull)
	if err != nil {
		return fetchedPull{Git: asGitError("fetching a pull request", err), Later: gitrepo.Later(err)}
	}
	return fetchedPull{Pull: got, UsedBytes: pulls.Used(got.Commit)}
}

package evaluate

import (
	"context"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired/gitrepo"
)

// toListPulls is about which heads of pull requests there are, toFetchPull fetches one.
var (
	toListPulls = call[listingPulls, listedPulls]{"listing pull requests", listingPulls.list}
	toFetchPull = call[fetchingPull, fetchedPull]{"fetching a pull request", fetchingPull.fetch}
)

// listingPulls asks which heads of pull requests there are, and drops those that are
// not among them.
type listingPulls struct {
	Store   string
	Source  gitrepo.Wire
	Numbers []int
	Refs    string // how the names of the refs begin
}

type listedPulls struct {
	Heads     []listedPull
	UsedBytes int64 // by the heads that are here
}

// listedPull is a head that the server shows.
type listedPull struct {
	Pull    gitrepo.Pull
	Here    bool
	Refused *gitrepo.Error // why it was refused before; nil where it was not
}

func (l listingPulls) list(ctx context.Context) (answer listedPulls, err error) {
	pulls, err := gitrepo.OpenPulls(l.Store)
	if err != nil {
		return answer, err
	}
	source := l.Source.Source()
	// The forge says which are open; a server may keep the refs of many closed ones.
	listed, err := pulls.List(ctx, source)
	if err != nil {
		return answer, err
	}
	var commits []string
	for _, p := range listed {
		if !strings.HasPrefix(p.Ref, l.Refs) || !slices.Contains(l.Numbers, p.Number) {
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
		return answer, err
	}
	answer.UsedBytes = pulls.UsedBytes()
	return answer, nil
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
	Later     bool // with an error: it may do better another time, not soon
}

func (f fetchingPull) fetch(ctx context.Context) (fetchedPull, error) {
	pulls, err := gitrepo.OpenPulls(f.Store)
	if err != nil {
		return fetchedPull{}, err
	}
	got, err := pulls.Fetch(ctx, f.Source.Source(), f.Pull)
	if err != nil {
		return fetchedPull{Later: gitrepo.Later(err)}, err
	}
	return fetchedPull{Pull: got, UsedBytes: pulls.Used(got.Commit)}, nil
}

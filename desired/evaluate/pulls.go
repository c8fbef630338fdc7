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

// jobPulls fetches heads of pull requests.
const jobPulls = "pulls"

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

package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// jobPush sends a commit as a new branch.
const jobPush = "push"

// pushing asks for a push. It carries secrets and only ever goes over the pipe to a worker.
type pushing struct {
	Store  string
	Source gitrepo.Wire
	Branch gitrepo.Branch
}

type pushed struct {
	Pushed gitrepo.Pushed
	Git    *gitrepo.Error
}

func pushJob(ctx context.Context, in []byte, out *worker.Output) error {
	var p pushing
	if err := json.Unmarshal(in, &p); err != nil {
		return errors.New("reading the order to push") // never the data: it holds a credential
	}
	return step(out, "pushing", func() any {
		done, err := gitrepo.Reader(p.Store).Push(ctx, p.Source.Source(), p.Branch)
		if err != nil {
			return pushed{Git: asGitError("pushing", err)}
		}
		return pushed{Pushed: done}
	})
}

// Push makes a commit on top of one that was fetched, and sends it to the configured server
// as a new branch; see [gitrepo.Repo.Push].
func (r *Repository) Push(ctx context.Context, b gitrepo.Branch) (gitrepo.Pushed, error) {
	source, err := r.remote.Source()
	if err != nil {
		return gitrepo.Pushed{}, err
	}
	var answer pushed
	runner := worker.Runner{Limits: FetchLimits(r.remote.Timeout), Env: fetchEnv, Sandbox: r.Evaluator.confine.push(r.store, source), Room: r.Evaluator.rooms.branch}
	err = runner.Run(ctx, jobPush, pushing{r.store, source.Wire(), b}, func(_ string, out json.RawMessage) error { return json.Unmarshal(out, &answer) })
	switch {
	case err != nil:
		return gitrepo.Pushed{}, err
	case answer.Git != nil:
		return gitrepo.Pushed{}, answer.Git
	}
	return answer.Pushed, nil
}

// Export writes the files of desired state of a commit below a folder, by their names in
// the repository, and returns the folder in which desired state begins. Compile the commit
// first: a worker has read the same files then, within its bounds.
func (r *Repository) Export(commit, dir string) (begin string, err error) {
	files, root, err := tree{Store: r.store, Commit: commit, Path: r.remote.Path}.open()
	if err != nil {
		return "", err
	}
	begin = filepath.Join(dir, filepath.FromSlash(root))
	if err := os.MkdirAll(begin, 0o700); err != nil {
		return "", err
	}
	return begin, os.CopyFS(dir, files)
}

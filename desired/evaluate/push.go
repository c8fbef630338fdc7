package evaluate

import (
	"context"
	"os"
	"path/filepath"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// toPush sends a commit as a new branch.
var toPush = call[pushing, gitrepo.Pushed]{"pushing", pushing.push}

// pushing asks for a push.
type pushing struct {
	Store  string
	Source gitrepo.Wire
	Branch gitrepo.Branch
}

func (p pushing) push(ctx context.Context) (gitrepo.Pushed, error) {
	return gitrepo.Reader(p.Store).Push(ctx, p.Source.Source(), p.Branch)
}

// Push makes a commit on top of one that was fetched, and sends it to the configured server
// as a new branch; see [gitrepo.Repo.Push].
func (r *Repository) Push(ctx context.Context, b gitrepo.Branch) (gitrepo.Pushed, error) {
	source, err := r.remote.Source()
	if err != nil {
		return gitrepo.Pushed{}, err
	}
	runner := worker.Runner{Limits: FetchLimits(r.remote.Timeout), Env: fetchEnv, Sandbox: r.Evaluator.confine.push(r.store, source), Room: r.Evaluator.rooms.branch}
	return toPush.run(ctx, runner, pushing{r.store, source.Wire(), b})
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

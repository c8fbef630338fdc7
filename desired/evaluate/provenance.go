package evaluate

import (
	"context"
	"io/fs"
	"path"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// toTrace finds where values come from.
var toTrace = call[tracing, Origins]{"finding where values come from", tracing.trace}

// historyTime is for how long a worker looks back in the history.
const historyTime = 5 * time.Second

// Provenance is where one value comes from, beside its line.
type Provenance struct {
	// Shared is what several zones share, in which the value stands: _gold, or
	// zone: [string]. Empty where it stands in the declaration of one zone or token.
	Shared string
	// Line is the commit that last changed the line, and Part the one that last changed
	// anything of the declaration, or of what is shared. Nil where no history is known.
	Line, Part *gitrepo.LastChange
}

// Origins is where values come from: one [Provenance] for each place that was asked for.
type Origins struct {
	Places []Provenance
	// Unread says why no history is known; empty where it is, or there is none.
	Unread string
}

// tracing asks for the provenance of places.
type tracing struct {
	Tree   tree
	Work   *gitrepo.WorkTree // that a folder on disk is in; nil for none
	Places []desired.Origin
}

// CommitProvenance finds where values of a commit come from that a state folder has. It
// opens nothing but the store, and may run beside the daemon.
func CommitProvenance(ctx context.Context, state string, remote Remote, commit string, places []desired.Origin) (Origins, error) {
	t := tree{Store: storeIn(state), Commit: commit, Path: remote.Path}
	runner := worker.Runner{Limits: evaluationBounds, Sandbox: confinement{off: remote.Workers.NoSandbox}.tree(t)}
	return toTrace.run(ctx, runner, tracing{Tree: t, Places: places})
}

// FolderProvenance finds where values of a folder on disk come from: by the history of the
// working copy that it is in, where it is in one.
func FolderProvenance(ctx context.Context, dir string, places []desired.Origin) (Origins, error) {
	t := tracing{Tree: tree{Dir: dir}, Places: places}
	policy := confinement{}.tree(t.Tree)
	work, ok, err := gitrepo.FindWorkTree(dir)
	if ok {
		t.Work = &work
		policy.Read = append(policy.Read, work.Git, work.Common)
	}
	origins, failed := toTrace.run(ctx, worker.Runner{Limits: evaluationBounds, Sandbox: policy}, t)
	if err != nil && origins.Unread == "" {
		origins.Unread = err.Error()
	}
	return origins, failed
}

// trace looks at the files first, and then at the history.
func (t tracing) trace(ctx context.Context) (Origins, error) {
	files, closeAll, err := t.Tree.files()
	if err != nil {
		return Origins{}, err
	}
	defer closeAll()
	o := Origins{Places: make([]Provenance, len(t.Places))}
	texts := map[string][]byte{}
	var regions []gitrepo.Region
	var of []int // which place each two regions are about
	for i, place := range t.Places {
		text, known := texts[place.File]
		if !known {
			text, _ = fs.ReadFile(files, place.File) // without it nothing is found
			texts[place.File] = text
		}
		part, ok := cuefile.PartAt(text, place.Line, place.Column)
		if !ok {
			continue
		}
		o.Places[i].Shared = part.Shared
		regions = append(regions,
			gitrepo.Region{File: place.File, First: place.Line, Last: place.Line},
			gitrepo.Region{File: place.File, First: part.First, Last: part.Last})
		of = append(of, i)
	}
	changes, err := t.history(ctx, texts, regions)
	if err != nil {
		o.Unread = err.Error()
		return o, nil // the answer says why nothing was read
	}
	for n := range len(changes) / 2 {
		o.Places[of[n]].Line, o.Places[of[n]].Part = &changes[2*n], &changes[2*n+1]
	}
	return o, nil
}

// history finds the last changes of regions; none where there is no history.
func (t tracing) history(ctx context.Context, texts map[string][]byte, regions []gitrepo.Region) ([]gitrepo.LastChange, error) {
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	switch {
	case t.Tree.Store != "":
		return gitrepo.Reader(t.Tree.Store).LastChanges(ctx, t.Tree.Commit, nil, regions)
	case t.Work == nil:
		return nil, nil
	}
	now := map[string][]byte{}
	for name, text := range texts {
		now[path.Join(t.Work.Folder, name)] = text
	}
	for i := range regions {
		regions[i].File = path.Join(t.Work.Folder, regions[i].File)
	}
	return t.Work.LastChanges(ctx, now, regions)
}

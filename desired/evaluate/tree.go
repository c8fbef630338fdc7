package evaluate

import (
	"context"
	"errors"
	"io/fs"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/examples"
)

// Jobs are what a worker process of this binary can do.
var Jobs = map[string]worker.Job{
	toFetch.name:        fetchJob,
	toList.name:         toList.job,
	jobFolder:           folderJob,
	jobEvaluate:         evaluateJob,
	jobWarmUp:           warmUpJob,
	toListPulls.name:    toListPulls.job,
	toFetchPull.name:    toFetchPull.job,
	toReadTrailers.name: toReadTrailers.job,
	toPush.name:         toPush.job,
	toTrace.name:        toTrace.job,
}

const (
	jobFolder   = "folder on disk"
	jobEvaluate = "evaluate"
	jobWarmUp   = "warm up"
)

// tree names a tree of desired state: a folder on disk, or a commit in a store.
type tree struct {
	Dir string `json:"dir,omitempty"`

	Store  string `json:"store,omitempty"`
	Commit string `json:"commit,omitempty"`
	Path   string `json:"path,omitempty"`
}

// files are those of a tree that was listed.
func (t tree) files() (fs.FS, error) {
	if t.Store == "" {
		return compile.Checked(t.Dir)
	}
	return gitrepo.Reader(t.Store).Files(t.Commit, t.Path)
}

// open returns the tree's files, once they are checked, and the folder to begin at.
func (t tree) open() (fs.FS, string, error) {
	if t.Store == "" {
		files, err := compile.Dir(t.Dir)
		return files, ".", err
	}
	files, err := gitrepo.Reader(t.Store).Tree(t.Commit, t.Path, gitrepo.Limits{})
	if err != nil {
		return nil, "", err
	}
	return files, t.Path, nil
}

// toList lists the folders of a tree.
var toList = call[tree, listing]{"listing the folders", tree.list}

// listing is what there is to evaluate in a tree.
type listing struct {
	Folders  []string
	Prints   compile.Prints // of a commit's tree; a folder on disk may change at any time
	Problems []desired.Problem
}

// list returns only errors of git: others are problems of the tree.
func (t tree) list(context.Context) (listing, error) {
	files, root, err := t.open()
	var refused *gitrepo.TreeError
	var gitError *gitrepo.Error
	switch {
	case errors.As(err, &refused):
		return listing{Problems: refused.Problems}, nil
	case errors.As(err, &gitError):
		return listing{}, err
	}
	var list listing
	if err == nil {
		list.Folders, err = compile.Folders(files, root)
	}
	if err == nil && t.Store != "" {
		list.Prints, err = compile.PrintsOf(files)
	}
	if err != nil {
		return listing{Problems: []desired.Problem{compile.AsProblem(err)}}, nil
	}
	return list, nil
}

// evaluation asks for folders of a tree. The units that answer say nothing of the
// commit, so that they can be kept for others; merging adds it.
type evaluation struct {
	Tree    tree
	Folders []string
}

func evaluateJob(_ context.Context, in []byte, out *worker.Output) error {
	e, err := decoded[evaluation](in, jobEvaluate)
	if err != nil {
		return err
	}
	return e.emit(out)
}

func (e evaluation) emit(out *worker.Output) error {
	files, err := e.Tree.files()
	if err != nil {
		return err
	}
	compiler := takeWarm()
	for _, folder := range e.Folders {
		if err := out.Begin(folder); err != nil {
			return err
		}
		unit := compiler.Folder(files, folder)
		if err := unreadable(files); err != nil {
			return err // and no mistake of the folder, to be kept as one
		}
		if err := out.Emit(unit.Encode()); err != nil {
			return err
		}
	}
	return nil
}

// warmUpJob evaluates an example, so that schema and evaluator are loaded before a
// commit is there.
func warmUpJob(context.Context, []byte, *worker.Output) error {
	files, err := fs.Sub(examples.Files, warmUpExample)
	if err != nil {
		return err
	}
	var compiler compile.Compiler
	compiler.Folder(files, ".")
	select {
	case warm <- &compiler:
	default:
	}
	return nil
}

// warm has the compiler that a process was warmed up with, for the job that it waits for.
var warm = make(chan *compile.Compiler, 1)

func takeWarm() *compile.Compiler {
	select {
	case compiler := <-warm:
		return compiler
	default:
		return &compile.Compiler{}
	}
}

// warmUpExample declares a zone in its only folder.
const warmUpExample = "single-zone"

// unreadable is what the store of a commit's files failed with.
func unreadable(files fs.FS) error {
	if t, ok := files.(*gitrepo.Tree); ok {
		return t.Failed()
	}
	return nil
}

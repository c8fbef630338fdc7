package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/unitcache"
	"github.com/seawall-dev/seawall/desired/worker"
)

// Folder evaluates a folder on disk, which may change while it is read: nothing is
// cached. progress is called with the number of folders that are evaluated; nil calls nothing.
func Folder(ctx context.Context, dir string, progress func(done, total int)) (desired.State, []desired.Problem, error) {
	return Evaluator{bounds: evaluationBounds, progress: progress}.folder(ctx, tree{Dir: dir})
}

// folder compiles a tree on disk. The worker that lists its folders evaluates them too where
// they are few: to start another one takes longer than that.
func (e Evaluator) folder(ctx context.Context, t tree) (desired.State, []desired.Problem, error) {
	list, first, failed := e.listAndEvaluate(ctx, t)
	if list == nil {
		return desired.State{}, nil, failed
	}
	return e.compileListed(t, *list, func(folders []string, _ int64) ([]unitcache.Result, error) {
		rest := slices.DeleteFunc(slices.Clone(folders), first.has)
		if failed != nil || len(rest) == 0 {
			return first.results, failed
		}
		more, err := e.evaluate(ctx, t, rest, first.room)
		return append(first.results, more...), err
	})
}

// listAndEvaluate returns the listing of a tree and, where it has few folders, what they
// come to: up to the first that trips a bound.
func (e Evaluator) listAndEvaluate(ctx context.Context, t tree) (list *listing, first *gathered, err error) {
	first = &gathered{room: e.bounds.Output, progress: e.progress}
	runner := worker.Runner{Limits: e.bounds, Sandbox: e.confine.tree(t), Room: e.room()}
	err = runner.Run(ctx, jobFolder, t, func(_ string, out json.RawMessage) error {
		if list != nil {
			return first.add(out)
		}
		var r reply[listing]
		if err := json.Unmarshal(out, &r); err != nil {
			return err
		}
		list, first.total = &r.Answer, len(r.Answer.Folders)
		return nil
	})
	if bound, ok := errors.AsType[*worker.BoundError](err); ok && bound.Bound != worker.BoundTotal && list != nil && slices.Contains(list.Folders, bound.Step) {
		if bound.Bound == worker.BoundOutput {
			return list, first, unitcache.ErrTooMuch
		}
		first.addTripped(bound)
		err = nil
	}
	return list, first, err
}

// has reports whether a folder is among the results.
func (g *gathered) has(folder string) bool {
	return slices.ContainsFunc(g.results, func(r unitcache.Result) bool { return r.Unit.Dir == folder })
}

// folderJob lists a tree, and evaluates its folders where one worker does so.
func folderJob(ctx context.Context, in []byte, out *worker.Output) error {
	t, err := decoded[tree](in, jobFolder)
	if err != nil {
		return err
	}
	list, err := toList.step(ctx, out, t)
	if n := len(list.Answer.Folders); err != nil || n == 0 || n > worthOneProcess {
		return err
	}
	return evaluation{t, list.Answer.Folders}.emit(out)
}

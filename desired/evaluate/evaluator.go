// Package evaluate makes declared state of trees of files: a folder on disk, or commits in
// git. Fetching and evaluating run in worker processes, because a git server can hang or send
// too much, and CUE can neither be cancelled nor limited:
//
//	fetch → list folders → evaluate, in parallel, what is not cached → merge
//
//	r, err := evaluate.OpenRepository(stateDir, evaluate.Remote{Source: source, Path: "."}, log)
//	commit, err := r.Fetch(ctx)
//	state, problems, err := r.Compile(ctx, commit)
//
// [Repository] is the followed branch, [Heads] are pull requests, [Folder] is a folder on
// disk. A program that uses this package calls worker.Main with [Jobs] when it starts: a
// worker is the same program, started again.
//
// In: a git source or a folder. Out: a desired.State, or its mistakes with their places. It
// imports nothing of diff, reconcile or cmd.
package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/unitcache"
	"github.com/seawall-dev/seawall/desired/worker"
)

// Evaluator makes state of trees, folder by folder, in workers.
type Evaluator struct {
	bounds  worker.Limits    // of each worker; Output is that of all folders together
	cache   *unitcache.Cache // nil for a folder on disk, which may change while it is read
	spare   *worker.Spare    // a process started ahead; nil for none
	beside  bool             // what is compiled is not the branch
	merger  *compile.Merger  // of the branch, for one commit after the other; nil: each is merged alone
	wanted  compile.Wanted   // see [Repository.CompileOnly]; nil: all zones are
	confine confinement
	rooms   rooms
	log     *slog.Logger // nil says nothing

	progress func(done, total int) // of folders that are evaluated; nil shows none. One call at a time
}

// evaluationBounds are those of an evaluation. What it may hand over is some
// 300,000 zones' worth, which take a hundred bytes and more each. Its heap ends at 1 GiB, and with it what it may take of the machine
// a little above.
var evaluationBounds = worker.Limits{Output: 64 << 20, AddressSpace: 2304 << 20}

// New evaluates commits, and keeps what folders come to in the state
// folder. Where it cannot, it evaluates more often, and says so.
func New(state string, log *slog.Logger, w Workers) Evaluator {
	cache, err := unitcache.Open(state)
	if err != nil {
		log.Warn("evaluated folders are not kept on disk", "error", err.Error(),
			"hint", "after each start all are evaluated; make the state folder, and cache/units in it, this user's own")
	}
	return Evaluator{bounds: evaluationBounds, cache: cache, log: log, confine: confinement{off: w.NoSandbox}, rooms: newRooms(w.Memory)}
}

// besides is the evaluator for what is not the branch. It shares what is kept, and
// leaves the process that was started ahead to the branch.
func (e Evaluator) besides() Evaluator {
	e.beside, e.spare, e.merger = true, nil, nil
	return e
}

// room is what the workers of this evaluator share with others.
func (e Evaluator) room() *worker.Room {
	if e.beside {
		return e.rooms.reviews
	}
	return e.rooms.branch
}

// compile lists a tree's folders and evaluates those that are not known. A folder
// that trips a bound is a problem of its own; the others are evaluated all the
// same, so that all mistakes are reported at once.
func (e Evaluator) compile(ctx context.Context, t tree) (desired.State, []desired.Problem, error) {
	list, err := e.list(ctx, t)
	if err != nil {
		return desired.State{}, nil, err
	}
	return e.compileListed(t, list, e.evaluation(ctx, t))
}

// evaluation evaluates folders of a tree.
func (e Evaluator) evaluation(ctx context.Context, t tree) unitcache.Evaluate {
	return func(folders []string, room int64) ([]unitcache.Result, error) {
		return e.evaluate(ctx, t, folders, room)
	}
}

// compileListed does so for a tree that was listed.
func (e Evaluator) compileListed(t tree, list listing, evaluate unitcache.Evaluate) (desired.State, []desired.Problem, error) {
	if len(list.Problems) > 0 {
		return desired.State{}, list.Problems, nil
	}
	order := unitcache.Order{Prints: list.Prints, Folders: list.Folders, Now: time.Now(), Most: e.bounds.Output, Beside: e.beside}
	merge := compile.Merge
	switch {
	case e.wanted != nil:
		order.Whole = func(outlined []compile.Unit) map[string]bool { return compile.Whole(outlined, e.wanted) }
		merge = func(units []compile.Unit, commit string) (desired.State, []desired.Problem) {
			return compile.MergeOnly(units, commit, e.wanted)
		}
	case e.merger != nil:
		merge = e.merger.Merge
	}
	units, count, err := e.cache.Units(order, evaluate)
	if errors.Is(err, unitcache.ErrTooMuch) {
		return desired.State{}, []desired.Problem{tooMuch(e.bounds.Output)}, nil
	}
	if err != nil {
		return desired.State{}, nil, err
	}
	if e.log != nil {
		e.log.Debug("folders of desired state", "commit", t.Commit,
			"evaluated", count.Evaluated, "from_memory", count.Memory, "from_disk", count.Disk, "outlined", count.Outlined)
	}
	state, problems := merge(units, t.Commit)
	return state, problems, nil
}

func (e Evaluator) list(ctx context.Context, t tree) (listing, error) {
	return toList.run(ctx, worker.Runner{Limits: e.bounds, Sandbox: e.confine.tree(t), Room: e.room()}, t)
}

func tooMuch(most int64) desired.Problem {
	return desired.Problem{
		Message: fmt.Sprintf("the evaluated folders are more than the bound of %d MiB together", most>>20),
		Hint:    "look for a comprehension that multiplies; a fleet this large takes several repositories",
	}
}

// Of workers side by side, each may take all the memory that one may. So there
// are few, and none for a handful of folders.
const (
	mostWorkers     = 4
	worthOneProcess = 8 // folders
)

// evaluate shares folders out among workers.
func (e Evaluator) evaluate(ctx context.Context, t tree, folders []string, room int64) ([]unitcache.Result, error) {
	n := min(runtime.GOMAXPROCS(0), mostWorkers, e.room().Workers(e.bounds), (len(folders)+worthOneProcess-1)/worthOneProcess)
	shares := make([][]string, n)
	for i, folder := range folders {
		shares[i%n] = append(shares[i%n], folder)
	}
	all := gathered{room: room, total: len(folders), progress: e.progress}
	group, ctx := errgroup.WithContext(ctx)
	for _, share := range shares {
		group.Go(func() error { return e.evaluateShare(ctx, t, share, &all) })
	}
	err := group.Wait()
	return all.results, err
}

func (e Evaluator) evaluateShare(ctx context.Context, t tree, folders []string, all *gathered) error {
	tripped, err := worker.Runner{Limits: e.bounds, Sandbox: e.confine.tree(t), Room: e.room(), Spare: e.spare}.RunSteps(ctx, jobEvaluate, folders,
		func(remaining []string) any { return evaluation{t, remaining} },
		func(_ string, out json.RawMessage) error { return all.add(out) })
	for _, bound := range tripped {
		if bound.Bound == worker.BoundOutput {
			return unitcache.ErrTooMuch // one worker's part alone
		}
		all.addTripped(bound)
	}
	return err
}

// gathered are the results of workers that run at once.
type gathered struct {
	mu      sync.Mutex
	room    int64 // bytes left
	results []unitcache.Result

	total    int
	progress func(done, total int) // nil shows none
}

// shown tells how far it is. The caller has the lock.
func (g *gathered) shown() {
	if g.progress != nil {
		g.progress(len(g.results), g.total)
	}
}

func (g *gathered) add(out json.RawMessage) error {
	var result unitcache.Result
	err := json.Unmarshal(out, &result.Encoded)
	if err == nil {
		result.Unit, err = result.Encoded.Unit()
	}
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.room -= result.Encoded.Size(); g.room < 0 {
		return unitcache.ErrTooMuch
	}
	g.results = append(g.results, result)
	g.shown()
	return nil
}

// addTripped makes a unit for a folder whose evaluation was ended. It is not
// kept: another time, on a quieter machine, the folder may do.
func (g *gathered) addTripped(b *worker.BoundError) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.results = append(g.results, unitcache.Result{Unit: compile.Unit{Dir: b.Step, Problems: []desired.Problem{{
		Origin:  desired.Origin{File: b.Step},
		Message: "evaluating this folder " + trippedOver(b),
		Hint:    hintFor(b),
		Printed: b.Printed(),
		Ended:   true,
	}}}})
	g.shown()
}

// hintFor is what to try with a folder whose evaluation was ended.
func hintFor(b *worker.BoundError) string {
	if b.Bound == worker.BoundCrash {
		return "look at what was changed last in this folder; a crash is a fault of Seawall, or of CUE: please report it with what the process has printed"
	}
	const again = "a daemon evaluates it again, first after a minute; if that does not help, "
	if b.Bound == worker.BoundKilled || b.Bound == worker.BoundSilence {
		return again + "look for what takes the memory of the machine"
	}
	return again + "look for a comprehension, a reference or nested text that multiplies; if the folder is only large, split it"
}

// trippedOver says which bound ended an evaluation.
func trippedOver(b *worker.BoundError) string {
	if b.Bound == worker.BoundKilled {
		return "was ended by the kernel: " + b.Limit
	}
	if b.Bound == worker.BoundSilence {
		return "was ended: its worker showed no sign of life for " + b.Limit
	}
	if b.Bound == worker.BoundCrash {
		return "crashed the evaluator: " + b.Limit
	}
	return fmt.Sprintf("exceeded the %s bound of %s", b.Bound, b.Limit)
}

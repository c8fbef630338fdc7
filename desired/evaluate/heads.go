package evaluate

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// Compile evaluates a head the way a commit is evaluated that is acted on, and
// shares what was evaluated: a head mostly differs in a folder or two. That it
// lacks the followed folder is its own mistake.
func (h Heads) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	state, problems, err := compileHead(ctx, tree{Store: filepath.Join(h.store, commit), Commit: commit, Path: h.remote.Path}, h.evaluator)
	if e, ok := errors.AsType[*gitrepo.Error](err); ok && e.Kind == gitrepo.ErrPathNotFound {
		return desired.State{}, []desired.Problem{{Origin: desired.Origin{Commit: commit}, Message: e.Error(), Hint: e.Hint}}, nil
	}
	for _, p := range problems {
		if p.Printed != "" {
			h.Log.WarnContext(ctx, "a worker process has crashed over a pull request", "commit", commit, "error", p.String(), "printed", p.Printed)
		}
	}
	return state, problems, err
}

// reviewBounds leave less time than the followed branch has: what someone pushes
// to a pull request must not keep all others from being reviewed. It is ten times what
// a fleet of 50,000 zones takes.
var reviewBounds = worker.Limits{Output: evaluationBounds.Output, AddressSpace: evaluationBounds.AddressSpace, Total: time.Minute}

// compileHead takes it for a mistake of the head where evaluating it trips a bound
// as a whole: as an error it would be tried again with every round, and told to
// no one.
func compileHead(ctx context.Context, t tree, e Evaluator) (desired.State, []desired.Problem, error) {
	state, problems, err := e.compile(ctx, t)
	var bound *worker.BoundError
	if !errors.As(err, &bound) {
		return state, problems, err
	}
	return desired.State{}, []desired.Problem{{
		Origin: desired.Origin{Commit: t.Commit}, Message: "evaluating the whole tree " + trippedOver(bound),
		Hint: "seawall validate shows which folders take long", Printed: bound.Printed(),
	}}, nil
}

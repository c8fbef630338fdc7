package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// Heads are the heads of pull requests in a store of their own, apart from the followed
// branch.
type Heads struct {
	store     string
	remote    Remote
	refs      string // how the names of the refs begin under which the forge itself shows heads; others may be pushed
	evaluator Evaluator

	// refused are the commits over the bound, and what is reported for each: what they
	// are made of does not change, so they are not sent for again.
	refused map[string]string
}

// NewHeads returns the heads of pull requests, in a store in a state folder. refs is how
// the names of the refs begin under which the forge shows heads, such as "refs/pull/".
// Anybody who may push can create refs of other names.
func NewHeads(state string, remote Remote, refs string, e Evaluator) Heads {
	e = e.besides()
	e.bounds = reviewBounds
	return Heads{filepath.Join(state, "pulls"), remote, refs, e, map[string]string{}}
}

// Fetch brings heads in a worker.
func (h Heads) Fetch(ctx context.Context, numbers []int) (map[int]string, map[int]error, error) {
	if len(numbers) == 0 {
		return nil, nil, nil
	}
	source, err := h.remote.Source()
	if err != nil {
		return nil, nil, err
	}
	var answer fetchedPulls
	runner := worker.Runner{Limits: FetchLimits(2 * h.remote.Timeout), Env: fetchEnv} // a list, and what is on it
	err = runner.Run(ctx, jobPulls, fetchingPulls{h.store, source.Wire(), numbers, h.refs, h.refused}, func(_ string, out json.RawMessage) error {
		return json.Unmarshal(out, &answer)
	})
	if err != nil {
		return nil, nil, err
	}
	if answer.Git != nil {
		return nil, nil, answer.Git
	}
	clear(h.refused)
	maps.Copy(h.refused, answer.Refused)
	failed := map[int]error{}
	for number, reason := range answer.Failed {
		failed[number] = errors.New(reason)
	}
	return answer.Heads, failed, nil
}

// Compile evaluates a head the way a commit is evaluated that is acted on, and
// shares what was evaluated: a head mostly differs in a folder or two. That it
// lacks the followed folder is its own mistake.
func (h Heads) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	state, problems, err := compileHead(ctx, tree{Store: h.store, Commit: commit, Path: h.remote.Path}, h.evaluator)
	var e *gitrepo.Error
	if errors.As(err, &e) && e.Kind == gitrepo.ErrPathNotFound {
		return desired.State{}, []desired.Problem{{Origin: desired.Origin{Commit: commit}, Message: e.Error(), Hint: e.Hint}}, nil
	}
	return state, problems, err
}

// reviewBounds leave less time than the followed branch has: what someone pushes
// to a pull request must not keep all others from being reviewed. It is ten times what
// a fleet of 50,000 zones takes.
var reviewBounds = worker.Limits{Output: evaluationBounds.Output, Total: time.Minute}

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
		Hint: "seawall validate shows which folders take long",
	}}, nil
}

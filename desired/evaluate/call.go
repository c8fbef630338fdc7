package evaluate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
)

// call is a job of one step: an order in, an answer out. Both go by the same name. An order
// may hold credentials: it only ever goes over the pipe to a worker.
type call[Order, Answer any] struct {
	name string
	do   func(Order, context.Context) (Answer, error) // a method of the order
}

// reply is what a call comes to. Git is what it failed with; the answer may say more then.
type reply[Answer any] struct {
	Answer Answer
	Git    *gitrepo.Error `json:",omitempty"`
}

func (r reply[Answer]) get() (Answer, error) {
	if r.Git != nil {
		return r.Answer, r.Git
	}
	return r.Answer, nil
}

// run has a worker do the call.
func (c call[Order, Answer]) run(ctx context.Context, runner worker.Runner, order Order) (Answer, error) {
	var r reply[Answer]
	if err := runner.Run(ctx, c.name, order, func(_ string, out json.RawMessage) error { return json.Unmarshal(out, &r) }); err != nil {
		return r.Answer, err
	}
	return r.get()
}

// job is the worker's side.
func (c call[Order, Answer]) job(ctx context.Context, in []byte, out *worker.Output) error {
	order, err := decoded[Order](in, c.name)
	if err == nil {
		_, err = c.step(ctx, out, order)
	}
	return err
}

// decoded is the order of a job. Its error never quotes the data, which may hold a credential.
func decoded[Order any](in []byte, name string) (order Order, err error) {
	if json.Unmarshal(in, &order) != nil {
		err = errors.New("reading the order for " + name)
	}
	return order, err
}

// step does the call as one step of a job.
func (c call[Order, Answer]) step(ctx context.Context, out *worker.Output, order Order) (r reply[Answer], err error) {
	if err := out.Begin(c.name); err != nil {
		return r, err
	}
	if r.Answer, err = c.do(order, ctx); err != nil {
		r.Git = asGitError(c.name, err)
	}
	return r, out.Emit(r)
}

func asGitError(doing string, err error) *gitrepo.Error {
	if known, ok := errors.AsType[*gitrepo.Error](err); ok {
		return known
	}
	return &gitrepo.Error{Kind: gitrepo.ErrFetch, Doing: doing, Reason: err.Error()}
}

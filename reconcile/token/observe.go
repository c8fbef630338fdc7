package token

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
)

// Observer does the work of a [Worker] up to the plan, and nothing of the rest: it
// creates, delivers and records nothing. Its worker needs no Writer.
type Observer struct{ *Worker }

// Work compares what is declared with what is known of tokens. The outcome has no
// results.
func (o Observer) Work(ctx context.Context, scope Scope, guard Guard) Outcome {
	live, lookErr := o.Look(ctx, scope)
	if lookErr != nil && !rejected(lookErr) {
		return Outcome{Plan: diff.Gather(scope.Commit, 0, 0, nil, nil), Err: fmt.Errorf("recalling tokens: %w", lookErr)}
	}
	plan, err := o.Plan(scope, live), lookErr
	if guard != nil {
		plan, err = guard(ctx, plan)
	}
	if err == nil {
		err = lookErr
	}
	return Outcome{Plan: plan, Err: err}
}

package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/retry"
)

// class says what a request does to the platform when it arrives.
type class string

const (
	read   class = "read"   // GET: nothing
	update class = "update" // PATCH, PUT of a token: overwrites, so a repetition by mistake undoes what another writer did in between. POST of a ruleset or rule: adds
	trial  class = "trial"  // a dry run: nothing, where the platform does what it was asked
	remove class = "remove" // DELETE: the second one finds nothing, and could not tell who was first
	create class = "create" // POST of a token: each one that arrives makes another token
	roll   class = "roll"   // PUT of a token's value: each one that arrives ends the secret that the one before gave
)

// outcome is how one attempt ended.
type outcome string

const (
	succeeded  outcome = "succeeded"
	throttled  outcome = "throttled"  // 429
	conflicted outcome = "conflicted" // 409: another writer was at it
	withheld   outcome = "withheld"   // the caller's own step before it failed; see edge.BeforeSend
	notSent    outcome = "not sent"   // no connection, or it broke before the request was on it
	cut        outcome = "cut"        // sent; no status came back: closed, reset or timed out
	failed     outcome = "failed"     // 5xx
	garbled    outcome = "garbled"    // 2xx or 303, and a body that is cut short or not what it should be
	redirected outcome = "redirected" // 3xx: base_url is not quite the API
	refused    outcome = "refused"    // 4xx

	contradicted outcome = "contradicted" // 2xx, and an envelope that says failure
	mumbled      outcome = "mumbled"      // 4xx, and a body that is cut short
)

// verdict is what follows from an outcome.
type verdict string

const (
	final   verdict = "final"   // the caller gets it as it is
	again   verdict = "again"   // another attempt, while there are any left; then final
	unknown verdict = "unknown" // the caller gets it as edge.ErrOutcomeUnknown
)

// verdicts is the whole of what is decided about repetitions. A read is repeated
// for everything that may pass, an envelope that says failure beside a 2xx status
// among it: such an answer contradicts itself. An update is
// repeated where it certainly had no effect: the platform throttled it instead
// of doing it, refused it because another write came first, or never saw it. A 5xx is not such a case, since gateways answer
// 502 and 504 for requests that went through. A removal is treated alike: its
// caller may call again, and has to know that the first may have worked. A
// creation is never repeated, and its outcome is known where the platform
// certainly created nothing, or answered with a secret; a person has to look
// after all others. A roll is repeated as an update is, and what is known of it
// is what is known of a creation: it has happened when there is a secret. A trial is
// repeated where it certainly did not arrive: should the platform not honour
// dry_run, one write is enough.
var verdicts = map[outcome]map[class]verdict{
	succeeded:    {read: final, update: final, remove: final, create: final, roll: final, trial: final},
	throttled:    {read: again, update: again, remove: again, create: final, roll: again, trial: again},
	conflicted:   {read: again, update: again, remove: again, create: final, roll: again, trial: again},
	withheld:     {create: final, update: final, remove: final, roll: final}, // no other class has such a step
	notSent:      {read: again, update: again, remove: again, create: final, roll: again, trial: again},
	cut:          {read: again, update: unknown, remove: unknown, create: unknown, roll: unknown, trial: final},
	failed:       {read: again, update: unknown, remove: unknown, create: unknown, roll: unknown, trial: final},
	garbled:      {read: again, update: unknown, remove: unknown, create: unknown, roll: unknown, trial: final},
	mumbled:      {read: again, update: unknown, remove: unknown, create: final, roll: final, trial: final},
	redirected:   {read: final, update: final, remove: final, create: final, roll: final, trial: final},
	contradicted: {read: again, update: final, remove: final, create: unknown, roll: unknown, trial: final},
	refused:      {read: final, update: final, remove: final, create: final, roll: final, trial: final},
}

// attempt is one request and what came of it. err is nil only for succeeded.
type attempt struct {
	class   class
	outcome outcome
	err     error
}

func (a *attempt) verdict() verdict { return verdicts[a.outcome][a.class] }

// outcomeOf sorts an answer by its status; a success may yet be garbled.
func outcomeOf(status int) outcome {
	switch {
	case status == http.StatusTooManyRequests:
		return throttled
	case status == http.StatusConflict:
		return conflicted
	case status >= 500 && status != http.StatusNotImplemented:
		return failed
	case status >= 400:
		return refused
	case status == http.StatusSeeOther:
		return garbled // "done; the result is elsewhere", and a body that is not it
	case status >= 300:
		return redirected
	}
	return succeeded
}

// outcomeOfFailure sorts an attempt whose answer did not come, status zero, or
// could not be read to its end.
func outcomeOfFailure(status, sent int) outcome {
	switch o := outcomeOf(status); {
	case status == 0 && sent == 0:
		return notSent
	case status == 0:
		return cut
	case o == throttled || o == conflicted || o == failed:
		return o
	case o == refused:
		return mumbled
	}
	return garbled
}

// newRetryPolicy repeats by the table. A throttled attempt is repeated without
// a delay of its own: the budget holds back every call of the credential, this
// one among them. After any other outcome this call alone waits.
func newRetryPolicy(config Config) retrypolicy.RetryPolicy[*attempt] {
	return retry.InPlace[*attempt](config.Retry).
		HandleIf(func(a *attempt, _ error) bool { return a != nil && a.verdict() == again }).
		WithDelayFunc(func(e failsafe.ExecutionAttempt[*attempt]) time.Duration {
			if a := e.LastResult(); a != nil && a.outcome == throttled {
				return 0
			}
			return -1
		}).
		OnRetryScheduled(func(e failsafe.ExecutionScheduledEvent[*attempt]) {
			config.Log.Debug("trying a request again", "error", e.LastResult().err, "in", e.Delay)
		}).
		ReturnLastFailure().
		Build()
}

// do performs a call: attempts until the table says that it is over.
// decode looks at every answer with a 2xx status.
func (c *Client) do(ctx context.Context, call call, decode func(wire.Response) error) error {
	if !c.Offers(call.name, call.level) {
		return fmt.Errorf("%s of a %s: %w", call.name, call.level, edge.ErrNotOffered)
	}
	token, err := c.credential()
	if err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	timed, deadline, cancel := c.withDeadline(ctx, call)
	defer cancel()
	tries := 0
	var last, heard *attempt
	try := func() *attempt {
		tries++
		if last = c.try(timed, call, token, deadline, decode); timed.Err() == nil {
			heard = last
		}
		c.tellFailed(ctx, timed, last)
		return last
	}
	if timed.Err() == nil && try().verdict() == again { // mostly the first try is the last, and needs no policy
		c.tryAgain(timed, last, try)
	}
	switch {
	case last == nil:
		return fmt.Errorf("%s: %w", call, ctx.Err())
	case last.outcome == succeeded:
		return nil
	case errors.Is(context.Cause(timed), errOverdue) && last.verdict() == again:
		return c.overdue(call, tries, heard)
	case last.verdict() == unknown:
		return fmt.Errorf("%w: %w", edge.ErrOutcomeUnknown, last.err)
	case ctx.Err() != nil && (last.verdict() == again || last.outcome == notSent):
		return fmt.Errorf("%s: %w", call, ctx.Err())
	case tries > 1:
		return fmt.Errorf("%w (tried %d times)", last.err, tries)
	}
	return last.err
}

// tryAgain makes further tries, after the first, for as long as the policy says. The policy's own
// result says less than the last attempt: it is replaced when the context ends, and a write that
// was on its way must not be forgotten.
func (c *Client) tryAgain(ctx context.Context, first *attempt, try func() *attempt) {
	_, _ = failsafe.With(c.retries).WithContext(ctx).Get(func() (*attempt, error) {
		made := first
		if first = nil; made == nil {
			made = try()
		}
		return made, nil
	})
}

// ask performs a call whose answer decodes to something.
func ask[T any](ctx context.Context, c *Client, call call, decode func(wire.Response) (T, error)) (T, error) {
	var answer, none T
	err := c.do(ctx, call, func(r wire.Response) (err error) {
		answer, err = decode(r)
		return err
	})
	if err != nil {
		return none, err
	}
	return answer, nil
}

// tellFailed tells whoever counts them of a try that failed; not of one that was called
// off. A try that took too long had no answer.
func (c *Client) tellFailed(ctx, timed context.Context, a *attempt) {
	switch {
	case c.config.Failed == nil || a.err == nil || a.outcome == withheld || ctx.Err() != nil:
	case timed.Err() != nil:
		c.config.Failed(fmt.Errorf("%w: %w", edge.ErrUnavailable, a.err))
	default:
		c.config.Failed(a.err)
	}
}

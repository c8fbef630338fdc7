package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// The names of the orders that a daemon takes, with their forms. Who is not proved: only the
// daemon's own user and root can order anything.
const (
	RecordTokens = "tokens"       // a RecordOrder; answered by Recorded
	RotateToken  = "token-rotate" // a RotateOrder; answered by Rotated
)

// RecordOrder is what a person says about tokens.
type RecordOrder struct {
	Who    string            `json:"who"`
	Record ledger.TokenOrder `json:"record"`
}

// Recorded says what became of it.
type Recorded struct {
	Corrected bool `json:"corrected"` // it was on record, and is otherwise now
}

// RotateOrder asks for the successor of a token.
type RotateOrder struct {
	Who    string       `json:"who"`
	Key    string       `json:"key"`
	From   edge.TokenID `json:"from"`             // another token in use is not rotated
	Expect string       `json:"expect,omitempty"` // the digest of the change that was shown
	Colour bool         `json:"colour,omitempty"`
}

// Rotated says what became of it.
type Rotated struct {
	Done      bool   `json:"done"`      // there is a successor
	Converged bool   `json:"converged"` // and nothing is left to do
	Text      string `json:"text"`
	JSON      string `json:"json"` // the report
}

// RotatedOf makes the answer of a report. The plan is left out where it was shown.
func RotatedOf(r reconcile.Report, o RotateOrder) (answer Rotated, err error) {
	for _, result := range r.Results {
		if result.Change.Creates() && result.Change.Token == o.Key && result.Outcome == reconcile.Converged {
			answer.Done = true
		}
	}
	answer.Converged = r.Converged()
	write := r.Text
	if o.Expect != "" {
		write = r.TextOfResults
	}
	var text, data strings.Builder
	if err := errors.Join(write(&text, o.Colour), r.JSON(&data)); err != nil {
		return answer, fmt.Errorf("the order was carried out, but its report cannot be written: %w", err)
	}
	answer.Text, answer.JSON = text.String(), data.String()
	return answer, nil
}

const (
	// orderPatience is how long to wait for a process that has the tokens, and takes no
	// orders: a daemon that starts, reloads or ends, or an apply.
	orderPatience = 10 * time.Second
	orderPause    = 100 * time.Millisecond
	// recordPatience is how long to wait until a word is on record: a daemon finishes the
	// work on tokens that goes on.
	recordPatience = 2 * time.Minute
)

// Order has an order carried out by the daemon, or, where none takes it, by here. That fails
// with [ledger.ErrHeld] where it could not take the lock of the tokens: then a daemon may have
// been started meanwhile, and is asked again. So the lock decides who does it, and it is done
// once.
func (s Settings) Order(ctx context.Context, name string, order, answer any, here func() error) error {
	for late := time.Now().Add(orderPatience); ; {
		err := inspect.OnSocket(s.StateDir).Order(ctx, name, order, answer)
		if !errors.Is(err, inspect.ErrNotBegun) {
			return orderError(err)
		}
		err = here()
		if !errors.Is(err, ledger.ErrHeld) {
			return err
		}
		if s.InPostgres() {
			return cli.Fail(err, "run the command on the machine of that replica, whose daemon takes it; or stop that replica")
		}
		if time.Now().After(late) {
			return err // that process takes no orders
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(orderPause):
		}
	}
}

// orderError is a failure as people read it.
func orderError(err error) error {
	var refused *inspect.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Hint != "":
		return cli.Fail(refused, refused.Hint)
	case errors.Is(err, inspect.ErrNoAnswer):
		return cli.Fail(err, "the daemon may have done it: see seawall token list and seawall history")
	}
	return err
}

// Record has a person's word about tokens recorded: by the daemon, or without one here.
func (s Settings) Record(ctx context.Context, o ledger.TokenOrder) (corrected bool, err error) {
	var answer Recorded
	ctx, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	err = s.Order(ctx, RecordTokens, RecordOrder{Whoami(), o}, &answer, func() error {
		return s.WithLockedLedger(ctx, func(memory *ledger.Ledger) (err error) {
			answer.Corrected, err = memory.CarryOut(ctx, o)
			return err
		})
	})
	return answer.Corrected, err
}

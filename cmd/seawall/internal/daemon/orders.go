package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// orders are what people order from the daemon on its socket.
func (d *Daemon) orders() inspect.Orders {
	return inspect.Orders{setup.RecordTokens: d.recordTokens, setup.RotateToken: d.rotateToken}
}

// recordTokens records what a person says about tokens, between the work on them.
func (d *Daemon) recordTokens(ctx context.Context, body []byte) (any, error) {
	var order setup.RecordOrder
	if err := inspect.ReadOrder(body, &order); err != nil {
		return nil, err
	}
	heart, memory := d.heart.Load(), d.memory()
	if heart == nil || memory == nil {
		return nil, inspect.ErrNotBegun
	}
	var answer setup.Recorded
	err := heart.OrderTokens(ctx, func(ctx context.Context) (err error) {
		answer.Corrected, err = memory.CarryOut(ledger.As(ctx, order.Who), order.Record)
		return err
	})
	if err == nil {
		d.log.Info("recorded about tokens", "order", order.Record.String(), "by", order.Who)
	}
	return answer, d.notBegun(err)
}

// rotateToken makes the successor of a token now.
func (d *Daemon) rotateToken(ctx context.Context, body []byte) (any, error) {
	var order setup.RotateOrder
	if err := inspect.ReadOrder(body, &order); err != nil {
		return nil, err
	}
	heart, memory := d.heart.Load(), d.memory()
	if heart == nil || memory == nil {
		return nil, inspect.ErrNotBegun
	}
	report, err := heart.RotateToken(ctx, controller.Rotation{Key: order.Key, From: order.From, Expect: order.Expect},
		func(ctx context.Context) (context.Context, error) {
			if err := memory.LockTokens(ctx); err != nil {
				return ctx, err
			}
			d.log.Info("a token is rotated now", "token", order.Key, "by", order.Who)
			return ledger.As(ctx, order.Who), nil
		})
	if err != nil {
		return nil, d.notBegun(err)
	}
	return setup.RotatedOf(report, order)
}

// memory is the ledger; nil where there is none.
func (d *Daemon) memory() *ledger.Ledger {
	memory, _ := d.assembly.Records.(*ledger.Ledger)
	return memory
}

// notBegun is what a client understands. Where another process has the tokens it may be the
// client that is about to; a replica that has them takes the order itself.
func (d *Daemon) notBegun(err error) error {
	if errors.Is(err, controller.ErrElsewhere) {
		who := "another replica"
		if shown := d.replica.show(); shown != nil && shown.Other(reconcile.LeaseTokens) != "" {
			who = "replica " + shown.Other(reconcile.LeaseTokens)
		}
		return cli.Fail(fmt.Errorf("%s does the work on tokens", who), "run the command on the machine of that replica")
	}
	if errors.Is(err, controller.ErrNotBegun) || errors.Is(err, ledger.ErrHeld) {
		return inspect.ErrNotBegun
	}
	return err
}

// firstHint is what to try after an error; empty for nothing.
func firstHint(err error) string {
	if hints := cli.HintsOf(err); len(hints) > 0 {
		return hints[0]
	}
	return ""
}

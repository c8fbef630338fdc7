package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/once"
)

func newTokenRotate(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var yes bool
	cmd := &cobra.Command{
		Use:   "rotate KEY",
		Short: "Create the successor of a token now",
		Long: `Create the successor of a token that declares rotate now, and deliver its secret to the
same sink, as Seawall does when the rotation is due. The token before it works until it
expires; if its secret leaked, revoke it in the dashboard, too.

The same guards apply as to a rotation that is due: a successor that only renews the
token needs no approval. If the declaration asks for anything else, that is a change
that guards can hold back.

A running daemon does it, in its own state folder, with the commit in force; without a
daemon the command does it itself, with the newest commit. The command shows the plan
first and asks. With --yes it does not. It waits for the result, for a daemon at most
5 minutes; what the daemon has begun goes on.

Exit codes: 0 the secret of the successor is delivered; 1 failure, the answer was not
yes, or the daemon gave no answer; 4 something about the token is refused, quarantined
or not delivered.`,
		Example:           "  seawall token rotate ci-dns\n  seawall token rotate ci-dns --yes",
		Args:              oneToken,
		ValidArgsFunction: setup.CompleteToken,
		RunE: func(cmd *cobra.Command, args []string) error {
			return rotateToken(cmd.Context(), t, o, args[0], yes)
		},
	}
	setup.AddConfig(cmd, &o)
	setup.AddLogFlags(cmd, &o.LogFormat, &o.LogLevel)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cli.AddOutput(cmd, &o.Output, "text", "json")
	return cmd
}

// rotatePatience is how long to wait for a daemon: the creation may wait for the budget.
const rotatePatience = 5 * time.Minute

func rotateToken(ctx context.Context, t *cli.Terminal, o setup.Options, key string, yes bool) error {
	s, err := setup.LoadSource(t, o.ConfigFile())
	if err == nil {
		err = s.MayWrite(o)
	}
	if err != nil {
		return err
	}
	o.Only = []string{"token=" + key}
	order := setup.RotateOrder{Who: setup.Whoami(), Key: key, Colour: t.ColourOut}
	if order.From, err = tokenInUse(ctx, s, key); err != nil {
		return err
	}
	if !yes {
		if order.Expect, err = confirmRotation(ctx, t, o, order); err != nil {
			return err
		}
	}
	var answer setup.Rotated
	waiting, cancel := context.WithTimeout(ctx, rotatePatience)
	defer cancel()
	err = s.Order(waiting, setup.RotateToken, order, &answer, func() (err error) {
		answer, err = rotateHere(ctx, t, o, order)
		return err
	})
	if err != nil {
		return err
	}
	return showRotated(t, o, order, answer)
}

// tokenInUse is the newest token of a declaration, as the ledger has it.
func tokenInUse(ctx context.Context, s setup.Settings, key string) (id edge.TokenID, err error) {
	err = s.ReadLedger(ctx, func(memory *ledger.Ledger) error {
		live, err := memory.Tokens(ctx)
		switch {
		case err != nil:
			return err
		case live.Unknown != "":
			return cli.Fail(errors.New(live.Unknown), live.Hint)
		}
		var keys []string
		for _, r := range live.Records {
			if keys = append(keys, r.Key); r.Key == key && r.State == diff.TokenConfirmed {
				id = r.ID
			}
		}
		if id != "" {
			return nil
		}
		return cli.Fail(fmt.Errorf("the ledger has no token %q", key),
			nearest.Hint(key, keys, "seawall token list shows the tokens in the ledger; seawall apply or the daemon creates what is declared"))
	})
	return id, err
}

// confirmRotation shows what would be done and asks. It returns the digest of that.
func confirmRotation(ctx context.Context, t *cli.Terminal, o setup.Options, order setup.RotateOrder) (digest string, err error) {
	if !t.Interactive() {
		return "", cli.Fail(errors.New("nothing was sent: there is no terminal for the question"), "run the command again with --yes")
	}
	report, err := runOnce(ctx, t, o, setup.ToPlan, &once.Order{Rotate: order.From}, nil)
	if err != nil {
		return "", err
	}
	if _, err := showFirst(t, report.Plan, o.Output); err != nil {
		return "", err
	}
	for _, c := range report.Plan.Changes {
		if c.Creates() && c.Token == order.Key && c.Applies() {
			return c.ApprovalDigest(), cli.Confirm(ctx, t, fmt.Sprintf("Rotate token %s now?", order.Key), false)
		}
	}
	if report.Plan.Attention() {
		return "", cli.ExitAttention
	}
	return "", notRotated(order)
}

// notRotated says why a plan has no rotation, though nothing keeps it from one.
func notRotated(order setup.RotateOrder) error {
	return cli.Fail(fmt.Errorf("token %s of %q was not rotated", order.From, order.Key),
		"it has a successor already, its secret was still to be delivered, or the declaration asks for an update first: see seawall token list")
}

// rotateHere does it without a daemon.
func rotateHere(ctx context.Context, t *cli.Terminal, o setup.Options, order setup.RotateOrder) (answer setup.Rotated, err error) {
	_, token, err := declaredToken(ctx, t, o, order.Key)
	if err != nil {
		return answer, err
	}
	if token.Rotate == nil {
		return answer, cli.Fail(fmt.Errorf("token %q is declared without rotate", order.Key),
			"declare rotate: {every: …, overlap: …}; or revoke the token, and run seawall token revoked "+string(order.From))
	}
	rotation := controller.Rotation{Key: order.Key, From: order.From, Expect: order.Expect}
	report, err := runOnce(ctx, t, o, setup.ToApply, &once.Order{Rotate: order.From, Who: order.Who, Expect: rotation.Expected}, nil)
	if err != nil {
		return answer, err
	}
	return setup.RotatedOf(report, order)
}

func showRotated(t *cli.Terminal, o setup.Options, order setup.RotateOrder, answer setup.Rotated) error {
	text := answer.Text
	if o.Output == "json" {
		text = answer.JSON
	}
	if _, err := fmt.Fprint(t.Out, text); err != nil {
		return err
	}
	switch {
	case !answer.Converged:
		return cli.ExitAttention
	case !answer.Done:
		return notRotated(order)
	}
	return nil
}

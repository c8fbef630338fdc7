package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

func newHistoryVerify(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var noted string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the history was not changed",
		Long: `Check the chain of hashes of the history: that no entry was changed, removed or
moved. Nothing is written.

A table in the ledger and the file ledger.db-head show whether entries are missing
at the end. The hashes use no key: whoever may write to both files can forge a
history that verifies. To detect that, store the head that this command prints
somewhere else, and pass it with --head later.

Entries that are missing at the end stay a finding, also after the daemon has
written new ones, until a person accepts that: seawall history accept-gap.

Exit codes: 0 the history is whole, or there is none; 1 it is not whole, or could
not be read.`,
		Example: `  seawall history verify
  seawall history verify --head 1204:5f2c…
  seawall history verify -o json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var heads []history.Head
			if noted != "" {
				head, err := history.ParseHead(noted)
				if err != nil {
					return cli.Fail(fmt.Errorf("--head: %w", err), "pass the head that seawall history verify printed")
				}
				heads = append(heads, head)
			}
			return setup.ReadLedger(cmd.Context(), t, o, func(memory *ledger.Ledger) error {
				if missing := noLedger(t, memory, "there is no history"); missing && len(heads) > 0 {
					return fmt.Errorf("entry %d, which --head names, is missing", heads[0].Number)
				}
				report, err := memory.VerifyHistory(cmd.Context(), heads...)
				if err != nil {
					return err
				}
				return showVerified(t, report, o.Output, memory.Missing() != "")
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cmd.Flags().StringVar(&noted, "head", "", "the head that an earlier run printed, `NUMBER:HASH`")
	cli.AddOutput(cmd, &o.Output, "text", "json")
	return cmd
}

func showVerified(t *cli.Terminal, r history.Report, output string, none bool) error {
	whole := len(r.Findings) == 0
	if output == "json" {
		if err := json.NewEncoder(t.Out).Encode(struct {
			Version int  `json:"version"`
			Valid   bool `json:"valid"`
			history.Report
		}{1, whole, r}); err != nil {
			return err
		}
	} else {
		verifiedText(t, r, none)
	}
	if !whole {
		return cli.ExitError(1)
	}
	return nil
}

func verifiedText(t *cli.Terminal, r history.Report, none bool) {
	for _, gap := range r.Accepted {
		fmt.Fprintf(t.Out, "accepted gap: %s; accepted by entry %d, %s: %s\n", cli.OneLine(setup.GapText(gap)), gap.Accepted, cli.OneLine(gap.By), cli.OneLine(gap.Reason))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(t.Out, "%s: %s\n", strings.ReplaceAll(string(f.Kind), "_", " "), cli.OneLine(f.Text))
	}
	if r.More > 0 {
		fmt.Fprintf(t.Out, "and %d more\n", r.More)
	}
	switch {
	case none && len(r.Findings) == 0:
		fmt.Fprintln(t.Out, "there is no history")
		return
	case r.Rows == 0 && len(r.Findings) == 0:
		fmt.Fprintln(t.Out, "the history is empty")
		return
	case len(r.Findings) == 0:
		fmt.Fprintf(t.Out, "the history is whole: %s, #%d to #%d, since %s\n",
			cli.Plural(int(r.Rows), "entry", "entries"), r.First, r.Last, r.From.UTC().Format(time.RFC3339))
	default:
		fmt.Fprintf(t.Out, "the history is not whole: %s\n", cli.Plural(len(r.Findings)+r.More, "finding", "findings"))
	}
	if slices.ContainsFunc(r.Findings, func(f history.Finding) bool { return f.Kind == history.Missing || f.Kind == history.CutTail }) {
		t.Hint(setup.AcceptGap)
	}
	fmt.Fprintf(t.Out, "head %s\n", r.Head)
}

func newHistoryAcceptGap(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var reason string
	cmd := &cobra.Command{
		Use:   "accept-gap",
		Short: "Acknowledge that entries of the history are missing",
		Long: `Record that you know that entries of the history are missing, and why. Until then
the daemon warns at each start, and seawall history verify fails.

The record is an entry of the history itself. It brings nothing back: check which
zones should be held, and set these holds again; approvals must be given again.
Entries that were changed, or removed between others by hand, stay a finding of
seawall history verify.`,
		Example: `  seawall history accept-gap --reason "INC-7: disk replaced, no backup"`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if strings.TrimSpace(reason) == "" {
				return cli.Fail(errors.New("--reason is missing"), "give the reason, such as --reason INC-7")
			}
			// Looked at first, so that nothing is created where nothing is to be accepted.
			err := setup.ReadLedger(cmd.Context(), t, o, func(memory *ledger.Ledger) error {
				if gaps, err := memory.Gaps(cmd.Context()); err != nil || len(gaps) > 0 {
					return err
				}
				noLedger(t, memory, "there is no history")
				return errNoGap
			})
			if err != nil {
				return err
			}
			return setup.WriteLedger(cmd.Context(), t, o, func(_ setup.Settings, memory *ledger.Ledger) error {
				accepted, err := memory.AcceptGap(cmd.Context(), reason)
				if err == nil && len(accepted) == 0 {
					err = errNoGap // another process was first
				}
				for _, gap := range accepted {
					fmt.Fprintf(t.Out, "accepted: %s\n", cli.OneLine(setup.GapText(gap)))
				}
				return err
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, which the history keeps")
	return cmd
}

var errNoGap = cli.Fail(errors.New("no entries of the history are missing"), "seawall history verify checks the whole history")

// numbers are numbers of entries as people read them.
func numbers(list []int64) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = fmt.Sprintf("#%d", n)
	}
	return strings.Join(words, ", ")
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// historyLast is how many entries are shown as text unless --last says otherwise.
const historyLast = 100

func newHistory(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show every write and every decision on record",
		Long: `Show what Seawall has written to the platform, and what people have decided: when,
who asked, what was there before and after, and whether it was proved. Oldest
first, so the newest is at the end. A write without a recorded result is shown as
"written, not proved"; the process may also have ended before it was sent.

--since takes a time (2026-03-01T12:00:00Z), a day (2026-03-01, UTC) or a length
of time before now (24h, 7d). With -o text the last 100 matching entries are shown,
with -o json all of them; --last sets another number.

seawall history verify checks that no entry was changed or removed. Where entries
are missing, seawall history accept-gap acknowledges it.`,
		Example: `  seawall history --zone shop.example
  seawall history --since 24h -o json
  seawall history --commit 1a2b3c4
  seawall history verify`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter(time.Now())
			if err != nil {
				return err
			}
			if o.Output == "text" && !cmd.Flags().Changed("last") {
				filter.Last = historyLast
			}
			return setup.ReadLedger(cmd.Context(), t, o, func(memory *ledger.Ledger) error {
				missing := noLedger(t, memory, "there is no history")
				switch {
				case o.Output == "json":
					return historyJSON(cmd.Context(), t, memory, filter)
				case missing:
					return nil
				}
				return historyText(cmd.Context(), t, memory, filter)
			})
		},
	}
	setup.AddConfig(cmd, &o)
	f.addTo(cmd)
	cmd.Flags().StringVar(&f.zone, "zone", "", "only entries about the zone of this `NAME`")
	_ = cmd.RegisterFlagCompletionFunc("zone", setup.CompleteZone)
	cmd.Flags().StringVar(&f.token, "token", "", "only entries about the token of this `KEY`")
	cmd.Flags().IntVar(&f.last, "last", 0, "show at most the last `N` that match; 0 is all")
	cli.AddOutput(cmd, &o.Output, "text", "json")
	cmd.AddCommand(newHistoryVerify(t), newHistoryAcceptGap(t))
	return cmd
}

// noLedger says that there is no ledger, what follows from that, and why it can be; it
// reports whether it did.
func noLedger(t *cli.Terminal, memory *ledger.Ledger, so string) bool {
	path := memory.Missing()
	if path == "" {
		return false
	}
	fmt.Fprintf(t.Err, "there is no ledger in %s, so %s\n", cli.OneLine(ledgerPlace(path)), so)
	t.Hint(ledgerHint)
	return true
}

// ledgerPlace is where a ledger would be, as the configuration names it.
func ledgerPlace(path string) string {
	if strings.Contains(path, "://") { // in PostgreSQL
		return "the database " + path
	}
	return "state.dir, " + filepath.Dir(path)
}

const ledgerHint = "seawall run and seawall apply create it; if they have run, they had another state.dir or state.postgres: pass their configuration with --config"

// historyFlags select entries.
type historyFlags struct {
	zone, token, commit, since string
	last                       int
}

// addTo adds the flags that history and revert share.
func (f *historyFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.since, "since", "", "from this `TIME`, day, or duration before now")
	cmd.Flags().StringVar(&f.commit, "commit", "", "of this `COMMIT`, in full or at least 7 digits of it")
}

var commitForm = lazyregexp.New(`^[0-9a-f]{7,64}$`)

func (f *historyFlags) filter(now time.Time) (reconcile.HistoryFilter, error) {
	filter := reconcile.HistoryFilter{Zone: f.zone, Token: f.token, Commit: strings.ToLower(f.commit), Last: f.last}
	if f.last < 0 {
		return filter, cli.Usage("--last %d is below zero", f.last)
	}
	if f.commit != "" && !commitForm().MatchString(filter.Commit) {
		return filter, cli.Fail(fmt.Errorf("--commit %q is not a commit", f.commit), "give the commit in full, or at least its first 7 digits; git log --oneline shows them")
	}
	var err error
	if f.since != "" {
		filter.Since, err = parseSince(f.since, now)
	}
	return filter, err
}

// parseSince reads the value of --since.
func parseSince(text string, now time.Time) (time.Time, error) {
	at, err := inspect.Since(text, now)
	if err != nil {
		return at, cli.Fail(fmt.Errorf("--since %w", err), inspect.SinceHint)
	}
	return at, nil
}

func historyJSON(ctx context.Context, t *cli.Terminal, memory reconcile.History, f reconcile.HistoryFilter) error {
	w := bufio.NewWriter(t.Out)
	fmt.Fprint(w, `{"version":1,"entries":[`)
	separator := "\n"
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	earlier, err := memory.History(ctx, f, func(e reconcile.Entry) error {
		data.Reset()
		if err := encoder.Encode(e); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "%s%s", separator, bytes.TrimSpace(data.Bytes()))
		separator = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n],\"earlier\":%d}\n", earlier)
	return w.Flush()
}

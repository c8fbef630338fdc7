package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

func newHold(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hold",
		Short: "Pause changes to a zone",
		Long: `Seawall reads and reports a held zone, but does not write to it: neither drift nor
a commit is applied. The hold ends at its time, or when you release it. Use it
while you change a zone by hand. The daemon may be running; its next run honours
the hold.`,
		Example: `  seawall hold zone shop.example --for 2h --reason INC-1`,
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newHoldZone(t), newHoldList(t), newHoldRelease(t))
	return cmd
}

func newHoldZone(t *terminal) *cobra.Command {
	var o options
	var length time.Duration
	var reason string
	cmd := &cobra.Command{
		Use:   "zone NAME",
		Short: "Hold a zone",
		Long: `Hold the zone that is declared by this name, in every account that has one. To
change the end or the reason, hold it again.`,
		Example: `  seawall hold zone shop.example --for 2h --reason INC-1`,
		Args:    oneZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkHold(length, reason); err != nil {
				return err
			}
			return t.besideDaemon(o, func(s settings, memory *ledger.Ledger) error {
				if err := t.checkZone(cmd.Context(), s, args[0]); err != nil {
					return err
				}
				hold := diff.Hold{Zone: args[0], Until: time.Now().Add(length).Truncate(time.Second), Reason: reason}
				if err := memory.Hold(cmd.Context(), hold, whoami()); err != nil {
					return err
				}
				_, err := fmt.Fprintf(t.out, "%s is %s\n", oneLine(hold.Zone), oneLine(hold.String()))
				return err
			})
		},
	}
	addConfig(cmd, &o)
	cmd.Flags().DurationVar(&length, "for", 0, "how long, such as 2h or 45m")
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, which plans and status show")
	return cmd
}

// maxHold bounds a hold: what is longer belongs into the repository.
const maxHold = 30 * 24 * time.Hour

func checkHold(length time.Duration, reason string) error {
	switch {
	case length <= 0:
		return fail(errors.New("--for is missing"), "give the length of the hold, such as --for 2h")
	case length > maxHold:
		return fail(fmt.Errorf("--for %s is longer than %s", length, maxHold), "a lasting state belongs in the repository")
	case strings.TrimSpace(reason) == "":
		return fail(errors.New("--reason is missing"), "give the reason, such as --reason INC-1")
	}
	return nil
}

func newHoldList(t *terminal) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show which zones are held",
		Example: "  seawall hold list",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.readingLedger(o, func(memory *ledger.Ledger) error {
				standing, err := memory.Standing(cmd.Context())
				if err != nil {
					return err
				}
				return t.listHolds(diff.Active(standing.Holds, time.Now(), nil))
			})
		},
	}
	addConfig(cmd, &o)
	return cmd
}

func (t *terminal) listHolds(holds []diff.Hold) error {
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ZONE\tUNTIL\tREASON")
	for _, h := range holds {
		fmt.Fprintf(w, "%s\t%s\t%s\n", oneLine(h.Zone), h.End(), oneLine(h.Reason))
	}
	return w.Flush()
}

func newHoldRelease(t *terminal) *cobra.Command {
	release := &cobra.Command{
		Use:     "release",
		Short:   "End a hold",
		Example: "  seawall hold release zone shop.example",
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var o options
	zone := &cobra.Command{
		Use:     "zone NAME",
		Short:   "End the hold on a zone",
		Long:    "End the hold on a zone early. The daemon's next sync writes the waiting changes.",
		Example: "  seawall hold release zone shop.example",
		Args:    oneZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.besideDaemon(o, func(_ settings, memory *ledger.Ledger) error {
				held, err := memory.Release(cmd.Context(), args[0], time.Now())
				if err == nil && !held {
					err = fail(fmt.Errorf("no zone %q is held", args[0]), "seawall hold list shows the held zones")
				}
				return err
			})
		},
	}
	addConfig(zone, &o)
	release.AddCommand(zone)
	return release
}

// besideDaemon opens the configured ledger for a word that needs no lock: a
// daemon may have it open as well.
func (t *terminal) besideDaemon(o options, do func(settings, *ledger.Ledger) error) error {
	config, err := t.loadConfig(o.configFile())
	if err != nil {
		return err
	}
	s := settings{Config: config}
	owner, err := ownerOfState(s.StateDir)
	if err != nil {
		return err
	}
	memory, err := s.ledger(ledger.Open)
	if err != nil {
		return err
	}
	return explain(errors.Join(do(s, memory), memory.Close(), owner.giveBack()))
}

// readingLedger opens the configured ledger to look into it.
func (t *terminal) readingLedger(o options, do func(*ledger.Ledger) error) error {
	config, err := t.loadConfig(o.configFile())
	if err != nil {
		return err
	}
	memory, err := settings{Config: config}.ledger(ledger.OpenReadOnly)
	if err != nil {
		return err
	}
	return explain(errors.Join(do(memory), memory.Close()))
}

// checkZone refuses a name that the commit in force does not declare: a hold that
// holds nothing is found out too late. It asks the copy on disk and not the
// server, which may be away in the hour in which holds are needed; where there is
// no commit yet, the name is taken as it is, with a warning.
func (t *terminal) checkZone(ctx context.Context, s settings, name string) error {
	state, err := lastGood(ctx, s)
	if err != nil {
		fmt.Fprintln(t.err, t.red("warning:"), "could not check whether the zone exists:", oneLine(err.Error()))
		return nil
	}
	var names []string
	for _, account := range state.Accounts {
		for _, zone := range account.Zones {
			if zone.Key == name {
				return nil
			}
			names = append(names, zone.Key)
		}
	}
	hint := "seawall plan lists the zones"
	if near := nearest.Word(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fail(fmt.Errorf("no zone %q is declared", name), hint)
}

// lastGood is what the last accepted commit declares.
func lastGood(ctx context.Context, s settings) (desired.State, error) {
	repository, err := newRepository(s.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		return desired.State{}, err
	}
	commit, ok, err := repository.Good(ctx)
	if err == nil && !ok {
		err = errors.New("no commit was accepted yet")
	}
	if err != nil {
		return desired.State{}, err
	}
	state, problems, err := repository.Compile(ctx, commit)
	if err == nil && len(desired.Errors(problems)) > 0 {
		err = fmt.Errorf("the last accepted commit no longer compiles: %s", desired.Errors(problems)[0])
	}
	return state, err
}

// whoami names the person at the terminal, for the record. It proves nothing.
func whoami() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

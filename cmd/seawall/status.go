package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/show"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// asking says which daemon is asked, and how its answer is printed.
type asking struct {
	setup.Options
	address string
	caFile  string
}

func (a *asking) addTo(cmd *cobra.Command) {
	setup.AddConfig(cmd, &a.Options)
	cmd.Flags().StringVar(&a.address, "address", "", "ask the daemon at `URL`, such as http://127.0.0.1:8710, instead of its socket")
	cmd.Flags().StringVar(&a.caFile, "ca-file", "", "believe the authorities in `FILE` (PEM) for --address with https, instead of the system's")
	cli.AddOutput(cmd, &a.Output, "text", "json")
}

func newStatus(t *cli.Terminal) *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "status [ZONE]",
		Short: "Show the state of the running daemon, or of a zone",
		Long: `Show the commit in force and the newest one, the time of the last fetch, the zones in
sync and those that are not, the queue, the rest of the request budget, and the current
outages, holds and freezes. The first lines say what is wrong, what you can do about it
("fix"), and when Seawall tries again. With the name or the id of a zone, show what differs there,
when the zone was read last, and when it is read next.

The daemon answers on a socket in its state folder. Only its own user and root may use
it. --address asks over the listen address instead, if that serves /status; with web.tls
it is an https address. Lists end after 20 entries.

Where several daemons share a database, and none runs on this machine, the answer is what
the database has on record. It says so, and names the replicas, which know more. A daemon
of this machine that was killed needs attention; one that was stopped does not.

Exit codes: 0 healthy and in sync, 2 changes are pending, 4 something needs attention or
an outage lasts, 1 the daemon does not answer, and there are no records, or the zone is
not declared.`,
		Example:           "  seawall status\n  seawall status shop.example\n  seawall status -o json | jq -r .verdict",
		Args:              perhapsZone,
		ValidArgsFunction: setup.CompleteZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.showStatus(cmd.Context(), t)
			}
			list, err := a.askZones(cmd.Context(), t, args[0], inspect.ZoneList.Text)
			if err != nil {
				return err
			}
			return exitOf(list.Verdict())
		},
	}
	a.addTo(cmd)
	return cmd
}

func newWhy(t *cli.Terminal) *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "why ZONE",
		Short: "Explain the state of a zone, and when it is read next",
		Long: `Explain the daemon's last decision about a zone: the stage that made it (read, plan,
guard, write, prove), the guard, hold or window, since when it applies, what changes it,
and when and why the zone is read next. An outage that keeps Seawall from knowing how the
zone is, or should be, comes first, and so does a newer commit that is held. The JSON form is that of seawall status ZONE.

Where several daemons share a database, and none runs on this machine, the answer is what
the database has on record: the last proof, and the newest entries of the history.

Exit codes: 0 answered, 1 the daemon does not answer, and there are no records, or the
zone is not declared.`,
		Example:           "  seawall why shop.example",
		Args:              oneZone,
		ValidArgsFunction: setup.CompleteZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := a.askZones(cmd.Context(), t, args[0], inspect.ZoneList.Why)
			return err
		},
	}
	a.addTo(cmd)
	return cmd
}

// showStatus prints how the daemon is.
func (a *asking) showStatus(ctx context.Context, t *cli.Terminal) error {
	client, where, err := a.daemon(t)
	if err != nil {
		return err
	}
	s, err := client.Status(ctx)
	if err != nil {
		err = a.onRecord(ctx, t, unanswered(err, where), func(r *setup.OnRecord) error {
			s = r.Status()
			return nil
		})
	}
	if err != nil {
		return err
	}
	if err := t.Show(a.Output, s, func() error { return s.Text(t.Out, t.OutIsTerminal()) }); err != nil {
		return err
	}
	return exitOf(s.Verdict)
}

// askZones prints zones, as JSON or as text does it.
func (a *asking) askZones(ctx context.Context, t *cli.Terminal, word string, text func(inspect.ZoneList, io.Writer) error) (list inspect.ZoneList, err error) {
	client, where, err := a.daemon(t)
	if err != nil {
		return list, err
	}
	if list, err = client.Zones(ctx, word); err != nil {
		err = a.onRecord(ctx, t, unanswered(err, where), func(r *setup.OnRecord) error {
			if list, err = r.Zones(ctx, word); errors.Is(err, inspect.ErrNoZone) {
				return unanswered(err, where)
			}
			return err
		})
	}
	if err != nil {
		return list, err
	}
	a.trace(ctx, t, list)
	return list, t.Show(a.Output, list, func() error { return text(list, t.Out) })
}

// trace adds which commit last changed the declaration of each zone, where the daemon's state
// folder is on this machine.
func (a *asking) trace(ctx context.Context, t *cli.Terminal, list inspect.ZoneList) {
	if a.address != "" {
		return
	}
	s, err := setup.LoadConfig(t, a.ConfigFile())
	for i, z := range list.Zones {
		if z.Commit == "" {
			continue
		}
		var found evaluate.Origins
		if err == nil {
			found, err = setup.TraceCommit(ctx, s.Config, z.Commit, z.Places())
		}
		switch changed := show.Newest(found); {
		case changed == nil && list.Records != nil: // most machines without a daemon have no copy of the repository
		case changed == nil && s.InPostgres() && noCommit(found, err):
			list.Zones[i] = z.WithChanged(nil, "this machine has not fetched commit "+inspect.Short(z.Commit)+": the replica with the lease \"commits\" fetches git, and knows it")
		case err != nil:
			list.Zones[i] = z.WithChanged(nil, err.Error())
		case changed == nil:
			list.Zones[i] = z.WithChanged(nil, cmp.Or(found.Unread, "its lines are not in the commit"))
		default:
			list.Zones[i] = z.WithChanged(changed, "")
		}
	}
}

// daemon is the one of --address, or else of the configured state folder.
func (a *asking) daemon(t *cli.Terminal) (client inspect.Client, where string, err error) {
	if a.caFile != "" && a.address == "" {
		return client, "", cli.Usage("--ca-file is for --address")
	}
	if a.address != "" {
		var pem []byte
		if a.caFile != "" {
			if pem, err = setup.ReadAuthorities(a.caFile); err != nil {
				return client, "", fmt.Errorf("--ca-file: %w", err)
			}
		}
		client, err = inspect.At(a.address, pem)
		switch {
		case errors.Is(err, outbound.ErrNoCertificate):
			err = fmt.Errorf("--ca-file: %s %w", a.caFile, err)
		case err != nil:
			err = cli.Usage("--address %s", err)
		}
		return client, a.address, err
	}
	s, err := setup.LoadConfig(t, a.ConfigFile())
	return inspect.OnSocket(s.StateDir), inspect.SocketPath(s.StateDir), err
}

// unanswered is a failure to ask, with what to try.
func unanswered(err error, where string) error {
	var none *inspect.NoZoneError
	switch {
	case errors.As(err, &none) && none.Near != "":
		return cli.Fail(err, fmt.Sprintf("did you mean %q?", none.Near))
	case errors.As(err, &none):
		return cli.Fail(err, "the name is the one under zone: in the desired state; seawall status shows whether a commit is in force yet")
	case errors.Is(err, inspect.ErrUnread):
		return cli.Fail(err, "seawall status says more; seawall doctor checks the database")
	case errors.Is(err, fs.ErrPermission):
		return cli.Fail(fmt.Errorf("%w: %s: %w", inspect.ErrNoAnswer, where, cli.NetworkCause(err)), "only the daemon's own user and root may use the socket: use sudo, or --address")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return cli.Fail(fmt.Errorf("%w: %s: %w", inspect.ErrNoAnswer, where, cli.NetworkCause(err)), "check that seawall run is running with this configuration")
	case errors.Is(err, http.ErrSchemeMismatch):
		return cli.Fail(fmt.Errorf("%s: %w", where, err), "the daemon serves http there, without TLS: write http:// in --address, or set web.tls in the configuration of the daemon")
	}
	return cli.Fail(fmt.Errorf("%s: %w", where, err), "listen serves /status if it is a loopback address without web.login, or health.status is true")
}

// onRecord has the records asked where no daemon runs on this machine and the ledger is one that
// those of others have; else it returns the failure to ask, or where the ledger was moved to.
func (a *asking) onRecord(ctx context.Context, t *cli.Terminal, failed error, ask func(*setup.OnRecord) error) error {
	none := errors.Is(failed, fs.ErrNotExist) || errors.Is(failed, syscall.ECONNREFUSED)
	s, err := setup.LoadConfig(t, a.ConfigFile())
	if err != nil || a.address != "" || !none {
		return failed
	}
	if !s.InPostgres() { // a daemon cannot run where the ledger was moved away
		return cmp.Or(ledger.MovedAway(ctx, s.LedgerPath()), failed)
	}
	r, err := s.ReadOnRecord(ctx, failed)
	if err != nil {
		return cli.Fail(failed, append([]string{"the records cannot be read either: " + err.Error()}, cli.HintsOf(err)...)...)
	}
	defer r.Close()
	return ask(r)
}

// exitOf is the exit code of a verdict.
func exitOf(v inspect.Verdict) error {
	switch v {
	case inspect.Working:
		return cli.ExitError(exitChanges)
	case inspect.Attention:
		return cli.ExitAttention
	default:
		return nil
	}
}

// noCommit reports whether the copy of the repository lacks the commit. The worker that reads it
// says so in words.
func noCommit(found evaluate.Origins, err error) bool {
	why := found.Unread
	if err != nil {
		why = err.Error()
	}
	return strings.Contains(why, string(gitrepo.ErrNoCommit))
}

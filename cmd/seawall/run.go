package main

import (
	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/daemon"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
)

func newRun(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run as a daemon: reconcile on every commit and on a schedule",
		Long: `Fetch git on the sync schedule, and apply the changes of a new commit at once. Read
every zone once per interval of the sweep schedule, spread over the interval. The
first run covers everything. A later start covers everything too, if that needs no
more than a quarter of the request budget.

The daemon serves /healthz, /readyz and /metrics on the configured address, and
/hook/git if webhooks are configured. seawall status and seawall why ask it over a
socket in its state folder. If a forge is configured, it comments on open pull
requests what a merge would change.

SIGTERM finishes the write in flight and ends with 0. SIGHUP reads the
configuration again; if it has a mistake, that is logged and the old configuration
stays. SIGUSR1 fetches git and reads every zone now, as fast as the request budget allows. It
tries what waits for a later try: a change that the platform did not keep, and a
platform or a credential that failed.`,
		Example: "  seawall run --config /etc/seawall/config.cue",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return daemon.Serve(cmd.Context(), t, o, nil) },
	}
	o.AddTo(cmd)
	return cmd
}

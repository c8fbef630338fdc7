package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/doctor"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
)

func newDoctor(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup and say what to fix",
		Long: `Check the configuration, git, both credentials, the clock, the state folder, the
sinks of secrets and the forge, and print one line for each check: ok, warning or
failed, with what to do about it. A check that fails or hangs does not stop the
others. Run it as the user that the daemon runs as; the daemon may be running.

Doctor writes nothing: not to the platform, a sink or a forge, and not to the
state folder. It fetches git into a temporary folder. It does not check what only
a write can show, such as whether a credential may write.

Exit codes: 0 no check failed, warnings do not count; 1 a check failed.`,
		Example: `  seawall doctor
  seawall doctor --config ./config.cue
  seawall doctor --dir . --base-url https://api.example.com/client/v4
  seawall doctor -o json | jq '.checks[] | select(.state != "ok")'
  sudo -u seawall seawall doctor --timeout 1m`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return cli.Usage("--timeout %s is not a duration above zero", timeout)
			}
			return doctor.Run(cmd.Context(), t, o, timeout)
		},
	}
	o.AddSource(cmd)
	cli.AddOutput(cmd, &o.Output, "text", "json")
	cli.AddLength(cmd, &timeout, "timeout", 30*time.Second, "how long each check may take")
	return cmd
}

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/daemon"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/demo"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/deprecations"
)

func newDemo(t *cli.Terminal) *cobra.Command {
	var serve bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show Seawall at work on this machine, without any setup",
		Long: `Start a simulated platform on loopback, make a git repository from an example,
and show: a plan, an apply, the proof that a second run sends no write, drift
made by hand and corrected, an invalid commit that is rejected while the last good
one stays in force, a token that is created and delivered, a crash during the
creation of another, and which programs use deprecated API features. It needs git
and no network. With --serve it then continues as a daemon.`,
		Example: "  seawall demo\n  seawall demo --serve",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			commands := demo.Commands{Serve: daemon.ServeAssembly, Check: func(ctx context.Context, dir, day string) error { return deprecations.CheckFolder(ctx, t, dir, day) }}
			return demo.Run(cmd.Context(), t, commands, serve)
		},
	}
	cmd.Flags().BoolVar(&serve, "serve", false, "continue as a daemon until interrupted")
	return cmd
}

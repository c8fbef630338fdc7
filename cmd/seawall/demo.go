package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/daemon"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/demo"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/deprecations"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
)

func newDemo(t *cli.Terminal) *cobra.Command {
	var serve, calendar bool
	cmd := &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Show Seawall at work on this machine, without any setup",
		Long: `Start a simulated platform on loopback, make a git repository from an example,
and show: a plan, an apply, the proof that a second run sends no write, drift
made by hand and corrected, an invalid commit that is rejected while the last good
one stays in force, a token that is created and delivered, and a crash during the
creation of another. It needs git and no network.

With --serve it shows nothing by itself. It makes the folder DIR (default
seawall-demo) with a git repository, runs the simulated platform and a daemon until
you press Ctrl-C, and prints the address of its page, and commands to try: a push, a
change by hand, a plan. At the end it removes the folder.

With --deprecations it shows which programs use deprecated parts of the API, and
how the simulated platform answers the same call before and after its end.`,
		Example: "  seawall demo\n  seawall demo --serve\n  seawall demo --deprecations",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case serve && calendar:
				return cli.Usage("--serve and --deprecations exclude each other")
			case serve:
				return perhapsFolder(cmd, args)
			case len(args) > 0:
				return cli.Fail(fmt.Errorf("a folder is only for --serve; without it seawall demo takes no argument, and %q is one too many", args[0]), "seawall demo --serve "+args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case serve:
				dir := append(args, demo.DefaultFolder)[0]
				return demo.Serve(cmd.Context(), t, dir, func(ctx context.Context, config string, serving func(page string)) error {
					return daemon.Serve(ctx, t, setup.Options{Config: config, LogFormat: "auto", LogLevel: "info"}, serving)
				})
			case calendar:
				return demo.Deprecations(cmd.Context(), t, func(ctx context.Context, dir, day string) error {
					return deprecations.CheckFolder(ctx, t, loadFolder, dir, day)
				})
			}
			return demo.Run(cmd.Context(), t)
		},
	}
	cmd.Flags().BoolVar(&serve, "serve", false, "run a repository, a simulated platform and a daemon to try, until interrupted")
	cmd.Flags().BoolVar(&calendar, "deprecations", false, "show deprecated parts of the API instead")
	return cmd
}

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/notify"
)

func newNotify(t *cli.Terminal) *cobra.Command {
	return group(&cobra.Command{
		Use:   "notify",
		Short: "Test the notifications that the daemon sends",
		Long: `The daemon sends notifications to the routes in notify of its configuration: when
something is wrong, and when that has ended. docs/notifications.md explains routes.`,
		Example: "  seawall notify test ops",
	}, newNotifyTest(t))
}

// notifyTimeout bounds the test of one route.
const notifyTimeout = 30 * time.Second

func newNotifyTest(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:   "test ROUTE",
		Short: "Send a test to a route",
		Long: `Send one message to a route of the configuration. It says that it is a test. The
command fails if the other side does not accept it. The daemon need not run.`,
		Example: "  seawall notify test ops",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := setup.LoadConfig(t, o.ConfigFile())
			if err != nil {
				return err
			}
			return testRoute(cmd.Context(), t, s.Config, args[0])
		},
		ValidArgsFunction: setup.CompleteRoute,
	}
	setup.AddConfig(cmd, &o)
	return cmd
}

func testRoute(ctx context.Context, t *cli.Terminal, config schema.Config, name string) error {
	routes, err := setup.NotifyRoutes(config.Notify, config.Schedule.Timezone)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(routes, func(r notify.Route) bool { return r.Name == name })
	if i < 0 {
		return noRoute(name, slices.Sorted(maps.Keys(config.Notify.Routes)))
	}
	ctx, stop := context.WithTimeout(ctx, notifyTimeout)
	defer stop()
	m := notify.TestMessage(name, time.Now())
	if err := routes[i].Send(ctx, m); err != nil {
		return cli.Fail(fmt.Errorf("route %s: %w", name, err), "check notify.routes."+name+" in the configuration, and that this host can reach the other side")
	}
	_, err = fmt.Fprintf(t.Out, "route %s has accepted a test (id %s)\n", cli.OneLine(name), m.ID)
	return err
}

func noRoute(name string, routes []string) error {
	err := fmt.Errorf("there is no route %q in notify of the configuration", name)
	if len(routes) == 0 {
		return cli.Fail(errors.New("no notifications are configured"), "docs/notifications.md shows a first route")
	}
	return cli.Fail(err, nearest.Hint(name, routes, "the routes are "+strings.Join(routes, ", ")))
}

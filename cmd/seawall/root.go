package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

func newRoot(t *cli.Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "seawall",
		Short: "Keep an Edge Platform in sync with git",
		Long: `Seawall reads desired state, written in CUE, from a git repository or a folder,
compares it with what is live on an Edge Platform, sends the smallest set of
PATCHes that makes them agree, and reads back to prove that they do.

See it work, without any setup:        seawall demo
Create your own repository:            seawall init my-edge
Check one, without any network:        seawall validate my-edge

Exit codes: 0 success, 1 any failure; plan, apply and status have more, see their help.`,
		Args:          knownCommand,
		Version:       cli.ThisVersion().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate(cli.ThisVersion().Line())
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Fail(err, cmd.CommandPath()+" --help lists its flags")
	})
	root.AddGroup(
		&cobra.Group{ID: "work", Title: "Everyday commands:"},
		&cobra.Group{ID: "learn", Title: "Getting started:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"work": {
			newPlan(t), newApply(t), newRun(t), newStatus(t), newWhy(t), newHistory(t), newRevert(t), newAbsorb(t), newDoctor(t), newValidate(t),
			newToken(t), newHold(t), newWaves(t), newDeprecations(t),
		},
		"learn": {newDemo(t), newInit(t), newImport(t), newSim(t), newSchema(t)},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersion(t))
	ownWords(root)
	return root
}

// knownCommand refuses a first word that is no command, with the nearest one.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return cli.Fail(fmt.Errorf("there is no command %q", args[0]), hint)
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

func newRoot(t *cli.Terminal) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "seawall",
		Short: "Keep an Edge Platform in sync with git",
		Long: `Seawall reads desired state, written in CUE, from a git repository or a folder,
compares it with what is live on an Edge Platform, sends the smallest set of
PATCHes that makes them agree, and reads back to prove that they do.

See it work, without any setup:        seawall demo
Create your own repository:            seawall init my-edge
Check one, without any network:        seawall validate my-edge

Exit codes: 0 success, 1 any failure; commands that have more list them in their help.`,
		Version:       cli.ThisVersion().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.SetVersionTemplate(cli.ThisVersion().Line())
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: "work", Title: "Everyday commands:"},
		&cobra.Group{ID: "learn", Title: "Getting started:"},
	)
	for group, commands := range map[string][]*cobra.Command{
		"work": {
			newPlan(t), newApply(t), newRun(t), newStatus(t), newWhy(t), newShow(t), newHistory(t), newRevert(t), newAbsorb(t), newRules(t), newRadar(t), newDoctor(t), newValidate(t),
			newExpression(t), newToken(t), newHold(t), newWaves(t), newState(t), newNotify(t), newDeprecations(t),
		},
		"learn": {newDemo(t), newInit(t), newImport(t), newSim(t), newSchema(t)},
	} {
		for _, c := range commands {
			c.GroupID, c.SuggestFor = group, usualNames[c.Name()]
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersion(t))
	ownWords(root)
	return root
}

// usualNames are what the commands are called in terraform, kubectl, git and flux.
var usualNames = map[string][]string{
	"plan":     {"diff", "preview"},
	"apply":    {"deploy", "push", "sync", "reconcile"},
	"status":   {"get", "list", "ls", "ps", "top"},
	"why":      {"explain"},
	"show":     {"describe", "blame", "cat"},
	"history":  {"log", "logs", "events", "audit"},
	"revert":   {"rollback", "undo"},
	"absorb":   {"pull", "refresh"},
	"validate": {"check", "lint", "vet", "fmt"},
	"hold":     {"suspend", "pause", "lock", "freeze"},
	"doctor":   {"diagnose"},
	"waves":    {"rollout"},
	"init":     {"new", "create"},
}

// flagError is what a mistake in a flag is, with what to do about it.
func flagError(cmd *cobra.Command, err error) error {
	if told := (*cli.HintError)(nil); errors.As(err, &told) { // by the flag itself
		return told
	}
	return cli.Fail(err, flagHint(cmd, err))
}

// flagHint says what to do about a flag that a command does not take. A flag of a command
// below it is often given to the command above.
func flagHint(cmd *cobra.Command, err error) string {
	path := cmd.CommandPath()
	switch {
	case cmd.HasParent() && cmd.HasAvailableSubCommands() && !ownFlags(cmd):
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, path+" "+c.Name())
			}
		}
		return "it needs one more word: " + strings.Join(names, ", ")
	case cmd.Name() == "apply" && strings.Contains(err.Error(), "--dry-run"):
		return "seawall plan shows what it would do, and writes nothing"
	}
	if hint := cli.UnknownFlag(cmd, err); hint != "" {
		return hint
	}
	return path + " --help lists its flags"
}

// ownFlags reports whether a command has a flag beside --help.
func ownFlags(cmd *cobra.Command) (own bool) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { own = own || f.Name != "help" })
	return own
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

// helpOfKnown has --help fail after a word that is no command. Cobra answers it with the help
// of the command above, and 0. The error is known once the root has been executed.
func helpOfKnown(root *cobra.Command) *error {
	var mistaken error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if mistaken = unknownBelow(cmd, cmd.Flags().Args()); mistaken == nil {
			help(cmd, args)
		}
	})
	return &mistaken
}

// unknownBelow refuses words after a command that has commands, and none of that name.
func unknownBelow(cmd *cobra.Command, words []string) error {
	if !cmd.HasAvailableSubCommands() {
		return nil
	}
	return knownCommand(cmd, words)
}

// ownWords makes the commands that cobra adds fail on words they do not know,
// which they would answer with a page of help and 0.
func ownWords(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			completionWords(c)
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				found, words, err := root.Find(args)
				if err != nil {
					return knownCommand(root, args)
				}
				return unknownBelow(found, words)
			}
		}
	}
}

func completionWords(c *cobra.Command) {
	c.Example = "  source <(seawall completion bash)\n  seawall completion zsh > _seawall"
	for _, shell := range c.Commands() {
		c.ValidArgs = append(c.ValidArgs, shell.Name())
	}
	c.Args = oneWord
	c.RunE = func(*cobra.Command, []string) error {
		return cli.Fail(errors.New("seawall completion needs the name of a shell"), "seawall completion --help shows how it is used")
	}
}

package setup

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
)

// What a shell offers to complete. It comes from the folder of --dir, or from the commit
// that was accepted last: nothing is fetched, and nothing is created.

// completeTimeout bounds how long a shell waits for words.
const completeTimeout = 3 * time.Second

// What the one argument of a command is completed with.
var (
	CompleteZone        = completeFrom(desired.State.ZoneKeys)
	CompleteToken       = completeFrom(desired.State.TokenKeys)
	CompleteZoneOrToken = completeFrom(func(state desired.State) []string { return append(state.ZoneKeys(), state.TokenKeys()...) })
	CompleteRuleset     = completeFrom(func(state desired.State) (keys []string) {
		for _, account := range state.Accounts {
			for _, ruleset := range account.Rulesets {
				keys = append(keys, ruleset.Key)
			}
		}
		return keys
	})
)

// completeFrom completes the one argument of a command with names that are declared.
func completeFrom(names func(desired.State) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(declared(cmd)), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteZonesIn completes a flag with the zones of the folder that a command names.
func CompleteZonesIn(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), completeTimeout)
	defer cancel()
	state, _, _ := Folder{Dir: append(args, ".")[0]}.Compile(ctx, "") // an error: there are none
	return state.ZoneKeys(), cobra.ShellCompDirectiveNoFileComp
}

// CompleteAccount completes a flag with the keys of accounts that the configuration has.
func CompleteAccount(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, _ := configured(cmd) // an error: there are none
	return slices.Sorted(maps.Keys(s.Credentials.Accounts)), cobra.ShellCompDirectiveNoFileComp
}

func completeOnly(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	state := declared(cmd)
	var words []cobra.Completion
	for _, name := range state.ZoneKeys() {
		words = append(words, "zone="+name)
	}
	for _, name := range state.TokenKeys() {
		words = append(words, "token="+name)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// CompleteRoute completes a notification route of the configuration.
func CompleteRoute(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := configured(cmd)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(s.Notify.Routes)), cobra.ShellCompDirectiveNoFileComp
}

// configured are the settings of the configuration that a command names.
func configured(cmd *cobra.Command) (Settings, error) {
	var o Options
	o.Config, _ = cmd.Flags().GetString("config") // an error: the command has no such flag
	return LoadConfig(&cli.Terminal{Out: io.Discard, Err: io.Discard}, o.ConfigFile())
}

// declared is the desired state at hand; empty where there is none, or it cannot be read.
func declared(cmd *cobra.Command) (state desired.State) {
	ctx, cancel := context.WithTimeout(context.Background(), completeTimeout)
	defer cancel()
	dir, _ := cmd.Flags().GetString("dir") // an error: the command has no such flag
	var err error
	if dir != "" {
		state, _, err = Folder{Dir: dir}.Compile(ctx, "")
	} else {
		state, err = acceptedLast(ctx, cmd)
	}
	if err != nil {
		return desired.State{}
	}
	return state
}

// acceptedLast is the state of the commit that was accepted last, without what zones declare.
func acceptedLast(ctx context.Context, cmd *cobra.Command) (desired.State, error) {
	s, err := configured(cmd)
	if err != nil {
		return desired.State{}, err
	}
	if _, err := os.Stat(filepath.Join(s.StateDir, "git")); err != nil {
		return desired.State{}, err
	}
	return LastGood(ctx, s, NoZone)
}

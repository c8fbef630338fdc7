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

// CompleteZone completes the one argument of a command with the zones that are declared.
func CompleteZone(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return zoneNames(declared(cmd)), cobra.ShellCompDirectiveNoFileComp
}

// CompleteToken is that for tokens.
func CompleteToken(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return tokenNames(declared(cmd)), cobra.ShellCompDirectiveNoFileComp
}

// CompleteRuleset is that for the keys of managed rulesets.
func CompleteRuleset(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var keys []cobra.Completion
	for _, account := range declared(cmd).Accounts {
		for _, ruleset := range account.Rulesets {
			keys = append(keys, ruleset.Key)
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// CompleteAccount completes a flag with the keys of accounts that the configuration has.
func CompleteAccount(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var o Options
	o.Config, _ = cmd.Flags().GetString("config") // an error: the command has no such flag
	config, err := LoadConfig(&cli.Terminal{Out: io.Discard, Err: io.Discard}, o.ConfigFile())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(config.Credentials.Accounts)), cobra.ShellCompDirectiveNoFileComp
}

func completeOnly(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	state := declared(cmd)
	var words []cobra.Completion
	for _, name := range zoneNames(state) {
		words = append(words, "zone="+name)
	}
	for _, name := range tokenNames(state) {
		words = append(words, "token="+name)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func zoneNames(state desired.State) (names []cobra.Completion) {
	for _, account := range state.Accounts {
		for _, zone := range account.Zones {
			names = append(names, zone.Key)
		}
	}
	return names
}

func tokenNames(state desired.State) (names []cobra.Completion) {
	for _, token := range state.Tokens {
		names = append(names, token.Key)
	}
	return names
}

// declared is the desired state at hand; empty where there is none, or it cannot be read.
func declared(cmd *cobra.Command) desired.State {
	ctx, cancel := context.WithTimeout(context.Background(), completeTimeout)
	defer cancel()
	var o Options
	o.Dir, _ = cmd.Flags().GetString("dir") // an error: the command has no such flag
	o.Config, _ = cmd.Flags().GetString("config")
	if o.Dir != "" {
		state, _, err := NewFolder(o.Dir).Compile(ctx, "")
		if err != nil {
			return desired.State{}
		}
		return state
	}
	config, err := LoadConfig(&cli.Terminal{Out: io.Discard, Err: io.Discard}, o.ConfigFile())
	if err != nil {
		return desired.State{}
	}
	if _, err := os.Stat(filepath.Join(config.StateDir, "git")); err != nil {
		return desired.State{}
	}
	state, err := LastGood(ctx, Settings{Config: config})
	if err != nil {
		return desired.State{}
	}
	return state
}

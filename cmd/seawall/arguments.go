package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

// arguments is how many words a command takes, and what it says to fewer and to more. Cobra's
// own answers count "arg(s)" or call a folder an unknown command.
type arguments struct {
	least, most int
	needs, hint string // for too few
	takes, more string // for too many; without them it says what it needs, and its help or --dir
}

func (a arguments) check(cmd *cobra.Command, args []string) error {
	path := cmd.CommandPath()
	switch {
	case len(args) < a.least, len(args) > a.most && a.takes == "":
		return cli.Fail(fmt.Errorf("%s needs %s", path, a.needs), a.hint)
	case len(args) <= a.most:
		return nil
	}
	more := path + " --help shows how it is used"
	if a.least == 0 && cmd.Flags().Lookup("dir") != nil {
		more = "a folder of desired state is named with --dir"
	}
	return cli.Fail(fmt.Errorf("%s takes %s; %q is one too many", path, a.takes, args[a.most]), cmp.Or(a.more, more))
}

const (
	zoneHint  = "the name is the one under zone: in the desired state"
	tokenHint = "the key is the name under token: in the desired state"
)

// The words that commands take.
var (
	noArguments    = arguments{takes: "no argument"}.check
	perhapsFolder  = arguments{most: 1, takes: "one folder"}.check
	perhapsPlan    = arguments{most: 1, takes: "one saved plan"}.check
	perhapsZone    = arguments{most: 1, takes: "one zone"}.check
	perhapsRuleset = arguments{
		most: 1, takes: "one ruleset", more: "a name with blanks is written in quotes; --grep searches for a text",
	}.check
	oneFolder   = arguments{least: 1, most: 1, needs: "a folder to write into", hint: "seawall import my-edge", takes: "one folder"}.check
	oneZone     = arguments{least: 1, most: 1, needs: "the name of a zone", hint: zoneHint, takes: "one zone"}.check
	oneToken    = arguments{least: 1, most: 1, needs: "the key of a token", hint: tokenHint, takes: "one token"}.check
	zoneOrToken = arguments{
		least: 1, most: 1, needs: "the name of a zone or the key of a token",
		hint: "it is the one under zone: or token: in the desired state", takes: "one zone or token",
	}.check
	oneExpression = arguments{
		least: 1, most: 1, needs: "an expression", hint: "it is one argument: write it in single quotes, or - for standard input",
		takes: "one expression", more: "write it in single quotes",
	}.check
	keyAndID = arguments{least: 2, most: 2, needs: "the key of a token and its id", hint: tokenHint + "; the dashboard shows the id"}.check
	oneID    = arguments{least: 1, most: 1, needs: "the id of one token", hint: "seawall token list and seawall plan show ids"}.check
)

// oneWord takes one of the command's words or nothing.
func oneWord(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return cli.OneOf(cmd.CommandPath(), args[0], cmd.ValidArgs...)
	}
	return arguments{most: 1, takes: "one word"}.check(cmd, args)
}

// group is a command that has others below it, and only shows its help itself.
func group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args = knownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(below...)
	return cmd
}

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

// What a command says to words it does not take. Cobra's own answers count
// "arg(s)" or call a folder an unknown command.

// noArguments refuses any word.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return surplus(cmd, "takes no argument", args[0])
}

// oneFolder takes a folder or nothing.
func oneFolder(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return surplus(cmd, "takes one folder", args[1])
}

// oneWord takes one of the command's words or nothing.
func oneWord(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return nil
	case 1:
		return cli.OneOf(cmd.CommandPath(), args[0], cmd.ValidArgs...)
	}
	return surplus(cmd, "takes one word", args[1])
}

// oneToken takes the key of a token.
func oneToken(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return cli.Fail(fmt.Errorf("%s needs the key of a token", cmd.CommandPath()), "the key is the name under token: in the desired state")
	case 1:
		return nil
	}
	return cli.Fail(fmt.Errorf("%s takes one token; %q is one too many", cmd.CommandPath(), args[1]), cmd.CommandPath()+" --help shows how it is used")
}

// oneZone takes the name of a zone.
func oneZone(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return cli.Fail(fmt.Errorf("%s needs the name of a zone", cmd.CommandPath()), "the name is the one under zone: in the desired state")
	case 1:
		return nil
	}
	return cli.Fail(fmt.Errorf("%s takes one zone; %q is one too many", cmd.CommandPath(), args[1]), cmd.CommandPath()+" --help shows how it is used")
}

// keyAndID takes the key of a token and its id on the platform.
func keyAndID(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		return nil
	}
	return cli.Fail(fmt.Errorf("%s needs the key of a token and its id", cmd.CommandPath()),
		"the key is the name under token: in the desired state; the dashboard shows the id")
}

// atMostOneFile takes the file of a saved plan, or nothing.
func atMostOneFile(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return surplus(cmd, "takes one saved plan", args[1])
}

// oneID takes the id of a token on the platform.
func oneID(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return cli.Fail(fmt.Errorf("%s needs the id of one token", cmd.CommandPath()), "seawall token list and seawall plan show ids")
}

func surplus(cmd *cobra.Command, takes, word string) error {
	err := fmt.Errorf("%s %s; %q is one too many", cmd.CommandPath(), takes, word)
	if cmd.Flags().Lookup("dir") != nil {
		return cli.Fail(err, "a folder of desired state is named with --dir")
	}
	return cli.Fail(err, cmd.CommandPath()+" --help shows how it is used")
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
				if found, _, err := root.Find(args); err == nil && (found != root || len(args) == 0) {
					return nil
				}
				return knownCommand(root, args)
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

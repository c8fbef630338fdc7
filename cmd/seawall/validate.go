package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
)

func newValidate(t *cli.Terminal) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "validate [DIR]",
		Short: "Check a folder of desired state, without any network",
		Long: `Evaluate every folder of CUE files below DIR (default: the current folder) the
way the daemon does, and print all mistakes at once, each with its place and a
hint. It needs no configuration and no network.

Exit codes: 0 valid, 1 not.`,
		Example: "  seawall validate\n  seawall validate examples/fleet\n  seawall validate -o json . | jq .problems",
		Args:    perhapsFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			folder := setup.Folder{Dir: dir}
			show, wipe := t.Follow(cli.Quota{})
			if show != nil {
				folder.Progress = func(done, total int) { show("evaluating folders", done, total) }
			}
			state, problems, err := folder.Compile(cmd.Context(), "")
			wipe()
			if err != nil {
				return err
			}
			valid := len(desired.Errors(problems)) == 0
			err = t.Show(output, validationOf(valid, problems), func() error { return validationText(t, valid, problems, state) })
			if err == nil && !valid {
				return cli.ExitError(1)
			}
			return err
		},
	}
	cli.AddOutput(cmd, &output, "text", "json")
	return cmd
}

func validationText(t *cli.Terminal, valid bool, problems []desired.Problem, state desired.State) error {
	t.ShowProblems(t.Out, problems)
	errs := len(desired.Errors(problems))
	warnings := ""
	if n := len(problems) - errs; n > 0 {
		warnings = ", " + cli.Plural(n, "warning", "warnings")
	}
	if !valid {
		_, err := fmt.Fprintf(t.Out, "not valid: %s%s\n", cli.Plural(errs, "error", "errors"), warnings)
		return err
	}
	accounts := ""
	n := state.AccountLevels()
	if n > 0 {
		accounts = cli.Plural(n, "account", "accounts") + " with deployments of their own, "
	}
	others := ""
	if n := state.Others(); n > 0 {
		others = cli.Plural(n, "other rule", "other rules") + ", "
	}
	_, err := fmt.Fprintf(t.Out, "valid: %s, %s%s, %s%s%s\n", cli.Plural(state.Zones()-n, "zone", "zones"), accounts,
		cli.Plural(state.Deployments(), "deployment", "deployments"), others, cli.Plural(len(state.Tokens), "token", "tokens"), warnings)
	return err
}

// validation is the JSON form of what seawall validate finds.
type validation struct {
	Version  int               `json:"version"`
	Valid    bool              `json:"valid"`
	Problems []validateProblem `json:"problems"`
}

type validateProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Warning bool   `json:"warning,omitempty"`
}

func validationOf(valid bool, problems []desired.Problem) validation {
	v := validation{1, valid, make([]validateProblem, len(problems))}
	for i, p := range problems {
		v.Problems[i] = validateProblem{p.Origin.File, p.Origin.Line, p.Origin.Column, p.Path, p.Message, p.Hint, p.Warning}
	}
	return v
}

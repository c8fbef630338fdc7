package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired/permission"
)

// exitDenied is the exit code of token explain for an answer of no.
const exitDenied = 2

func newTokenExplain(t *cli.Terminal) *cobra.Command {
	var i inquiry
	cmd := &cobra.Command{
		Use:   "explain KEY",
		Short: "Show whether a declared token has a permission, and which line decides",
		Long: `Show whether the declared token KEY has a permission group on a zone, an account
or the calling user, and which policy decides, with its file, line and column.

A policy that denies wins over any that allows. A permission that no policy names
is denied. Conditions that the question leaves out (--ip, --at) count as met, and
the answer lists them. Only the platform knows the resource type of a permission
group: unless it is declared, the command assumes the type of the question. Ask
for a group by its name if it is declared by its name.

Exit codes: 0 allowed, 2 denied, 1 no answer.`,
		Example: `  seawall token explain ci-dns --group 4755a26eedb94da69e1066d98aa820be --zone shop.example --dir .
  seawall token explain ci-dns --group 4755a26eedb94da69e1066d98aa820be --account prod --ip 192.0.2.7 --at now
  seawall token explain ci-dns --group 4755a26eedb94da69e1066d98aa820be --user -o json | jq .answer.because`,
		Args:              oneToken,
		ValidArgsFunction: setup.CompleteToken,
		RunE: func(cmd *cobra.Command, args []string) error {
			state, q, err := i.ask(cmd, t)
			if err != nil {
				return err
			}
			token, err := permission.FindToken(state, args[0])
			if err != nil {
				return err
			}
			t.Hint(permission.UnknownGroup(q.Group, state))
			v := permission.Judge(token, q)
			if err := v.Undecided(); err != nil {
				return err
			}
			err = t.Show(i.Output, explainedJSON{permission.JSONVersion, q.JSON(), v.JSON()}, func() error { return explainText(t, v) })
			if err == nil && !v.Allowed {
				return cli.ExitError(exitDenied)
			}
			return err
		},
	}
	i.addTo(cmd)
	return cmd
}

type explainedJSON struct {
	Version  int                    `json:"version"`
	Question permission.QueryJSON   `json:"question"`
	Answer   permission.VerdictJSON `json:"answer"`
}

// explainText tells a verdict, the answer first.
func explainText(t *cli.Terminal, v permission.Verdict) error {
	answer := "denied"
	if v.Allowed {
		answer = "allowed"
	}
	lines := [][2]string{
		{"token", fmt.Sprintf("%s, %s", v.Token.Key, v.Token.Origin)},
		{"asked", v.Describe()},
		{"because", v.Why()},
	}
	for _, limit := range v.Conditions() {
		lines = append(lines, [2]string{"only", limit})
	}
	for _, near := range v.NearMisses() {
		lines = append(lines, [2]string{"but", near})
	}
	text := answer + "\n"
	for _, line := range lines {
		text += fmt.Sprintf("  %-8s %s\n", line[0], cli.OneLine(line[1]))
	}
	_, err := fmt.Fprint(t.Out, text)
	return err
}

func newTokenWhoCan(t *cli.Terminal) *cobra.Command {
	var i inquiry
	cmd := &cobra.Command{
		Use:   "who-can",
		Short: "List the declared tokens that have a permission",
		Long: `List the declared tokens that have a permission group on a zone, an account or
the calling user, each with the line of the policy that allows it. The flags and
the rules are those of seawall token explain.

Exit codes: 0, also if no token has the permission; 1 no answer.`,
		Example: `  seawall token who-can --group 4755a26eedb94da69e1066d98aa820be --zone shop.example --dir .
  seawall token who-can --group 4755a26eedb94da69e1066d98aa820be --zone shop.example --ip 192.0.2.7 --at now
  seawall token who-can --group 4755a26eedb94da69e1066d98aa820be --account prod -o json | jq -r .tokens[].token`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, q, err := i.ask(cmd, t)
			if err != nil {
				return err
			}
			t.Hint(permission.UnknownGroup(q.Group, state))
			able := []permission.Verdict{}
			var undecided error
			for _, token := range state.Tokens {
				v := permission.Judge(token, q)
				if err := v.Undecided(); err != nil {
					undecided = err
				} else if v.Allowed {
					able = append(able, v)
				}
			}
			err = t.Show(i.Output, whoCan(q, able), func() error { return whoCanText(t, q, able, len(state.Tokens)) })
			return cmp.Or(err, undecided)
		},
	}
	i.addTo(cmd)
	return cmd
}

func whoCanText(t *cli.Terminal, q permission.Query, able []permission.Verdict, of int) error {
	if len(able) == 0 {
		_, err := fmt.Fprintf(t.Out, "none of %s may: %s\n", cli.Plural(of, "declared token", "declared tokens"), q.Describe())
		return err
	}
	var rows [][]string
	for _, v := range able {
		row := []string{v.Token.Key, v.Why()}
		if limits := v.Conditions(); len(limits) > 0 {
			row = append(row, "only "+strings.Join(limits, "; "))
		}
		rows = append(rows, row)
	}
	return t.Table(rows)
}

type whoCanJSON struct {
	Version  int                      `json:"version"`
	Question permission.QueryJSON     `json:"question"`
	Tokens   []permission.VerdictJSON `json:"tokens"`
}

func whoCan(q permission.Query, able []permission.Verdict) whoCanJSON {
	answer := whoCanJSON{permission.JSONVersion, q.JSON(), make([]permission.VerdictJSON, len(able))}
	for n, v := range able {
		answer.Tokens[n] = v.JSON()
	}
	return answer
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// exitDenied is the exit code of token explain for an answer of no.
const exitDenied = 2

func newTokenExplain(t *terminal) *cobra.Command {
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
		Args: oneToken,
		RunE: func(cmd *cobra.Command, args []string) error {
			state, q, err := i.ask(cmd, t)
			if err != nil {
				return err
			}
			token, err := findToken(state, args[0])
			if err != nil {
				return err
			}
			t.hint(unheardOf(q.Group, state))
			v := judge(token, q)
			if err := v.undecided(); err != nil {
				return err
			}
			if i.output == "json" {
				err = t.json(explainedJSON{tokenAnswerVersion, q.json(), v.json()})
			} else {
				err = t.explained(v)
			}
			if err == nil && !v.Allowed {
				return exitStatus(exitDenied)
			}
			return err
		},
	}
	i.addTo(cmd)
	return cmd
}

type explainedJSON struct {
	Version  int          `json:"version"`
	Question questionJSON `json:"question"`
	Answer   verdictJSON  `json:"answer"`
}

// explained tells a verdict, the answer first.
func (t *terminal) explained(v verdict) error {
	answer := "denied"
	if v.Allowed {
		answer = "allowed"
	}
	lines := [][2]string{
		{"token", fmt.Sprintf("%s, %s", v.token.Key, v.token.Origin)},
		{"asked", v.asked()},
		{"because", v.why()},
	}
	for _, limit := range v.notAsked() {
		lines = append(lines, [2]string{"only", limit})
	}
	for _, near := range v.nearMisses() {
		lines = append(lines, [2]string{"but", near})
	}
	if _, err := fmt.Fprintln(t.out, answer); err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(t.out, "  %-8s %s\n", line[0], oneLine(line[1])); err != nil {
			return err
		}
	}
	return nil
}

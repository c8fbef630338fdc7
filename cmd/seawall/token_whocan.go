package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newTokenWhoCan(t *terminal) *cobra.Command {
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
			t.hint(unheardOf(q.Group, state))
			able := []verdict{}
			var undecided error
			for _, token := range state.Tokens {
				v := judge(token, q)
				if err := v.undecided(); err != nil {
					undecided = err
				} else if v.Allowed {
					able = append(able, v)
				}
			}
			if i.output == "json" {
				return cmp.Or(t.whoCanJSON(q, able), undecided)
			}
			return cmp.Or(t.whoCan(q, able, len(state.Tokens)), undecided)
		},
	}
	i.addTo(cmd)
	return cmd
}

func (t *terminal) whoCan(q question, able []verdict, of int) error {
	if len(able) == 0 {
		_, err := fmt.Fprintf(t.out, "none of %s may: %s\n", plural(of, "declared token", "declared tokens"), q.asked())
		return err
	}
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, v := range able {
		only := ""
		if limits := v.notAsked(); len(limits) > 0 {
			only = "only " + strings.Join(limits, "; ")
		}
		fmt.Fprintln(table, strings.TrimRight(oneLine(v.token.Key)+"\t"+oneLine(v.why())+"\t"+oneLine(only), "\t"))
	}
	return table.Flush()
}

func (t *terminal) whoCanJSON(q question, able []verdict) error {
	tokens := make([]verdictJSON, len(able))
	for n, v := range able {
		tokens[n] = v.json()
	}
	return t.json(struct {
		Version  int           `json:"version"`
		Question questionJSON  `json:"question"`
		Tokens   []verdictJSON `json:"tokens"`
	}{tokenAnswerVersion, q.json(), tokens})
}

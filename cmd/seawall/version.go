package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

func newVersion(t *cli.Terminal) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  seawall version\n  seawall version -o json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := cli.OneOf("--output", output, "text", "json"); err != nil {
				return err
			}
			v := cli.ThisVersion()
			if output == "json" {
				return json.NewEncoder(t.Out).Encode(v)
			}
			_, err := fmt.Fprint(t.Out, v.Line())
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

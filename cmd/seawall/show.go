package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/importer"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/show"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

func newShow(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:   "show ZONE|TOKEN",
		Short: "Show what a zone or a token is declared to be, and who changed it last",
		Long: `Show the declaration of a zone or a token with all its values: where each is declared
(file, line, column), in which tier or pattern that zones share, what is live on the
platform beside it, and the commit and the author that last changed the line.

It is the declaration of the commit that was accepted last: nothing is fetched, and the
daemon may run. With --dir it is that of a folder; the history is that of the git
repository that the folder is in, and the platform is read if --base-url or --config
names one. What is live in a zone is read now, with three requests and one for each
deployment, and so are the skip rules that keep requests from it. Of a token, the newest record in the ledger is shown, and no secret.

The history is searched back for at most 20,000 commits and 5 seconds. "before commit"
says that the change is older than that, or than a shallow clone.

Exit codes: 0 all of it is shown, also where it differs or is absent on the platform; 4
something could not be read: the output says what; 1 failure.`,
		Example:           "  seawall show shop.example\n  seawall show shop.example --dir my-edge\n  seawall show ci-dns -o json | jq -r .shown[].changed.author",
		Args:              zoneOrToken,
		ValidArgsFunction: setup.CompleteZoneOrToken,
		RunE:              func(cmd *cobra.Command, args []string) error { return runShow(cmd.Context(), t, o, args[0]) },
	}
	o.AddSource(cmd)
	cli.AddOutput(cmd, &o.Output, "text", "cue", "json")
	return cmd
}

func runShow(ctx context.Context, t *cli.Terminal, o setup.Options, word string) error {
	in, err := setup.ReadInForce(ctx, t, o, word)
	if err != nil {
		return err
	}
	defer in.Close()
	all, err := findShown(ctx, t, o, in.State, word)
	if err != nil {
		return err
	}
	partial := false
	for i := range all {
		places := all[i].Places()
		found, err := in.Trace(ctx, places)
		if err != nil {
			return err
		}
		all[i].Trace(places, found)
		partial = partial || all[i].Partial
	}
	if err := writeShown(t, o.Output, all); err != nil {
		return err
	}
	return cli.Attention(partial)
}

func writeShown(t *cli.Terminal, output string, all []show.Shown) error {
	facts := struct {
		Version int          `json:"version"`
		Shown   []show.Shown `json:"shown"`
	}{show.Version, all}
	return t.Show(output, facts, func() error {
		return cli.Apart(t.Out, all, func(s show.Shown) error {
			if output == "cue" {
				return s.CUE(t.Out)
			}
			return s.Text(t.Out)
		})
	})
}

// findShown finds the zones and the token that a word means, with what is live of them.
func findShown(ctx context.Context, t *cli.Terminal, o setup.Options, state desired.State, word string) (all []show.Shown, err error) {
	var names []string
	for account, z := range state.EachZone() {
		names = append(names, z.Key)
		if setup.IsMeant(z, word) {
			all = append(all, showZone(ctx, t, o, state.Commit, account, z))
		}
	}
	for _, token := range state.Tokens {
		names = append(names, token.Key)
		if token.Key == word {
			all = append(all, showToken(ctx, t, o, state.Commit, token))
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, cli.Fail(fmt.Errorf("no zone and no token %q is declared", word),
		nearest.Hint(word, names, "the name is the one under zone: or token: in the desired state"))
}

// showZone shows a zone. A platform that cannot be read leaves what is live unknown.
func showZone(ctx context.Context, t *cli.Terminal, o setup.Options, commit string, account desired.Account, z desired.Zone) show.Shown {
	if o.Dir != "" && o.BaseURL == "" && !o.NamesConfig() {
		return show.Zone(account, z, commit, nil, "no platform is named: --base-url or --config names one")
	}
	read, err := readZone(ctx, t, o, account, z)
	if err != nil {
		s := show.Zone(account, z, commit, nil, cli.Reason(err))
		s.Partial = true
		return s
	}
	live := make([]show.Live, len(read.Parts))
	for i, one := range read.Parts {
		live[i] = show.Live(one)
	}
	return show.Zone(account, z, commit, live, "").WithID(read.Scope).WithUnlooked(read.Unlooked)
}

func readZone(ctx context.Context, t *cli.Terminal, o setup.Options, account desired.Account, z desired.Zone) (importer.LiveZone, error) {
	f := importFlags{Options: o}
	f.Order.Dir = o.Dir
	platform, _, reading, err := f.platform(t)
	if err != nil {
		return importer.LiveZone{}, err
	}
	defer reading.Close()
	return importer.ReadLive(ctx, platform, account, z)
}

// showToken shows a token, with what the ledger has of it.
func showToken(ctx context.Context, t *cli.Terminal, o setup.Options, commit string, token desired.Token) show.Shown {
	if o.Dir != "" {
		return show.Token(token, commit, nil, "no ledger is read with --dir")
	}
	var known diff.TokensLive
	err := setup.ReadLedger(ctx, t, o, func(memory *ledger.Ledger) (err error) {
		known, err = memory.Tokens(ctx)
		return err
	})
	if err != nil {
		s := show.Token(token, commit, nil, cli.Reason(err))
		s.Partial = true
		return s
	}
	unknown := known.Unknown
	if unknown != "" && known.Hint != "" {
		unknown += "; " + known.Hint
	}
	return show.Token(token, commit, known.Records, unknown)
}

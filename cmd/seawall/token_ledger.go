package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// These commands record in the ledger what only a person can
// know: the reference shows no way to list or read tokens.

// recording has a person's word recorded, and says what has become of it.
func recording(t *cli.Terminal, o setup.Options, record func(setup.Settings) (said string, err error)) error {
	s, err := setup.LoadSource(t, o.ConfigFile())
	if err != nil {
		return err
	}
	said, err := record(s)
	if err == nil {
		_, err = fmt.Fprintln(t.Out, said)
	}
	return err
}

func newTokenInit(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Confirm that the ledger has all existing tokens",
		Long: `Confirm that the platform has no token of this repository beyond those in the
ledger. Before that, and after the ledger was copied or restored from a backup,
Seawall creates no token: it could create an existing one again.

Check the dashboard first. Record existing tokens with seawall token adopt.`,
		Example: "  seawall token init",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return recording(t, o, func(s setup.Settings) (string, error) {
				_, err := s.Record(cmd.Context(), ledger.TokenOrder{Init: true})
				return fmt.Sprintf("tokens declared in %s may now be created on %s", s.Source.URL, s.Platform.BaseURL), err
			})
		},
	}
	setup.AddConfig(cmd, &o)
	return cmd
}

func newTokenResolve(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var adopt string
	var abandon, retry bool
	cmd := &cobra.Command{
		Use:   "resolve KEY",
		Short: "Record the outcome of a quarantined creation",
		Long: `If the answer to a creation is lost, Seawall quarantines it: a token may exist whose
secret is lost. Search the dashboard for its name and the time, then use one of:

  --adopt ID   it exists; you rolled its secret there and put the new one in place
  --abandon    it existed, and you revoked it
  --retry      it was never created

After --abandon or --retry the next run creates the token, if it is still declared.`,
		Example:           "  seawall token resolve ci-dns --retry\n  seawall token resolve ci-dns --adopt ed17574386854bf78a67040be0a770b0",
		Args:              oneToken,
		ValidArgsFunction: setup.CompleteToken,
		RunE: func(cmd *cobra.Command, args []string) error {
			word, err := resolution(adopt, abandon, retry)
			if err != nil {
				return err
			}
			return recording(t, o, func(s setup.Settings) (string, error) {
				_, err := s.Record(cmd.Context(), ledger.TokenOrder{Resolve: &ledger.Resolved{Key: args[0], Word: word}})
				return resolved(args[0], word), err
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cmd.Flags().StringVar(&adopt, "adopt", "", "the token exists and has this `ID`")
	cmd.Flags().BoolVar(&abandon, "abandon", false, "it existed, and you revoked it")
	cmd.Flags().BoolVar(&retry, "retry", false, "nothing was created")
	return cmd
}

func resolution(adopt string, abandon, retry bool) (ledger.Resolution, error) {
	said := 0
	for _, b := range []bool{adopt != "", abandon, retry} {
		if b {
			said++
		}
	}
	switch {
	case said != 1:
		return ledger.Resolution{}, cli.Usage("give exactly one of --adopt ID, --abandon and --retry")
	case abandon:
		return ledger.Resolution{How: ledger.ByAbandoning}, nil
	case retry:
		return ledger.Resolution{How: ledger.ByRetrying}, nil
	}
	id, err := tokenID(adopt)
	return ledger.Resolution{How: ledger.ByAdopting, ID: id}, err
}

// resolved says what a resolution has done.
func resolved(key string, word ledger.Resolution) string {
	switch word.How {
	case ledger.ByAdopting:
		return fmt.Sprintf("token %s is adopted: the ledger has it as token %q", word.ID, key)
	case ledger.ByAbandoning:
		return fmt.Sprintf("the attempt is recorded as revoked; the next run creates token %q if it is still declared", key)
	case ledger.ByRetrying:
	}
	return fmt.Sprintf("the attempt is recorded as not created; the next run creates token %q if it is still declared", key)
}

// gone checks, where the platform can be asked, that it does not have a token any more.
func gone(ctx context.Context, s setup.Settings, account *desired.Account, id edge.TokenID) error {
	live, err := liveToken(ctx, s, account, id)
	switch {
	case errors.Is(err, edge.ErrNotFound), errors.Is(err, edge.ErrNotOffered):
		return nil
	case err != nil:
		return cli.Fail(fmt.Errorf("asking the platform whether token %s is gone: %w", id, err), "nothing was recorded; --unchecked records it without asking")
	}
	return cli.Fail(fmt.Errorf("the platform still has token %s, named %q", id, live.Name), "revoke it first; nothing was recorded")
}

// ownerOf is the account that owns a token on record, as the repository declares it; nil for
// a token of the user.
func ownerOf(ctx context.Context, t *cli.Terminal, o setup.Options, memory *ledger.Ledger, id edge.TokenID) (*desired.Account, error) {
	live, err := memory.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(live.Records, func(r diff.TokenRecord) bool { return r.ID == id })
	if i < 0 || live.Records[i].Owner == "" {
		return nil, nil
	}
	state, err := setup.LoadState(ctx, t, o)
	if err != nil {
		return nil, err
	}
	owner := live.Records[i].Owner
	account, err := setup.AccountOf(ctx, memory, state, func(a desired.Account) bool { return a.ID == owner })
	if err != nil {
		return nil, cli.Fail(fmt.Errorf("the token is owned by account %s, which the repository does not declare", owner),
			"nothing was recorded; --unchecked records it without asking the platform")
	}
	return account, nil
}

func newTokenRevoked(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var unchecked bool
	cmd := &cobra.Command{
		Use:     "revoked ID",
		Short:   "Record that a token no longer exists",
		Long:    "Record that you revoked a token on the platform, such as a superseded one or an\norphan that a plan lists. Nothing is revoked by this command. If platform.profile is\n\"extended\", it asks the platform and refuses while the token exists.",
		Example: "  seawall token revoked ed17574386854bf78a67040be0a770b0",
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			id := edge.TokenID(args[0])
			return recording(t, o, func(s setup.Settings) (_ string, err error) {
				if !unchecked {
					err = s.ReadLedger(cmd.Context(), func(memory *ledger.Ledger) error {
						account, err := ownerOf(cmd.Context(), t, o, memory, id)
						if err == nil {
							err = gone(cmd.Context(), s, account, id)
						}
						return err
					})
				}
				if err == nil {
					_, err = s.Record(cmd.Context(), ledger.TokenOrder{Revoked: id})
				}
				return fmt.Sprintf("token %s is removed from the ledger", id), err
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cmd.Flags().BoolVar(&unchecked, "unchecked", false, "do not ask the platform whether it still has the token")
	return cmd
}

func newTokenList(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the tokens in the ledger",
		Long: `Show every token in the ledger: whether it is created, whether its secret is
delivered to its sink, whether a later token of the same declaration has superseded
it, when it expires, the sink of its secret, and the id of the account that owns it,
if any does. quarantined: it may exist or not; see seawall token resolve. No secret is
shown.`,
		Example: "  seawall token list\n  seawall token list -o json | jq -r '.tokens[] | select(.secret == \"undelivered\").key'",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return setup.ReadLedger(cmd.Context(), t, o, func(memory *ledger.Ledger) error {
				live, err := memory.Tokens(cmd.Context())
				if err != nil {
					return err
				}
				list := recordedTokens(live)
				return t.Show(o.Output, list, func() error { return listTokens(t, list, live.Hint) })
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cli.AddOutput(cmd, &o.Output, "text", "json")
	return cmd
}

// tokenList is the JSON form of the tokens on record. Without Unknown they are complete.
type tokenList struct {
	Version int           `json:"version"`
	Unknown string        `json:"unknown,omitempty"`
	Tokens  []tokenRecord `json:"tokens"`
}

// tokenRecord is what is known of a token, without its secret.
type tokenRecord struct {
	Key     string         `json:"key"`
	ID      edge.TokenID   `json:"id,omitempty"` // once created
	State   string         `json:"state"`        // creating, created or quarantined
	Secret  string         `json:"secret,omitempty"`
	Since   time.Time      `json:"since"` // when its creation began
	Expires string         `json:"expires,omitempty"`
	Use     string         `json:"use,omitempty"` // current or superseded
	Sink    string         `json:"sink,omitempty"`
	Account edge.AccountID `json:"account,omitempty"`
}

// stateWords are the states of a token's creation as a person reads them.
var stateWords = map[diff.TokenState]string{
	diff.TokenIntended: "creating", diff.TokenConfirmed: "created", diff.TokenQuarantined: "quarantined",
}

func recordedTokens(live diff.TokensLive) tokenList {
	list := tokenList{Version: 1, Unknown: live.Unknown, Tokens: []tokenRecord{}}
	newest := map[string]string{}
	for _, r := range live.Records {
		if r.State == diff.TokenConfirmed {
			newest[r.Key] = r.Intent
		}
	}
	for _, r := range live.Records {
		one := tokenRecord{
			Key: r.Key, ID: r.ID, State: stateWords[r.State], Since: r.At.UTC().Truncate(time.Second), Expires: r.Spec.ExpiresOn,
			Sink: sinkOf(live, r), Account: r.Owner,
		}
		if r.State == diff.TokenConfirmed {
			one.Secret, one.Use = "undelivered", "superseded"
			if newest[r.Key] == r.Intent {
				one.Use = "current"
			}
		}
		if r.Delivered {
			one.Secret = "delivered"
		}
		list.Tokens = append(list.Tokens, one)
	}
	return list
}

func listTokens(t *cli.Terminal, list tokenList, hint string) error {
	if list.Unknown != "" {
		fmt.Fprintf(t.Err, "%s %s\n", t.Red("warning:"), cli.OneLine(list.Unknown))
		t.Hint(hint)
	}
	owned := slices.ContainsFunc(list.Tokens, func(r tokenRecord) bool { return r.Account != "" })
	rows := [][]string{{"KEY", "ID", "STATE", "SECRET", "SINCE", "EXPIRES", "USE", "SINK"}}
	if owned {
		rows[0] = append(rows[0], "ACCOUNT")
	}
	for _, r := range list.Tokens {
		cells := []string{
			r.Key, string(r.ID), r.State, r.Secret, r.Since.Format(time.RFC3339), cmp.Or(r.Expires, "never"), r.Use, r.Sink,
		}
		if owned {
			cells = append(cells, string(r.Account))
		}
		for i, cell := range cells {
			cells[i] = cmp.Or(cell, "-")
		}
		rows = append(rows, cells)
	}
	return t.Table(rows)
}

// sinkOf is where the secret of a token is, or is to go; empty where it has no place, or a
// later secret has replaced it there.
func sinkOf(live diff.TokensLive, r diff.TokenRecord) string {
	place := live.Place(r)
	if place == nil {
		return ""
	}
	return place.Name + ", key " + place.Key
}

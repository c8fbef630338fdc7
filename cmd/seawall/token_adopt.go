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
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	tokens "github.com/seawall-dev/seawall/reconcile/token"
)

func newTokenAdopt(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var expiresOn string
	cmd := &cobra.Command{
		Use:   "adopt KEY ID",
		Short: "Record an existing token as a declared one",
		Long: `Record that the declared token KEY already exists with this id on the platform, and
that its secret is in place. If platform.profile is "extended", the command checks
that the platform has the token, and the next run corrects what differs. Otherwise
Seawall assumes that the token is as declared. For a token that rotates, give its
end with --expires-on, unless the platform tells it: Seawall creates the successor
before that time. To correct an end, adopt the same token once more.`,
		Example: "  seawall token adopt ci-dns ed17574386854bf78a67040be0a770b0",
		Args:    keyAndID,
		RunE: func(cmd *cobra.Command, args []string) error {
			state, token, err := declaredToken(cmd.Context(), t, o, args[0])
			if err != nil {
				return err
			}
			record, err := adopted(token, expiresOn)
			if err == nil {
				record.ID, err = tokenID(args[1])
			}
			if err != nil {
				return err
			}
			return recording(t, o, func(s setup.Settings) (string, error) {
				err := s.ReadLedger(cmd.Context(), func(memory *ledger.Ledger) error {
					account, err := setup.AccountOf(cmd.Context(), memory, state, byKey(token.Account))
					if err != nil {
						return err
					}
					if account != nil {
						record.Owner = account.ID
					}
					if err := findToken(cmd.Context(), s, account, &record); err != nil {
						return err
					}
					if token.Rotate != nil && record.Spec.ExpiresOn == "" && expiresOn != neverExpires {
						return cli.Fail(fmt.Errorf("token %q rotates, and Seawall does not know when token %s expires", token.Key, record.ID),
							"give its end with --expires-on, 2027-01-01T00:00:00Z; or --expires-on never if it has none")
					}
					return nil
				})
				if err != nil {
					return "", err
				}
				return adopt(cmd.Context(), s, record)
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cmd.Flags().StringVar(&expiresOn, "expires-on", "", "for a token that rotates: the `TIME` when it expires, 2027-01-01T00:00:00Z, or never")
	return cmd
}

// neverExpires stands for an end that a token does not have.
const neverExpires = "never"

// adopt records a token, or corrects what is on record of it, and says which.
func adopt(ctx context.Context, s setup.Settings, record diff.TokenRecord) (said string, err error) {
	corrected, err := s.Record(ctx, ledger.TokenOrder{Adopt: &record})
	did := "adopted: the ledger has it as token %q, with its secret in place"
	if corrected {
		did = "corrected: it was on record as token %q"
	}
	return fmt.Sprintf("token %s is "+did+"; it expires: %s", record.ID, record.Key, cmp.Or(record.Spec.ExpiresOn, neverExpires)), err
}

var tokenIDForm = lazyregexp.New(`^[0-9A-Za-z_-]{1,32}$`)

// tokenID reads an id of the platform: at most 32 characters.
func tokenID(text string) (edge.TokenID, error) {
	if !tokenIDForm().MatchString(text) {
		return "", cli.Fail(fmt.Errorf("%q is not the id of a token", text), "an id has at most 32 letters and digits; the dashboard shows it")
	}
	return edge.TokenID(text), nil
}

// adopted is the record of a declared token that a person brings.
func adopted(token desired.Token, expiresOn string) (diff.TokenRecord, error) {
	spec := token.Spec()
	record := diff.TokenRecord{
		Intent: tokens.NewIntent(), Key: token.Key, Spec: spec, Hash: access.Hash(spec), Sink: token.Sink, Prune: token.Prune, At: time.Now(),
	}
	if token.Rotate != nil { // whoever brings it agrees that it rotates as declared
		record.Lifetime, record.Every = token.Rotate.Lifetime(), token.Rotate.Every
	}
	if expiresOn == "" || expiresOn == neverExpires && token.Rotate != nil {
		return record, nil
	}
	end, err := time.Parse("2006-01-02T15:04:05Z", expiresOn)
	switch {
	case err != nil:
		return record, cli.Fail(fmt.Errorf("--expires-on %q is not a time in UTC", expiresOn), "write it as 2027-01-01T00:00:00Z, or never")
	case token.Rotate == nil:
		return record, cli.Fail(fmt.Errorf("--expires-on is for a token that rotates, and %q does not", token.Key), "its declaration sets the end: expires_on")
	}
	record.Spec.ExpiresOn = end.Format(time.RFC3339)
	return record, nil
}

// findToken asks a platform that can tell whether it has a token that is to be adopted,
// and when that ends. A typing mistake would make another one in its place.
func findToken(ctx context.Context, s setup.Settings, account *desired.Account, record *diff.TokenRecord) error {
	live, err := liveToken(ctx, s, account, record.ID)
	switch {
	case errors.Is(err, edge.ErrNotOffered):
		return nil
	case errors.Is(err, edge.ErrNotFound):
		if account != nil {
			return cli.Fail(fmt.Errorf("account %s owns no token %s", account.Key, record.ID), "copy the id from the dashboard: Manage Account, Account API Tokens; nothing was recorded")
		}
		return cli.Fail(fmt.Errorf("the platform has no token %s", record.ID), "copy the id from the dashboard; nothing was recorded")
	case err != nil:
		return fmt.Errorf("looking for token %s: %w", record.ID, err)
	}
	record.Spec.NotBefore, record.Spec.ExpiresOn = cmp.Or(record.Spec.NotBefore, live.NotBefore), cmp.Or(record.Spec.ExpiresOn, live.ExpiresOn)
	return nil
}

// liveToken asks the platform for a token of an account, or where that is nil of the user.
// It returns [edge.ErrNotOffered] where it cannot be asked, and [edge.ErrNotFound] where it
// has none.
func liveToken(ctx context.Context, s setup.Settings, account *desired.Account, id edge.TokenID) (edge.Token, error) {
	platform, err := s.TokenReader(account)
	if err != nil {
		return edge.Token{}, err
	}
	return platform.UserToken(ctx, id)
}

func byKey(key string) func(desired.Account) bool {
	if key == "" {
		return nil
	}
	return func(a desired.Account) bool { return a.Key == key }
}

func declaredToken(ctx context.Context, t *cli.Terminal, o setup.Options, key string) (desired.State, desired.Token, error) {
	state, err := setup.LoadState(ctx, t, o)
	if err != nil {
		return state, desired.Token{}, err
	}
	i := slices.IndexFunc(state.Tokens, func(token desired.Token) bool { return token.Key == key })
	if i < 0 {
		return state, desired.Token{}, cli.Fail(fmt.Errorf("no token %q is declared", key), "declare it first, exactly as it is on the platform")
	}
	return state, state.Tokens[i], nil
}

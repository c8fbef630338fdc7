package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	tokens "github.com/seawall-dev/seawall/reconcile/token"
)

func newTokenAdopt(t *terminal) *cobra.Command {
	var o options
	var expiresOn string
	cmd := &cobra.Command{
		Use:   "adopt KEY ID",
		Short: "Record an existing token as a declared one",
		Long: `Record that the declared token KEY already exists with this id on the platform, and
that its secret is in place. If platform.profile is "extended", the command checks
that the platform has the token, and the next run corrects what differs. Otherwise
Seawall assumes that the token is as declared. For a token that rotates, give its
end with --expires-on: Seawall creates the successor before that time.`,
		Example: "  seawall token adopt ci-dns ed17574386854bf78a67040be0a770b0",
		Args:    keyAndID,
		RunE: func(cmd *cobra.Command, args []string) error {
			token, err := t.declaredToken(cmd, o, args[0])
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
			return t.onLedger(o, func(s settings, memory *ledger.Ledger) error {
				if err := s.look(cmd.Context(), &record); err != nil {
					return err
				}
				return memory.Adopt(cmd.Context(), record)
			})
		},
	}
	addConfig(cmd, &o)
	cmd.Flags().StringVar(&expiresOn, "expires-on", "", "for a token that rotates: the `TIME` when it expires, 2027-01-01T00:00:00Z")
	return cmd
}

var tokenIDForm = regexp.MustCompile(`^[0-9A-Za-z_-]{1,32}$`)

// tokenID reads an id of the platform: at most 32 characters.
func tokenID(text string) (edge.TokenID, error) {
	if !tokenIDForm.MatchString(text) {
		return "", fail(fmt.Errorf("%q is not the id of a token", text), "an id has at most 32 letters and digits; the dashboard shows it")
	}
	return edge.TokenID(text), nil
}

// adopted is the record of a declared token that a person brings.
func adopted(token desired.Token, expiresOn string) (diff.TokenRecord, error) {
	spec := token.Spec()
	record := diff.TokenRecord{
		Intent: tokens.NewIntent(), Key: token.Key, Spec: spec, Hash: access.Hash(spec), Sink: token.Sink, Prune: token.Prune, At: time.Now(),
	}
	if expiresOn == "" {
		return record, nil
	}
	end, err := time.Parse("2006-01-02T15:04:05Z", expiresOn)
	switch {
	case err != nil:
		return record, fail(fmt.Errorf("--expires-on %q is not a time in UTC", expiresOn), "write it as 2027-01-01T00:00:00Z")
	case token.Rotate == nil:
		return record, fail(fmt.Errorf("--expires-on is for a token that rotates, and %q does not", token.Key), "its declaration sets the end: expires_on")
	}
	record.Spec.ExpiresOn = end.Format(time.RFC3339)
	return record, nil
}

// look asks a platform that can tell whether it has a token that is to be adopted,
// and when that ends. A typing mistake would make another one in its place.
func (s settings) look(ctx context.Context, record *diff.TokenRecord) error {
	if !s.Platform.Extended() || s.Credentials.Tokens == nil {
		return nil
	}
	platform, err := client.New(s.client(*s.Credentials.Tokens, slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	live, err := edge.ReadOnlyTokens(platform).UserToken(ctx, record.ID)
	switch {
	case errors.Is(err, edge.ErrNotOffered):
		return nil
	case errors.Is(err, edge.ErrNotFound):
		return fail(fmt.Errorf("the platform has no token %s", record.ID), "copy the id from the dashboard; nothing was recorded")
	case err != nil:
		return fmt.Errorf("looking for token %s: %w", record.ID, err)
	}
	record.Spec.NotBefore, record.Spec.ExpiresOn = cmp.Or(record.Spec.NotBefore, live.NotBefore), cmp.Or(record.Spec.ExpiresOn, live.ExpiresOn)
	return nil
}

func (t *terminal) declaredToken(cmd *cobra.Command, o options, key string) (desired.Token, error) {
	state, err := t.declared(cmd, o)
	if err != nil {
		return desired.Token{}, err
	}
	i := slices.IndexFunc(state.Tokens, func(token desired.Token) bool { return token.Key == key })
	if i < 0 {
		return desired.Token{}, fail(fmt.Errorf("no token %q is declared", key), "declare it first, exactly as it is on the platform")
	}
	return state.Tokens[i], nil
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
)

// tokens checks one credential for tokens: with the tokens of the user, and of the accounts
// for which it is configured.
func (d *diagnosis) tokens(ctx context.Context, c setup.Credential, f *findings) {
	name := c.Path
	platform := d.platform(c, f)
	if platform == nil {
		return
	}
	tokens, err := setup.ReadToken(c.Ref)
	for _, lane := range d.Lanes() {
		if rulesets, other := setup.ReadToken(lane.Ref); err == nil && other == nil && rulesets.Equal(tokens) {
			f.warn(name, "it is the same token as "+lane.Path, "a token that may create tokens can grant itself anything and should hold no other permission")
		}
	}
	accounts := d.ownersOf(c)
	if !d.verify(ctx, platform, c, f, accounts...) {
		return
	}
	if !d.Platform.Extended() {
		f.ok(name, "can be read; whether it may create tokens shows with the first one")
		return
	}
	if d.listsUser(c) {
		userTokens(ctx, platform, name, f)
	}
	for _, a := range accounts[:min(len(accounts), mostAccounts)] {
		accountTokens(ctx, platform, name, a, f)
	}
}

// ownersOf are the declared accounts that own declared tokens and have this credential.
func (d *diagnosis) ownersOf(c setup.Credential) []desired.Account {
	state := d.state.Load()
	if state == nil || !d.Platform.Extended() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(state.Accounts), func(a desired.Account) bool {
		of, ok := d.TokenCredentialOf(a.Key)
		return !ok || of.Ref != c.Ref || of.BaseURL != c.BaseURL ||
			!slices.ContainsFunc(state.Tokens, func(t desired.Token) bool { return t.Account == a.Key })
	})
}

// listsUser reports whether a credential is for the tokens of the user: that of the top
// level is, unless all declared tokens are owned by accounts.
func (d *diagnosis) listsUser(c setup.Credential) bool {
	if d.Credentials.Tokens == nil || *d.Credentials.Tokens != c.Ref || c.BaseURL != d.Platform.BaseURL {
		return false
	}
	state := d.state.Load()
	return state == nil || len(state.Tokens) == 0 || slices.ContainsFunc(state.Tokens, func(t desired.Token) bool { return t.Account == "" })
}

func userTokens(ctx context.Context, platform *client.Client, name string, f *findings) {
	switch list, err := platform.UserTokens(ctx); {
	case errors.Is(err, edge.ErrNotOffered):
		f.fail(name, err, `the platform does not list tokens: set platform.profile to "documented"`)
	case wrongFamily(err):
		f.fail(name, err, "give the token of "+name+" the permission API Tokens: Edit",
			"if it has that, it may be a token of an account: "+name+" must be one of a user, from My Profile, API Tokens")
	case err != nil:
		f.fail(name, err, "give the token of "+name+" the permission API Tokens: Edit")
	default:
		f.ok(name, "%s can be listed", cli.Plural(len(list), "token", "tokens"))
	}
}

// mostAccountTokens is how many tokens an account may own on the platform, as seen there;
// from nearlyFull on it is warned of.
const (
	mostAccountTokens = 500
	nearlyFull        = mostAccountTokens * 9 / 10
)

func accountTokens(ctx context.Context, platform *client.Client, name string, a desired.Account, f *findings) {
	about := "tokens of account " + a.Key
	if desired.Sought(a.ID) {
		f.ok(about, "not checked: the id of the account is found by its name")
		return
	}
	switch list, err := platform.AccountTokens(a.ID).UserTokens(ctx); {
	case errors.Is(err, edge.ErrForbidden):
		f.fail(about, err, "give the token of "+name+" the permission Account API Tokens: Edit for account "+a.Key,
			"if it has that, it may be a token of another account")
	case errors.Is(err, edge.ErrNotOffered), errors.Is(err, edge.ErrNotFound):
		f.fail(about, err, "check the id of the account in the desired state")
	case err != nil:
		f.fail(about, err)
	case len(list) >= nearlyFull:
		f.warn(about, fmt.Sprintf("%s exist, and the platform allows %d in an account", cli.Plural(len(list), "token", "tokens"), mostAccountTokens), "revoke tokens that are not used")
	default:
		f.ok(about, "%s can be listed", cli.Plural(len(list), "token", "tokens"))
	}
}

// wrongFamily reports whether a call on tokens of the user may have been refused because
// the credential is a token of an account: the platform has one code for both.
func wrongFamily(err error) bool {
	var answer *edge.Error
	return errors.As(err, &answer) && answer.Status == http.StatusForbidden && answer.Code() == edge.CodeNotPermitted
}

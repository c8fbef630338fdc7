package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
)

// platform is a client with a budget of its own: nothing is written to the shared one.
func (d *diagnosis) platform(ref schema.SecretRef, baseURL, name string, f *findings) *client.Client {
	if _, err := setup.ReadToken(ref); err != nil {
		f.fail(name, err)
		return nil
	}
	if info, err := os.Stat(ref.File); ref.File != "" && err == nil && info.Mode().Perm()&0o077 != 0 {
		f.warn(name, fmt.Sprintf("%s has mode %04o: others may read the credential", ref.File, info.Mode().Perm()), "chmod 600 "+ref.File)
	}
	config := client.Config{
		BaseURL: baseURL, Token: func() (edge.Secret, error) { return setup.ReadToken(ref) },
		Budget: client.NewBudget(d.Budget.Requests, d.Budget.Per), UserAgent: "seawall/" + cli.ThisVersion().Version,
		Vendor: d.Platform.Vendor, ConditionKey: d.Platform.ConditionKey,
	}
	platform, err := client.New(config)
	if err != nil {
		f.fail(name, err, "see platform.base_url in the configuration, or --base-url")
		return nil
	}
	return platform
}

// soonEnding is how long before its end a credential is warned of.
const soonEnding = 14 * 24 * time.Hour

// verify asks the platform about a credential, where it offers that. It reports whether
// it is worth asking more.
func verify(ctx context.Context, platform *client.Client, name string, f *findings) bool {
	token, err := platform.VerifyToken(ctx)
	ends, parseErr := time.Parse(time.RFC3339, token.ExpiresOn)
	switch {
	case errors.Is(err, edge.ErrUnauthenticated):
		f.fail(name, err, "the token is wrong, revoked or expired: replace it")
		return false
	case errors.Is(err, edge.ErrNotOffered), errors.Is(err, edge.ErrForbidden):
		f.ok(name, "the platform does not verify tokens; whether the token works shows when it is used")
		return true
	case err != nil:
		f.fail(name, err, "check platform.base_url, and the network: DNS, proxy, firewall")
		return false
	case token.Status != "" && token.Status != "active":
		f.fail(name, fmt.Errorf("the platform says that the token is %s", token.Status), "replace it")
		return false
	case parseErr == nil && time.Until(ends) < soonEnding:
		f.warn(name, "the token ends on "+token.ExpiresOn, "replace it before that time")
		return true
	}
	f.ok(name, "verified: the token is active")
	return true
}

// mostAccounts bounds how many accounts are asked for.
const mostAccounts = 5

// rulesets checks one credential for rulesets, and its accounts with it.
func (d *diagnosis) rulesets(ctx context.Context, lane setup.Lane, f *findings) {
	name := lane.Path
	platform := d.platform(lane.Credential, lane.BaseURL, name, f)
	if platform == nil || !verify(ctx, platform, name, f) {
		return
	}
	state := d.state.Load()
	if state == nil || state.Zones() == 0 {
		f.warn(name, "there is no zone to read: the desired state declares none or could not be read")
		return
	}
	checked := 0
	for _, account := range state.Accounts {
		if of, ok := d.LaneOf(account.Key); ok && of.Path == lane.Path && checked < mostAccounts {
			checked++
			d.account(ctx, platform, lane, account, f)
		}
	}
}

func (d *diagnosis) account(ctx context.Context, platform edge.Reader, lane setup.Lane, account desired.Account, f *findings) {
	name := "account " + account.Key
	rulesets, err := platform.AccountRulesets(ctx, account.ID)
	switch {
	case errors.Is(err, edge.ErrForbidden):
		f.fail(name, err, "give the token of "+lane.Path+" the permission to read the rulesets of account "+string(account.ID))
	case errors.Is(err, edge.ErrNotFound):
		f.fail(name, err, "check the id of the account in the desired state")
	case err != nil:
		f.fail(name, err)
	default:
		f.ok(name, "%s can be listed", cli.Plural(len(rulesets), "ruleset", "rulesets"))
	}
	if len(account.Zones) == 0 {
		return
	}
	zone := account.Zones[0]
	name = "zone " + zone.Key
	switch _, err := platform.EntryPoint(ctx, zone.ID); {
	case errors.Is(err, edge.ErrEntryPointNotFound):
		f.warn(name, "can be read, but nothing is deployed: it has no entry point", "deploy the managed ruleset in the dashboard first")
	case errors.Is(err, edge.ErrForbidden):
		f.fail(name, err, "give the token of "+lane.Path+" the permission to read and edit the firewall of this zone")
	case errors.Is(err, edge.ErrNotFound):
		f.fail(name, err, "check the id of the zone in the desired state")
	case err != nil:
		f.fail(name, err)
	default:
		f.ok(name, "can be read; whether it may be written shows with the first write")
	}
}

func (d *diagnosis) tokens(ctx context.Context, f *findings) {
	const name = "credentials.tokens"
	platform := d.platform(*d.Credentials.Tokens, d.Platform.BaseURL, name, f)
	if platform == nil {
		return
	}
	tokens, err := setup.ReadToken(*d.Credentials.Tokens)
	for _, lane := range d.Lanes() {
		if rulesets, other := setup.ReadToken(lane.Credential); err == nil && other == nil && rulesets.Equal(tokens) {
			f.warn(name, "it is the same token as "+lane.Path, "a token that may create tokens can grant itself anything and should hold no other permission")
		}
	}
	if !verify(ctx, platform, name, f) {
		return
	}
	if !d.Platform.Extended() {
		f.ok(name, "can be read; whether it may create tokens shows with the first one")
		return
	}
	switch list, err := platform.UserTokens(ctx); {
	case errors.Is(err, edge.ErrNotOffered):
		f.fail(name, err, `the platform does not list tokens: set platform.profile to "documented"`)
	case err != nil:
		f.fail(name, err, "give the token of credentials.tokens the permission to read API tokens")
	default:
		f.ok(name, "%s can be listed", cli.Plural(len(list), "token", "tokens"))
	}
}

// How far the clock may be from the platform's. The platform says the time in whole
// seconds.
const (
	skewWarned = 10 * time.Second
	skewFailed = 5 * time.Minute
)

func (d *diagnosis) clock(ctx context.Context, f *findings) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.Platform.BaseURL, "/")+edge.VerifyTokenPath(), nil)
	if err != nil {
		f.fail("clock", errors.New("platform.base_url is not a URL"))
		return
	}
	asker := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	asked := time.Now()
	answer, err := asker.Do(r)
	if err != nil {
		f.fail("clock", fmt.Errorf("asking the platform for the time: %w", cli.NetworkCause(err)), "check platform.base_url, and the network: DNS, proxy, firewall")
		return
	}
	defer answer.Body.Close()
	now := asked.Add(time.Since(asked) / 2)
	platform, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		f.warn("clock", "the platform's answer has no date to compare with")
		return
	}
	const hint = "let a time service set the clock: timedatectl set-ntp true"
	switch skew := now.Sub(platform).Round(time.Second); {
	case skew.Abs() > skewFailed:
		f.fail("clock", fmt.Errorf("the clock is %s the platform's", aheadOf(skew)), hint, "the windows of tokens, freezes and approvals depend on it")
	case skew.Abs() > skewWarned:
		f.warn("clock", fmt.Sprintf("the clock is %s the platform's", aheadOf(skew)), hint)
	default:
		f.ok("clock", "agrees with the platform's, to %s", skewWarned)
	}
}

func aheadOf(skew time.Duration) string {
	if skew < 0 {
		return (-skew).String() + " behind"
	}
	return skew.String() + " ahead of"
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile"
)

// platform is a client with a budget of its own: nothing is written to the shared one.
func (d *diagnosis) platform(c setup.Credential, f *findings) *client.Client {
	if _, err := setup.ReadToken(c.Ref); f.failed(c.Path, err) {
		return nil
	}
	if info, err := os.Stat(c.Ref.File); c.Ref.File != "" && err == nil && info.Mode().Perm()&0o077 != 0 {
		f.warn(c.Path, fmt.Sprintf("%s has mode %04o: others may read the credential", c.Ref.File, info.Mode().Perm()), "chmod 600 "+c.Ref.File)
	}
	config := client.Config{
		BaseURL: c.BaseURL, Token: func() (edge.Secret, error) { return setup.ReadToken(c.Ref) },
		Budget: client.NewBudget(d.Budget.Requests, d.Budget.Per), UserAgent: "seawall/" + cli.ThisVersion().Version,
		Vendor: d.Platform.Vendor, ConditionKey: d.Platform.ConditionKey,
	}
	platform, err := client.New(config)
	if f.failed(c.Path, err, "see platform.base_url in the configuration, or --base-url") {
		return nil
	}
	return platform
}

// soonEnding is how long before its end a credential is warned of.
const soonEnding = 14 * 24 * time.Hour

// verify asks the platform about a credential, where it offers that: as a token of the
// user, or else of one of these accounts. It reports whether it is worth asking more.
func (d *diagnosis) verify(ctx context.Context, platform *client.Client, c setup.Credential, f *findings, accounts ...desired.Account) bool {
	name := c.Path
	token, account, err := verified(ctx, platform, accounts)
	ends, parseErr := time.Parse(time.RFC3339, token.ExpiresOn)
	switch {
	case diff.HintFor(err) == diff.HintForeign:
		f.fail(name, err, diff.HintForeign)
		return false
	case errors.Is(err, edge.ErrUnauthenticated):
		f.fail(name, err, "the token is wrong, revoked or expired: replace it")
		return false
	case errors.Is(err, edge.ErrNotOffered), errors.Is(err, edge.ErrForbidden):
		f.ok(name, "the platform does not verify tokens; whether the token works shows when it is used")
		return true
	case err != nil && d.away(c.BaseURL): // which was said with another credential
		return false
	case err != nil:
		f.fail(name, err, "check platform.base_url, and the network: DNS, proxy, firewall")
		d.silent.Store(&c.BaseURL)
		return false
	case token.Status != "" && token.Status != "active":
		f.fail(name, fmt.Errorf("the platform says that the token is %s", token.Status), "replace it")
		return false
	case parseErr == nil && time.Until(ends) < soonEnding:
		f.warn(name, "the token ends on "+token.ExpiresOn, "replace it before that time")
		return true
	}
	f.ok(name, "verified: the token is active%s", ownedBy(account))
	return true
}

// away reports whether a check before has failed to ask the platform at this address.
func (d *diagnosis) away(baseURL string) bool {
	silent := d.silent.Load()
	return silent != nil && *silent == baseURL
}

func ownedBy(account string) string {
	if account == "" {
		return ""
	}
	return ", and account " + account + " owns it"
}

// verified is what the platform says of a credential. Each family of tokens has a call of
// its own, which tells of no other. Without any the error is that of the user's.
func verified(ctx context.Context, platform *client.Client, accounts []desired.Account) (_ edge.Token, account string, err error) {
	token, err := platform.VerifyToken(ctx)
	if err == nil || !errors.Is(err, edge.ErrUnauthenticated) && !errors.Is(err, edge.ErrForbidden) {
		return token, "", err
	}
	for _, a := range accounts[:min(len(accounts), mostAccounts)] {
		if desired.Sought(a.ID) {
			continue
		}
		if own, err := platform.AccountTokens(a.ID).VerifyToken(ctx); err == nil {
			return own, a.Key, nil
		}
	}
	return edge.Token{}, "", err
}

// mostAccounts bounds how many accounts are asked for.
const mostAccounts = 5

// rulesets checks one credential for rulesets, and its accounts with it.
func (d *diagnosis) rulesets(ctx context.Context, lane setup.Credential, f *findings) {
	platform := d.platform(lane, f)
	if platform == nil || !d.verify(ctx, platform, lane, f, d.accountsOf(lane)...) {
		return
	}
	state := d.state.Load()
	switch {
	case state == nil: // which has failed, and says so
		return
	case state.Zones() == 0:
		f.warn(lane.Path, "the desired state declares no zone, so no permission was checked")
		return
	}
	d.named(ctx, platform, lane, *state, f)
}

// accountsOf are the declared accounts of a credential, where the platform verifies tokens
// of accounts.
func (d *diagnosis) accountsOf(lane setup.Credential) []desired.Account {
	state := d.state.Load()
	if state == nil || !d.Platform.Extended() {
		return nil
	}
	return d.accountsIn(*state, lane)
}

// accountsIn are the accounts of a state that have a credential.
func (d *diagnosis) accountsIn(state desired.State, lane setup.Credential) []desired.Account {
	return slices.DeleteFunc(slices.Clone(state.Accounts), func(a desired.Account) bool {
		of, ok := d.LaneOf(a.Key)
		return !ok || of.Path != lane.Path
	})
}

// named finds the ids of the first zone of each of some accounts, and checks that they can
// be read.
func (d *diagnosis) named(ctx context.Context, platform *client.Client, lane setup.Credential, state desired.State, f *findings) {
	state.Accounts = slices.DeleteFunc(d.accountsIn(state, lane), func(a desired.Account) bool { return len(a.Zones) == 0 })
	state.Accounts = state.Accounts[:min(len(state.Accounts), mostAccounts)]
	for i, account := range state.Accounts {
		state.Accounts[i].Zones = sample(account.Zones)
	}
	names := setup.NewNames(d.Settings, reconcile.OneLane(reconcile.Lane{Reader: edge.ReadOnly(platform)}), slog.New(slog.DiscardHandler))
	names.Look(ctx, state)
	for _, account := range names.Resolve(state).Accounts {
		zone := account.Zones[0]
		if err := names.Check(account, zone); f.failed("zone "+zone.Key, err, nameHint(err)...) {
			continue
		}
		if zone.ByName {
			f.ok("zone "+zone.Key, "found by its name: %s", zone.Scope)
		}
		d.account(ctx, platform, lane, account, f)
		for _, zone := range account.Zones[1:] {
			d.zone(ctx, platform, lane, zone, f)
		}
	}
}

// sample is the first of an account's zones, and its own entry point where one is declared.
func sample(zones []desired.Zone) (some []desired.Zone) {
	for _, accountLevel := range []bool{false, true} {
		if i := slices.IndexFunc(zones, func(z desired.Zone) bool { return z.Scope.Level == edge.LevelAccount == accountLevel }); i >= 0 {
			some = append(some, zones[i])
		}
	}
	return some
}

func nameHint(err error) []string {
	if why := (*diff.NameError)(nil); errors.As(err, &why) && why.Hint != "" {
		return []string{why.Hint}
	}
	return nil
}

func (d *diagnosis) account(ctx context.Context, platform *client.Client, lane setup.Credential, account desired.Account, f *findings) {
	name, zone := "account "+account.Key, account.Zones[0]
	rulesets, err := platform.Rulesets(ctx, edge.AccountScope(account.ID))
	if errors.Is(err, edge.ErrForbidden) && d.Platform.Extended() {
		if ofZone, zoneErr := platform.Rulesets(ctx, zone.Scope); zoneErr == nil {
			f.ok(name, "its rulesets may not be listed; the %s that zone %s lists serve", cli.Plural(len(ofZone), "ruleset", "rulesets"), zone.Key)
			unreadPhase(lane, account, err, f)
			d.zone(ctx, platform, lane, zone, f)
			return
		}
	}
	switch {
	case diff.HintFor(err) == diff.HintForeign:
		f.fail(name, err, diff.HintForeign)
	case errors.Is(err, edge.ErrForbidden):
		f.fail(name, err, "give the token of "+lane.Path+" the permission Account WAF: Read or Account Rulesets: Read for account "+string(account.ID)+
			"; with platform.profile \"extended\", Zone WAF: Read for its zones is enough")
	case errors.Is(err, edge.ErrNotFound):
		f.fail(name, err, "check the id of the account in the desired state")
	case err != nil:
		f.fail(name, err)
	default:
		f.ok(name, "%s can be listed", cli.Plural(len(rulesets), "ruleset", "rulesets"))
		customPhase(ctx, platform, lane, account, rulesets, f)
	}
	d.zone(ctx, platform, lane, zone, f)
}

func (d *diagnosis) zone(ctx context.Context, platform edge.Reader, lane setup.Credential, zone desired.Zone, f *findings) {
	name, permission := "zone "+zone.Key, "Zone WAF: Edit for this zone"
	if zone.Scope.Level == edge.LevelAccount {
		name, permission = zone.Key, "Account WAF: Edit or Account Rulesets: Edit for this account"
	}
	if zone.Scope.Level == edge.LevelAccount && !d.Platform.Extended() {
		f.fail(name, errors.New("platform.profile \"documented\" has no call on what an account deploys itself"), `set platform.profile to "extended"`)
		return
	}
	switch _, err := platform.EntryPoint(ctx, zone.Scope, edge.PhaseFirewallManaged); {
	case errors.Is(err, edge.ErrEntryPointNotFound):
		f.warn(name, "can be read, but nothing is deployed: it has no entry point", "deploy the managed ruleset in the dashboard first")
	case diff.HintFor(err) == diff.HintForeign:
		f.fail(name, err, diff.HintForeign)
	case errors.Is(err, edge.ErrForbidden):
		f.fail(name, err, "give the token of "+lane.Path+" the permission "+permission)
	case errors.Is(err, edge.ErrNotFound):
		f.fail(name, err, "check its id in the desired state")
	case err != nil:
		f.fail(name, err)
	default:
		f.ok(name, "can be read; whether it may be written shows with the first write")
		if zone.Scope.Level == edge.LevelZone {
			d.earlierPhases(ctx, platform, lane, zone, f)
		}
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
	if err != nil && d.away(d.Platform.BaseURL) {
		return
	}
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

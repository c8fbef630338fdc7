package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// diagnosis is what the doctor looks at.
type diagnosis struct {
	settings
	known bool                          // there is a configuration to go by
	first []finding                     // about the configuration
	state atomic.Pointer[desired.State] // nil until it was read
}

func (t *terminal) newDiagnosis(o options) *diagnosis {
	var d diagnosis
	var f findings
	s, err := t.configured(o)
	var mistakes *badFile
	switch {
	case errors.As(err, &mistakes):
		for _, problem := range mistakes.problems {
			f.fail("configuration", errors.New(problem.String()), slices.DeleteFunc([]string{problem.Hint}, func(h string) bool { return h == "" })...)
		}
	case err != nil:
		f.fail("configuration", err)
	case o.configFile() == "":
		f.ok("configuration", "none: --dir, --base-url and %s", envRulesetsToken)
	default:
		f.ok("configuration", "%s", o.configFile())
	}
	d.settings, d.known, d.first = s, err == nil, f.list
	if err != nil {
		f.list[len(f.list)-1].Hints = append(f.list[len(f.list)-1].Hints, "the other checks need the configuration")
	}
	return &d
}

func (d *diagnosis) checks() []check {
	if !d.known {
		return nil
	}
	list := []check{{"state folder", d.stateFolder}, {"desired state", d.desired}, {"credentials.rulesets", d.rulesets}}
	if d.Credentials.Tokens != nil {
		list = append(list, check{"credentials.tokens", d.tokens})
	}
	list = append(list, check{"clock", d.clock})
	for name := range d.Sinks {
		list = append(list, check{"sink " + name, func(ctx context.Context, f *findings) { d.sink(ctx, name, f) }})
	}
	slices.SortStableFunc(list, func(a, b check) int {
		if !strings.HasPrefix(a.name, "sink ") || !strings.HasPrefix(b.name, "sink ") {
			return 0
		}
		return strings.Compare(a.name, b.name)
	})
	if d.Forge != nil {
		list = append(list, check{"forge", d.forge})
	}
	return list
}

// Free space in a state folder, in bytes, below which a person should act, or below
// which the ledger cannot be relied on to grow.
const (
	littleSpace = 1 << 30
	noSpace     = 100 << 20
)

func (d *diagnosis) stateFolder(_ context.Context, f *findings) {
	const name = "state folder"
	if d.StateDir == "" {
		dir, err := userState()
		if err != nil {
			f.warn(name, "the request budget is not shared with other runs: "+err.Error(), "set XDG_STATE_HOME to a folder of your own")
			return
		}
		f.ok(name, "%s, for the request budget alone", dir)
		return
	}
	info, err := os.Stat(d.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.warn(name, d.StateDir+" does not exist", "the daemon makes it at its first start; whoever makes it by hand: mkdir -m 700, and chown to the daemon's user")
		return
	case err != nil:
		f.fail(name, err)
		return
	case !info.IsDir():
		f.fail(name, fmt.Errorf("%s is not a folder", d.StateDir), "set state.dir to a folder of Seawall's own")
		return
	}
	d.owner(info, f)
	d.space(f)
	holder, running, err := ledger.Running(d.StateDir)
	switch {
	case err != nil:
		f.warn("daemon", err.Error(), hintsOf(err)...)
	case running:
		f.ok("daemon", "runs: %s", holder)
	default:
		f.ok("daemon", "none runs over this state folder on this host")
	}
	d.ledger(f)
}

func (d *diagnosis) owner(info fs.FileInfo, f *findings) {
	uid, _, _, known := ownerOf(info)
	text := fmt.Sprintf("%s, mode %04o", d.StateDir, info.Mode().Perm())
	if known {
		text += ", of " + userName(uid)
	}
	switch me := os.Geteuid(); {
	case known && me != uid && me != 0:
		f.fail("state folder", fmt.Errorf("%s; this is %s", text, userName(me)), "run as the user that the daemon runs as: sudo -u "+userName(uid)+" seawall doctor")
	case info.Mode().Perm()&0o077 != 0:
		f.warn("state folder", text+": others may look into it", "chmod 700 "+d.StateDir)
	case known && me != uid:
		f.warn("state folder", text+"; this is root, so what the daemon may read is not seen", "sudo -u "+userName(uid)+" seawall doctor")
	default:
		f.ok("state folder", "%s", text)
	}
}

func (d *diagnosis) space(f *findings) {
	free, err := freeBytes(d.StateDir)
	switch {
	case err != nil:
		f.warn("disk", "how much is free is not known: "+err.Error())
	case free < noSpace:
		f.fail("disk", fmt.Errorf("%d MB are free where the state folder is", free>>20), "free some: without space nothing is written to the platform")
	case free < littleSpace:
		f.warn("disk", fmt.Sprintf("%d MB are free where the state folder is", free>>20), "free some")
	default:
		f.ok("disk", "%d GB are free where the state folder is", free>>30)
	}
}

func (d *diagnosis) ledger(f *findings) {
	memory, err := d.settings.ledger(ledger.OpenReadOnly)
	if err != nil {
		f.fail("ledger", err)
		return
	}
	defer memory.Close()
	recalled, err := memory.Recall(context.Background())
	if err != nil {
		f.fail("ledger", err)
		return
	}
	f.ok("ledger", "%s on record", plural(len(recalled.Applied), "deployment", "deployments"))
	if d.Credentials.Tokens == nil {
		return
	}
	switch live, err := memory.Tokens(context.Background()); {
	case err != nil:
		f.fail("ledger", err)
	case live.Unknown != "":
		f.warn("tokens on record", "no token is created: "+live.Unknown, live.Hint)
	}
}

// desired fetches git into a folder of its own, verifies and evaluates it.
func (d *diagnosis) desired(ctx context.Context, f *findings) {
	if d.dir != "" {
		state, problems, err := newFolder(d.dir).Compile(ctx, "")
		d.evaluated(state, problems, err, f)
		return
	}
	dir, err := os.MkdirTemp("", "seawall-doctor-")
	if err != nil {
		f.fail("git", err)
		return
	}
	defer os.RemoveAll(dir)
	config := d.Config
	config.StateDir, config.Source.Shallow = dir, true
	repository, err := newRepository(config, slog.New(slog.DiscardHandler))
	if err != nil {
		f.fail("git", err)
		return
	}
	defer repository.evaluator.cache.Close()
	commit, err := repository.Fetch(ctx)
	at := config.Source.URL + " " + config.Source.Ref
	switch {
	case err != nil && ctx.Err() != nil:
		f.fail("git", fmt.Errorf("%s: %w", at, context.Cause(ctx)), "check the host, the port and the way there")
		return
	case err != nil && commit != "":
		f.fail("git", fmt.Errorf("%s is at %s, which is not acted on: %w", at, short(commit), err))
		return
	case err != nil:
		f.fail("git", err)
		return
	case config.Source.Verify != nil:
		f.ok("git", "%s is at %s, signed by a trusted key", at, short(commit))
	default:
		f.ok("git", "%s is at %s", at, short(commit))
	}
	state, problems, err := repository.Compile(ctx, commit)
	d.evaluated(state, problems, err, f)
}

func (d *diagnosis) evaluated(state desired.State, problems []desired.Problem, err error, f *findings) {
	mistakes := desired.Errors(problems)
	switch {
	case err != nil:
		f.fail("desired state", err)
	case len(mistakes) > 0:
		f.fail("desired state", fmt.Errorf("%s, the first: %s", plural(len(mistakes), "mistake", "mistakes"), mistakes[0]), "seawall validate names all of them")
	default:
		d.state.Store(&state)
		f.ok("desired state", "valid: %s, %s", plural(state.Zones(), "zone", "zones"), plural(len(state.Tokens), "token", "tokens"))
	}
}

// platform is a client with a budget of its own: nothing is written to the shared one.
func (d *diagnosis) platform(ref schema.SecretRef, name string, f *findings) *client.Client {
	if _, err := readToken(ref); err != nil {
		f.fail(name, err)
		return nil
	}
	if info, err := os.Stat(ref.File); ref.File != "" && err == nil && info.Mode().Perm()&0o077 != 0 {
		f.warn(name, fmt.Sprintf("%s has mode %04o: others may read the credential", ref.File, info.Mode().Perm()), "chmod 600 "+ref.File)
	}
	config := client.Config{
		BaseURL: d.Platform.BaseURL, Token: func() (edge.Secret, error) { return readToken(ref) },
		Budget: client.NewBudget(d.Budget.Requests, d.Budget.Per), UserAgent: "seawall/" + thisVersion().Version,
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
		f.fail(name, err, "the token is wrong, was revoked or has expired: put a new one in its place")
		return false
	case errors.Is(err, edge.ErrNotOffered), errors.Is(err, edge.ErrForbidden):
		f.ok(name, "the platform does not verify tokens; whether it is good shows when it is used")
		return true
	case err != nil:
		f.fail(name, err, "check platform.base_url, and the way to the platform: name service, proxy, firewall")
		return false
	case token.Status != "" && token.Status != "active":
		f.fail(name, fmt.Errorf("the platform says that the token is %s", token.Status), "put a new one in its place")
		return false
	case parseErr == nil && time.Until(ends) < soonEnding:
		f.warn(name, "the token ends on "+token.ExpiresOn, "put a new one in its place before")
		return true
	}
	f.ok(name, "verified: the token is active")
	return true
}

// mostAccounts bounds how many accounts are asked for.
const mostAccounts = 5

func (d *diagnosis) rulesets(ctx context.Context, f *findings) {
	const name = "credentials.rulesets"
	platform := d.platform(d.Credentials.Rulesets, name, f)
	if platform == nil || !verify(ctx, platform, name, f) {
		return
	}
	state := d.state.Load()
	if state == nil || state.Zones() == 0 {
		f.warn(name, "no zone is known to read: desired state declares none or could not be read")
		return
	}
	for _, account := range state.Accounts[:min(len(state.Accounts), mostAccounts)] {
		d.account(ctx, platform, account, f)
	}
}

func (d *diagnosis) account(ctx context.Context, platform edge.Reader, account desired.Account, f *findings) {
	name := "account " + account.Key
	rulesets, err := platform.AccountRulesets(ctx, account.ID)
	switch {
	case errors.Is(err, edge.ErrForbidden):
		f.fail(name, err, "give the token of credentials.rulesets the permission to read the rulesets of account "+string(account.ID))
	case errors.Is(err, edge.ErrNotFound):
		f.fail(name, err, "check the id of the account in the desired state")
	case err != nil:
		f.fail(name, err)
	default:
		f.ok(name, "%s can be listed", plural(len(rulesets), "ruleset", "rulesets"))
	}
	if len(account.Zones) == 0 {
		return
	}
	zone := account.Zones[0]
	name = "zone " + zone.Key
	switch _, err := platform.EntryPoint(ctx, zone.ID); {
	case errors.Is(err, edge.ErrEntryPointNotFound):
		f.warn(name, "can be read; nothing is deployed there: it has no entry point", "deploy the managed ruleset in the dashboard first")
	case errors.Is(err, edge.ErrForbidden):
		f.fail(name, err, "give the token of credentials.rulesets the permission to read and edit the firewall of this zone")
	case errors.Is(err, edge.ErrNotFound):
		f.fail(name, err, "check the id of the zone in the desired state")
	case err != nil:
		f.fail(name, err)
	default:
		f.ok(name, "can be read; whether it may be written is seen with the first write")
	}
}

func (d *diagnosis) tokens(ctx context.Context, f *findings) {
	const name = "credentials.tokens"
	platform := d.platform(*d.Credentials.Tokens, name, f)
	if platform == nil {
		return
	}
	tokens, err := readToken(*d.Credentials.Tokens)
	if rulesets, other := readToken(d.Credentials.Rulesets); err == nil && other == nil && rulesets.Equal(tokens) {
		f.warn(name, "it is the same token as credentials.rulesets", "a token that may create tokens can grant itself anything and should hold no other permission")
	}
	if !verify(ctx, platform, name, f) {
		return
	}
	if !d.Platform.Extended() {
		f.ok(name, "can be read; whether it may create tokens is seen with the first one")
		return
	}
	switch list, err := platform.UserTokens(ctx); {
	case errors.Is(err, edge.ErrNotOffered):
		f.fail(name, err, `the platform does not list tokens: set platform.profile to "documented"`)
	case err != nil:
		f.fail(name, err, "give the token of credentials.tokens the permission to read API tokens")
	default:
		f.ok(name, "%s can be listed", plural(len(list), "token", "tokens"))
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
		f.fail("clock", fmt.Errorf("asking the platform for the time: %w", cause(err)), "check platform.base_url, and the way to the platform: name service, proxy, firewall")
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
		f.fail("clock", fmt.Errorf("it is %s the platform's", aheadOf(skew)), hint, "windows of tokens, freezes and approvals go by it")
	case skew.Abs() > skewWarned:
		f.warn("clock", fmt.Sprintf("it is %s the platform's", aheadOf(skew)), hint)
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

// probeKey is what is asked for in a sink that no token uses.
const probeKey = "seawall-doctor"

// mostKeys bounds how many keys of a sink are asked for.
const mostKeys = 5

func (d *diagnosis) sink(ctx context.Context, name string, f *findings) {
	check := "sink " + name
	sinks, err := newSinks(map[string]schema.Sink{name: d.Sinks[name]})
	if err != nil {
		f.fail(check, err)
		return
	}
	keys := d.keysOf(name)
	if len(keys) == 0 {
		keys = []string{probeKey}
	}
	for _, key := range keys[:min(len(keys), mostKeys)] {
		if err := sinks.Look(ctx, desired.Sink{Name: name, Key: key}); err != nil {
			f.fail(check, err, "no token with this sink is created or delivered until it is mended")
			return
		}
	}
	f.ok(check, "can be reached; nothing was written")
}

// keysOf lists the keys that declared tokens use in a sink.
func (d *diagnosis) keysOf(name string) (keys []string) {
	state := d.state.Load()
	if state == nil {
		return nil
	}
	for _, token := range state.Tokens {
		if token.Sink != nil && token.Sink.Name == name {
			keys = append(keys, token.Sink.Key)
		}
	}
	return keys
}

func (d *diagnosis) forge(ctx context.Context, f *findings) {
	board, err := newBoard(*d.Forge, d.Source.Ref)
	if err != nil {
		f.fail("forge", err)
		return
	}
	list, err := board.PullRequests(ctx)
	if err != nil {
		f.fail("forge", err, "check forge in the configuration, and that its token may read pull requests of the project")
		return
	}
	f.ok("forge", "%s of %s can be listed; whether comments may be written is seen with the first", plural(len(list), "open pull request", "open pull requests"), filepath.ToSlash(d.Forge.Project))
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/trusted"
)

// diagnosis is what the doctor looks at.
type diagnosis struct {
	setup.Settings
	known bool                          // there is a configuration to go by
	first []finding                     // about the configuration
	state atomic.Pointer[desired.State] // nil until it was read
	// silent is the address of a platform that could not be asked; nil for none.
	silent atomic.Pointer[string]
}

func newDiagnosis(t *cli.Terminal, o setup.Options) *diagnosis {
	var d diagnosis
	var f findings
	s, err := setup.ReadConfigured(t, o)
	var mistakes *cli.FileError
	switch {
	case errors.As(err, &mistakes):
		for _, problem := range mistakes.Problems {
			f.fail("configuration", errors.New(problem.String()), slices.DeleteFunc([]string{problem.Hint}, func(h string) bool { return h == "" })...)
		}
	case err != nil:
		f.fail("configuration", err)
	case o.ConfigFile() == "":
		f.ok("configuration", "none; --dir, --base-url and %s are used", setup.EnvRulesetsToken)
	default:
		f.ok("configuration", "%s", o.ConfigFile())
		if open := (*trusted.Error)(nil); errors.As(trusted.Check(o.ConfigFile()), &open) {
			f.warn("configuration", fmt.Sprintf("others may write to %s (mode %04o): it says where credentials are sent", open.Path, open.Mode.Perm()), "chmod go-w "+open.Path)
		}
	}
	d.Settings, d.known = s, err == nil
	if err != nil {
		f.addHint("the other checks need the configuration")
	}
	d.first = f.list
	return &d
}

func (d *diagnosis) checks() []check {
	if !d.known {
		return nil
	}
	list := []check{{"state folder", d.stateFolder}}
	if d.InPostgres() {
		list = append(list, check{databaseName, d.database})
	}
	list = append(list, []check{{"sandbox", d.sandbox}, {"desired state", d.desired}, {"guards", d.guards}, {"bypass", d.bypass}}...)
	if d.InPostgres() {
		list = append(list, check{"state.seal", d.sealed})
	}
	for _, lane := range d.Lanes() {
		list = append(list, check{lane.Path, func(ctx context.Context, f *findings) { d.rulesets(ctx, lane, f) }})
	}
	for _, c := range d.TokenCredentials() {
		list = append(list, check{c.Path, func(ctx context.Context, f *findings) { d.tokens(ctx, c, f) }})
	}
	list = append(list, check{"clock", d.clock})
	for _, name := range slices.Sorted(maps.Keys(d.Sinks)) {
		list = append(list, check{"sink " + name, func(ctx context.Context, f *findings) { d.sink(ctx, name, f) }})
	}
	if d.Forge != nil {
		list = append(list, check{"forge", d.forge})
	}
	if d.Web.TLS != nil {
		list = append(list, check{"web.tls", d.webTLS})
	}
	if d.Web.Login != nil {
		list = append(list, check{"web.login", d.login})
	}
	return list
}

// desired reads the desired state. Without it, some checks cannot be made.
func (d *diagnosis) desired(ctx context.Context, f *findings) {
	d.read(ctx, f)
	if d.state.Load() == nil {
		f.addHint("zones, accounts and their permissions are checked once this is mended")
	}
}

// read fetches git into a folder of its own, verifies and evaluates it.
func (d *diagnosis) read(ctx context.Context, f *findings) {
	if d.Dir != "" {
		state, problems, err := setup.Folder{Dir: d.Dir}.Compile(ctx, "")
		d.evaluated(state, problems, err, f)
		return
	}
	dir, err := os.MkdirTemp("", "seawall-doctor-")
	if f.failed("git", err) {
		return
	}
	defer os.RemoveAll(dir)
	config := d.Config
	config.StateDir, config.Source.Shallow = dir, true
	repository, err := setup.OpenRepository(config, slog.New(slog.DiscardHandler))
	if f.failed("git", err) {
		return
	}
	defer repository.Close()
	commit, err := repository.Fetch(ctx)
	at := config.Source.URL + " " + config.Source.Ref
	switch {
	case err != nil && ctx.Err() != nil:
		f.fail("git", fmt.Errorf("%s: %w", at, context.Cause(ctx)), "check the host, the port and the network")
		return
	case err != nil && commit != "":
		f.fail("git", fmt.Errorf("%s is at %s, which is not accepted: %w", at, cli.ShortCommit(commit), err))
		return
	case err != nil:
		f.fail("git", err)
		return
	case config.Source.Verify != nil:
		f.ok("git", "%s is at %s, signed by a trusted key", at, cli.ShortCommit(commit))
	default:
		f.ok("git", "%s is at %s", at, cli.ShortCommit(commit))
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
		f.fail("desired state", fmt.Errorf("%s, the first: %s", cli.Plural(len(mistakes), "mistake", "mistakes"), mistakes[0]), "seawall validate names all of them")
	default:
		for _, problem := range setup.AccountProblems(d.Settings, state) {
			if err := errors.New(problem.String()); problem.Warning {
				f.warn("accounts", err.Error(), problem.Hint)
			} else {
				f.fail("accounts", err, problem.Hint)
			}
		}
		d.state.Store(&state)
		f.ok("desired state", "valid: %s, %s", cli.Plural(state.Zones(), "zone", "zones"), cli.Plural(len(state.Tokens), "token", "tokens"))
	}
}

// probeKey is what is asked for in a sink that no token uses.
const probeKey = "seawall-doctor"

// mostKeys bounds how many keys of a sink are asked for.
const mostKeys = 5

func (d *diagnosis) sink(ctx context.Context, name string, f *findings) {
	check := "sink " + name
	sinks, err := setup.NewSinks(map[string]schema.Sink{name: d.Sinks[name]})
	if f.failed(check, err) {
		return
	}
	keys := d.keysOf(name)
	if len(keys) == 0 {
		keys = []string{probeKey}
	}
	for _, key := range keys[:min(len(keys), mostKeys)] {
		if err := sinks.Look(ctx, desired.Sink{Name: name, Key: key}); f.failed(check, err, "no token with this sink is created or delivered until this is fixed") {
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
	client, err := setup.NewForge(*d.Forge, d.Source.Ref) //nolint:contextcheck // a forge is asked with the context of each call
	if f.failed("forge", err) {
		return
	}
	list, err := client.PullRequests(ctx)
	if f.failed("forge", err, "check forge in the configuration, and that its token may read pull requests of the project") {
		return
	}
	f.ok("forge", "%s of %s can be listed; whether comments may be written shows with the first one", cli.Plural(len(list), "open pull request", "open pull requests"), filepath.ToSlash(d.Forge.Project))
}

//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
)

// fixture is the daemons with everything around them, below one folder.
type fixture struct {
	options
	dir      string
	fleet    *fleet
	platform *platform
	repo     harness.WorkTree
	database *database // without a server where the state is embedded
	replicas []*replica

	wishes    wishes
	held      timeline
	pushes    int
	rotations map[string]int // asked for, by token
	done      map[string]int // disturbances, by name
	pace      pace
	budgeted  []request // those that are held to the budget; nil: all
}

// per is the span of the budget.
const per = 20 * time.Second

// quota is so large that sweeps take a part of it, and a push of some zones now and then the rest.
func (o options) quota() int {
	sweeps := int(per) * o.zones / o.credentials / int(o.sweep)
	return max(60, 2*sweeps)
}

func newFixture(ctx context.Context, o options, dir string) (*fixture, error) {
	f := &fixture{options: o, dir: dir, fleet: newFleet(o.zones, o.credentials), database: &database{}, rotations: map[string]int{}, done: map[string]int{}}
	if err := f.start(ctx); err != nil {
		f.stop()
		return nil, err
	}
	return f, nil
}

func (f *fixture) start(ctx context.Context) (err error) {
	f.fleet.tokens["token-one"], f.fleet.tokens["token-two"] = false, true
	if f.platform, err = startPlatform(f.fleet, sim.RateLimit{Requests: f.quota(), Per: per}); err != nil {
		return fmt.Errorf("starting the platform: %w", err)
	}
	for zone := 1; zone <= f.fleet.size(); zone++ {
		if err := f.platform.set(zone, f.fleet.want(zone)); err != nil {
			return err
		}
	}
	if f.repo, err = harness.NewWorkTree(ctx, filepath.Join(f.dir, "repository"), f.fleet.files()); err != nil {
		return fmt.Errorf("making the repository: %w", err)
	}
	if err := f.startDatabase(); err != nil {
		return err
	}
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.sealKey(), []byte(key.String()+"\n"), 0o600); err != nil {
		return err
	}
	for n := range f.options.replicas {
		r := &replica{name: string(rune('a' + n)), binary: f.binary, dir: filepath.Join(f.dir, string(rune('a'+n)))}
		if r.config, err = f.configure(r); err != nil {
			return err
		}
		f.replicas = append(f.replicas, r)
	}
	if _, err := f.replicas[0].command(ctx, "token", "init"); err != nil {
		return err
	}
	for _, r := range f.replicas {
		if err := r.start(ctx); err != nil {
			return err
		}
	}
	chance := rand.New(rand.NewPCG(f.seed, 3))
	if err := f.push(ctx, chance, f.wishes.free(chance, f.fleet.accounts[0], 1)); err != nil {
		return err
	}
	defer func() { f.wishes = wishes{} }() // no law bounds the first one: all begins
	return f.await(ctx, "the first push is live", func() bool { return f.wishes.settle(f.platform.live) == 0 })
}

// startDatabase starts PostgreSQL, where the daemons share one, and its standby.
func (f *fixture) startDatabase() (err error) {
	if f.embedded {
		return nil
	}
	if f.database, err = startDatabase(); err != nil {
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	if !f.standby {
		return nil
	}
	if err = f.database.follow(); err != nil {
		return fmt.Errorf("starting a standby: %w", err)
	}
	return nil
}

// sealKey is the file of the key of secrets that are not delivered yet, which all replicas have.
func (f *fixture) sealKey() string { return filepath.Join(f.dir, "seal-key") }

// configure writes the configuration of a replica and returns its file.
func (f *fixture) configure(r *replica) (string, error) {
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		return "", err
	}
	file := func(name string) string { return filepath.Join(r.dir, name) }
	state := fmt.Sprintf("{dir: %q}", file("state"))
	if !f.embedded {
		state = fmt.Sprintf("{dir: %q, postgres: {url: %q, replica: %q}, seal: key_file: %q}", file("state"), f.database.url(), r.name, f.sealKey())
	}
	config := harness.ServiceConfig{
		Sync: "@every 5s", Sweep: "@every " + f.sweep.String(), BaseURL: f.platform.baseURL(),
		Source: fmt.Sprintf("url: %q", "file://"+f.repo.Dir), Requests: f.quota(), Per: per, State: state,
		Credentials: fmt.Sprintf("tokens: file: %q", file("tokens-token")),
	}
	name, err := config.WriteFiles(r.dir)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	more := fmt.Sprintf("sinks: ci: file: root: %q\n", filepath.Join(f.dir, "sink"))
	secrets := map[string]string{"tokens-token": mem.TokensTokenValue}
	for _, a := range f.fleet.accounts {
		more += fmt.Sprintf("accounts: %s: credentials: rulesets: file: %q\n", a.key, file(a.key+"-token"))
		secrets[a.key+"-token"] = a.secret
	}
	secrets["config.cue"] = string(text) + more
	for name, content := range secrets {
		if err := os.WriteFile(file(name), []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	return name, os.MkdirAll(filepath.Join(f.dir, "sink"), 0o700)
}

func (f *fixture) stop() {
	for _, r := range f.replicas {
		r.kill() // who is to see how they end has ended them before
	}
	if f.platform != nil {
		f.platform.close()
	}
	f.database.close()
}

// settling is for what never happens: a busy machine takes its time.
const settling = 10 * time.Minute

// await waits until ok.
func (f *fixture) await(ctx context.Context, what string, ok func() bool) error {
	return awaitEach(ctx, glance, what, ok)
}

// awaitEach waits until ok, with these pauses: a look that starts a program takes processor time from
// what is waited for.
func awaitEach(ctx context.Context, pause time.Duration, what string, ok func() bool) error {
	for deadline := time.Now().Add(settling); !ok(); sleep(ctx, pause) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: never within %s", what, settling)
		}
	}
	return nil
}

// glance is how often it is looked at what happens, and asking how often a program is asked.
const (
	glance = 100 * time.Millisecond
	asking = time.Second
)

// disturbed has everything happen for the length that was asked for.
func (f *fixture) disturbed(ctx context.Context) error {
	during, stop := context.WithTimeout(ctx, f.length)
	defer stop()
	return f.while(during, f.disturb)
}

// while has people work until something is over, and gives what is still to be done then the time
// that it may take.
func (f *fixture) while(ctx context.Context, something func(context.Context) error) error {
	after := context.WithoutCancel(ctx)
	watched, stopWatching := context.WithCancel(after)
	during, stop := context.WithCancel(ctx)
	defer stop()
	var failed firstError
	var parts, watching sync.WaitGroup
	watching.Go(func() {
		if err := f.watch(watched); err != nil {
			failed.keep(err)
			stop()
		}
	})
	watching.Go(func() { f.pace.measure(watched) })
	parts.Go(func() { failed.keep(f.work(during)); stop() })
	failed.keep(something(during))
	stop()
	parts.Wait()
	f.said("all is calm", nil)
	calm := time.Now()
	late := 3 * max(f.within(push, f.zones), f.within(drift, f.zones))
	for failed.get() == nil && f.wishes.settle(f.platform.live) > 0 && f.pace.between(calm, time.Now()) < late {
		sleep(after, glance)
	}
	stopWatching()
	watching.Wait()
	return failed.get()
}

// watch notes what is live, and who holds what, until the context is over. It fails where a daemon
// ends by itself.
func (f *fixture) watch(ctx context.Context) error {
	for ; ctx.Err() == nil; sleep(ctx, glance) {
		for _, r := range f.replicas {
			if err := r.trouble(); err != nil {
				return err
			}
		}
		f.wishes.settle(f.platform.live)
		held := f.holders(ctx)
		now := time.Now()
		f.held.note(commits, held[commits], now)
		f.held.note(tokens, held[tokens], now)
		for _, a := range f.fleet.accounts {
			f.held.note(a.key, held[a.key], now)
		}
	}
	return nil
}

// holders is who holds what and can work, by account and by the name of other leases.
func (f *fixture) holders(ctx context.Context) map[string]string {
	alive := map[string]bool{}
	for _, r := range f.replicas {
		alive[r.name] = r.running() != nil
	}
	found := map[string]string{}
	if f.embedded {
		for _, what := range append([]string{commits, tokens}, f.fleet.keys()...) {
			if alive["a"] {
				found[what] = "a"
			}
		}
		return found
	}
	leases, err := f.database.leases(ctx)
	if err != nil {
		return nil
	}
	for name, l := range leases {
		if alive[l.replica] {
			found[f.what(name)] = l.String()
		}
	}
	return found
}

// what is the account that a lease is about, or the name of the lease.
func (f *fixture) what(name string) string {
	for _, key := range f.fleet.keys() {
		if strings.Contains(name, "accounts."+key+".") {
			return key
		}
	}
	return name
}

package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

// DefaultFolder is where [Serve] puts its files unless told otherwise.
const DefaultFolder = "seawall-demo"

// Daemon is seawall run with a configuration file. It says once where its page is.
type Daemon func(ctx context.Context, config string, serving func(page string)) error

// Serve makes a folder with a git repository that can be pushed to, and runs the simulator and
// a daemon for it until ctx ends. Then it removes the folder.
func Serve(ctx context.Context, t *cli.Terminal, dir string, daemon Daemon) (err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist) {
		return cli.Fail(fmt.Errorf("%s exists already", dir), "remove it, or name another folder: seawall demo --serve DIR")
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := demo{Terminal: t, dir: dir}
	if d.platform, err = sim.Start(sim.Config{Seed: vendorSeed(), Profile: mem.Vendor, Vendor: "cloudflare"}); err != nil { //nolint:contextcheck // it runs until it is closed
		return err
	}
	defer d.platform.Close()
	if err := d.fillFolder(ctx); err != nil {
		return err
	}
	return daemon(ctx, d.path("config.cue"), func(page string) { d.say("%s", d.instructions(page)) })
}

// vendorSeed is a platform in which the managed ruleset has the vendor's name.
func vendorSeed() mem.Seed {
	seed := mem.VendorSeed()
	for i := range seed.Accounts {
		for j := range seed.Accounts[i].Rulesets {
			if r := &seed.Accounts[i].Rulesets[j]; r.ID == mem.CoreRuleset {
				r.Name = "Cloudflare OWASP Core Ruleset"
			}
		}
	}
	return seed
}

// served is the repository that Serve begins with; the README shows it.
//
//go:embed served.cue
var served []byte

// servedConfig looks more often than a real platform needs, for a reader who waits.
const servedConfig = `source: url: %q
platform: {preset: "cloudflare", base_url: %q}
credentials: rulesets: file: %q
state: dir: %q
schedule: {sync: "@every 1s", sweep: "@every 5s"}
listen: "127.0.0.1:0"
`

// byHand is one request over the platform's API, as the dashboard sends it: it switches the
// managed ruleset off.
const byHand = `curl --silent --show-error --fail --output /dev/null --request PATCH \
  --header "Authorization: Bearer $(cat '%s')" --header 'Content-Type: application/json' \
  --data '{"action": "execute", "expression": "true", "enabled": false, "action_parameters": {"id": "%s", "overrides": {
      "categories": [{"category": "paranoia-level-4", "enabled": false}, {"category": "wordpress", "enabled": false}],
      "rules": [{"id": "c04e0000000000000000000100000018", "action": "block", "score_threshold": 25}]}}}' \
  %s/zones/%s/rulesets/%s/rules/%s &&
echo 'shop.example: the managed ruleset is switched off'
`

// fillFolder writes what the folder has: a working copy, the repository it pushes to, the
// configuration of the daemon and a change by hand.
func (d *demo) fillFolder(ctx context.Context) error {
	work := d.path("repository")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	token := d.path("rulesets-token")
	entryPoint := d.platform.Platform.StoredEntryPoint(edge.ZoneScope(demoZone))
	for path, text := range map[string]string{
		filepath.Join(work, demoFile): string(served),
		token:                         d.platform.RulesetsToken.Reveal(),
		d.path("config.cue"):          fmt.Sprintf(servedConfig, "file://"+d.path("origin.git"), d.platform.BaseURL, token, d.path("state")),
		d.path("by-hand.sh"): fmt.Sprintf(byHand, token, mem.CoreRuleset, d.platform.BaseURL,
			demoZone, entryPoint.ID, entryPoint.Rules[0].ID),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	repository, err := initRepository(ctx, work)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"clone", "--quiet", "--bare", ".", d.path("origin.git")},
		{"remote", "add", "origin", d.path("origin.git")},
		{"push", "--quiet", "--set-upstream", "origin", "main"},
	} {
		if _, err := repository.git(ctx, args...); err != nil {
			return err
		}
	}
	if exec.CommandContext(ctx, "git", "-C", work, "config", "user.email").Run() == nil {
		return nil
	}
	// A reader without a name in git can commit, too.
	for name, value := range map[string]string{"user.name": "Demo", "user.email": "demo@seawall.example"} {
		if _, err := repository.git(ctx, "config", name, value); err != nil {
			return err
		}
	}
	return nil
}

// instructions are what to try in a second terminal.
func (d *demo) instructions(page string) string {
	return fmt.Sprintf(`Open %s in a browser: the page follows all that happens here.

A git repository, a simulated platform and the daemon run until you press Ctrl-C.
That also removes %s.

In a second terminal:

    export SEAWALL_CONFIG=%s
    cd %s

Edit the declaration, see what a pull request would show, and push:

    sed -i.bak 's/paranoia: 2/paranoia: 3/' edge.cue
    seawall plan --dir .
    git commit --all --message "Run the rules of level 3" && git push
    seawall status

Switch the managed ruleset off, as somebody in the dashboard does. The daemon finds it
within 5 seconds:

    sh ../by-hand.sh
    seawall why shop.example
    seawall history
`, page, d.dir, cli.Quoted(d.path("config.cue")), cli.Quoted(d.path("repository")))
}

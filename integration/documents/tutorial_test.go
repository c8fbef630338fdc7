package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// step is what a tutorial has the reader do between its blocks of shell, and what the block
// then comes to.
type step struct {
	before string // shell
	after  string // shell, which waits for what the block has begun
	code   int
	shows  []string
}

var shellBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```")

// tutorial runs all blocks of shell of a document, as they are written, in one session of a
// shell in a folder of its own: only the address of the platform and the credential are
// other ones.
func tutorial(t *testing.T, p *harness.Platform, document string, steps []step, replace ...string) {
	t.Helper()
	text := harness.ReadText(t, filepath.Join(harness.Root, "docs", document))
	blocks := shellBlocks.FindAllStringSubmatch(text, -1)
	if len(blocks) != len(steps) {
		t.Fatalf("%s has %d blocks of shell, and %d are expected", document, len(blocks), len(steps))
	}
	with := strings.NewReplacer(append(replace, "https://api.example.com/client/v4", p.BaseURL, "SEAWALL_RULESETS_TOKEN=…", "SEAWALL_RULESETS_TOKEN="+p.RulesetsToken.Reveal())...)
	var script strings.Builder
	for i, block := range blocks {
		fmt.Fprintf(&script, "%s\nrc=0\n", steps[i].before)
		for line := range strings.Lines(strings.ReplaceAll(with.Replace(block[1]), "\\\n", " ")) {
			fmt.Fprintf(&script, "[ $rc = 0 ] && {\n%s\nrc=$?; }\n", strings.TrimSpace(line))
		}
		fmt.Fprintln(&script, steps[i].after)
		fmt.Fprintf(&script, "echo \"-- block ended with $rc\"\n")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-s")
	shell.Dir = t.TempDir()
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel, shell.WaitDelay = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }, 5*time.Second
	shell.Stdin = strings.NewReader(script.String())
	shell.Env = append(append(os.Environ(), gittest.Env...), "PATH="+filepath.Dir(harness.Seawall(t))+":"+os.Getenv("PATH"), "NO_COLOR=1", "HOME="+shell.Dir,
		"SEAWALL_TOKENS_TOKEN="+p.TokensToken.Reveal(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main")
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	if err := shell.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	parts := strings.SplitAfter(out.String(), "-- block ended with ")
	for i, s := range steps {
		if i+1 >= len(parts) || !strings.HasPrefix(parts[i+1], fmt.Sprintf("%d\n", s.code)) {
			t.Fatalf("%s: block %d did not end with %d:\n%s\n%s", document, i+1, s.code, blocks[i][1], out.String())
		}
		for _, want := range s.shows {
			if !strings.Contains(parts[i], want) {
				t.Errorf("%s: block %d does not show %q:\n%s\n%s", document, i+1, want, blocks[i][1], parts[i])
			}
		}
	}
}

// tunedFleet are 12 zones that were tuned by hand, in two ways; the first is shop.example.
func tunedFleet() mem.Seed {
	seed := mem.Fleet(12)
	for i := range seed.Zones {
		z := &seed.Zones[i]
		if i == 0 {
			z.Name = "shop.example"
		}
		z.EntryPoint.Rules[0].ActionParameters.Overrides = &edge.Overrides{
			Rules: []edge.RuleOverride{{ID: "c04e0000000000000000000100000018", ScoreThreshold: new([]int{60, 40, 40}[i%3]), Action: new(edge.ActionManagedChallenge)}},
		}
	}
	return seed
}

// drift is a command that changes the first zone by hand.
func drift(t *testing.T, p *harness.Platform, score int) string {
	t.Helper()
	entryPoint := p.EntryPoint(mem.FleetZone(1))
	entryPoint.Rules[0].ActionParameters.Overrides.Rules[0].ScoreThreshold = &score
	data, err := json.Marshal(entryPoint)
	must.Do(t, err)
	return fmt.Sprintf("curl --silent --fail --request PUT --data '%s' %s/zones/%s/entrypoint", data, p.ControlURL(), mem.FleetZone(1))
}

// TestTutorialAdoptAFleet does what docs/adopt-a-fleet.md says. From an empty folder to the
// first change by hand that is put back, it says at most ten commands.
func TestTutorialAdoptAFleet(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, sim.Config{Seed: tunedFleet(), Profile: mem.Extended})
	until := func(command, shows string) string {
		return fmt.Sprintf("until %s 2>&1 | grep --quiet '%s'; do sleep 0.1; done", command, shows)
	}
	status := "seawall status --config config.cue"
	steps := []step{
		{shows: []string{"imported 12 zones of 1 account: 1 tier, 4 exceptions"}},
		{before: fmt.Sprintf("echo shop.example %s > zones.txt", mem.FleetZone(1)), shows: []string{"1 zone is declared already"}},
		{shows: []string{"Import"}},
		{shows: []string{"It follows the branch main", "only observes"}},
		{before: until(status, "12 in sync"), after: until("cat seawall.log", "the configuration is reloaded")},
		{
			before: drift(t, p, 50),
			after:  until("seawall history --config config.cue", "score_threshold.* 50 → 60") + "; kill %1; wait %1; echo healed",
			shows:  []string{"healed"},
		},
		{before: "sed -i 's/[*]40 | int/*35 | int/' my-edge/tiers.cue", shows: []string{"12 zones: 4 in sync, 8 to change"}},
		{before: drift(t, p, 50), shows: []string{"+", "score: 50", "changed  my-edge/zones.cue"}},
		{shows: []string{"score: 50", "pushed  absorb-shop"}},
	}
	// The configuration listens on one port of the machine, on which other tests run.
	const runs = "seawall run --config config.cue"
	tutorial(t, p, "adopt-a-fleet.md", steps, runs, "sed -i.bak 's/127.0.0.1:8710/127.0.0.1:0/' config.cue\n"+runs)

	text := harness.ReadText(t, filepath.Join(harness.Root, "docs", "adopt-a-fleet.md"))
	commands := 0
	for i, block := range shellBlocks.FindAllStringSubmatch(text, 6) {
		if i != 1 { // the second one is another way to import
			commands += len(statements(t, block[1]))
		}
	}
	if commands > 10 {
		t.Errorf("the page has %d commands up to the first change that is put back, want at most 10", commands)
	}
	for call, n := range p.Writes() {
		if n > 1 || !strings.Contains(call, mem.FleetZone(1).String()) {
			t.Errorf("%d times %s", n, call)
		}
	}
}

// wantOnlyReads: nothing was written to the platform.
func wantOnlyReads(p *harness.Platform, t *testing.T) {
	t.Helper()
	for call, n := range p.Writes() {
		t.Errorf("%d times %s", n, call)
	}
}

// stateOfFleet is the Terraform state of these zones, and a token that the platform knows.
func stateOfFleet(t *testing.T, seed mem.Seed) []byte {
	t.Helper()
	type resource map[string]any
	attributes := func(kind, name string, values map[string]any) resource {
		return resource{"mode": "managed", "type": kind, "name": name, "instances": []any{map[string]any{"attributes": values}}}
	}
	var all []resource
	for i, z := range seed.Zones {
		rule := z.EntryPoint.Rules[0]
		all = append(all, attributes("cloudflare_zone", fmt.Sprintf("z%d", i), map[string]any{"id": z.ID, "zone": z.Name, "account_id": z.AccountID}),
			attributes("cloudflare_ruleset", fmt.Sprintf("z%d", i), map[string]any{
				"id": z.EntryPoint.ID, "zone_id": z.ID, "kind": "zone", "phase": edge.PhaseFirewallManaged, "rules": []any{rule},
			}))
	}
	all = append(all, attributes("cloudflare_api_token", "ci", map[string]any{
		"id": strings.Repeat("7", 32), "name": "ci", "policy": []any{map[string]any{
			"effect": "allow", "permission_groups": []string{mem.RulesGroup}, "resources": map[string]string{"com.cloudflare.api.account.zone.*": "*"},
		}},
	}))
	data, err := json.Marshal(map[string]any{"version": 4, "resources": all})
	must.Do(t, err)
	return data
}

// TestTutorialFromTerraform does what docs/from-terraform.md says.
func TestTutorialFromTerraform(t *testing.T) {
	t.Parallel()
	seed := tunedFleet()
	p := harness.StartPlatform(t, sim.Config{Seed: seed, Profile: mem.Extended})
	file := filepath.Join(t.TempDir(), "terraform.tfstate")
	must.Do(t, os.WriteFile(file, stateOfFleet(t, seed), 0o600))
	tutorial(t, p, "from-terraform.md", []step{
		{before: "cp " + file + " .\nexport SEAWALL_RULESETS_TOKEN=" + p.RulesetsToken.Reveal(), shows: []string{"imported 12 zones of 1 account", "imported 1 token", "seawall token adopt ci", "valid: 12 zones, 12 deployments, 1 token"}},
		{code: 4, shows: []string{"12 in sync", "token ci  unknown"}},
		{shows: []string{"imported 12 zones of 1 account: 1 tier, 4 exceptions"}},
	}, "https://api.cloudflare.com/client/v4", p.BaseURL)
	wantOnlyReads(p, t)
}

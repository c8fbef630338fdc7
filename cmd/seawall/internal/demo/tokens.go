package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// tokensFile is the file in which the demo declares tokens.
const tokensFile = "tokens.cue"

const demoToken = `
token: %q: {
	policies: [{
		effect: "allow"
		resources: "com.vendor.api.account.zone.%s": "*"
		permission_groups: [{id: %q}]
	}]
	expires_on: "2099-01-01T00:00:00Z"
	sink: {name: "ci", key: %q}
}
`

func declareToken(name string) string {
	return fmt.Sprintf(demoToken, name, demoZone, mem.RulesGroup, name)
}

// createToken mends the repository and declares a token.
func (d *demo) createToken(ctx context.Context) error {
	d.title("A token is created once, and its secret goes where it is needed")
	good := strings.Replace(d.repository.read(demoFile), `"manage_challenge"`, `"managed_challenge"`, 1)
	if err := d.repository.commit(ctx, demoFile, good, "Mend the typo"); err != nil {
		return err
	}
	declared := declareToken("ci-dns")
	d.say("%s:", tokensFile)
	d.say("%s\n", indent(strings.TrimSpace(declared)))
	if err := d.repository.commit(ctx, tokensFile, "package edge\n"+declared, "Declare a token"); err != nil {
		return err
	}
	if err := d.configureTokens(ctx); err != nil {
		return err
	}
	d.say("seawall token init: this platform holds no token of this repository yet.\n")
	err := d.settings.WithLockedLedger(ctx, func(memory *ledger.Ledger) error { return memory.Init(ctx, memory.Binding) })
	if err != nil {
		return err
	}
	report, writes, err := d.runInFull(ctx)
	if err != nil {
		return err
	}
	info, err := os.Stat(d.path("secrets/ci-dns"))
	if err != nil {
		return err
	}
	d.say("\nthe secret is in %s, %s, and nowhere else", d.path("secrets/ci-dns"), info.Mode())
	return expect(writes == 1 && report.Converged() && d.existing("ci-dns") == 1, "one POST creates one token")
}

// configureTokens is [demo.configure] with a credential for tokens, and a sink.
func (d *demo) configureTokens(ctx context.Context) error {
	return d.configure(ctx, fmt.Sprintf("credentials: tokens: file: %q\nsinks: ci: file: root: %q\n", d.path("tokens-token"), d.path("secrets")))
}

// crash kills a run while the platform has created a token and its answer is
// still on the way.
func (d *demo) crash(ctx context.Context) error {
	d.title("Killed in the middle of a creation: nothing doubled, nothing lost")
	declared := "package edge\n" + declareToken("ci-dns") + declareToken("ci-waf")
	if err := d.repository.commit(ctx, tokensFile, declared, "Declare another token"); err != nil {
		return err
	}
	d.assembly.Close()
	if err := d.killDuringCreation(ctx); err != nil {
		return err
	}
	d.say("seawall apply was killed (SIGKILL) after its POST for ci-waf was sent.\n")
	if err := d.configureTokens(ctx); err != nil {
		return err
	}
	report, writes, err := d.runInFull(ctx)
	if err != nil {
		return err
	}
	if err := expect(writes == 0 && !report.Converged() && d.existing("ci-waf") == 1, "a creation of unknown outcome is not sent again"); err != nil {
		return err
	}
	return d.resolve(ctx)
}

// killDuringCreation runs this program as a process of its own and kills it once
// the platform has the POST.
func (d *demo) killDuringCreation(ctx context.Context) error {
	if err := d.platform.SetQuirks([]string{"slow=500ms"}); err != nil {
		return err
	}
	d.platform.ClearTranscript()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	apply := exec.CommandContext(ctx, self, "apply", "--config", d.path("config.cue"))
	if err := apply.Start(); err != nil {
		return err
	}
	for d.existing("ci-waf") == 0 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	if err := apply.Process.Kill(); err != nil {
		return err
	}
	_ = apply.Wait() // it was killed, and says so
	if ctx.Err() != nil {
		return expect(false, "the other process creates a token")
	}
	return d.platform.SetQuirks(nil)
}

// resolve plays the person who looks into the dashboard.
func (d *demo) resolve(ctx context.Context) error {
	var id edge.TokenID
	for _, token := range d.platform.Platform.Tokens() {
		if token.Name == "ci-waf" {
			id = edge.TokenID(token.ID)
		}
	}
	d.say("\nAn operator finds ci-waf in the dashboard, rolls its secret there, and records that:")
	d.say("seawall token resolve ci-waf --adopt %s\n", id)
	d.assembly.Close()
	err := d.settings.WithLockedLedger(ctx, func(memory *ledger.Ledger) error {
		return memory.Resolve(ctx, "ci-waf", ledger.Resolution{How: ledger.ByAdopting, ID: id})
	})
	if err != nil {
		return err
	}
	if d.assembly, err = setup.Assemble(ctx, d.settings, setup.ToServe, d.assembly.Log); err != nil {
		return err
	}
	report, writes, err := d.run(ctx)
	if err != nil {
		return err
	}
	d.result(report)
	return expect(writes == 0 && report.Converged() && d.existing("ci-dns") == 1 && d.existing("ci-waf") == 1, "each token exists once")
}

// existing counts the tokens of a name on the platform.
func (d *demo) existing(name string) int {
	n := 0
	for _, token := range d.platform.Platform.Tokens() {
		if token.Name == name {
			n++
		}
	}
	return n
}

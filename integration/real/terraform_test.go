package real_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// The vendor's provider and its version.
const (
	vendorProvider  = "cloudflare/cloudflare"
	providerVersion = "5.22.0"
)

// The zone that both tools manage: of the simulator's own seed, without an entry point.
const (
	sharedAccount = "0123456789abcdef0123456789abcdef"
	sharedZone    = "00000000000000000000000000000a03"
)

const requiredProvider = `terraform {
	required_providers {
		cloudflare = {
			source  = %q
			version = %q
		}
	}
}
`

// terraformRuleset is the zone's entry point, with a ref of its rule or without, and with the
// score of the last rule.
const terraformRuleset = `
provider "cloudflare" {
	base_url = %q
}

locals {
	zone = %q
}

data "cloudflare_rulesets" "all" {
	zone_id = local.zone
}

resource "cloudflare_ruleset" "waf" {
	zone_id = local.zone
	name    = "default"
	kind    = "zone"
	phase   = "http_request_firewall_managed"
	rules = [{
		%s
		action     = "execute"
		expression = "true"
		action_parameters = {
			id = one([for each in data.cloudflare_rulesets.all.rulesets : each.id if each.kind == "managed" && each.name == "Core Ruleset"])
			overrides = {
				categories = [
					{ category = "wordpress", action = "log", enabled = true },
					{ category = "paranoia-level-3", enabled = false },
					{ category = "paranoia-level-4", enabled = false },
				]
				rules = [
					{ id = "c04e0000000000000000000100000003", enabled = false },
					{ id = "c04e0000000000000000000100000018", action = "managed_challenge", score_threshold = %d },
				]
			}
		}
	}]
}
`

// ownRef is a rule's ref that stays when Terraform replaces the rule.
const ownRef = `ref = "core"`

// seawallRuleset is the same for Seawall: with more members of the deployment, and the score.
const seawallRuleset = `package edge

account: prod: {
	id: %q
	ruleset: core: name: "Core Ruleset"
	zone: "new.example": {
		id: %q
		waf: core: {
			%s
			paranoia: 2
			tags: [{tag: "wordpress", enabled: true, action: "log"}]
			rules: [{ref: "host-missing", enabled: false}]
			threshold: {score: %d, action: "managed_challenge"}
		}
	}
}
`

// shared is the zone, with a declaration for each tool.
type shared struct {
	testing.TB
	platform platform
	dir      string // Terraform's configuration and state
	env      []string
	repo     *gittest.Repository
	config   string // Seawall's
}

// newShared starts the simulator as the vendor. It skips the test, with the reason, where there
// is no Terraform or no provider.
func newShared(t *testing.T) *shared {
	t.Helper()
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Skipf("this test needs terraform: %v; see https://developer.hashicorp.com/terraform/install", err)
	}
	s := &shared{TB: t, dir: t.TempDir(), repo: gittest.New(t)}
	mirror := s.mirror()
	s.platform = startSimulator(t, seawall(t), "--profile", "vendor")
	s.env = append(s.withoutRegistry(mirror), "CLOUDFLARE_API_TOKEN="+s.platform.Rulesets)
	s.config = writeFile(t, filepath.Join(t.TempDir(), "config.cue"), fmt.Sprintf(`source: {url: %q, ref: "refs/heads/main"}
platform: {base_url: %q, vendor: "cloudflare", profile: "extended"}
credentials: rulesets: env: "PLATFORM_TOKEN"
state: dir: %q
`, "file://"+s.repo.Dir, s.platform.BaseURL, t.TempDir()))
	return s
}

// mirror is a folder with the provider, laid out as a mirror of Terraform's registry. Terraform
// fills it, once. It may also be filled by hand, with a program
// registry.terraform.io/cloudflare/cloudflare/VERSION/OS_ARCH/terraform-provider-cloudflare_vVERSION.
func (s *shared) mirror() (folder string) {
	s.Helper()
	folder = kept(s, "terraform-provider-cloudflare-"+providerVersion)
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	scratch, part := s.TempDir(), folder+".part"
	writeFile(s, filepath.Join(scratch, "versions.tf"), fmt.Sprintf(requiredProvider, vendorProvider, providerVersion))
	must.Do(s, os.MkdirAll(part, 0o755))
	command := exec.Command("terraform", "providers", "mirror", "-no-color", part)
	command.Dir, command.Env = scratch, append(os.Environ(), "CHECKPOINT_DISABLE=1")
	if code, out := outcome(s, command); code != 0 {
		_ = os.RemoveAll(part)
		s.Skipf("the provider %s %s cannot be had from the registry:\n%s", vendorProvider, providerVersion, last(out, 20))
	}
	must.Do(s, os.Rename(part, folder))
	return folder
}

// withoutRegistry is an environment in which Terraform has the provider from a mirror alone.
func (s *shared) withoutRegistry(mirror string) []string {
	s.Helper()
	cli := writeFile(s, filepath.Join(s.TempDir(), "terraform.rc"), fmt.Sprintf(`disable_checkpoint = true
provider_installation {
	filesystem_mirror {
		path = %q
	}
}
`, mirror))
	env := slices.DeleteFunc(os.Environ(), func(each string) bool {
		return strings.HasPrefix(each, "CLOUDFLARE_") || strings.HasPrefix(each, "TF_")
	})
	return append(env, "TF_CLI_CONFIG_FILE="+cli, "TF_IN_AUTOMATION=1", "TF_INPUT=0")
}

// configure makes the ruleset with the score Terraform's configuration.
func (s *shared) configure(ref string, score int) {
	s.Helper()
	text := fmt.Sprintf(requiredProvider, vendorProvider, providerVersion) +
		fmt.Sprintf(terraformRuleset, s.platform.BaseURL, sharedZone, ref, score)
	writeFile(s, filepath.Join(s.dir, "main.tf"), text)
}

func (s *shared) terraform(args ...string) string {
	s.Helper()
	return run(s, s.command(args...))
}

func (s *shared) command(args ...string) *exec.Cmd {
	command := exec.Command("terraform", args...)
	command.Dir, command.Env = s.dir, s.env
	return command
}

// terraformPlans holds what Terraform would change to lines PATH: OLD → NEW.
func (s *shared) terraformPlans(want ...string) {
	s.Helper()
	out := s.terraform("plan", "-no-color", "-out=plan")
	var plan struct {
		Changes []struct {
			Address string
			Change  struct {
				Actions       []string
				Before, After struct{ Rules any }
			}
		} `json:"resource_changes"`
	}
	s.decode([]byte(s.terraform("show", "-json", "plan")), &plan)
	var got []string
	for _, resource := range plan.Changes {
		switch actions := strings.Join(resource.Change.Actions, ", "); actions {
		case "no-op":
		case "update":
			got = append(got, differences("rules", resource.Change.Before.Rules, resource.Change.After.Rules)...)
		default:
			got = append(got, resource.Address+": "+actions)
		}
	}
	if !slices.Equal(got, want) {
		s.Errorf("terraform plans %q, want %q\n%s", got, want, out)
	}
}

func (s *shared) decode(data []byte, into any) {
	s.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		s.Fatalf("%v in %s", err, data)
	}
}

// differences are the paths at which two JSON values differ, with both.
func differences(path string, before, after any) (found []string) {
	a, b := elementsOf(before), elementsOf(after)
	if a == nil || b == nil {
		if one, two := fmt.Sprint(before), fmt.Sprint(after); one != two {
			return []string{path + ": " + one + " → " + two}
		}
		return nil
	}
	names := map[string]bool{}
	for _, each := range []map[string]any{a, b} {
		for name := range each {
			names[name] = true
		}
	}
	for name := range names {
		found = append(found, differences(path+"."+name, a[name], b[name])...)
	}
	slices.Sort(found)
	return found
}

// elementsOf are the members of an object or a list; nil for another value.
func elementsOf(value any) map[string]any {
	list, ok := value.([]any)
	if !ok {
		members, _ := value.(map[string]any)
		return members
	}
	members := map[string]any{}
	for i, each := range list {
		members[fmt.Sprint(i)] = each
	}
	return members
}

// declare commits the ruleset with the score.
func (s *shared) declare(more string, score int) {
	s.Helper()
	s.repo.Commit("edge.cue", fmt.Sprintf(seawallRuleset, sharedAccount, sharedZone, more, score))
}

// seawall runs a command, and holds its exit code and what it prints to what is wanted.
func (s *shared) seawall(want int, says string, args ...string) {
	s.Helper()
	command := exec.Command(seawall(s), append(args, "--config", s.config)...)
	command.Env = append(os.Environ(), "NO_COLOR=1", "PLATFORM_TOKEN="+s.platform.Rulesets)
	code, out := outcome(s, command)
	if code != want || !strings.Contains(out, says) {
		s.Errorf("seawall %s: exit code %d, want %d and %q\n%s", strings.Join(args, " "), code, want, says, out)
	}
}

// seawallPlans is seawall for a plan: exit code 0 if nothing is to change.
func (s *shared) seawallPlans(want int, says string) {
	s.Helper()
	s.seawall(want, says, "plan", "--detailed-exitcode")
}

var anID = regexp.MustCompile(`[0-9a-f]{32}`)

// wantWrites holds what was written in the zone since the last call to METHOD PATH. Dry runs and
// refused requests wrote nothing.
func (s *shared) wantWrites(want ...string) {
	s.Helper()
	address := strings.TrimSuffix(s.platform.BaseURL, "/client/v4") + "/__sim/transcript"
	var entries []struct {
		Method, Path, Query string
		Status              int
	}
	s.decode(s.ask(http.MethodGet, address), &entries)
	s.ask(http.MethodDelete, address)
	var got []string
	for _, each := range entries {
		if each.Method != http.MethodGet && each.Query != "dry_run=true" && each.Status < 300 {
			got = append(got, each.Method+" "+anID.ReplaceAllString(strings.TrimPrefix(each.Path, "/zones/"+sharedZone), "ID"))
		}
	}
	if !slices.Equal(got, want) {
		s.Errorf("the writes are %q, want %q", got, want)
	}
}

func (s *shared) ask(method, address string) []byte {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), method, address, http.NoBody)
	must.Do(s, err)
	request.Header.Set("Authorization", "Bearer "+s.platform.Rulesets)
	answer, err := http.DefaultClient.Do(request)
	must.Do(s, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		s.Fatalf("%s %s: %s: %v\n%s", method, address, answer.Status, err, body)
	}
	return body
}

// TestTerraform lets Terraform with the vendor's provider, and Seawall, manage one zone of the
// simulator in turn: what one applies, the other plans as empty if it declares the same, and
// as the difference if it does not.
func TestTerraform(t *testing.T) {
	only(t)
	s := newShared(t)
	s.createdByTerraform()
	s.importedBySeawall()
	s.changedBySeawall()
	s.deletedByTerraform()
	s.deployedBySeawall()
}

func (s *shared) createdByTerraform() {
	s.Helper()
	s.configure(ownRef, 30)
	s.terraform("init", "-no-color")
	s.terraformPlans("cloudflare_ruleset.waf: create")
	s.terraform("apply", "-no-color", "-auto-approve")
	s.wantWrites("POST /rulesets")
	s.terraformPlans()

	s.configure(ownRef, 50)
	s.terraformPlans("rules.0.action_parameters.overrides.rules.1.score_threshold: 30 → 50")
	s.terraform("apply", "-no-color", "-auto-approve")
	s.wantWrites("PUT /rulesets/ID")
	s.terraformPlans()
}

func (s *shared) importedBySeawall() {
	s.Helper()
	for _, from := range [][]string{
		{"--from", filepath.Join(s.dir, "terraform.tfstate")}, // which knows of no account
		{"--zone", "new.example=" + sharedZone},
	} {
		folder := filepath.Join(s.TempDir(), "edge")
		s.seawall(0, "", append([]string{"import", folder, "--account", "prod=" + sharedAccount}, from...)...)
		s.seawall(0, "in sync", "plan", "--detailed-exitcode", "--dir", folder)
	}
	s.declare("", 50)
	s.seawallPlans(0, "in sync")
}

func (s *shared) changedBySeawall() {
	s.Helper()
	s.declare("", 60)
	s.seawallPlans(3, "50 → 60")
	s.seawall(0, "", "apply")
	s.wantWrites("PATCH /rulesets/ID/rules/ID")
	s.terraformPlans("rules.0.action_parameters.overrides.rules.1.score_threshold: 60 → 50")
	s.configure(ownRef, 60)
	s.terraformPlans()
}

func (s *shared) deletedByTerraform() {
	s.Helper()
	s.terraform("destroy", "-no-color", "-auto-approve")
	s.wantWrites("DELETE /rulesets/ID")
	s.seawallPlans(4, "not deployed")
}

// deployedBySeawall ends with a change of each tool to a deployment of the other: Terraform's
// replaces the rule, which has no ref of its own, by one with another id.
func (s *shared) deployedBySeawall() {
	s.Helper()
	s.declare("deploy: true", 60)
	s.seawallPlans(2, "deploys")
	s.seawall(0, "", "apply")
	s.wantWrites("POST /rulesets")

	var entry struct{ Result struct{ ID string } }
	s.decode(s.ask(http.MethodGet, s.platform.BaseURL+"/zones/"+sharedZone+"/rulesets/phases/http_request_firewall_managed/entrypoint"), &entry)
	s.configure("", 60)
	code, out := outcome(s, s.command("apply", "-no-color", "-auto-approve"))
	check(s, code, out, 1, "20217") // the zone has an entry point
	s.wantWrites()
	s.terraform("import", "-no-color", "cloudflare_ruleset.waf", "zones/"+sharedZone+"/"+entry.Result.ID)
	s.terraformPlans()

	s.configure("", 20)
	s.terraform("apply", "-no-color", "-auto-approve")
	s.wantWrites("PUT /rulesets/ID")
	s.seawallPlans(3, "20 → 60")
	s.declare("deploy: true", 20)
	s.seawallPlans(0, "in sync")
	s.terraform("destroy", "-no-color", "-auto-approve")
	s.seawallPlans(2, "deploys")
}

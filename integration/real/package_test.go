package real_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
)

const declared = `package edge

account: prod: {
	id: "0123456789abcdef0123456789abcdef"
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": {id: "00000000000000000000000000000a01", waf: core: {paranoia: %d, unmanaged: "remove"}}
}
token: "ci-dns": {
	policies: [{effect: "allow", resources: "com.vendor.api.account.zone.*": "*", permission_groups: [{id: "4755a26eedb94da69e1066d98aa820be"}]}]
	expires_on: "2099-01-01T00:00:00Z"
	sink: {name: "ci", key: "team/dns"}
}
`

const configured = `source: url: "%s"
platform: base_url: "%s"
credentials: rulesets: systemd: "rulesets-token"
credentials: tokens: systemd: "tokens-token"
sinks: ci: file: root: "/var/lib/seawall-secrets"
schedule: sync: "@every 1s"
listen: "127.0.0.1:0"
`

// asService is the documented way to run a command as the daemon: the block of
// deploy/README.md, without sudo, which the machine has no need of.
func asService(t *testing.T) string {
	t.Helper()
	block := regexp.MustCompile("(?s)```sh\n(seawall-as-service\\(\\) .*?)```").FindStringSubmatch(harness.ReadText(t, filepath.Join(harness.Root, "deploy", "README.md")))
	if block == nil {
		t.Fatal("deploy/README.md has no block that defines seawall-as-service")
	}
	return strings.ReplaceAll(block[1], "sudo ", "") + "\n"
}

// TestPackage installs the package on a machine with systemd, runs the service, makes a
// token as its user, upgrades and removes.
func TestPackage(t *testing.T) {
	only(t)
	deb := built(t, "seawall_*_"+runtime.GOARCH+".deb")
	seawall := built(t, "seawall-linux-"+runtime.GOARCH)
	m := newMachine(t)
	p := startSimulator(t, seawall)
	repo := gittest.New(t)
	repo.Commit("edge.cue", fmt.Sprintf(declared, 2))
	service := asService(t)

	before := m.run("find /usr /etc /var -xdev -not -path '/var/lib/dpkg*' -not -path '/var/log*' -not -path '/var/cache*' -not -path '/var/tmp/*' | sort")
	m.install(deb)
	m.run("systemd-analyze verify seawall.service")
	m.run("seawall version && zcat /usr/share/man/man1/seawall-plan.1.gz | grep -q 'seawall plan' && test -s /usr/share/bash-completion/completions/seawall")
	m.run("! systemctl is-active seawall && ! systemctl is-enabled seawall")

	m.write("/etc/seawall/config.cue", fmt.Sprintf(configured, repo.HTTP("", ""), p.BaseURL), 0o644)
	m.write("/etc/seawall/rulesets.token", p.Rulesets, 0o600)
	m.write("/etc/seawall/tokens.token", p.Tokens, 0o600)
	m.write("/etc/seawall/git.token", "not used", 0o600)
	m.write("/etc/systemd/system/seawall.service.d/tokens.conf", "[Service]\nLoadCredential=tokens-token:/etc/seawall/tokens.token\nStateDirectory=seawall-secrets\n", 0o644)
	m.run("systemctl daemon-reload && systemctl enable --now seawall")
	m.run("systemctl show --property=StatusText seawall | grep -q 'serving 127.0.0.1:'") // the start waits for it
	m.poll("the commit is applied", "journalctl --unit=seawall | grep -q '\"msg\":\"run finished\"'")
	m.run("seawall status --config /etc/seawall/config.cue || [ $? != 1 ]") // it answers; the token needs a person

	repo.Commit("edge.cue", fmt.Sprintf(declared, 3))
	m.poll("the push is applied", "seawall history --config /etc/seawall/config.cue | grep -q 'shop.example'")
	m.run("systemctl kill --signal=HUP seawall")
	m.poll("the configuration is reloaded", "journalctl --unit=seawall | grep -q 'the configuration is reloaded'")

	// As the documents say: the ledger is confirmed as the daemon's user, beside the daemon.
	m.run(service + "seawall-as-service token init")
	m.poll("the token is created and delivered", "test -s /var/lib/seawall-secrets/team/dns")
	if out := m.run(service + "seawall-as-service plan"); !strings.Contains(out, "1 zone") {
		t.Errorf("the plan beside the daemon:\n%s", out)
	}
	if owner := m.run("find /var/lib/private/seawall -uid 0"); owner != "" {
		t.Errorf("files of root in the state folder:\n%s", owner)
	}
	// As harness.Root, too, the ledger stays the daemon's.
	m.run("systemctl stop seawall; seawall token list --config /etc/seawall/config.cue; seawall token init --config /etc/seawall/config.cue; systemctl start seawall")
	m.poll("it serves again", "systemctl is-active seawall && { seawall status --config /etc/seawall/config.cue || [ $? != 1 ]; }")

	pid := m.run("systemctl show --property=MainPID seawall")
	m.install(newer(t, deb))
	m.run("systemctl is-active seawall")
	if m.run("systemctl show --property=MainPID seawall") == pid {
		t.Error("the upgrade has not restarted the service")
	}

	m.run("dpkg --remove seawall")
	m.run("! systemctl is-active seawall && ! command -v seawall && test -s /var/lib/private/seawall/ledger.db")
	m.run("rm -rf /etc/systemd/system/seawall.service.d /etc/seawall && dpkg --purge seawall")
	after := m.run("find /usr /etc /var -xdev -not -path '/var/lib/dpkg*' -not -path '/var/log*' -not -path '/var/cache*' -not -path '/var/tmp/*' -not -path '/var/lib/private/seawall*' -not -path '/var/lib/seawall*' | sort")
	if left := lines(after, before); len(left) > 0 {
		t.Errorf("beside its state, the removal leaves %q", left)
	}
	if gone := lines(before, after); len(gone) > 0 {
		t.Errorf("the removal takes %q", gone)
	}
}

func (m *machine) install(deb string) {
	m.t.Helper()
	m.write("/tmp/seawall.deb", harness.ReadText(m.t, deb), 0o644)
	m.run("dpkg --install /tmp/seawall.deb")
}

// newer is the same package with a later version.
func newer(t *testing.T, deb string) string {
	t.Helper()
	folder := t.TempDir()
	out, err := exec.Command("bash", "-c", `set -e
dpkg-deb --raw-extract "$1" "$2/content"
sed -i 's/^Version: .*/Version: 99.0.0/' "$2/content/DEBIAN/control"
dpkg-deb -Znone --build "$2/content" "$2/newer.deb"`, "bash", deb, folder).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(folder, "newer.deb")
}

// lines are those of a that b has not.
func lines(a, b string) (only []string) {
	has := map[string]bool{}
	for line := range strings.Lines(b) {
		has[line] = true
	}
	for line := range strings.Lines(a) {
		if !has[line] {
			only = append(only, strings.TrimSpace(line))
		}
	}
	return only
}

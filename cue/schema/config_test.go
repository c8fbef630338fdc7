package schema_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
)

const least = `
source: url: "https://git.example/edge.git"
platform: base_url: "https://api.example/client/v4"
credentials: rulesets: file: "/run/rulesets"
`

// loaded is a configuration that has no mistakes.
func loaded(t *testing.T, text string) schema.Config {
	t.Helper()
	config, problems := schema.LoadConfig("c.cue", []byte(text))
	if len(problems) > 0 {
		t.Fatalf("%s: %v", text, problems)
	}
	return config
}

// wantMistakes wants a configuration to be refused, with these lines.
func wantMistakes(t *testing.T, text, want string) {
	t.Helper()
	config, problems := schema.LoadConfig("c.cue", []byte(text))
	var lines []string
	for _, p := range problems {
		line := p.String()
		if p.Hint != "" {
			line += " (" + p.Hint + ")"
		}
		lines = append(lines, line)
	}
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
	}
	if diff := cmp.Diff(schema.Config{}, config); diff != "" {
		t.Errorf("%s: a configuration with mistakes is not zero:\n%s", text, diff)
	}
}

func TestDefaults(t *testing.T) {
	got := loaded(t, least)
	want := schema.Config{
		Source: schema.Source{
			URL: "https://git.example/edge.git", Ref: "refs/heads/main", Path: ".", IdleTimeout: 10 * time.Second, Timeout: 5 * time.Minute,
			Limits: schema.FetchLimits{Object: 256 << 20, Objects: 4 << 20, Unpacked: 16 << 30, Store: 4 << 30}, FastForward: "report",
		},
		Platform:    schema.Platform{BaseURL: "https://api.example/client/v4", Vendor: "vendor", Profile: "documented", ConditionKey: "request.ip"},
		Credentials: schema.Credentials{Rulesets: schema.SecretRef{File: "/run/rulesets"}},
		Schedule:    schema.Schedule{Sync: "*/1 * * * *", Sweep: "0 */2 * * *", Timezone: time.UTC},
		Budget:      schema.Budget{Requests: 1200, Per: 5 * time.Minute, Concurrency: 16},
		Bypass:      schema.Bypass{Every: 24 * time.Hour},
		StateDir:    "/var/lib/seawall",
		History:     schema.History{Keep: 90 * 24 * time.Hour, Bytes: 128 << 20},
		Listen:      "127.0.0.1:8710",
		Health:      schema.Health{SourceStale: 15 * time.Minute, Status: true},
		Web:         schema.Web{Pages: true},
		Log:         schema.Log{Format: "auto", Level: "info"},
		Guards:      schema.Guards{Rules: []schema.Guard{schema.DefaultGuard()}, Shrink: schema.Shrink{Floor: 4, Percent: 50}, ApprovalsExpire: 7 * 24 * time.Hour},
		Workers:     schema.Workers{Sandbox: "auto"},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestEverythingSaid(t *testing.T) {
	got := loaded(t, `package config
import "strings"
source: {
	url: "git@git.example:team/edge.git"
	ref: "refs/heads/" + strings.ToLower("LIVE")
	path: "edge/desired"
	auth: ssh: {key: "/etc/seawall/key", passphrase: systemd: "key-pass", known_hosts: "/etc/seawall/known_hosts"}
	shallow: true
	idle_timeout: "30s", timeout: "1h"
}
platform: {base_url: "http://127.0.0.1:8080/x", vendor: "acme", profile: "extended", condition_key: "request_ip"}
tokens: creating_groups: ["g1", "g2"]
credentials: {rulesets: env: "RULESETS", tokens: systemd: "tokens"}
schedule: {sync: "@every 30s", sweep: "@hourly", timezone: "Europe/Berlin"}
budget: {requests: 10, per: "1m", concurrency: 2}
bypass: {phases: ["http_ratelimit", "http_request_firewall_custom"], every: "6h"}
state: {dir: "/srv/seawall", seal: key_file: "/etc/seawall/seal.key"}
sinks: {ci: file: root: "/run/secrets/seawall", "the store": exec: argv: ["put", ""], slow: exec: {argv: ["put"], timeout: "5m"}}
sinks: {
	v: vault: {address: "https://vault.example:8200", prefix: "seawall", auth: token: file: "/etc/seawall/vault-token"}
	w: vault: {
		address: "http://[::1]:8200/proxied", mount: "team/kv", prefix: "edge/tokens", field: "value", namespace: "acme", ca_file: "/etc/ca.pem", timeout: "5s"
		auth: approle: {role_id: "r", secret_id: systemd: "vault-secret-id", mount: "teams/approle"}
	}
	x: vault: {address: "https://vault.example", prefix: "p", auth: kubernetes: role: "seawall"}
	k: kubernetes: namespace: "apps"
	l: kubernetes: {namespace: "apps", kubeconfig: "/etc/seawall/kubeconfig", context: "prod", timeout: "1m"}
}
listen: ":8080"
health: source_stale: "1h"
log: {format: "json", level: "debug"}
`)
	if got.Source.Ref != "refs/heads/live" || got.Source.Path != "edge/desired" || !got.Source.Shallow || got.Source.IdleTimeout != 30*time.Second || got.Source.Timeout != time.Hour {
		t.Errorf("source: got %+v", got.Source)
	}
	if want := (schema.Bypass{Phases: []string{"http_ratelimit", "http_request_firewall_custom"}, Every: 6 * time.Hour}); !cmp.Equal(want, got.Bypass) {
		t.Errorf("bypass: got %+v", got.Bypass)
	}
	wantSSH := schema.SSH{User: "git", Key: schema.SecretRef{File: "/etc/seawall/key"}, Passphrase: &schema.SecretRef{Systemd: "key-pass"}, KnownHosts: "/etc/seawall/known_hosts"}
	if diff := cmp.Diff(&wantSSH, got.Source.Auth.SSH); diff != "" {
		t.Errorf("ssh (-want +got):\n%s", diff)
	}
	wantSinks := map[string]schema.Sink{
		"ci":        {File: &schema.FileSink{Root: "/run/secrets/seawall"}},
		"the store": {Exec: &schema.ExecSink{Argv: []string{"put", ""}, Timeout: 30 * time.Second}},
		"slow":      {Exec: &schema.ExecSink{Argv: []string{"put"}, Timeout: 5 * time.Minute}},
		"v": {Vault: &schema.VaultSink{
			Address: "https://vault.example:8200", Mount: "secret", Prefix: "seawall", Field: "token", Timeout: 30 * time.Second,
			Auth: schema.VaultAuth{Token: &schema.SecretRef{File: "/etc/seawall/vault-token"}},
		}},
		"w": {Vault: &schema.VaultSink{
			Address: "http://[::1]:8200/proxied", Mount: "team/kv", Prefix: "edge/tokens", Field: "value", Namespace: "acme", CAFile: "/etc/ca.pem", Timeout: 5 * time.Second,
			Auth: schema.VaultAuth{AppRole: &schema.AppRole{RoleID: "r", SecretID: schema.SecretRef{Systemd: "vault-secret-id"}, Mount: "teams/approle"}},
		}},
		"x": {Vault: &schema.VaultSink{
			Address: "https://vault.example", Mount: "secret", Prefix: "p", Field: "token", Timeout: 30 * time.Second,
			Auth: schema.VaultAuth{Kubernetes: &schema.VaultKubernetes{Role: "seawall", Mount: "kubernetes", JWTFile: "/var/run/secrets/kubernetes.io/serviceaccount/token"}},
		}},
		"k": {Kubernetes: &schema.KubernetesSink{Namespace: "apps", Timeout: 30 * time.Second}},
		"l": {Kubernetes: &schema.KubernetesSink{Namespace: "apps", Kubeconfig: "/etc/seawall/kubeconfig", Context: "prod", Timeout: time.Minute}},
	}
	if diff := cmp.Diff(wantSinks, got.Sinks); diff != "" || got.Seal != (schema.Seal{KeyFile: "/etc/seawall/seal.key"}) {
		t.Errorf("seal %+v, sinks (-want +got):\n%s", got.Seal, diff)
	}
	if !got.Platform.Extended() || got.Platform.ConditionKey != "request_ip" || got.Tokens.NameSuffix != " [{intent}]" || !slices.Equal(got.Tokens.CreatingGroups, []string{"g1", "g2"}) {
		t.Errorf("platform %+v, tokens %+v", got.Platform, got.Tokens)
	}
	if got.Health != (schema.Health{SourceStale: time.Hour}) { // others reach it
		t.Errorf("health %+v", got.Health)
	}
	if got.Credentials.Tokens == nil || got.Credentials.Tokens.Systemd != "tokens" || got.Schedule.Timezone.String() != "Europe/Berlin" {
		t.Errorf("got %+v", got)
	}
}

// loginByProxy is a login by a proxy on this host.
const loginByProxy = `web: login: proxy: from: ["127.0.0.1/32"], web: roles: all: {role: "viewer", users: ["*"]}`

// TestHealth: what names zones is served on an address that others reach only where that
// is said.
func TestHealth(t *testing.T) {
	for more, want := range map[string]bool{
		``:                         true,
		`listen: "[::1]:8710"`:     true,
		`listen: "localhost:8710"`: true,
		`listen: ":8710"`:          false,
		`listen: "10.0.0.1:8710"`:  false,
		`health: status: false`:    false,
		"listen: \":8710\", health: status: true": true,
		loginByProxy:                            false, // which is in front of the loopback address
		"health: status: true\n" + loginByProxy: true,
	} {
		config := loaded(t, least+more)
		if config.Health.Status != want {
			t.Errorf("%s: %+v, want %v", more, config.Health, want)
		}
	}
	_, problems := schema.LoadConfig("c.cue", []byte(least+`health: source_stale: "0s"`))
	if len(problems) != 1 || problems[0].Path != "health.source_stale" {
		t.Errorf("%v", problems)
	}
}

// Whoever writes a secret itself where its place is to be said does not read it
// again in an error.
func TestNoSecretIsRepeated(t *testing.T) {
	const secret = "ghp_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123"
	for _, place := range []string{
		`credentials: rulesets: "S"`, `credentials: tokens: "S"`, `credentials: tokens: env: "S s"`, `credentials: tokens: file: "S"`,
		`credentials: tokens: systemd: "S/"`, `source: auth: token: "S"`, `source: auth: basic: {username: "u", password: "S"}`,
		`source: auth: basic: {username: "u", password: file: "S"}`, `source: auth: ssh: {known_hosts: "/k", key: "S"}`,
		`source: auth: ssh: {known_hosts: "/k", key: "/k", passphrase: "S"}`, `source: auth: ssh: {known_hosts: "/k", key: env: "S-"}`,
		`sinks: a: vault: {address: "https://v", prefix: "p", auth: token: "S"}`,
		`sinks: "a.b": vault: {address: "https://v", prefix: "p", auth: approle: {role_id: "r", secret_id: "S"}}`,
		`sinks: a: vault: {address: "https://v", prefix: "p", auth: approle: {role_id: "r", secret_id: env: "S "}}`,
	} {
		text := least + strings.ReplaceAll(place, "S", secret)
		if strings.HasPrefix(place, "credentials: rulesets") {
			text = strings.Replace(least, `credentials: rulesets: file: "/run/rulesets"`, strings.ReplaceAll(place, "S", secret), 1)
		}
		_, problems := schema.LoadConfig("c.cue", []byte(text))
		if len(problems) == 0 {
			t.Errorf("%s is taken", place)
		}
		for _, p := range problems {
			if strings.Contains(p.String()+p.Hint, secret[:12]) {
				t.Errorf("%s is told as %s", place, p)
			}
		}
	}
}

func TestNameSuffix(t *testing.T) {
	extended := strings.Replace(least, `v4"`, `v4", platform: profile: "extended"`, 1)
	for text, want := range map[string]string{
		least: "", extended: " [{intent}]",
		least + `tokens: name_suffix: "/{intent}"`: "/{intent}",
		extended + `tokens: name_suffix: ""`:       "",
	} {
		got := loaded(t, text)
		if got.Tokens.NameSuffix != want {
			t.Errorf("%s: suffix %q, want %q", text, got.Tokens.NameSuffix, want)
		}
	}
}

func TestFollowedRef(t *testing.T) {
	for text, want := range map[string]string{
		"": "refs/heads/main", `source: branch: "live"`: "refs/heads/live", `source: branch: "team/live"`: "refs/heads/team/live",
		`source: ref: "refs/tags/v1"`: "refs/tags/v1",
	} {
		got := loaded(t, least+text)
		if got.Source.Ref != want {
			t.Errorf("%s: %q, want %q", text, got.Source.Ref, want)
		}
	}
	got := loaded(t, least+`source: {ca_file: "/etc/ca.pem", auth: bearer: systemd: "git-token"}`)
	if got.Source.CAFile != "/etc/ca.pem" || got.Source.Auth.Bearer == nil || got.Source.Auth.Bearer.Systemd != "git-token" {
		t.Errorf("%+v", got.Source)
	}
}

func TestConfigMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"unknown", least + `listn: ":1"`, `c.cue:5:1: listn: unknown field (did you mean "listen"?)`},
		{"unknown kind", least + `sinks: ci: fil: root: "/x"`, `c.cue:5:12: sinks.ci.fil: unknown field (did you mean "file"?)`},
		{"suffix without the attempt", least + `tokens: name_suffix: "-seawall"`, `c.cue:5:22: tokens.name_suffix: "-seawall" must be empty, or contain {intent}, and have at most 60 characters`},
		{"suffix too long", least + `tokens: name_suffix: "{intent}` + strings.Repeat("x", 60) + `"`, `c.cue:5:22: tokens.name_suffix: "{intent}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... must be empty, or contain {intent}, and have at most 60 characters`},
		{"condition key", least + `platform: condition_key: "ip"`, `c.cue:5:26: platform.condition_key: "ip" is not one of request.ip, request_ip`},
		{"no kind", least + `sinks: {ci: {}, "the store": {}}`, "c.cue:5:9: sinks.ci: needs one of file, exec, vault and kubernetes\nc.cue:5:17: sinks.\"the store\": needs one of file, exec, vault and kubernetes"},
		{"two kinds", least + `sinks: ci: {file: root: "/x", exec: argv: ["x"]}`, `c.cue:5:8: sinks.ci: has 2 of file, exec, vault and kubernetes (keep one of them)`},
		{"no root", least + `sinks: ci: file: {}`, `c.cue:5:12: sinks.ci.file.root: required field is missing`},
		{"relative root", least + `sinks: ci: file: root: "x"`, `c.cue:5:24: sinks.ci.file.root: "x" must be an absolute path`},
		{"no program", least + `sinks: ci: exec: argv: []`, `c.cue:5:18: sinks.ci.exec.argv: must not be empty (give it at least one entry)`},
		{"empty program", least + `sinks: ci: exec: argv: [""]`, `c.cue:5:25: sinks.ci.exec.argv[0]: "" must not be blank`},
		{"shell", least + `sinks: ci: exec: argv: "put it"`, `c.cue:5:24: sinks.ci.exec.argv: "put it" is text; want a list`},
		{"no time", least + `sinks: ci: exec: {argv: ["x"], timeout: "0s"}`, `c.cue:5:32: sinks.ci.exec.timeout: "0s" is not a duration above zero`},
		{"plain vault", least + `sinks: v: vault: {address: "http://vault.example", prefix: "p", auth: token: env: "X"}`, `c.cue:5:28: sinks.v.vault.address: "http://vault.example" must be an https address, or http to this machine`},
		{"vault with user", least + `sinks: v: vault: {address: "https://u:p@vault.example", prefix: "p", auth: token: env: "X"}`, `c.cue:5:19: sinks.v.vault.address: must have neither user, query nor fragment`},
		{"vault without prefix", least + `sinks: v: vault: {address: "https://v.example", auth: token: env: "X"}`, `c.cue:5:11: sinks.v.vault.prefix: required field is missing`},
		{"vault without auth", least + `sinks: v: vault: {address: "https://v.example", prefix: "p"}`, `c.cue:5:11: sinks.v.vault.auth: required field is missing`},
		{"vault climbs", least + `sinks: v: vault: {address: "https://v.example", prefix: "a/../b", auth: token: env: "X"}`, `c.cue:5:57: sinks.v.vault.prefix: "a/../b" must not contain . or .. as a part`},
		{"vault elsewhere", least + `sinks: v: vault: {address: "https://v.example", prefix: "p", mount: "/sys", auth: token: env: "X"}`, `c.cue:5:69: sinks.v.vault.mount: "/sys" must be a relative path of letters, digits and . _ ~ @ : = , -`},
		{"two logins", least + `sinks: v: vault: {address: "https://v.example", prefix: "p", auth: {token: env: "X", kubernetes: role: "r"}}`, `c.cue:5:62: sinks.v.vault.auth: has 2 of token, approle and kubernetes (keep one of them)`},
		{"no login", least + `sinks: v: vault: {address: "https://v.example", prefix: "p", auth: {}}`, `c.cue:5:62: sinks.v.vault.auth: needs one of token, approle and kubernetes`},
		{"vault token here", least + `sinks: v: vault: {address: "https://v.example", prefix: "p", auth: token: {}}`, `c.cue:5:68: sinks.v.vault.auth.token: needs one of file, env and systemd`},
		{"relative ca_file", least + `sinks: v: vault: {address: "https://v.example", prefix: "p", ca_file: "ca.pem", auth: token: env: "X"}`, `c.cue:5:71: sinks.v.vault.ca_file: "ca.pem" must be an absolute path`},
		{"no time to be silent", least + `source: idle_timeout: "0s"`, `c.cue:5:9: source.idle_timeout: "0s" is not a duration above zero`},
		{"no time to fetch", least + `source: timeout: "-1m"`, `c.cue:5:9: source.timeout: "-1m" is not a duration above zero`},
		{"no time for the history", least + `history: keep: "0s"`, `c.cue:5:10: history.keep: "0s" is not a duration above zero`},
		{"no time between looks", least + `bypass: every: "0s"`, `c.cue:5:9: bypass.every: "0s" is not a duration above zero`},
		{"a later phase", least + `bypass: phases: ["http_request_firewall_managed"]`, `c.cue:5:18: bypass.phases[0]: "http_request_firewall_managed" is not one of http_request_firewall_custom, http_ratelimit`},
		{"a phase twice", least + `bypass: phases: ["http_ratelimit", "http_ratelimit"]`, `c.cue:5:36: bypass.phases[1]: "http_ratelimit" is there twice`},
		{"a misspelt phase field", least + `bypass: phase: ["http_ratelimit"]`, `c.cue:5:9: bypass.phase: unknown field (did you mean "phases"?)`},
		{"no time for approvals", least + `approvals: expire: "-1h"`, `c.cue:5:12: approvals.expire: "-1h" is not a duration above zero`},
		{"no time for vault", least + `sinks: v: vault: {address: "https://v.example", prefix: "p", timeout: "-1s", auth: token: env: "X"}`, `c.cue:5:62: sinks.v.vault.timeout: "-1s" is not a duration above zero`},
		{"no namespace", least + `sinks: k: kubernetes: {}`, `c.cue:5:11: sinks.k.kubernetes.namespace: required field is missing`},
		{"all namespaces", least + `sinks: k: kubernetes: namespace: "a/b"`, `c.cue:5:34: sinks.k.kubernetes.namespace: "a/b" must be lower-case letters, digits and -, with a letter or digit at both ends`},
		{"long namespace", least + `sinks: k: kubernetes: namespace: "` + strings.Repeat("n", 64) + `"`, `c.cue:5:23: sinks.k.kubernetes.namespace: must not be longer than 63 characters`},
		{"context alone", least + `sinks: k: kubernetes: {namespace: "a", context: "c"}`, `c.cue:5:40: sinks.k.kubernetes.context: needs a kubeconfig (name the file that has this context)`},
		{"relative kubeconfig", least + `sinks: k: kubernetes: {namespace: "a", kubeconfig: "c"}`, `c.cue:5:52: sinks.k.kubernetes.kubeconfig: "c" must be an absolute path`},
		{"sink in state", least + `sinks: {a: file: root: "/var/lib/seawall/x", b: file: root: "/var/lib/", c: file: root: "/var/lib/seawall-x"}`, `c.cue:5:18: sinks.a.file.root: "/var/lib/seawall/x" and state.dir (/var/lib/seawall) must not contain each other (use a separate folder for secrets)` + "\n" +
			`c.cue:5:55: sinks.b.file.root: "/var/lib/" and state.dir (/var/lib/seawall) must not contain each other (use a separate folder for secrets)`},
		{"sink holds key", least + `state: seal: key_file: "/run/x/key"` + "\n" + `sinks: a: file: root: "/run/x"`, `c.cue:6:17: sinks.a.file.root: "/run/x" must not hold state.seal.key_file (/run/x/key) (use a separate folder for secrets)`},
		{"no token of metrics", least + `web: metrics_token: {}`, `c.cue:5:6: web.metrics_token: needs one of file, env and systemd`},
		{"no seal", least + `state: seal: {}`, `c.cue:5:8: state.seal: needs one of key_file and recipient`},
		{"two seals", least + `state: seal: {key_file: "/x", recipient: "age1x"}`, `c.cue:5:8: state.seal: has 2 of key_file and recipient (keep one of them)`},
		{"seal of another kind", least + `state: seal: recipient: "ssh-ed25519 AAAA"`, `c.cue:5:14: state.seal.recipient: is not a recipient of age (age-keygen -y KEYFILE prints the recipient of a key: age1…)`},
		{"secret seal", least + `state: seal: recipient: "AGE-SECRET-KEY-1XXX"`, `c.cue:5:14: state.seal.recipient: this is a secret key, not a recipient (put it into a file of mode 0600, set key_file to that file, and make sure that this file was not read by others)`},
		{"verify without keys", least + `source: verify: {}`, `c.cue:5:9: source.verify: names no keys, so every commit would be rejected (set openpgp, ssh, or both to a file)`},
		{"verify misspelt", least + `source: verify: gpg: "/k"`, `c.cue:5:17: source.verify.gpg: unknown field (known here: openpgp, require, ssh)`},
		{"verify by a relative path", least + `source: verify: ssh: "signers"`, `c.cue:5:22: source.verify.ssh: "signers" must be an absolute path`},
		{"verify something else", least + `source: verify: {ssh: "/s", require: "all"}`, `c.cue:5:38: source.verify.require: "all" is not one of head, tag, both`},
		{"null", least + `mode: null`, `c.cue:5:7: mode: null is not one of apply, observe`},
		{"nothing", ``, "c.cue:1:1: platform: required field is missing"},
		{"syntax", "source: {{", `c.cue:1:11: expected '}', found 'EOF' (a { has no matching })`},
		{"profile", least + `platform: profile: "extendd"`, `c.cue:5:20: platform.profile: "extendd" is not one of documented, extended (did you mean "extended"?)`},
		{"plain http", strings.Replace(least, "https://api", "http://api", 1), `c.cue:3:21: platform.base_url: "http://api.example/client/v4" must be an https address, or http to this machine`},
		{"password in plain http", strings.Replace(least, "https://api", "http://me:pw@api", 1), `c.cue:3:21: platform.base_url: "http://…api.example/client/v4" must be an https address, or http to this machine`},
		{"password that was cut", strings.Replace(least, "https://api", "http://me:"+strings.Repeat("pw", 40)+"@api", 1), `c.cue:3:21: platform.base_url: "http://…... must be an https address, or http to this machine`},
		{"query", strings.Replace(least, "client/v4", "?x=1", 1), `c.cue:3:11: platform.base_url: must have neither user, query nor fragment`},
		{"two secrets", least + `credentials: rulesets: env: "X"`, `c.cue:4:14: credentials.rulesets: has 2 of file, env and systemd (keep one of them)`},
		{"no secret", strings.Replace(least, `rulesets: file: "/run/rulesets"`, "rulesets: {}", 1), `c.cue:4:14: credentials.rulesets: needs one of file, env and systemd`},
		{"two ways", least + `source: auth: {token: env: "X", basic: {username: "u", password: env: "Y"}}`, `c.cue:5:9: source.auth: has 2 of token, bearer, basic and ssh (keep one of them)`},
		{"no way", least + `source: auth: {}`, `c.cue:5:9: source.auth: needs one of token, bearer, basic and ssh`},
		{"inline password", strings.Replace(least, "https://git", "https://me:pw@git", 1), `c.cue:2:9: source.url: the address contains a password (put it into a file and name the file in source.auth)`},
		{"ssh without key", strings.Replace(least, "https://git", "ssh://git", 1), `c.cue:2:9: source.url: an SSH address needs source.auth.ssh (give it a key and known_hosts)`},
		{"a path", strings.Replace(least, "https://git.example/edge.git", "/srv/edge", 1), `c.cue:2:9: source.url: "/srv/edge" is not a repository URL that Seawall supports (for a git repository on this machine, write file:///srv/edge; to read a plain folder that is not a git repository, use --dir)`},
		{"a relative path", strings.Replace(least, "https://git.example/edge.git", "./edge", 1), `c.cue:2:9: source.url: "./edge" is not a repository URL that Seawall supports (for a git repository on this machine, write file:// and its absolute path; to read a plain folder that is not a git repository, use --dir)`},
		{"ext", strings.Replace(least, "https://git", "ext::sh -c id ", 1), `c.cue:2:9: source.url: "ext::sh -c id .example/edge.git" is not a repository URL that Seawall supports (https://…, ssh://… or user@host:path)`},
		{"cleartext token", strings.Replace(least, "https://git", "http://git", 1) + `source: auth: token: env: "X"`, `c.cue:2:9: source.url: credentials would be sent unencrypted (use https)`},
		{"ref", least + `source: ref: "main"`, `c.cue:5:14: source.ref: "main" must be a full name such as refs/heads/main`},
		{"full branch", least + `source: branch: "refs/heads/main"`, `c.cue:5:17: source.branch: "refs/heads/main" must be the short name of a branch, such as main; a full name belongs in ref`},
		{"branch and ref", least + `source: {branch: "main", ref: "refs/heads/main"}`, `c.cue:5:10: source.branch: stands beside source.ref (keep one of them)`},
		{"relative authorities", least + `source: ca_file: "ca.pem"`, `c.cue:5:18: source.ca_file: "ca.pem" must be an absolute path`},
		{"authorities without https", strings.Replace(least, "https://git", "http://git", 1) + `source: ca_file: "/etc/ca.pem"`, `c.cue:5:9: source.ca_file: can be used only with an https address`},
		{"cleartext bearer", strings.Replace(least, "https://git", "http://git", 1) + `source: auth: bearer: env: "X"`, `c.cue:2:9: source.url: credentials would be sent unencrypted (use https)`},
		{"path", least + `source: path: "../up"`, `c.cue:5:15: source.path: "../up" must not contain . or .. as a part`},
		{"cron", least + `schedule: sync: "* * *"`, `c.cue:5:11: schedule.sync: "* * *" is not a cron expression: expected exactly 5 fields, found 3: [* * *] (five fields such as "*/5 * * * *", @hourly, or @every 5m)`},
		{"duration as cron", least + `schedule: sweep: "2h"`, `c.cue:5:11: schedule.sweep: "2h" is not a cron expression: expected exactly 5 fields, found 1: [2h] (write "@every 2h")`},
		{"two values", least + "listen: \"127.0.0.1:1\"\nlisten: \"127.0.0.1:2\"", `c.cue:6:9: listen: conflicting values "127.0.0.1:2" and "127.0.0.1:1" (see also c.cue:5:9)`},
		{"zone in cron", least + `schedule: sweep: "TZ=UTC * * * * *"`, `c.cue:5:11: schedule.sweep: "TZ=UTC * * * * *" is not a cron expression: set the time zone in schedule.timezone (five fields such as "*/5 * * * *", @hourly, or @every 5m)`},
		{"timezone", least + `schedule: timezone: "Mars/Base"`, `c.cue:5:11: schedule.timezone: "Mars/Base" is not a known time zone (write a name of the IANA database, such as "Europe/Berlin")`},
		{"budget", least + `budget: {requests: 0, per: "-5m", concurrency: 1000}`, "c.cue:5:20: budget.requests: 0 must be at least 1\nc.cue:5:48: budget.concurrency: 1000 must be at most 256"},
		{"negative", least + `budget: per: "-5m"`, `c.cue:5:9: budget.per: "-5m" is not a duration above zero`},
		{"port", least + `listen: "127.0.0.1:99999"`, `c.cue:5:1: listen: "127.0.0.1:99999" is not host:port (for example "127.0.0.1:8710")`},
		{"state", least + `state: dir: "var"`, `c.cue:5:13: state.dir: "var" must be an absolute path`},
		{"level", least + `log: level: "warning"`, `c.cue:5:13: log.level: "warning" is not one of debug, info, warn, error`},
		{"import", "import \"other.example/x\"\n" + least, `c.cue:1:8: package "other.example/x" cannot be imported (a configuration can import CUE's standard packages only)`},
		{"embed", "@extern(embed)\n" + least, `c.cue:1:1: @extern(embed) is refused in a configuration`},
	} {
		t.Run(test.name, func(t *testing.T) { wantMistakes(t, test.text, test.want) })
	}
}

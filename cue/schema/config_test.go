package schema_test

import (
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

func TestDefaults(t *testing.T) {
	got, problems := schema.LoadConfig("c.cue", []byte(least))
	for _, p := range problems {
		t.Fatal(p)
	}
	want := schema.Config{
		Source:      schema.Source{URL: "https://git.example/edge.git", Ref: "refs/heads/main", Path: "."},
		Platform:    schema.Platform{BaseURL: "https://api.example/client/v4", Vendor: "vendor", Profile: "documented"},
		Credentials: schema.Credentials{Rulesets: schema.SecretRef{File: "/run/rulesets"}},
		Schedule:    schema.Schedule{Sync: "*/1 * * * *", Sweep: "0 */2 * * *", Timezone: time.UTC},
		Budget:      schema.Budget{Requests: 1200, Per: 5 * time.Minute, Concurrency: 16},
		StateDir:    "/var/lib/seawall",
		Listen:      "127.0.0.1:8710",
		Log:         schema.Log{Format: "auto", Level: "info"},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestEverythingSaid(t *testing.T) {
	got, problems := schema.LoadConfig("c.cue", []byte(`package config
import "strings"
source: {
	url: "git@git.example:team/edge.git"
	ref: "refs/heads/" + strings.ToLower("LIVE")
	path: "edge/desired"
	auth: ssh: {key: "/etc/seawall/key", passphrase: systemd: "key-pass", known_hosts: "/etc/seawall/known_hosts"}
	shallow: true
}
platform: {base_url: "http://127.0.0.1:8080/x", vendor: "acme", profile: "extended"}
credentials: {rulesets: env: "RULESETS", tokens: systemd: "tokens"}
schedule: {sync: "@every 30s", sweep: "@hourly", timezone: "Europe/Berlin"}
budget: {requests: 10, per: "1m", concurrency: 2}
state: dir: "/srv/seawall"
listen: ":8080"
log: {format: "json", level: "debug"}
`))
	for _, p := range problems {
		t.Fatal(p)
	}
	if got.Source.Ref != "refs/heads/live" || got.Source.Path != "edge/desired" || !got.Source.Shallow {
		t.Errorf("source: got %+v", got.Source)
	}
	wantSSH := schema.SSH{User: "git", Key: schema.SecretRef{File: "/etc/seawall/key"}, Passphrase: &schema.SecretRef{Systemd: "key-pass"}, KnownHosts: "/etc/seawall/known_hosts"}
	if diff := cmp.Diff(&wantSSH, got.Source.Auth.SSH); diff != "" {
		t.Errorf("ssh (-want +got):\n%s", diff)
	}
	if got.Credentials.Tokens == nil || got.Credentials.Tokens.Systemd != "tokens" || got.Schedule.Timezone.String() != "Europe/Berlin" {
		t.Errorf("got %+v", got)
	}
}

func TestConfigMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"unknown", least + `listn: ":1"`, `c.cue:5:1: listn: unknown field (did you mean "listen"?)`},
		{"later work", least + `sinks: ci: file: root: "/x"`, `c.cue:5:1: sinks: unknown field (known here: budget, credentials, listen, log, platform, schedule, source, state; helpers are hidden fields (_name), definitions (#Name) or let)`},
		{"verify", least + `source: verify: {}`, `c.cue:5:9: source.verify: unknown field (known here: auth, path, ref, shallow, url)`},
		{"nothing", ``, "c.cue:1:1: credentials: required field is missing\nc.cue:1:1: platform: required field is missing\nc.cue:1:1: source: required field is missing"},
		{"syntax", "source: {{", `c.cue:1:11: expected '}', found 'EOF'`},
		{"profile", least + `platform: profile: "extendd"`, `c.cue:5:20: platform.profile: "extendd" is not one of documented, extended (did you mean "extended"?)`},
		{"plain http", strings.Replace(least, "https://api", "http://api", 1), `c.cue:3:21: platform.base_url: "http://api.example/client/v4" must be an https address, or http to the own machine`},
		{"query", strings.Replace(least, "client/v4", "?x=1", 1), `c.cue:3:11: platform.base_url: must have neither user, query nor fragment`},
		{"two secrets", least + `credentials: rulesets: env: "X"`, `c.cue:4:14: credentials.rulesets: has 2 of file, env and systemd (keep one of them)`},
		{"no secret", strings.Replace(least, `rulesets: file: "/run/rulesets"`, "rulesets: {}", 1), `c.cue:4:14: credentials.rulesets: needs one of file, env and systemd`},
		{"two ways", least + `source: auth: {token: env: "X", basic: {username: "u", password: env: "Y"}}`, `c.cue:5:9: source.auth: has 2 of token, basic and ssh (keep one of them)`},
		{"no way", least + `source: auth: {}`, `c.cue:5:9: source.auth: needs one of token, basic and ssh`},
		{"inline password", strings.Replace(least, "https://git", "https://me:pw@git", 1), `c.cue:2:9: source.url: the address contains a password (put it into a file and name that in source.auth)`},
		{"ssh without key", strings.Replace(least, "https://git", "ssh://git", 1), `c.cue:2:9: source.url: an SSH address needs source.auth.ssh (give it a key and known_hosts)`},
		{"ext", strings.Replace(least, "https://git", "ext::sh -c id ", 1), `c.cue:2:9: source.url: "ext::sh -c id .example/edge.git" is not an address of a repository that Seawall fetches (https://…, ssh://… or user@host:path)`},
		{"cleartext token", strings.Replace(least, "https://git", "http://git", 1) + `source: auth: token: env: "X"`, `c.cue:2:9: source.url: credentials would travel in the clear (use https)`},
		{"ref", least + `source: ref: "main"`, `c.cue:5:14: source.ref: "main" must be a full name such as refs/heads/main`},
		{"path", least + `source: path: "../up"`, `c.cue:5:15: source.path: "../up" must not contain . or .. as a part`},
		{"cron", least + `schedule: sync: "* * *"`, `c.cue:5:11: schedule.sync: "* * *" is not a cron expression: expected exactly 5 fields, found 3: [* * *] (five fields such as "*/5 * * * *", @hourly, or @every 5m)`},
		{"zone in cron", least + `schedule: sweep: "TZ=UTC * * * * *"`, `c.cue:5:11: schedule.sweep: "TZ=UTC * * * * *" is not a cron expression: the time zone has a field of its own, schedule.timezone (five fields such as "*/5 * * * *", @hourly, or @every 5m)`},
		{"timezone", least + `schedule: timezone: "Mars/Base"`, `c.cue:5:11: schedule.timezone: "Mars/Base" is not a known time zone (write a name of the IANA database, such as "Europe/Berlin")`},
		{"budget", least + `budget: {requests: 0, per: "-5m", concurrency: 1000}`, "c.cue:5:20: budget.requests: 0 must be at least 1\nc.cue:5:48: budget.concurrency: 1000 must be at most 256"},
		{"negative", least + `budget: per: "-5m"`, `c.cue:5:9: budget.per: "-5m" is not a length of time above zero`},
		{"port", least + `listen: "127.0.0.1:99999"`, `c.cue:5:1: listen: "127.0.0.1:99999" is not host:port (for example "127.0.0.1:8710")`},
		{"state", least + `state: dir: "var"`, `c.cue:5:13: state.dir: "var" must be an absolute path`},
		{"level", least + `log: level: "warning"`, `c.cue:5:13: log.level: "warning" is not one of debug, info, warn, error`},
		{"import", "import \"other.example/x\"\n" + least, `c.cue:1:8: package "other.example/x" cannot be imported (a configuration can import CUE's standard packages only)`},
		{"embed", "@extern(embed)\n" + least, `c.cue:1:1: @extern(embed) is refused in a configuration`},
	} {
		t.Run(test.name, func(t *testing.T) {
			config, problems := schema.LoadConfig("c.cue", []byte(test.text))
			var lines []string
			for _, p := range problems {
				line := p.String()
				if p.Hint != "" {
					line += " (" + p.Hint + ")"
				}
				lines = append(lines, line)
			}
			if got := strings.Join(lines, "\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if diff := cmp.Diff(schema.Config{}, config); diff != "" {
				t.Errorf("a configuration with mistakes is not zero:\n%s", diff)
			}
		})
	}
}

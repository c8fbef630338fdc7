package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
)

func TestForge(t *testing.T) {
	token := schema.SecretRef{File: "/run/forge-token"}
	for text, want := range map[string]*schema.Forge{
		"": nil,
		`forge: {kind: "github", project: "acme/edge", token: file: "/run/forge-token"}`: {
			Kind: "github", Project: "acme/edge", Token: token, Comment: true, Forks: schema.Forks{Plans: "auto", Label: "seawall-plan", PerHour: 10},
			Timeout: time.Minute, Limits: schema.FetchLimits{Pack: 64 << 20, Object: 128 << 20, Objects: 1_000_000, Unpacked: 1 << 30, Store: 2 << 30},
		},
		`forge: {kind: "gitlab", url: "https://git.example/gitlab", project: "acme/platform/edge.state", token: file: "/run/forge-token", ca_file: "/etc/ca.pem", comment: false, approvers: ["ana", {name: "bob", id: 4711}], forks: {plans: "all", label: "ok", per_hour: 3}}`: {
			Kind: "gitlab", URL: "https://git.example/gitlab", Project: "acme/platform/edge.state", Token: token, CAFile: "/etc/ca.pem", Approvers: []schema.Approver{{Name: "ana"}, {Name: "bob", ID: 4711}},
			Forks: schema.Forks{Plans: "all", Label: "ok", PerHour: 3}, Timeout: time.Minute, Limits: schema.FetchLimits{Pack: 64 << 20, Object: 128 << 20, Objects: 1_000_000, Unpacked: 1 << 30, Store: 2 << 30},
		},
		`forge: {kind: "gitea", url: "http://127.0.0.1:3000", project: "acme/edge", token: file: "/run/forge-token"}`: {
			Kind: "gitea", URL: "http://127.0.0.1:3000", Project: "acme/edge", Token: token, Comment: true, Forks: schema.Forks{Plans: "auto", Label: "seawall-plan", PerHour: 10},
			Timeout: time.Minute, Limits: schema.FetchLimits{Pack: 64 << 20, Object: 128 << 20, Objects: 1_000_000, Unpacked: 1 << 30, Store: 2 << 30},
		},
	} {
		got := loaded(t, least+text)
		if diff := cmp.Diff(want, got.Forge); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestHooks(t *testing.T) {
	got := loaded(t, least+`hooks: {hub: {kind: "github", secret: systemd: "hub"}, "the ci": {kind: "generic", secret: env: "CI"}}`)
	want := map[string]schema.Hook{
		"hub":    {Kind: "github", Secret: schema.SecretRef{Systemd: "hub"}},
		"the ci": {Kind: "generic", Secret: schema.SecretRef{Env: "CI"}},
	}
	if diff := cmp.Diff(want, got.Hooks); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
}

func TestForgeMistakes(t *testing.T) {
	const hub = `forge: {kind: "github", project: "acme/edge", token: env: "X"}` + "\n"
	for _, test := range []struct{ name, text, want string }{
		{"kind", strings.Replace(hub, `"github"`, `"githup"`, 1), `c.cue:5:15: forge.kind: "githup" is not one of github, gitlab, gitea (did you mean "github"?)`},
		{"nothing", `forge: {}`, "c.cue:5:1: forge.kind: required field is missing\nc.cue:5:1: forge.project: required field is missing\nc.cue:5:1: forge.token: required field is missing"},
		{"project", strings.Replace(hub, "acme/edge", "edge", 1), `c.cue:5:34: forge.project: "edge" must be the name of a project, owner/name`},
		{"climbing", strings.Replace(hub, "acme/edge", "acme/..", 1), `c.cue:5:34: forge.project: "acme/.." must not contain . or .. as a part`},
		{"address of a project", strings.Replace(hub, "acme/edge", "https://github.com/acme/edge", 1), `c.cue:5:34: forge.project: "https://github.com/acme/edge" must be the name of a project, owner/name`},
		{"groups", strings.Replace(hub, "acme/edge", "acme/a/edge", 1), `c.cue:5:25: forge.project: "acme/a/edge" is not owner/name (only GitLab has groups in groups)`},
		{"unencrypted", hub + `forge: url: "http://git.example"`, `c.cue:6:13: forge.url: "http://git.example" must be an https address, or http to this machine`},
		{"password", hub + `forge: url: "https://me:pw@git.example"`, `c.cue:6:8: forge.url: must have neither user, query nor fragment`},
		{"gitea nowhere", strings.Replace(hub, "github", "gitea", 1), `c.cue:5:1: forge: needs a url (Gitea and Forgejo have no default server: set the address of yours)`},
		{"no token", `forge: {kind: "github", project: "acme/edge", token: {}}`, `c.cue:5:47: forge.token: needs one of file, env and systemd`},
		{"relative", hub + `forge: ca_file: "ca.pem"`, `c.cue:6:17: forge.ca_file: "ca.pem" must be an absolute path`},
		{"team", hub + `forge: approvers: ["ana", "@acme/leads"]`, `c.cue:6:27: forge.approvers[1]: "@acme/leads" is not the name of an account (leave out the @; teams are not supported)`},
		{"nobody", hub + `forge: approvers: [""]`, `c.cue:6:20: forge.approvers[0]: "" must not be blank`},
		{"no time", hub + `forge: timeout: "0s"`, `c.cue:6:8: forge.timeout: "0s" is not a duration above zero`},
		{"tag", hub + `source: ref: "refs/tags/v1"`, `c.cue:6:9: source.ref: "refs/tags/v1" is not a branch, but pull requests need a branch (follow a branch, or leave out forge)`},
		{"unknown", hub + `forge: labels: ["x"]`, `c.cue:6:8: forge.labels: unknown field (known here: approvers, ca_file, comment, forks, kind, limits, project, timeout, token, url)`},
		{"hook kind", `hooks: a: {kind: "git", secret: env: "X"}`, `c.cue:5:18: hooks.a.kind: "git" is not one of github, gitlab, gitea, generic`},
		{"hook secret", `hooks: a: kind: "github"`, `c.cue:5:8: hooks.a.secret: required field is missing`},
		{"two secrets", `hooks: a: {kind: "github", secret: {env: "X", file: "/x"}}`, `c.cue:5:28: hooks.a.secret: has 2 of file, env and systemd (keep one of them)`},
	} {
		t.Run(test.name, func(t *testing.T) { wantMistakes(t, least+test.text, test.want) })
	}
}

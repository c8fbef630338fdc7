package schema_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/cue/schema"
)

const (
	withProxy = `web: login: proxy: from: ["127.0.0.1/32"]` + "\n"
	withOIDC  = `web: {url: "https://seawall.example", login: oidc: {issuer: "https://id.example/realms/a", client_id: "seawall", client_secret: file: "/run/secret"}}` + "\n"
	aRole     = `web: roles: all: {role: "viewer", users: ["*"]}` + "\n"
)

func TestWeb(t *testing.T) {
	secret := schema.SecretRef{File: "/run/secret"}
	all := map[string]schema.Role{"all": {Role: "viewer", Users: []string{"*"}}}
	for text, want := range map[string]schema.Web{
		``:                               {Pages: true},
		`web: pages: false`:              {},
		`listen: ":8710"`:                {},
		`web: url: "http://[::1]:8710/"`: {Pages: true, URL: "http://[::1]:8710"},
		`listen: ":8710", web: tls: {certificate: "/c.pem", key: "/k.pem"}`: {TLS: &schema.TLS{Certificate: "/c.pem", Key: "/k.pem"}},
		`listen: ":8710"` + "\n" + withOIDC + aRole: {Pages: true, URL: "https://seawall.example", Roles: all, Login: &schema.Login{OIDC: &schema.OIDC{
			Issuer: "https://id.example/realms/a", ClientID: "seawall", ClientSecret: secret, User: "email", Groups: "groups", Scopes: []string{"profile", "email"},
		}}},
		withOIDC + `web: login: oidc: {user: "sub", groups: "roles", scopes: [], ca_file: "/ca.pem"}` + "\n" + aRole: {Pages: true, URL: "https://seawall.example", Roles: all, Login: &schema.Login{OIDC: &schema.OIDC{
			Issuer: "https://id.example/realms/a", ClientID: "seawall", ClientSecret: secret, User: "sub", Groups: "roles", CAFile: "/ca.pem",
		}}},
		`web: {login: proxy: {from: ["10.1.2.3/8", "::1/128"], user: "Remote-User"}, roles: ops: {role: "operator", users: ["proxy:ada"], groups: ["ops"], labels: tier: "gold"}}`: {
			Pages: true,
			Login: &schema.Login{Proxy: &schema.LoginProxy{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}, User: "Remote-User", Groups: "X-Forwarded-Groups"}},
			Roles: map[string]schema.Role{"ops": {Role: "operator", Users: []string{"proxy:ada"}, Groups: []string{"ops"}, Labels: map[string]string{"tier": "gold"}}},
		},
		`web: {tls: {certificate: "/c.pem", key: "/k.pem"}, login: certificates: ca: "/ca.pem"}` + "\n" + aRole: {
			Pages: true, TLS: &schema.TLS{Certificate: "/c.pem", Key: "/k.pem"}, Roles: all, Login: &schema.Login{Certificates: &schema.Certificates{CA: "/ca.pem"}},
		},
	} {
		got := loaded(t, least+text)
		if diff := cmp.Diff(want, got.Web, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestWebMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"pages for everyone", `listen: ":8710", web: pages: true`, `c.cue:5:23: web.pages: needs web.login, because listen is not a loopback address (configure a login, or serve the pages on 127.0.0.1 and reach them through an SSH tunnel)`},
		{"roles without login", aRole, `c.cue:5:6: web.roles: needs web.login: without a login no one is known`},
		{"login without a way", `web: login: {}` + "\n" + aRole, `c.cue:5:6: web.login: needs at least one of oidc, proxy and certificates`},
		{"login without roles", withProxy, `c.cue:5:6: web.login: no one has a role, so no one could see anything (for example web: roles: everyone: {role: "viewer", users: ["*"]})`},
		{"a role of no one", withProxy + `web: roles: ops: role: "operator"`, `c.cue:6:13: web.roles.ops: needs users or groups (users: ["*"] is everyone who has logged in)`},
		{"operators all", withProxy + `web: roles: ops: {role: "operator", users: ["*"]}`, `c.cue:6:37: web.roles.ops.users: an operator must be named: "*" is everyone who has logged in (name users or groups)`},
		{"a pattern", withProxy + `web: roles: ops: {role: "operator", users: ["*@example.com"], groups: ["*"]}`, `c.cue:6:45: web.roles.ops.users[0]: "*@example.com" is no pattern: names are compared as they are (use a group)` + "\n" +
			`c.cue:6:72: web.roles.ops.groups[0]: "*" is no group (users: ["*"] is everyone who has logged in)`},
		{"a role for no labels", withProxy + `web: roles: ops: {role: "operator", users: ["a"], labels: {}}`, `c.cue:6:51: web.roles.ops.labels: is empty, which would be a role for everything (name labels that the zones have, or leave labels out for a role for everything)`},
		{"role", withProxy + `web: roles: ops: {role: "admin", users: ["a"]}`, `c.cue:6:25: web.roles.ops.role: "admin" is not one of viewer, operator`},
		{"proxy anywhere", `web: login: proxy: {}` + "\n" + aRole, `c.cue:5:13: web.login.proxy.from: required field is missing`},
		{"proxy of no network", `web: login: proxy: from: []` + "\n" + aRole, `c.cue:5:20: web.login.proxy.from: must not be empty (give it at least one entry)`},
		{"proxy of everyone", `web: login: proxy: from: ["0.0.0.0/0", "::/0", "10.0.0.1", "ten", "::ffff:10.0.0.0/104"]` + "\n" + aRole, `c.cue:5:27: web.login.proxy.from[0]: "0.0.0.0/0" is everyone: anyone could give themselves any name (give the addresses of the proxy only)
c.cue:5:40: web.login.proxy.from[1]: "::/0" is everyone: anyone could give themselves any name (give the addresses of the proxy only)
c.cue:5:48: web.login.proxy.from[2]: "10.0.0.1" is an address, not a network (write "10.0.0.1/32")
c.cue:5:60: web.login.proxy.from[3]: "ten" is not a network (for example "10.1.2.0/24")
c.cue:5:67: web.login.proxy.from[4]: "::ffff:10.0.0.0/104" is a network of IPv4 in the form of IPv6 (write it as a network of IPv4)`},
		{"headers", withProxy + aRole + `web: login: proxy: {user: "x-forwarded-for", groups: "X-Forwarded-For"}`, `c.cue:7:21: web.login.proxy.user: "x-forwarded-for" is a header that clients set (have the proxy set one of its own, such as X-Forwarded-User)
c.cue:7:46: web.login.proxy.groups: "X-Forwarded-For" is a header that clients set (have the proxy set one of its own, such as X-Forwarded-User)`},
		{"one header", withProxy + aRole + `web: login: proxy: groups: "x-forwarded-user"`, `c.cue:7:20: web.login.proxy.groups: is the header of user, too`},
		{"header", withProxy + aRole + `web: login: proxy: user: "X_User"`, `c.cue:7:26: web.login.proxy.user: "X_User" must be the name of a header: letters, digits and -`},
		{"certificates without tls", `web: login: certificates: ca: "/ca.pem"` + "\n" + aRole, `c.cue:5:13: web.login.certificates: needs web.tls (a client shows its certificate to the server that it has TLS with)`},
		{"oidc without url", strings.Replace(withOIDC, `url: "https://seawall.example", `, "", 1) + aRole, `c.cue:5:14: web.login.oidc: needs web.url, the address at which browsers reach the pages (register web.url + /login/callback at the provider as redirect URI)`},
		{"oidc over http", strings.ReplaceAll(withOIDC, "https://", "http://") + aRole, `c.cue:5:12: web.url: "http://seawall.example" must be an https address, or http to this machine
c.cue:5:60: web.login.oidc.issuer: "http://id.example/realms/a" must be an https address, or http to this machine`},
		{"url with a path", `web: url: "https://example.com/seawall"`, `c.cue:5:6: web.url: must have no path (serve the pages under a host name of their own)`},
		{"url with a query", `web: url: "https://a:b@example.com?x"`, `c.cue:5:6: web.url: must have neither user, query nor fragment`},
		{"the secret itself", strings.Replace(withOIDC, `file: "/run/secret"`, `"hunter2"`, 1) + aRole, `c.cue:5:129: web.login.oidc.client_secret: the configuration must not contain a secret (give its source: {file: "/…"}, {env: "NAME"} or {systemd: "name"}; and revoke the secret that was written here)`},
		{"tls without key", `web: tls: certificate: "/c.pem"`, `c.cue:5:6: web.tls.key: required field is missing`},
	} {
		t.Run(test.name, func(t *testing.T) { wantMistakes(t, least+test.text, test.want) })
	}
}

package schema

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"cuelang.org/go/cue"
)

// Web says what Listen serves to people, and to whom.
type Web struct {
	Hosts        []string        `cue:"hosts"`         // names under which clients reach it, beside addresses and localhost
	MetricsToken *SecretRef      `cue:"metrics_token"` // of /metrics; nil: none is needed
	Pages        bool            // pages and /api/v1 are served
	URL          string          `cue:"url"`   // as browsers reach it, without a path; empty where nothing is said
	TLS          *TLS            `cue:"tls"`   // nil: without
	Login        *Login          `cue:"login"` // nil: no one logs in
	Roles        map[string]Role `cue:"roles"` // none without a login
}

// TLS is a certificate with its key.
type TLS struct {
	Certificate string `cue:"certificate"` // absolute
	Key         string `cue:"key"`         // absolute
}

// Login is how people prove who they are: at least one member is set.
type Login struct {
	OIDC         *OIDC         `cue:"oidc"`
	Proxy        *LoginProxy   `cue:"proxy"`
	Certificates *Certificates `cue:"certificates"`
}

// OIDC is an OpenID Connect provider. It needs Web.URL.
type OIDC struct {
	Issuer       string    `cue:"issuer"` // https, or http to the loopback
	ClientID     string    `cue:"client_id"`
	ClientSecret SecretRef `cue:"client_secret"`
	User         string    `cue:"user"`   // a claim
	Groups       string    `cue:"groups"` // a claim
	Scopes       []string  `cue:"scopes"` // beside openid
	CAFile       string    `cue:"ca_file"`
}

// LoginProxy is a proxy that names people in headers.
type LoginProxy struct {
	From   []netip.Prefix // never everyone
	User   string         `cue:"user"`   // a header
	Groups string         `cue:"groups"` // another
}

// Certificates are client certificates. They need Web.TLS.
type Certificates struct {
	CA string `cue:"ca"` // absolute
}

// Role is what some people may do: at least one user or group.
type Role struct {
	Role   string            `cue:"role"`  // viewer or operator
	Users  []string          `cue:"users"` // * is everyone who has logged in
	Groups []string          `cue:"groups"`
	Labels map[string]string `cue:"labels"`
}

// everyone is the user of a role that all who have logged in have.
const everyone = "*"

// checkWeb: what may stand in one field depends on others.
func (c *configReader) checkWeb(config *Config) {
	w := config.Web
	if w.URL != "" {
		if u, err := url.Parse(w.URL); err == nil && u.Path != "" && u.Path != "/" {
			c.problem("web.url", "must have no path", "serve the pages under a host name of their own")
		}
		c.checkURL("web.url", w.URL, "is not a URL")
		config.Web.URL = strings.TrimSuffix(w.URL, "/")
	}
	if w.Login == nil {
		c.checkOpen(config)
		return
	}
	l := *w.Login
	if l == (Login{}) {
		c.problem("web.login", "needs at least one of oidc, proxy and certificates", "")
	}
	if l.OIDC != nil {
		c.checkOIDC(w)
	}
	if l.Proxy != nil {
		c.checkLoginProxy(l.Proxy)
	}
	if l.Certificates != nil && w.TLS == nil {
		c.problem("web.login.certificates", "needs web.tls", "a client shows its certificate to the server that it has TLS with")
	}
	if len(w.Roles) == 0 {
		c.problem("web.login", "no one has a role, so no one could see anything", `for example web: roles: everyone: {role: "viewer", users: ["*"]}`)
	}
	c.checkRoles(w.Roles)
}

// checkOpen checks a configuration without a login.
func (c *configReader) checkOpen(config *Config) {
	if config.Web.Pages && !loopback("http://"+config.Listen) {
		c.problem("web.pages", "needs web.login, because listen is not a loopback address", "configure a login, or serve the pages on 127.0.0.1 and reach them through an SSH tunnel")
	}
	if len(config.Web.Roles) > 0 {
		c.problem("web.roles", "needs web.login: without a login no one is known", "")
	}
}

func (c *configReader) checkOIDC(w Web) {
	c.checkURL("web.login.oidc.issuer", w.Login.OIDC.Issuer, "is not a URL")
	if w.URL == "" {
		c.problem("web.login.oidc", "needs web.url, the address at which browsers reach the pages", "register web.url + /login/callback at the provider as redirect URI")
	}
}

func (c *configReader) checkLoginProxy(p *LoginProxy) {
	const path = "web.login.proxy"
	elements, err := at(c.plain, path+".from").List()
	for i := 0; err == nil && elements.Next(); i++ {
		said, _ := elements.Value().String() // validated: text
		prefix, problem, hint := network(said)
		if problem != "" {
			c.problem(fmt.Sprintf("%s.from[%d]", path, i), problem, hint)
			continue
		}
		p.From = append(p.From, prefix)
	}
	for _, of := range []struct{ member, name string }{{"user", p.User}, {"groups", p.Groups}} {
		if slices.ContainsFunc(headersOfClients, func(h string) bool { return strings.EqualFold(h, of.name) }) {
			c.problem(path+"."+of.member, fmt.Sprintf("%q is a header that clients set", of.name), "have the proxy set one of its own, such as X-Forwarded-User")
		} else if of.member == "groups" && strings.EqualFold(p.User, p.Groups) {
			c.problem(path+"."+of.member, "is the header of user, too", "")
		}
	}
}

// headersOfClients are the likeliest mistakes for the header of a login.
var headersOfClients = []string{
	"Accept", "Authorization", "Cookie", "Forwarded", "Host", "Origin", "Referer", "User-Agent", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
}

// network reads one network, or says what is wrong with it.
func network(text string) (prefix netip.Prefix, problem, hint string) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return prefix, fmt.Sprintf("%q is an address, not a network", text), fmt.Sprintf("write %q", netip.PrefixFrom(addr, addr.BitLen()))
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return prefix, fmt.Sprintf("%q is not a network", text), `for example "10.1.2.0/24"`
	case prefix.Bits() == 0:
		return prefix, fmt.Sprintf("%q is everyone: anyone could give themselves any name", text), "give the addresses of the proxy only"
	case prefix.Addr().Is4In6():
		return prefix, fmt.Sprintf("%q is a network of IPv4 in the form of IPv6", text), "write it as a network of IPv4"
	}
	return prefix.Masked(), "", ""
}

func (c *configReader) checkRoles(roles map[string]Role) {
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		path, role := cue.MakePath(cue.Str("web"), cue.Str("roles"), cue.Str(name)).String(), roles[name]
		switch {
		case len(role.Users)+len(role.Groups) == 0:
			c.problem(path, "needs users or groups", `users: ["*"] is everyone who has logged in`)
		case role.Role == "operator" && slices.Contains(role.Users, everyone):
			c.problem(path+".users", `an operator must be named: "*" is everyone who has logged in`, "name users or groups")
		}
		if len(role.Labels) == 0 && at(c.plain, path+".labels").Exists() {
			c.problem(path+".labels", "is empty, which would be a role for everything", "name labels that the zones have, or leave labels out for a role for everything")
		}
		for i, group := range role.Groups {
			if group == everyone {
				c.problem(fmt.Sprintf("%s.groups[%d]", path, i), `"*" is no group`, `users: ["*"] is everyone who has logged in`)
			}
		}
		for i, user := range role.Users {
			if user != everyone && strings.Contains(user, "*") {
				c.problem(fmt.Sprintf("%s.users[%d]", path, i), fmt.Sprintf("%q is no pattern: names are compared as they are", user), "use a group")
			}
		}
	}
}

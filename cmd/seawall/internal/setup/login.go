package setup

import (
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// NewLogin makes what stands in front of the pages. Sessions outlive a reload. No provider is
// asked yet: one that is down keeps no daemon from its work.
//
// Without a login everyone may read; the configuration has no pages then but on a loopback
// address ([schema.Web.Pages]).
func NewLogin(s Settings, sessions *login.Sessions, log *slog.Logger, count func(login.Outcome)) (*login.Guard, error) {
	c := login.Config{URL: s.Web.URL, Roles: loginRules(s.Web.Roles), Sessions: sessions, StyleSheet: page.StyleSheet(), Now: time.Now, Log: log, Count: count}
	l := s.Web.Login
	if l == nil {
		c.Open = s.Web.Pages
		return login.New(c)
	}
	c.Certificates = l.Certificates != nil
	if p := l.Proxy; p != nil {
		c.Proxy = &login.Proxy{From: p.From, User: p.User, Groups: p.Groups}
	}
	if l.OIDC != nil {
		var err error
		if c.OIDC, err = loginProvider(*l.OIDC); err != nil {
			return nil, fmt.Errorf("web.login.oidc: %w", err)
		}
	}
	return login.New(c)
}

func loginProvider(c schema.OIDC) (*login.OIDC, error) {
	o := &login.OIDC{
		Issuer: c.Issuer, ClientID: c.ClientID, User: c.User, Groups: c.Groups, Scopes: c.Scopes,
		ClientSecret: func() (edge.Secret, error) { return ReadSecret(c.ClientSecret) },
	}
	if c.CAFile == "" {
		return o, nil
	}
	var err error
	if o.PEM, err = ReadAuthorities(c.CAFile); err != nil {
		return nil, fmt.Errorf("reading ca_file: %w", err)
	}
	return o, nil
}

func loginRules(roles map[string]schema.Role) (rules []login.Rule) {
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		r := roles[name]
		rules = append(rules, login.Rule{Grant: login.Grant{Role: login.Role(r.Role), Labels: r.Labels}, Users: r.Users, Groups: r.Groups})
	}
	return rules
}

// WebHosts are the names under which browsers reach what listen serves, beside addresses and
// localhost.
func WebHosts(w schema.Web) []string {
	if u, err := url.Parse(w.URL); err == nil && u.Host != "" {
		return append([]string{u.Hostname()}, w.Hosts...)
	}
	return w.Hosts
}

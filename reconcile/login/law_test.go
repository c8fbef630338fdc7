package login_test

import (
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/login/logintest"
)

// modelSession is what a browser must be let in by.
type modelSession struct {
	person, claim string // the claim is what the configuration says of names
	groups        []string
	began, active time.Time
	out           bool
}

// model is what the law knows of people, sessions and the configuration.
type model struct {
	*fixture
	people   []*browser
	live     []*modelSession // of each browser; nil: none
	ids      []string        // of all sessions ever begun
	sessions map[string]*modelSession
	rules    []login.Rule
}

var lawRules = [][]login.Rule{
	nil, everyone()[:1], everyone()[1:], everyone(),
	{{Grant: login.Grant{Role: login.Viewer}, Users: []string{"oidc:ada@example.com"}}},
	{{Grant: login.Grant{Role: login.Operator}, Users: []string{"bob@example.com", "proxy:ada@example.com"}, Groups: []string{"nobody"}}},
}

// holds reports whether a session lets anyone in now.
func (m *model) holds(s *modelSession) bool {
	now := m.clock.now()
	return s != nil && !s.out && s.claim == m.config.OIDC.User && now.Sub(s.active) < 8*time.Hour && now.Sub(s.began) < 24*time.Hour
}

// right is what a session gives right now: the answer of the page, and its status.
func (m *model) right(s *modelSession) (int, string) {
	if !m.holds(s) {
		return http.StatusUnauthorized, ""
	}
	role := ""
	for _, rule := range m.rules {
		for _, user := range append(rule.Users, rule.Groups...) {
			if user == "*" || user == s.person || user == "oidc:"+s.person || len(s.groups) > 0 && user == s.groups[0] {
				if rule.Role == login.Operator || role == "" {
					role = string(rule.Role)
				}
			}
		}
	}
	if role == "" {
		return http.StatusForbidden, ""
	}
	return http.StatusOK, role + " oidc:" + s.person
}

func (m *model) logIn(t *rapid.T) {
	i := rapid.IntRange(0, len(m.people)-1).Draw(t, "browser")
	name, groups := "ada@example.com", []string{"ops"}
	if rapid.Bool().Draw(t, "bob") {
		name, groups = "bob@example.com", nil
	}
	m.issuer.Set(func(i *logintest.Issuer) { i.Claims = map[string]any{"sub": name, "email": name, "groups": groups} })
	m.people[i].get("/login")
	if before := m.live[i]; before != nil {
		before.out = true
	}
	now := m.clock.now()
	m.live[i] = &modelSession{person: name, claim: m.config.OIDC.User, groups: groups, began: now, active: now}
	id := m.people[i].cookie("session")
	m.ids = append(m.ids, id)
	m.sessions[id] = m.live[i]
	// The login has led to the first page, which is an activity.
}

func (m *model) logOut(t *rapid.T) {
	i := rapid.IntRange(0, len(m.people)-1).Draw(t, "browser")
	m.people[i].send(http.MethodPost, "/logout")
	if s := m.live[i]; s != nil {
		s.out, m.live[i] = true, nil
	}
}

func (m *model) open(t *rapid.T) {
	i := rapid.IntRange(0, len(m.people)-1).Draw(t, "browser")
	m.look(t, m.people[i], m.live[i], rapid.Bool().Draw(t, "navigate"))
}

// steal opens a page with the id of any session that there has ever been.
func (m *model) steal(t *rapid.T) {
	if len(m.ids) == 0 {
		t.Skip("there is none")
	}
	id := rapid.SampledFrom(m.ids).Draw(t, "id")
	thief := m.browser()
	thief.put("seawall-session", id)
	m.look(t, thief, m.sessions[id], false)
}

func (m *model) look(t *rapid.T, b *browser, s *modelSession, navigate bool) {
	header := []string{"Accept", "application/json", "Sec-Fetch-Mode", "cors"}
	if navigate {
		header = []string{"Accept", "application/json", "Sec-Fetch-Mode", "navigate"}
	}
	status, body := m.right(s)
	a := b.get("/", header...)
	if a.status != status || status == http.StatusOK && a.body != body {
		t.Fatalf("got %d %s, want %d %s", a.status, a.body, status, body)
	}
	if navigate && m.holds(s) {
		s.active = m.clock.now()
	}
}

func (m *model) wait(t *rapid.T) {
	m.clock.advance(rapid.SampledFrom([]time.Duration{67 * time.Minute, 257 * time.Minute, 389 * time.Minute, 487 * time.Minute}).Draw(t, "for"))
	navigate := rapid.Bool().Draw(t, "navigate")
	for i, b := range m.people {
		m.look(t, b, m.live[i], navigate)
	}
}

func (m *model) changeRoles(t *rapid.T) {
	m.rules = rapid.SampledFrom(lawRules).Draw(t, "roles")
	m.reload(func(c *login.Config) { c.Roles = m.rules })
}

func (m *model) changeLogin(t *rapid.T) {
	oidc := *m.config.OIDC
	oidc.User = rapid.SampledFrom([]string{"email", "sub"}).Draw(t, "claim")
	m.reload(func(c *login.Config) { c.OIDC = &oidc })
}

// TestLaw: whoever is let in has a session that holds, and a role by the configuration of this
// moment; whoever has both is let in.
func TestLaw(t *testing.T) {
	f := withIssuer(t)
	rapid.Check(t, func(t *rapid.T) {
		m := &model{fixture: f, sessions: map[string]*modelSession{}, rules: everyone(), live: make([]*modelSession, 3)}
		oidc := *f.config.OIDC
		oidc.User = "email"
		f.reload(func(c *login.Config) { c.Sessions, c.Roles, c.OIDC = login.NewSessions(), m.rules, &oidc })
		for range m.live {
			m.people = append(m.people, f.browser())
		}
		t.Repeat(map[string]func(*rapid.T){
			"log in": m.logIn, "log out": m.logOut, "open": m.open, "open again": m.open, "steal": m.steal, "wait": m.wait, "wait again": m.wait, "roles": m.changeRoles, "login": m.changeLogin,
			"reload": func(*rapid.T) { m.reload(func(*login.Config) {}) },
		})
	})
	if f.count(login.LoggedIn) == 0 {
		t.Error("no one has logged in")
	}
}

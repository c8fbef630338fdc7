package login

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The addresses of the login, which [Guard.Wrap] serves.
const (
	BeginPath    = "/login"          // GET; ?to= is where to go afterwards
	CallbackPath = "/login/callback" // where the provider sends browsers
	EndPath      = "/logout"         // POST
	assetPath    = "/assets/"
	apiPath      = "/api/"
	parameterTo  = "to"
)

// Config is what a [Guard] is made from. The zero value lets no one in.
type Config struct {
	// Open lets everyone read, as "anyone" and without a login. It goes with no other way.
	Open bool

	OIDC         *OIDC  // nil: not by a provider
	Proxy        *Proxy // nil: not by headers
	Certificates bool   // by client certificates that the server's TLS has verified

	// URL is the address at which browsers reach the pages, without a path. OIDC needs it.
	URL   string
	Roles []Rule
	// Sessions keeps who is logged in by OIDC, which needs it. Guards that follow one another
	// share it.
	Sessions *Sessions

	// StyleSheet is the address below /assets/ of what the few pages of the login look like;
	// empty for none.
	StyleSheet string

	Now func() time.Time // required
	Log *slog.Logger     // nil: nothing is logged
	// Count is called with what became of a login; nil counts nothing.
	Count func(Outcome)
}

// Guard stands in front of pages: it finds out who sends a request, and lets those through who
// have a role. It is safe for concurrent use.
type Guard struct {
	config   Config
	provider *provider // nil without OIDC
	cookies  cookies
	cross    *http.CrossOriginProtection
	reports  *reports
}

// New makes a guard. It asks no provider yet.
func New(c Config) (*Guard, error) {
	if c.Open && (c.OIDC != nil || c.Proxy != nil || c.Certificates) {
		return nil, errors.New("a login that is open has no ways to log in")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Count == nil {
		c.Count = func(Outcome) {}
	}
	g := &Guard{config: c, cross: http.NewCrossOriginProtection(), reports: newReports(c.Log, c.Count, c.Now)}
	if c.URL != "" {
		if err := g.cross.AddTrustedOrigin(c.URL); err != nil {
			return nil, err
		}
	}
	if c.OIDC == nil {
		return g, nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || c.Sessions == nil {
		return nil, errors.New("a login by OIDC needs the address of the pages, and a place for sessions")
	}
	g.cookies = cookies{secure: u.Scheme == "https"}
	g.provider, err = newProvider(*c.OIDC, c.URL+CallbackPath, c.Now)
	return g, err
}

// Ask asks the provider how it is set up, as the first login does; nil where there is none.
func (g *Guard) Ask(ctx context.Context) error {
	if g.provider == nil {
		return nil
	}
	_, err := g.provider.learn(ctx)
	return err
}

// Addresses are where a person logs in and out; empty where a proxy or a certificate says who
// they are, or nothing does.
func (g *Guard) Addresses() (begin, end string) {
	if g.provider == nil {
		return "", ""
	}
	return BeginPath, EndPath
}

// Wrap serves what next does to people who have a role, with who they are in the context of
// the request ([From]). It serves the addresses of the login itself.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.cross.Check(r); err != nil {
			g.reports.refused(r, CrossOrigin, "", err)
			g.refuse(w, r, Refusal{Status: http.StatusForbidden, Detail: "the request came from a page of another site", Hint: "send it from the pages of Seawall themselves; web.url in the configuration is the address at which browsers reach them"})
			return
		}
		named, err := g.config.Proxy.read(r) // and takes the headers off, whoever sent them
		if err != nil {
			g.reports.refused(r, BadHeader, "", err)
			g.refuse(w, r, Refusal{Status: http.StatusBadRequest, Detail: err.Error(), Hint: "the proxy must set the headers of web.login.proxy once, and take those of clients off"})
			return
		}
		switch path := r.URL.Path; {
		case g.provider != nil && path == BeginPath:
			g.begin(w, r)
		case g.provider != nil && path == CallbackPath:
			g.callback(w, r)
		case g.provider != nil && path == EndPath:
			g.end(w, r)
		case isAsset(r): // of every installation the same
			next.ServeHTTP(w, r)
		default:
			g.admit(w, r, next, g.identify(r, named))
		}
	})
}

// known is who sends a request, and until when that holds.
type known struct {
	Identity
	ended context.Context // of the session; nil without one
	until time.Time
}

// openIdentity is everyone where no one logs in.
var openIdentity = Identity{User: "anyone"}

// mostTrust is how long a request may take whose person no session ends: a stream begins anew
// then, and is looked at again.
const mostTrust = 15 * time.Minute

// identify finds out who sends a request: nil where nothing says so. What the proxy says
// comes first: it is who speaks to the person, and its own certificate says nothing of them.
func (g *Guard) identify(r *http.Request, named proxied) *known {
	now := g.config.Now()
	switch {
	case g.config.Open:
		return &known{Identity: openIdentity, until: now.Add(mostTrust)}
	case named.identity != nil:
		return &known{Identity: *named.identity, until: now.Add(mostTrust)}
	}
	if g.provider != nil {
		if s := g.config.Sessions.find(g.cookies.session(r), g.provider.fingerprint, activity(r), now); s != nil {
			return &known{Identity: s.identity, ended: s.ended, until: s.until}
		}
	}
	if g.config.Certificates && !named.fromProxy {
		identity, ends, err := fromCertificate(r.TLS, now)
		if err != nil {
			g.reports.refused(r, BadCertificate, "", err)
		} else if identity != nil {
			return &known{Identity: *identity, until: earlier(ends, now.Add(mostTrust))}
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// admit lets a person with a role through. The context of the request ends when the person's
// session does.
func (g *Guard) admit(w http.ResponseWriter, r *http.Request, next http.Handler, who *known) {
	if who == nil {
		g.ask(w, r)
		return
	}
	p := Person{Name: who.Name(), Grants: g.grants(who.Identity)}
	if len(p.Grants) == 0 {
		g.reports.refused(r, NoRole, p.Name, nil)
		g.refuse(w, r, g.noRole(who.Identity))
		return
	}
	ctx, cancel := context.WithTimeout(With(r.Context(), p), who.until.Sub(g.config.Now()))
	defer cancel()
	if who.ended != nil {
		stop := context.AfterFunc(who.ended, cancel) //nolint:contextcheck // it ends with the session, too
		defer stop()
	}
	next.ServeHTTP(w, r.WithContext(ctx))
}

// grants are the rights of a person right now.
func (g *Guard) grants(who Identity) []Grant {
	if g.config.Open {
		return []Grant{{Role: Viewer}}
	}
	return grants(g.config.Roles, who)
}

// ask answers a request from someone unknown: a browser that opens a page is sent to log in.
func (g *Guard) ask(w http.ResponseWriter, r *http.Request) {
	if g.provider != nil && opensPage(r) {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, BeginPath+"?"+url.Values{parameterTo: {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
		return
	}
	refusal := Refusal{Status: http.StatusUnauthorized, Detail: "this needs a login, and nothing in the request says who sends it"}
	switch {
	case g.provider != nil:
		refusal.Hint, refusal.LogIn = "log in", BeginPath
	case g.config.Proxy != nil && g.config.Certificates:
		refusal.Hint = "open the pages through the proxy of web.login.proxy, or with a client certificate"
	case g.config.Proxy != nil:
		refusal.Hint = "open the pages through the proxy; its address must be in web.login.proxy.from, and it must set the header " + g.config.Proxy.User
	default:
		refusal.Hint = "import a client certificate of the authority in web.login.certificates into the browser"
	}
	g.refuse(w, r, refusal)
}

// isAsset reports whether a request is for a file that pages load.
func isAsset(r *http.Request) bool {
	name, ok := strings.CutPrefix(r.URL.Path, assetPath)
	return ok && !strings.Contains(name, "/") && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// opensPage reports whether a browser asks for a page as a whole, which a redirect to another
// site can answer. Browsers say so; what says nothing may be an old one.
func opensPage(r *http.Request) bool {
	mode := r.Header.Get("Sec-Fetch-Mode")
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (mode == "" || mode == "navigate") && wantsPage(r)
}

// activity reports whether a request is something that a person does, and not a page that
// refreshes itself.
func activity(r *http.Request) bool {
	mode := r.Header.Get("Sec-Fetch-Mode")
	return mode == "" || mode == "navigate"
}

// wantsPage reports whether an answer is for a person, and not for a program.
func wantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, apiPath) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

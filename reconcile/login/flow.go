package login

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
)

// begin sends a browser to the provider.
func (g *Guard) begin(w http.ResponseWriter, r *http.Request) {
	if !g.reads(w, r) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
	defer cancel()
	l, err := g.provider.learn(ctx)
	if err != nil {
		g.noProvider(w, r, err)
		return
	}
	st := state{
		State: randomText(), Nonce: randomText(), Verifier: oauth2.GenerateVerifier(),
		To: ownAddress(r.URL.Query().Get(parameterTo)), Until: g.config.Now().Add(stateLife),
	}
	g.cookies.set(w, stateCookie, g.config.Sessions.sealed(st), stateLife)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, g.provider.address(l, st), http.StatusSeeOther)
}

// callback is where the provider sends the browser back to. A login that succeeds begins a
// session with an id that no one could know before, whatever session the browser had.
func (g *Guard) callback(w http.ResponseWriter, r *http.Request) {
	if !g.reads(w, r) {
		return
	}
	query, now := r.URL.Query(), g.config.Now()
	st, ok := g.config.Sessions.opened(g.cookies.get(r, stateCookie), now)
	if !ok || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(st.State)) != 1 {
		g.reports.refused(r, NoState, "", errors.New("the browser has not begun a login, or more than ten minutes ago"))
		g.refuse(w, r, Refusal{
			Status: http.StatusBadRequest, Detail: "this browser did not begin this login, or began it more than ten minutes ago",
			Hint: "log in again, in one tab; cookies must be allowed, and the address must be " + g.config.URL, LogIn: BeginPath,
		})
		return
	}
	g.cookies.drop(w, stateCookie)
	if code := query.Get("error"); code != "" {
		g.denied(w, r, code)
		return
	}
	token, err := g.provider.redeem(r.Context(), query.Get("code"), st)
	if err != nil {
		g.notRedeemed(w, r, err)
		return
	}
	who, err := g.provider.identity(token)
	if err != nil {
		g.reports.refused(r, BadToken, "", err)
		g.refuse(w, r, Refusal{Status: http.StatusForbidden, Detail: err.Error(), Hint: "the administrator of the provider sets what its ID tokens say; docs/login.md has examples", LogIn: BeginPath})
		return
	}
	id, ok := g.config.Sessions.begin(who, g.provider.fingerprint, st.State, now)
	if !ok {
		g.reports.refused(r, NoState, who.Name(), errors.New("this login has begun a session already"))
		g.refuse(w, r, Refusal{Status: http.StatusBadRequest, Detail: "this login was used before", Hint: "log in again", LogIn: BeginPath})
		return
	}
	g.config.Sessions.end(g.cookies.session(r))
	g.reports.loggedIn(r, who.Name())
	g.cookies.set(w, sessionCookie, id, sessionLife)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, st.To, http.StatusSeeOther)
}

// end ends the session of a browser. What it gets by GET is a page with a button.
func (g *Guard) end(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		if who, ok := g.config.Sessions.end(g.cookies.session(r)); ok {
			g.reports.loggedOut(r, who.Name())
		}
		g.cookies.drop(w, sessionCookie)
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, EndPath, http.StatusSeeOther)
	case http.MethodGet, http.MethodHead:
		s := g.config.Sessions.find(g.cookies.session(r), g.provider.fingerprint, false, g.config.Now())
		g.showEnd(w, s != nil)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		g.refuse(w, r, Refusal{Status: http.StatusMethodNotAllowed, Detail: "this address does not accept " + r.Method})
	}
}

// reads refuses methods that begin no login.
func (g *Guard) reads(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet {
		return true
	}
	w.Header().Set("Allow", "GET")
	g.refuse(w, r, Refusal{Status: http.StatusMethodNotAllowed, Detail: "this address does not accept " + r.Method, Hint: "use GET"})
	return false
}

// denied answers a person whom the provider did not let in. What it says of that comes by
// way of the browser, and anyone can write it: only a known form of it is repeated.
func (g *Guard) denied(w http.ResponseWriter, r *http.Request, code string) {
	if !word(code) {
		code = "an unknown reason"
	}
	g.reports.refused(r, Denied, "", fmt.Errorf("the provider answers %s", code))
	g.refuse(w, r, Refusal{
		Status: http.StatusForbidden, Detail: "the provider did not log you in: " + code,
		Hint: "log in again, or ask the administrator of the provider whether you may use Seawall", LogIn: BeginPath,
	})
}

func (g *Guard) notRedeemed(w http.ResponseWriter, r *http.Request, err error) {
	bad := (*tokenError)(nil)
	if !errors.As(err, &bad) {
		g.noProvider(w, r, err)
		return
	}
	g.reports.refused(r, BadToken, "", err)
	g.refuse(w, r, Refusal{
		Status: http.StatusForbidden, Detail: "the answer of the provider does not fit this login",
		Hint: "log in again; if that does not help, the daemon's log says what does not fit", LogIn: BeginPath,
	})
}

func (g *Guard) noProvider(w http.ResponseWriter, r *http.Request, err error) {
	g.reports.refused(r, NoProvider, "", err)
	g.refuse(w, r, Refusal{
		Status: http.StatusServiceUnavailable, Detail: "the provider of the login does not answer, or refuses Seawall",
		Hint: "try again in a minute; the daemon's log and seawall doctor say what is wrong. Users who are logged in stay logged in, and Seawall continues its work", LogIn: BeginPath,
	})
}

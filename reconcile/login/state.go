package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// stateLife is how long a person has to log in at the provider.
const stateLife = 10 * time.Minute

// state is a login that has begun. The browser keeps it in a cookie, signed, so that logins
// that never end cost the daemon nothing.
type state struct {
	State    string    `json:"state"`    // comes back from the provider
	Nonce    string    `json:"nonce"`    // comes back in the ID token
	Verifier string    `json:"verifier"` // of PKCE
	To       string    `json:"to"`       // where to go afterwards
	Until    time.Time `json:"until"`
}

// sealed is the state as text with a signature.
func (s *Sessions) sealed(st state) string {
	text, _ := json.Marshal(st) // texts and a time: it always can be
	body := base64.RawURLEncoding.EncodeToString(text)
	return body + "." + base64.RawURLEncoding.EncodeToString(s.sign(body))
}

// opened is the state in a text; false where this daemon has not signed it, or it is over.
func (s *Sessions) opened(text string, now time.Time) (st state, ok bool) {
	body, signature, _ := strings.Cut(text, ".")
	given, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(given, s.sign(body)) {
		return state{}, false
	}
	plain, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(plain, &st) != nil || now.After(st.Until) {
		return state{}, false
	}
	return st, true
}

func (s *Sessions) sign(body string) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write([]byte(body))
	return mac.Sum(nil)
}

// cookies are those of a login. With https their names have the prefix that browsers let only
// this very host set: no other host of the domain can put one in its place.
type cookies struct{ secure bool }

func (c cookies) name(of string) string {
	if c.secure {
		return "__Host-seawall-" + of
	}
	return "seawall-" + of
}

const (
	sessionCookie = "session"
	stateCookie   = "login"
)

func (c cookies) set(w http.ResponseWriter, of, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: c.name(of), Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode,
	})
}

func (c cookies) drop(w http.ResponseWriter, of string) {
	http.SetCookie(w, &http.Cookie{Name: c.name(of), Path: "/", MaxAge: -1, HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode})
}

// get is the value of a cookie. Two of one name are none: browsers do not say which of them
// another host has set.
func (c cookies) get(r *http.Request, of string) string {
	if found := r.CookiesNamed(c.name(of)); len(found) == 1 {
		return found[0].Value
	}
	return ""
}

func (c cookies) session(r *http.Request) string { return c.get(r, sessionCookie) }

// mostReturn bounds the address to return to, in bytes: it is in a cookie.
const mostReturn = 1024

// ownAddress is a path of these pages that a person wanted, or the first page. Whatever a
// browser could take for an address of another host is none.
func ownAddress(to string) string {
	const first = "/"
	strange := func(r rune) bool { return r <= ' ' || r == '\\' || r > '~' }
	if len(to) > mostReturn || !isPath(to) || strings.ContainsFunc(to, strange) {
		return first
	}
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !isPath(u.Path) || strings.Contains(u.Path, "\\") {
		return first
	}
	for _, own := range []string{BeginPath, EndPath, apiPath} { // which are no pages to return to
		if u.Path == own || strings.HasPrefix(u.Path, strings.TrimSuffix(own, "/")+"/") {
			return first
		}
	}
	return to
}

// isPath reports whether a text begins as a path does, and not as the name of a host.
func isPath(text string) bool { return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") }

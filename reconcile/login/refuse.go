package login

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

// Refusal is why a request is not answered, and what to try.
type Refusal struct {
	Status int
	Detail string
	Hint   string // empty for none
	LogIn  string // an address; empty where it would not help
}

//go:embed pages.html
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"capital": func(text string) string { return strings.ToUpper(text[:1]) + text[1:] }, // ours, in English
}).ParseFS(pageFiles, "pages.html"))

// refuse writes a refusal: as a page for a browser, else as RFC 9457 has it.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, refusal Refusal) {
	guardHeaders(w)
	if wantsPage(r) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(refusal.Status)
		_ = pages.ExecuteTemplate(w, "refusal", struct { // whoever hung up needs no answer
			Style, Title string
			Refusal
		}{g.config.StyleSheet, http.StatusText(refusal.Status), refusal})
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(refusal.Status)
	_ = json.NewEncoder(w).Encode(struct { // whoever hung up needs no answer
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Hint   string `json:"hint,omitempty"`
	}{"about:blank", http.StatusText(refusal.Status), refusal.Status, refusal.Detail, refusal.Hint})
}

// noRole says to a person who they are, and what would give them a role.
func (g *Guard) noRole(who Identity) Refusal {
	refusal := Refusal{
		Status: http.StatusForbidden, Detail: fmt.Sprintf("you are %s, and have no role in Seawall", who.Name()),
		Hint: fmt.Sprintf("ask for an entry in web.roles of the configuration: its users must have %q", who.User),
	}
	if len(who.Groups) > 0 {
		refusal.Hint += ", or its groups one of yours"
	} else {
		refusal.Hint += "; the login names no groups of yours"
	}
	if who.Way == ByOIDC {
		refusal.Hint, refusal.LogIn = refusal.Hint+". To log in as someone else, log out first", EndPath
	}
	return refusal
}

// showEnd is the page of logging out.
func (g *Guard) showEnd(w http.ResponseWriter, in bool) {
	guardHeaders(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pages.ExecuteTemplate(w, "end", struct { // whoever hung up needs no answer
		Style, Title string
		In           bool
		Begin, End   string
	}{g.config.StyleSheet, "Log out", in, BeginPath, EndPath})
}

// guardHeaders are those of the few pages of the login: only the style sheet is loaded, and nothing kept.
func guardHeaders(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}

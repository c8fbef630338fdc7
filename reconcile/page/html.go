package page

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
)

//go:embed templates
var templateFiles embed.FS

// templates are of html/template, which escapes what it puts into a page. No function here
// returns a type that it would not escape. They are read for the first page: each command and
// each worker is a process of this program, and would take longer to start.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html"))
})

// mostReasons is how many reasons of a verdict are shown at once.
const mostReasons = 6

var functions = template.FuncMap{
	"asset":    func(name string) string { return assetPath + assets[name].hashed },
	"brief":    brief,
	"capital":  capital,
	"count":    inspect.Count,
	"first":    func(all []inspect.Because) []inspect.Because { return all[:min(len(all), mostReasons)] },
	"rest":     func(all []inspect.Because) []inspect.Because { return all[min(len(all), mostReasons):] },
	"member":   inspect.EntryMember,
	"name":     visible.Name,
	"outcomes": severeFirst,
	"result":   inspect.EntryResult,
	"short":    inspect.Short,
	"span":     inspect.Span,
	"text":     visible.Text,
	"lines":    visibleLines,
	"value":    visibleValue,
	"web":      webAddress,
	"what":     inspect.EntryWhat,
	"words":    inspect.Words,
	"zone":     zonePath,
}

// view is what a template shows: a value, who asks, and when.
type view struct {
	Title, Path, API string
	Value            any
	Version          uint64 // how often what pages show had changed before
	Once             bool   // it answers an order, and its address has no such page
	Now              time.Time
	Program          string
	Query            url.Values
	Person           login.Person
	All              bool // the person may see the whole fleet
	Known            bool
	Login            *Login
	Said             string // what an action has just done; empty for nothing
	Orders           bool   // actions can be ordered here
}

// With is the same for a part of a page.
func (v view) With(value any) view {
	v.Value = value
	return v
}

// html writes a value as a page.
func (h *handler) html(w http.ResponseWriter, q *question, value any) {
	v := h.view(q.Request)
	v.Title, v.Value, v.Query, v.Version = titleOf(q.resource.title, value), value, q.params, q.version
	v.API = apiPath + strings.TrimSuffix(q.URL.EscapedPath(), "/")
	if q.URL.Path == "/" {
		v.API = apiPath + q.resource.api
	}
	if query := q.params.Encode(); query != "" {
		v.API += "?" + query
	}
	h.page(w, http.StatusOK, q.resource.template, v)
}

// start is the first page of whoever has rights to some zones only.
func (h *handler) start(w http.ResponseWriter, q *question) {
	query := q.fleet()
	query.Limit = 1
	fleet, err := h.Data.Fleet(query)
	if err != nil {
		h.fail(w, q.Request, err)
		return
	}
	v := h.view(q.Request)
	v.Title, v.Value, v.Version = "Your zones", fleet, q.version
	h.page(w, http.StatusOK, "start", v)
}

func (h *handler) view(r *http.Request) view {
	person, known := h.person(r)
	version, _ := h.Data.Changed()
	return view{
		Path: r.URL.Path, Version: h.shown(version, person), Now: h.Now().UTC(), Program: h.Program, Query: url.Values{},
		Person: person, Known: known, All: person.MayAll(login.Viewer), Login: h.Login,
		Said: h.said.of(r, h.Now()), Orders: h.Actions != nil && h.Login != nil,
	}
}

// page writes a page. It is written as a whole or not at all, and at once: what redacts
// secrets behind it looks at each piece by itself.
func (h *handler) page(w http.ResponseWriter, status int, name string, v view) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, v); err != nil { // a mistake in a template
		h.Log.Error("a request for a page has failed", "error", err)
		http.Error(w, "the page could not be made; the log of the daemon says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// titleOf is the title of a page: the name of what it is about, where it is about one thing.
func titleOf(title string, value any) string {
	switch v := value.(type) {
	case inspect.ZonePage:
		return visible.Name(v.Zone.Zone)
	case CommitPage:
		return "Commit " + inspect.Short(v.Commit)
	case inspect.RadarPage:
		return visible.Name(v.News.Name) + ", version " + visible.Name(v.News.News.Version)
	}
	return title
}

// capital begins a text with a capital letter.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// mostBrief is how much of a reason a list shows, in characters; the page of a zone has all.
const mostBrief = 240

// brief is a text for a list.
func brief(text string) string {
	text = visible.Text(text)
	if runes := []rune(text); len(runes) > mostBrief {
		return string(runes[:mostBrief-1]) + "…"
	}
	return text
}

func severeFirst() []inspect.Outcome {
	all := inspect.Outcomes()
	slices.Reverse(all)
	return all
}

// visibleValue is a value so that nothing in it is hidden; "unset" where there is none.
func visibleValue(v any) string {
	if v == nil {
		return "unset"
	}
	return visible.Value(v)
}

// visibleLines is a text of several lines so that nothing in it is hidden.
func visibleLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		indented := strings.TrimLeft(line, " ")
		lines[i] = line[:len(line)-len(indented)] + visible.Text(indented)
	}
	return strings.Join(lines, "\n")
}

// webAddress is an address that a link may lead to; empty for any other.
func webAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}

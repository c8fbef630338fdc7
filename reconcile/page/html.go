package page

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"

	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"json": func(v any) (string, error) {
		var b bytes.Buffer
		err := inspect.JSON(&b, v)
		return b.String(), err
	},
	"valueOf": visible.Value,
}).ParseFS(templateFiles, "templates/*.html"))

// view is what a template shows.
type view struct {
	*handler
	Title string
	Path  string
	Value any
	Said  string // what an action has just done; empty for nothing
}

// html writes a value as a page.
func (h *handler) html(w http.ResponseWriter, q *question, value any) {
	h.page(w, q.Request, http.StatusOK, q.resource.template, q.resource.title, value)
}

// page writes a page. It is written as a whole or not at all.
func (h *handler) page(w http.ResponseWriter, r *http.Request, status int, name, title string, value any) {
	var b bytes.Buffer
	if templates.Lookup(name) == nil {
		name = "value"
	}
	if err := templates.ExecuteTemplate(&b, name, view{h, title, r.URL.Path, value, h.said.of(r, h.Now())}); err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

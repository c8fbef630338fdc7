package page

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/seawall-dev/seawall/reconcile/login"
)

// Config is what pages are served from.
type Config struct {
	Data    Data
	Actions Actions          // nil: none can be ordered
	Now     func() time.Time // nil: [time.Now]
	Program string           // the version of seawall
	Log     *slog.Logger     // nil: [slog.Default]
	// Stopping is closed when the server stops, which ends streams of events; nil: never.
	// A stream ends with the context of its request, too: the login ends that with a session.
	Stopping <-chan struct{}
	// Away reports whether something has failed because what the daemon has on record cannot be read now, and may be
	// again without a change here; nil: never.
	Away func(error) bool
	// URL is the address at which browsers reach the pages, which orders may come from beside
	// the host of the request; empty: not known.
	URL string
	// Login has the addresses of the login; nil: none is configured, and anyone whose request
	// arrives here may read. Else who sends a request is [login.From] its context, and who is
	// not known there may do nothing.
	Login *Login
}

// Login is where a person logs in and out. An empty address is a way that the login does not
// have: a proxy or a certificate says who a person is.
type Login struct{ Begin, End string }

// handler answers requests.
type handler struct {
	Config
	mux     *http.ServeMux
	streams *streams
	said    said
}

// Handler serves the pages and their JSON. It expects that requests for other hosts were
// refused before it, and that what it writes passes a redactor.
func Handler(c Config) http.Handler {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	h := &handler{Config: c, mux: http.NewServeMux(), streams: newStreams(c), said: newSaid()}
	for _, r := range resources {
		h.mux.Handle("GET "+r.page, h.serve(r, h.html))
		h.mux.Handle("GET "+apiPath+r.api, h.serve(r, h.json))
	}
	h.mux.HandleFunc("GET "+gridImage, h.gridImage)
	h.mux.HandleFunc("GET "+gridPlace, h.gridPlace)
	h.mux.HandleFunc("GET "+assetPath+"{name}", h.asset)
	h.mux.HandleFunc("GET "+openAPIPath, serveOpenAPI)
	h.mux.HandleFunc("GET "+eventsPath, h.events)
	h.mountActions()
	h.mux.HandleFunc("/", h.nothing)
	return secured(h.mux)
}

// contentPolicy allows what this server sends itself, and no style or script inside a page.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secured adds the headers that each answer has.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// person is who sends a request; false where nobody is known and a login is needed.
func (h *handler) person(r *http.Request) (login.Person, bool) {
	if p, ok := login.From(r.Context()); ok {
		return p, true
	}
	if h.Login == nil {
		return login.Person{Grants: []login.Grant{{Role: login.Viewer}}}, true
	}
	return login.Person{}, false
}

// serve answers a request for a resource in one of its forms.
func (h *handler) serve(res resource, render func(http.ResponseWriter, *question, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		person, known := h.person(r)
		q, err := newQuestion(h, res, r, person)
		switch {
		case !known:
			err = errWho
		case err == nil && res.fleet && !person.MayAll(login.Viewer):
			err = errFleet
		}
		var value any
		if err == nil {
			value, err = res.answer.ask(q)
		}
		switch {
		case errors.Is(err, errFleet) && r.URL.Path == "/":
			h.start(w, q)
		case err != nil:
			h.fail(w, r, err)
		default:
			render(w, q, value)
		}
	}
}

package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// ErrNotFound: what was asked for is not there, or not any more.
var ErrNotFound = errors.New("not found")

// ErrNotYet: no commit is in force, so that it is not known which zones are declared.
var ErrNotYet = errors.New("no commit is in force yet, so no zone is known")

var (
	errWho   = errors.New("this needs a login")
	errFleet = errors.New("this is about the whole fleet, and your roles are limited to zones with certain labels")
)

// Problem is why a request was not answered, as RFC 9457 has it.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what to try
	// LogIn is where to log in, and History has what was of a zone that is not there; only on
	// pages.
	LogIn   string `json:"-"`
	History string `json:"-"`
}

// problemOf says what an error is to whoever asked. What it does not know stays out of the
// answer: it may be about more than they may see.
func (h *handler) problemOf(err error) Problem {
	var bad *badParamError
	switch {
	case errors.As(err, &bad):
		return problem(http.StatusBadRequest, bad.reason, bad.hint)
	case errors.Is(err, inspect.ErrAfter):
		return problem(http.StatusBadRequest, err.Error(), "begin again without after; use next of an answer to the same other parameters as after")
	case errors.Is(err, reconcile.ErrManyCommits):
		return problem(http.StatusBadRequest, err.Error(), "give more of its digits")
	case h.away(err): // it is told as an outage, once
		return problem(http.StatusServiceUnavailable, "the database of the ledger does not answer, so what is on record cannot be read", "wait; /api/v1/status and the overview say since when, and show what this daemon knows")
	case errors.Is(err, context.Canceled): // nobody waits for the answer, and nothing is wrong
		return problem(http.StatusServiceUnavailable, "the request was given up", "")
	case errors.Is(err, errStreams):
		return problem(http.StatusServiceUnavailable, err.Error(), "close pages that are open, or ask for /api/v1/status from time to time")
	case errors.Is(err, ErrNotYet):
		return problem(http.StatusServiceUnavailable, err.Error(), "try again in a moment: the daemon has just started, or /api/v1/status says what it waits for")
	case errors.Is(err, inspect.ErrNoZone):
		return problem(http.StatusNotFound, err.Error(), "give the id of a zone, not its name: the list of zones has both. A zone that was removed from git is not in it any more")
	case errors.Is(err, ErrNotFound):
		return problem(http.StatusNotFound, err.Error(), "")
	case errors.Is(err, errFleet):
		return problem(http.StatusForbidden, err.Error(), "open the list of zones; this needs a role without labels in web.roles of the configuration")
	case errors.Is(err, errWho):
		p := problem(http.StatusUnauthorized, err.Error(), "log in")
		if p.LogIn = h.Login.Begin; p.LogIn == "" {
			p.Hint = "the request has no login of the proxy and no client certificate: see web.login in the configuration"
		}
		return p
	}
	h.Log.Error("a request for a page has failed", "error", err)
	return problem(http.StatusInternalServerError, "the daemon could not answer; its log says why", "try again; seawall status says what is wrong with the daemon")
}

func (h *handler) away(err error) bool { return err != nil && h.Away != nil && h.Away(err) }

func problem(status int, detail, hint string) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Hint: hint}
}

// nothing answers a request for an address that nothing has, or that takes no such method.
func (h *handler) nothing(w http.ResponseWriter, r *http.Request) {
	allowed := h.methods(r)
	if len(allowed) == 0 {
		p := problem(http.StatusNotFound, "there is no page at this address", "start at /, or for the API at "+openAPIPath)
		if h.Actions == nil && strings.HasPrefix(strings.TrimPrefix(r.URL.Path, apiPath), actionPath) {
			p = problem(http.StatusNotFound, "there are no actions here", "they need a login: see web.login in the configuration; on the host of the daemon, use the commands")
		}
		h.refuse(w, r, p)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	h.refuse(w, r, problem(http.StatusMethodNotAllowed, "this address does not accept "+r.Method, "use "+strings.Join(allowed, " or ")))
}

// methods are those that the address of a request takes.
func (h *handler) methods(r *http.Request) (allowed []string) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		if _, pattern := h.mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" && pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	h.refuse(w, r, h.problemOf(err))
}

// isAPI reports whether a request is for JSON, of this version of the API or another.
func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path+"/", "/api/") }

// refuse writes a problem: as JSON under [apiPath], else as a page.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, p Problem) {
	if isAPI(r) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(p.Status)
		_ = inspect.JSON(w, p) // a client that hung up needs no answer
		return
	}
	v := h.view(r)
	if scope := r.PathValue("scope"); p.Status == http.StatusNotFound && scope != "" && v.All {
		p.History = address("/history", url.Values{"zone": {scope}})
	}
	v.Title, v.Value, v.Once = p.Title, p, r.Method == http.MethodPost
	h.page(w, p.Status, "problem", v)
}

// json writes a value as JSON.
func (h *handler) json(w http.ResponseWriter, _ *question, value any) {
	text, err := json.Marshal(value)
	if err != nil { // a value of ours always can be
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n'))
}

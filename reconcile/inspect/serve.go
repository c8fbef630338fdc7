package inspect

import (
	"net/http"
	"strings"
)

// Daemon is what answers.
type Daemon interface {
	// Status returns how it is, judged.
	Status() Status
	// Zones returns the zones that a word means, or a name that may have been meant.
	Zones(word string) (list ZoneList, near string)
}

// The paths that are served, and what says which zone is meant.
const (
	statusPath = "/status"
	zonePath   = "/status/zone"
	zoneParam  = "name"
)

// refusal is the answer to what cannot be answered.
type refusal struct {
	Error string `json:"error"`
	Near  string `json:"near,omitempty"` // a name that may have been meant
	Hint  string `json:"hint,omitempty"` // what to try
}

// Handler serves, to GET and HEAD, and reads only:
//
//	/status            a [Status]
//	/status/zone?name= a [ZoneList]; 404 where no such zone is declared, 503 where that is not known yet
func Handler(d Daemon) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+statusPath, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, d.Status())
	})
	mux.HandleFunc("GET "+zonePath, func(w http.ResponseWriter, r *http.Request) {
		word := r.URL.Query().Get(zoneParam)
		list, near := d.Zones(word)
		if len(list.Zones) > 0 {
			answer(w, http.StatusOK, list)
			return
		}
		if s := d.Status(); !s.Unread.IsZero() {
			answer(w, http.StatusServiceUnavailable, refusal{Error: strings.Join(s.NotReady, "; "), Hint: "seawall status says more"})
			return
		}
		answer(w, http.StatusNotFound, refusal{Error: "no zone " + word + " is declared", Near: near})
	})
	return mux
}

func answer(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = JSON(w, value) // a client that hung up needs no answer
}

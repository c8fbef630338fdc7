package page

import "net/http"

// The addresses of the picture of the fleet, and of a place in it.
const (
	gridImage = "/grid.svg"
	gridPlace = "/grid"
)

func (h *handler) gridImage(w http.ResponseWriter, r *http.Request) { h.nothing(w, r) }
func (h *handler) gridPlace(w http.ResponseWriter, r *http.Request) { h.nothing(w, r) }

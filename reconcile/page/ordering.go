package page

import (
	"errors"
	"net/http"
	"slices"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
)

const actionPath = "/actions/"

// mountActions adds the addresses of actions, where any can be ordered.
func (h *handler) mountActions() {
	if h.Actions == nil {
		return
	}
	protection := http.NewCrossOriginProtection()
	if h.URL != "" {
		if err := protection.AddTrustedOrigin(h.URL); err != nil {
			panic(err) // the configuration has checked it
		}
	}
	guarded := func(asJSON bool) http.Handler {
		return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.order(w, r, asJSON) }))
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.refuse(w, r, crossOrigin) }))
	h.mux.Handle("POST "+actionPath+"{name}", guarded(false))
	h.mux.Handle("POST "+apiPath+actionPath+"{name}", guarded(true))
	h.mux.HandleFunc("GET "+actionPath+"approve", h.confirmApproval)
	h.mux.HandleFunc("GET "+actionPath+revert, h.showRevert)
	h.mux.HandleFunc("GET "+apiPath+actionPath+revert, h.showRevert)
}

var crossOrigin = problem(http.StatusForbidden, "the request comes from another site", "use the pages of Seawall; web.url in the configuration must be the address in the browser")

// fromNowhere reports whether a request with a session does not say from where it comes, which
// every browser that a page can be used with does.
func fromNowhere(r *http.Request) bool {
	return len(r.Cookies()) > 0 && r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == ""
}

// operator is who sends a request, if they may order anything.
func (h *handler) operator(r *http.Request, fleet bool) (login.Person, error) {
	person, known := login.From(r.Context())
	switch {
	case !known && h.Login == nil:
		return person, ErrMayNot
	case !known:
		return person, errWho
	case fleet && !person.MayAll(login.Operator):
		return person, errFleet
	case !slices.ContainsFunc(person.Grants, func(g login.Grant) bool { return g.Role == login.Operator }):
		return person, ErrMayNot
	}
	return person, nil
}

// order has an action done.
func (h *handler) order(w http.ResponseWriter, r *http.Request, asJSON bool) {
	i := slices.IndexFunc(actions, func(a action) bool { return a.name == r.PathValue("name") })
	switch {
	case i < 0:
		h.refuse(w, r, problem(http.StatusNotFound, "there is no such action", "/api/v1/openapi.json describes them"))
		return
	case fromNowhere(r):
		h.refuse(w, r, crossOrigin)
		return
	}
	a := actions[i]
	person, err := h.operator(r, a.fleet)
	var o Order
	var back, done string
	if err == nil {
		o, back, err = readOrder(w, r, a, asJSON)
	}
	if err == nil {
		done, err = a.do(r.Context(), h.Actions, person, o)
	}
	if err != nil {
		h.refuseOrder(w, r, err)
		return
	}
	if asJSON {
		answer := Ordered{Version: inspect.Version, Done: done}
		if a.fleet {
			going := h.Actions.Reverting()
			answer.Revert = &going
		}
		h.json(w, nil, answer)
		return
	}
	if back == "" {
		back = a.back(o)
	}
	h.said.say(w, r, person.Name, done, h.Now())
	w.Header().Set("Location", back)
	w.WriteHeader(http.StatusSeeOther)
}

// refuseOrder says why an action was not done.
func (h *handler) refuseOrder(w http.ResponseWriter, r *http.Request, err error) {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		h.refuse(w, r, problem(refused.Status, refused.Reason, refused.Hint))
		return
	}
	h.fail(w, r, err)
}

// Approval is a change that waits, shown before a person approves it.
type Approval struct {
	Zone   inspect.ZonePage
	Change inspect.WaitingChange
}

// confirmApproval shows what an approval would have written.
func (h *handler) confirmApproval(w http.ResponseWriter, r *http.Request) {
	person, err := h.operator(r, false)
	if err != nil {
		h.refuseOrder(w, r, err)
		return
	}
	zoneID, digest := r.URL.Query().Get("zone"), r.URL.Query().Get("digest")
	zone, err := h.Data.Zone(r.Context(), edge.ParseScope(zoneID))
	switch {
	case errors.Is(err, inspect.ErrNoZone), !person.May(login.Viewer, zone.May): // the same answer, whatever else is wrong
		err = &inspect.NoZoneError{Zone: zoneID}
	case err == nil && !person.May(login.Operator, zone.May):
		err = ErrMayNot
	}
	if err != nil {
		h.refuseOrder(w, r, err)
		return
	}
	if !person.MayAll(login.Viewer) {
		zone = zone.Alone(h.Now())
	}
	i := slices.IndexFunc(zone.Waiting, func(c inspect.WaitingChange) bool { return c.Digest == digest })
	if i < 0 {
		h.refuseOrder(w, r, ErrNotWaiting)
		return
	}
	v := h.view(r)
	v.Title, v.Value = "Approve a change of "+visible.Name(zone.Zone.Zone), Approval{zone, zone.Waiting[i]}
	h.page(w, http.StatusOK, "approve", v)
}

// ErrNotWaiting is that of a digest with which no change of a zone waits.
var ErrNotWaiting = &RefusedError{
	http.StatusConflict, "no change of this zone waits with this digest", "it was made, or has changed: open the page of the zone again",
}

// showRevert shows the revert that goes on.
func (h *handler) showRevert(w http.ResponseWriter, r *http.Request) {
	if _, err := h.operator(r, true); err != nil {
		h.refuseOrder(w, r, err)
		return
	}
	going := h.Actions.Reverting()
	if isAPI(r) {
		h.json(w, nil, going)
		return
	}
	if going.GoesOn() {
		w.Header().Set("Refresh", "3")
	}
	v := h.view(r)
	v.Title, v.Value, v.API = "Revert", going, apiPath+actionPath+revert
	h.page(w, http.StatusOK, "revert", v)
}

// MayOrder reports whether the page is of a zone on which the person may act.
func (v view) MayOrder() bool {
	zone, ok := v.Value.(inspect.ZonePage)
	return ok && v.Orders && v.Person.May(login.Operator, zone.May)
}

// MayOrderAll reports whether the person may act on the whole fleet.
func (v view) MayOrderAll() bool { return v.Orders && v.Person.MayAll(login.Operator) }

// ownPages are the addresses to which a form may come back.
var ownPages = lazyregexp.New(`^/(|zones(/[A-Za-z0-9:._-]{1,128})?|commits(/[0-9a-f]{4,64})?|history|pulls(/[0-9]{1,9})?)$`)

// ownPage is an address to come back to; empty where it is not one of ours.
func ownPage(address string) string {
	if ownPages().MatchString(address) {
		return address
	}
	return ""
}

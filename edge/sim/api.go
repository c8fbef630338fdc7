package sim

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// serveAPI records a request and answers it. The transcript has the status
// before the client has the answer, so a test never looks too early.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	path := s.relative(r.URL.EscapedPath())
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wire.MaxBody))
	entry := s.transcript.begin(s.newEntry(r, path, body))
	var a answer
	if err != nil {
		a = s.unreadable(err)
	} else {
		a = s.respond(r, path, body)
	}
	s.wait(r.Context(), zoneOf(path))
	if canTruncate(r.Method, path) && a.status == http.StatusOK {
		if turn := s.faults.hit(QuirkTruncate); turn > 0 {
			a.truncate(turn)
		}
	}
	w.Header().Set("Date", s.clock.Now().Format(http.TimeFormat))
	s.transcript.end(entry, a.status)
	s.config.Log.Debug("answered", "method", r.Method, "path", path, "status", a.status)
	a.write(w)
}

// relative cuts the base path off; what is outside of it stays whole and is no
// address of the platform.
func (s *Server) relative(path string) string {
	if rest, ok := strings.CutPrefix(path, s.config.BasePath); ok && strings.HasPrefix(rest, "/") {
		return rest
	}
	return path
}

func (s *Server) inside(r *http.Request) bool {
	return strings.HasPrefix(r.URL.EscapedPath(), s.config.BasePath+"/")
}

func isRead(method string) bool { return method == http.MethodGet }

// canTruncate: answers with something in them that cannot be had otherwise, or
// not as cheaply. That of an update is a copy of what is read, and that of a
// deletion says nothing; the other PUT answers with a token's new secret.
func canTruncate(method, path string) bool {
	return isRead(method) || method == http.MethodPost && isTokens(path) || method == http.MethodPut && strings.HasSuffix(path, "/value")
}

// isTokens reports whether an address is about tokens, of the user or of an
// account.
func isTokens(path string) bool {
	parts := strings.Split(path, "/")
	return strings.HasPrefix(path, edge.TokensPath()) || len(parts) > 3 && parts[1] == "accounts" && parts[3] == "tokens"
}

func (s *Server) unreadable(err error) answer {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return s.failure(failed(http.StatusRequestEntityTooLarge, 0, "the request body is too large"))
	}
	return s.failure(failed(http.StatusBadRequest, 0, "the request body ends too early"))
}

// wait is the quirks slow and zone-slow. It ends with the request or the server.
func (s *Server) wait(ctx context.Context, zone edge.ZoneID) {
	delay := s.faults.delay(zone)
	if delay <= 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// respond passes a request through the stations of the package comment.
func (s *Server) respond(r *http.Request, path string, body []byte) answer {
	if s.faults.hit(QuirkHTML) > 0 {
		return gatewayPage()
	}
	who, authErr := s.authenticate(r)
	limits := http.Header{}
	wait := s.limiter.take(who.token.ID, s.clock.Now(), limits)
	a := s.admit(r, path, body, entrant{who, authErr, wait})
	if s.faults.isSet(QuirkAnnounce) {
		s.schedule.announce(a.header, deprecation.Request{Method: r.Method, URL: withQuery(path, r.URL.RawQuery), Body: body}, s.clock.Now())
	}
	maps.Copy(a.header, limits)
	return a
}

// entrant is who asks, and what keeps them out.
type entrant struct {
	caller
	authErr error
	wait    time.Duration // until the rate limit lets them in again
}

func (s *Server) admit(r *http.Request, path string, body []byte, who entrant) answer {
	switch {
	case hasBothLengths(r.Header) && s.schedule.Over(ruleLengths, s.clock.Now()):
		a := s.failure(failed(http.StatusBadRequest, 0, "a request must not have both Transfer-Encoding and Content-Length"))
		a.header.Set("Connection", "close") // RFC 9112, 6.1
		return a
	case s.faults.hit(QuirkThrottle) > 0:
		return s.failure(throttled(s.config.RetryAfter))
	case who.authErr != nil:
		return s.failure(who.authErr)
	case who.wait > 0:
		return s.failure(throttled(who.wait))
	case !s.inside(r):
		return s.failure(failed(http.StatusNotFound, edge.CodeNoRoute, "could not route to "+path))
	}
	route, err := s.route(r.Method, path)
	if err == nil {
		err = s.permitted(who.caller, route, path)
	}
	switch {
	case err != nil:
		return s.failure(err)
	case s.faults.hitsZone(QuirkZoneForbidden, route.zone):
		return s.failure(failed(http.StatusForbidden, edge.CodeAuthentication, "Authentication error"))
	case s.faults.hitsZone(QuirkZoneUnauthorized, route.zone):
		return s.failure(failed(http.StatusForbidden, 0, "request is not authorized"))
	case s.faults.hitsZone(QuirkZoneHang, route.zone):
		<-r.Context().Done() // the client has gone, or the server stops
		return answer{header: http.Header{}}
	}
	request := request{r, route, body, who.caller}
	if isRead(r.Method) {
		return s.call(request) //nolint:contextcheck // the request has its context
	}
	return s.write(request) //nolint:contextcheck // the request has its context
}

// request is one that nothing keeps from the platform any more.
type request struct {
	*http.Request
	route route
	body  []byte
	who   caller
}

// write is a call that changes something, with the faults that befall those.
func (s *Server) write(r request) answer {
	if s.faults.hit(QuirkErrorBefore) > 0 {
		return s.failure(failed(http.StatusInternalServerError, 0, "internal error"))
	}
	a := s.call(r)
	if a.status != http.StatusOK && a.status != http.StatusNoContent {
		return a
	}
	if s.faults.hit(QuirkErrorAfter) > 0 {
		return s.failure(failed(http.StatusInternalServerError, 0, "internal error"))
	}
	if s.faults.hit(QuirkCutAfter) > 0 {
		a.status = 0
	}
	return a
}

// call makes the platform do it. A client that has gone away does not stop it:
// a request that arrived is carried out.
func (s *Server) call(r request) answer {
	r.Request = r.WithContext(context.WithoutCancel(r.Context()))
	result, info, err := r.route.answer(s, r)
	switch {
	case err != nil:
		return s.failure(err)
	case result == noContent{}:
		return answer{status: http.StatusNoContent, header: http.Header{}}
	}
	return s.success(result, info)
}

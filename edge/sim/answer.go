package sim

import (
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// answer is what a request is answered with, before it is written: faults can
// still be done to it.
type answer struct {
	status int // 0: close the connection without an answer
	header http.Header
	body   []byte
	length int // announced length of the body
}

func newAnswer(status int, contentType string, body []byte) answer {
	return answer{status: status, header: http.Header{"Content-Type": {contentType}}, body: body, length: len(body)}
}

// success is the envelope of a result.
func (s *Server) success(result any, info *wire.Info) answer {
	envelope, err := wire.EncodeResult(result, info)
	if err == nil {
		if s.faults.isSet(QuirkMessages) {
			envelope.Messages = []byte(`[{"code":10020,"message":"maintenance is planned for Sunday"}]`)
		}
		var body []byte
		if body, err = envelope.Bytes(); err == nil {
			return newAnswer(http.StatusOK, contentTypeJSON, body)
		}
	}
	return newAnswer(http.StatusInternalServerError, "text/plain; charset=utf-8", []byte(err.Error()))
}

const contentTypeJSON = "application/json"

// failure is the envelope of an error. What is not an [*edge.Error] is a
// mistake of the simulator itself and reads as 500.
func (s *Server) failure(err error) answer {
	var e *edge.Error
	if !errors.As(s.dialect.TranslateError(err), &e) {
		e = failed(http.StatusInternalServerError, 0, err.Error())
	}
	if s.config.Profile == mem.Documented {
		e = withCodes(e)
	}
	envelope := wire.EncodeError(e)
	if s.faults.isSet(QuirkMessagesNull) {
		envelope.Messages = nil
	}
	body, err := envelope.Bytes()
	if err != nil {
		body = []byte(err.Error())
	}
	a := newAnswer(e.Status, contentTypeJSON, body)
	if e.RetryAfter > 0 {
		a.header.Set(wire.HeaderRetryAfter, wire.FormatRetryAfter(e.RetryAfter))
	}
	return a
}

// withCodes gives a code to every error that has none: in the reference each has
// one ("Errors", 1), and it shows hardly any. These are our own.
func withCodes(e *edge.Error) *edge.Error {
	code := map[int]int{
		http.StatusForbidden: edge.CodeAuthentication, http.StatusNotFound: edge.CodeRulesetNotFound, http.StatusBadRequest: codeBadRequest,
	}[e.Status]
	fallback(&code, codeOther)
	return e.WithDetails(func(d edge.ErrorDetail) edge.ErrorDetail {
		fallback(&d.Code, code)
		return d
	})
}

const (
	codeBadRequest = 10014
	codeOther      = 10020
)

func failed(status, code int, message string, chain ...edge.ErrorDetail) *edge.Error {
	return &edge.Error{Status: status, Details: []edge.ErrorDetail{{Code: code, Message: message, Chain: chain}}}
}

func throttled(wait time.Duration) error {
	e := failed(http.StatusTooManyRequests, edge.CodeThrottled, "please wait and consider throttling your request speed")
	e.RetryAfter = wait
	return e
}

const badGateway = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>\n" +
	"<body><center><h1>502 Bad Gateway</h1></center><hr></body></html>\n"

func gatewayPage() answer {
	return newAnswer(http.StatusBadGateway, "text/html; charset=utf-8", []byte(badGateway))
}

// truncate cuts the body in half. On odd turns the announced length stays, so
// the reader notices on the connection; on even ones only the JSON tells.
func (a *answer) truncate(turn int) {
	a.body = a.body[:len(a.body)/2]
	if turn%2 == 0 {
		a.length = len(a.body)
	}
}

// write sends the answer. An announced length that is not kept makes the
// server close the connection.
func (a answer) write(w http.ResponseWriter) {
	if a.status == 0 {
		panic(http.ErrAbortHandler) // net/http's way to drop a connection
	}
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Content-Length", strconv.Itoa(a.length))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that has gone away is no failure of ours
}

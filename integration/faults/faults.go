package main

import (
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"time"
)

// quiet keeps to itself what net/http says of connections that are cut.
var quiet = log.New(io.Discard, "", 0)

// silent accepts requests and never answers.
func silent(_ http.Handler, _ http.ResponseWriter, r *http.Request) { hang(r) }

// hang keeps a request without an answer until the client gives up.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // net/http sees the client go only once the body is read
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// headersOnly answers with a header and is silent after it.
func headersOnly(_ http.Handler, w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	hang(r)
}

// stalled answers with the first bytes and is silent after them.
func stalled(bytes int) fault {
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&stallingWriter{w, r, bytes}, r)
	}
}

type stallingWriter struct {
	http.ResponseWriter
	request *http.Request
	left    int
}

func (w *stallingWriter) Write(data []byte) (int, error) {
	if len(data) <= w.left {
		w.left -= len(data)
		return w.ResponseWriter.Write(data)
	}
	_, _ = w.ResponseWriter.Write(data[:w.left])
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	<-w.request.Context().Done()
	panic(http.ErrAbortHandler)
}

// delayed holds each request back for a random time between two bounds.
func delayed(least, most time.Duration) fault {
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		wait := least
		if most > least {
			wait += rand.N(most - least)
		}
		pause(r, wait)
		next.ServeHTTP(w, r)
	}
}

// pause waits, and gives up with the client.
func pause(r *http.Request, wait time.Duration) {
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// flapping is well for some time, then for some time cuts connections and
// answers 502 in turns.
func flapping(up, down time.Duration) fault {
	begin := time.Now()
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		switch at := time.Since(begin) % (up + down); {
		case at >= down:
			next.ServeHTTP(w, r)
		case at < down/2:
			panic(http.ErrAbortHandler)
		default:
			http.Error(w, "bad gateway", http.StatusBadGateway)
		}
	}
}

// answering answers everything alike.
func answering(status int, body string) fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// within applies a fault to the requests of one zone alone.
func within(zone zone, by fault) fault {
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if zoneOf(r) == zone {
			by(next, w, r)
		} else {
			next.ServeHTTP(w, r)
		}
	}
}

// Refusals as the platform words them.
const (
	noPermission = `{"result":null,"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"messages":[]}`
	badToken     = `{"result":null,"success":false,"errors":[{"code":1000,"message":"Invalid API Token"}],"messages":[]}`
	failing      = `{"result":null,"success":false,"errors":[{"code":10001,"message":"Service unavailable"}],"messages":[]}`
)

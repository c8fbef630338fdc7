package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

// wire answers requests without a network, takes its time, and fails as a scenario says.
type wire struct {
	http.Handler

	mu     sync.Mutex
	writes []write           // since the last run began
	faults map[string]string // by "write N" or "read PHASE"
	before map[int][]func()  // what others do before the write N, once
}

// write is a request that was to change something, and what the client got: a status, or what
// became of the answer.
type write struct {
	call   string
	body   json.RawMessage
	answer string
}

// What befalls a request, beside a status.
const (
	lost    = "lost"    // it takes effect, and there is no answer
	dropped = "dropped" // it has no effect, and there is no answer
)

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(10 * time.Millisecond)
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	if r.Method == http.MethodGet || r.URL.RawQuery != "" { // to read, or a dry run
		return w.answer(r, body, w.fault("read "+phaseOf(r.URL.Path)))
	}
	n := w.arrived(write{call: r.Method + " " + strings.TrimPrefix(r.URL.Path, sim.DefaultBasePath), body: body})
	fault := w.fault(fmt.Sprint("write ", n))
	response, err := w.answer(r, body, fault)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writes[n-1].answer = fault; err == nil {
		w.writes[n-1].answer = strconv.Itoa(response.StatusCode)
	}
	return response, err
}

// phaseOf is the phase of which an address is the entry point; empty for another one.
func phaseOf(path string) string {
	parts := strings.Split(path, "/")
	if n := len(parts); n > 1 && parts[n-1] == "entrypoint" {
		return parts[n-2]
	}
	return ""
}

// arrived notes a write, and returns which one of the run it is. Others do first what they do
// before it.
func (w *wire) arrived(next write) int {
	w.mu.Lock()
	w.writes = append(w.writes, next)
	n := len(w.writes)
	others := w.before[n]
	delete(w.before, n)
	w.mu.Unlock()
	for _, do := range others {
		do()
	}
	return n
}

func (w *wire) fault(of string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults[of]
}

// answer is that of the simulator, unless a fault says another.
func (w *wire) answer(r *http.Request, body []byte, fault string) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if status, err := strconv.Atoi(fault); err == nil {
		answer.Header().Set("Content-Type", "application/json")
		answer.WriteHeader(status)
		fmt.Fprintf(answer, `{"success": false, "errors": [{"code": 10000, "message": "%s, says the scenario"}], "messages": [], "result": null}`, http.StatusText(status))
		fault = ""
	} else if fault != dropped {
		served := r.Clone(context.WithoutCancel(r.Context()))
		served.Body = io.NopCloser(bytes.NewReader(body))
		w.ServeHTTP(answer, served)
	}
	if fault != "" {
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil { // else it counts as never sent
			trace.WroteHeaders()
		}
		return nil, io.ErrUnexpectedEOF
	}
	response := answer.Result()
	response.Request = r
	return response, nil
}

// began returns the writes of the run that began last, and forget has another begin.
func (w *wire) began() []write {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.writes)
}

func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = nil
}

// setFaults has requests fail from now on, in the place of those that failed before: a line
// "write N: FAULT" or "read PHASE: FAULT" each. A fault is a status, "lost" or "dropped".
func (s *scene) setFaults(data []byte) {
	s.t.Helper()
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	s.wire.faults = map[string]string{}
	for line := range strings.Lines(string(data)) {
		of, fault, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if _, err := strconv.Atoi(fault); !ok || err != nil && fault != lost && fault != dropped {
			s.t.Fatalf("the fault %q is not known", line)
		}
		s.wire.faults[of] = fault
	}
}

// beforeWrite has somebody make rules those of an entry point while a run is on its way, which the
// name of the step says: before-write-N/LEVEL/PHASE.json. It is false for another step.
func (s *scene) beforeWrite(step string, data []byte) bool {
	s.t.Helper()
	rest, is := strings.CutPrefix(step, "before-write-")
	if !is {
		return false
	}
	number, place, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(number)
	must.Do(s.t, err)
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	if s.wire.before == nil {
		s.wire.before = map[int][]func(){}
	}
	s.wire.before[n] = append(s.wire.before[n], func() {
		if !s.plant(place, data) {
			s.t.Errorf("unknown step %s", step)
		}
	})
	return true
}

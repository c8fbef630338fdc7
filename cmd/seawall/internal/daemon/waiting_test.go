package daemon

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// A daemon that has not read its records says that it does not know what is declared, and since when:
// that is not the same as nothing.
func TestWaitingKnowsNothing(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := &waiting{started: since, mode: inspect.ModeObserve, replicas: &inspect.Replicas{
		Name: "a", Database: "db.example/seawall", Silent: since, Replicas: []inspect.Replica{}, Leases: []inspect.Lease{},
	}}
	w.set(errors.New("connection refused"))
	server := httptest.NewServer(inspect.Handler(w))
	defer server.Close()
	client := inspect.Client{HTTP: server.Client(), Base: server.URL}
	s, err := client.Status(t.Context())
	must.Do(t, err)
	if !s.Unread.Equal(since) || s.Verdict != inspect.Attention || s.Mode != inspect.ModeObserve {
		t.Errorf("%+v", s)
	}
	var text bytes.Buffer
	must.Do(t, s.Text(&text, false))
	for _, not := range []string{"declared,", "0 ", "none in force", "queue"} {
		if strings.Contains(text.String(), not) {
			t.Errorf("it says %q:\n%s", not, text.String())
		}
	}
	for _, want := range []string{"not known yet", "since 2026-03-01T12:00:00Z", "db.example/seawall", "connection refused"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
	_, err = client.Zones(t.Context(), "shop.example")
	if !errors.Is(err, inspect.ErrUnread) || errors.Is(err, inspect.ErrNoZone) || !strings.Contains(err.Error(), "2026-03-01T12:00:00Z") {
		t.Errorf("of a zone: %v", err)
	}
	ready := httptest.NewRecorder()
	w.unready(ready, nil)
	if ready.Code != http.StatusServiceUnavailable || !strings.Contains(ready.Body.String(), "since 2026-03-01T12:00:00Z") || !strings.Contains(ready.Body.String(), "not known yet") {
		t.Errorf("ready: %d %s", ready.Code, ready.Body)
	}
}

// A daemon that serves and whose controller could not begin says the same: what it has not read is not
// nothing.
func TestBeforeItBeginsNothingIsKnown(t *testing.T) {
	t.Parallel()
	d := notRunning(t)
	d.waits.replicas = &inspect.Replicas{Name: "a", Database: "db.example/seawall"}
	for _, away := range []error{nil, errors.New("connection refused"), nil} {
		d.waits.set(away)
		want := "begins"
		if away != nil {
			want = "db.example/seawall, which has not answered"
		}
		reads := "the records are being read since "
		if away != nil {
			reads = "the records could not be read since "
		}
		server := httptest.NewServer(inspect.Handler(d))
		client := inspect.Client{HTTP: server.Client(), Base: server.URL}
		s, err := client.Status(t.Context())
		must.Do(t, err)
		if s.Unread.IsZero() || s.Started.IsZero() || s.Verdict != inspect.Attention || len(s.NotReady) != 1 || !strings.Contains(s.NotReady[0], want) {
			t.Errorf("%+v", s)
		}
		var text bytes.Buffer
		if must.Do(t, s.Text(&text, false)); strings.Count(text.String(), "the records ") != 1 || !strings.Contains(text.String(), reads) {
			t.Errorf("it does not say %q:\n%s", reads, text.String())
		}
		if _, err := client.Zones(t.Context(), "shop.example"); !errors.Is(err, inspect.ErrUnread) || !strings.Contains(err.Error(), want) {
			t.Errorf("of a zone: %v", err)
		}
		ready := d.health.NotReady(d.lookInside())
		if len(ready) != 1 || !strings.Contains(ready[0], want) {
			t.Errorf("ready: %q", ready)
		}
		server.Close()
	}
}

// That hints are not heard is said once, and that they are again.
func TestHearingIsToldOnce(t *testing.T) {
	var log bytes.Buffer
	h := hearing{log: slog.New(slog.NewTextHandler(&log, nil))}
	for _, failures := range []int{0, 1, 3} {
		for range failures {
			h.failed(errors.New("refused"))
		}
		h.works()
	}
	if text := log.String(); strings.Count(text, "are not heard") != 1 || strings.Count(text, "heard again") != 1 {
		t.Error(text)
	}
}

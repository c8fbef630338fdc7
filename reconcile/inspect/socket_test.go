package inspect

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
)

// daemon answers with what a test says.
type daemon struct{ status Status }

func (d daemon) Status() Status { return d.status }

func (d daemon) Zones(word string) (ZoneList, string) {
	if word == "shop.example" {
		return someZones(), ""
	}
	return ZoneList{Version: Version}, "shop.example"
}

// serve answers on the socket of a folder until the test ends.
func serve(t *testing.T, dir string, d Daemon) net.Listener {
	t.Helper()
	listener, err := Listen(dir)
	must.Do(t, err)
	server := &http.Server{Handler: Handler(d)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return listener
}

func TestSocket(t *testing.T) {
	dir := t.TempDir()
	listener := serve(t, dir, daemon{everything()})
	info, err := os.Stat(SocketPath(dir))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v: %v", info, err)
	}
	c := OnSocket(dir)
	s, err := c.Status(t.Context())
	if err != nil || s.Verdict != Attention || s.Commit.InForce != everything().Commit.InForce {
		t.Errorf("%v: %+v", err, s)
	}
	list, err := c.Zones(t.Context(), "shop.example")
	if err != nil || len(list.Zones) != 2 {
		t.Errorf("%v: %+v", err, list)
	}
	_, err = c.Zones(t.Context(), "shop.exampel&name=x")
	var none *NoZoneError
	if !errors.Is(err, ErrNoZone) || !errors.As(err, &none) || none.Near != "shop.example" || none.Zone != "shop.exampel&name=x" {
		t.Errorf("%v", err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(SocketPath(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, err := c.Status(t.Context()); !errors.Is(err, ErrNoAnswer) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestSocketOfAnEarlierProcess: what a process has left that was killed is replaced, at
// either of the moments at which it can have been.
func TestSocketOfAnEarlierProcess(t *testing.T) {
	for _, name := range []string{socketName, newSockName} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"})
			must.Do(t, err)
			left.SetUnlinkOnClose(false)
			must.Do(t, left.Close())
			serve(t, dir, daemon{healthy()})
			if s, err := OnSocket(dir).Status(t.Context()); err != nil || s.Verdict != Healthy {
				t.Errorf("%v: %+v", err, s)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("%v: %v", entries, err)
			}
		})
	}
}

// TestSocketInTheWay: a file that is no socket is somebody's, and left as it is.
func TestSocketInTheWay(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(SocketPath(dir), []byte("mine"), 0o600))
	if _, err := Listen(dir); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(SocketPath(dir)); err != nil || string(text) != "mine" {
		t.Errorf("%q: %v", text, err)
	}
	long := filepath.Join(dir, strings.Repeat("x", 100))
	if _, err := Listen(long); err == nil || !strings.Contains(err.Error(), "at most 103") {
		t.Errorf("%v", err)
	}
}

func TestAddress(t *testing.T) {
	server := httptest.NewServer(Handler(daemon{healthy()}))
	defer server.Close()
	c, err := At(server.URL+"/", nil)
	must.Do(t, err)
	if s, err := c.Status(t.Context()); err != nil || s.Verdict != Healthy {
		t.Errorf("%v: %+v", err, s)
	}
	for _, address := range []string{"", "127.0.0.1:8710", "ftp://a", "http://user:secret@a", "http://a?b=c", "http://"} {
		if _, err := At(address, nil); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	if response, err := http.Post(server.URL+"/status", "", nil); err != nil || response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%v: %v", response, err)
	}
}

// TestOddAnswers: what is no status is said to be none.
func TestOddAnswers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"another page":    func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) },
		"a newer version": func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, `{"version": 2}`) },
		"no JSON":         func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, `{"version": 1`) },
		"an error":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			c, err := At(server.URL, nil)
			must.Do(t, err)
			if _, err := c.Status(t.Context()); !errors.Is(err, ErrNoAnswer) {
				t.Errorf("status: %v", err)
			}
			if _, err := c.Zones(t.Context(), "a"); !errors.Is(err, ErrNoAnswer) {
				t.Errorf("zones: %v", err)
			}
		})
	}
}

func answerJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(text))
}

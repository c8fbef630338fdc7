package sim

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
)

// A request that is under way when the server stops gets its answer.
func TestServeLetsRequestsEnd(t *testing.T) {
	s, err := New(Config{})
	must.Do(t, err)
	entered, leave := make(chan struct{}), make(chan struct{})
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		io.WriteString(w, "done")
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served, answered := make(chan error, 1), make(chan string, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	go func() {
		resp, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answered <- string(body)
	}()
	<-entered
	stop()
	close(leave)
	if got := <-answered; got != "done" {
		t.Errorf("the answer was %q", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := net.DialTimeout("tcp", listener.Addr().String(), time.Second); err == nil {
		t.Error("it still listens")
	}
}

func TestServeTellsWhyItCannot(t *testing.T) {
	s, err := New(Config{})
	must.Do(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	listener.Close()
	if err := s.Serve(t.Context(), listener); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestCloseTwice(t *testing.T) {
	r, err := Start(Config{})
	must.Do(t, err)
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTranscriptIsBounded(t *testing.T) {
	var list transcript
	first := list.begin(Entry{})
	for range maxEntries {
		list.begin(Entry{})
	}
	list.end(first, 200) // it has been dropped, and that is no harm
	all := list.all()
	if len(all) != maxEntries || all[0].N != 2 || all[maxEntries-1].N != maxEntries+1 {
		t.Errorf("%d entries, from %d to %d", len(all), all[0].N, all[len(all)-1].N)
	}
}

package client

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
)

// A daemon that is reloaded often does not keep the connections of all the clients before.
func TestCloseIdleClosesConnections(t *testing.T) {
	closed := make(chan struct{}, 8)
	s := httptest.NewUnstartedServer(answer(200, entryJSON))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	c := overNetwork(t, s.URL)
	must.Do(t, get(c))
	c.CloseIdle()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Fatal("the connection stays open")
	}
	if err := get(c); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

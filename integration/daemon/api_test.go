package daemon

import (
	"bufio"
	"net/http"
	"net/http/httputil"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// TestAPIOfDaemon holds what a daemon answers to the description of the API: before a commit
// is in force, and with zones that are live, that differ, and a token.
func TestAPIOfDaemon(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(3))
	s, _ := observing(t, p, `observe: [{labels: tier: "gold"}]`+"\n")
	s.Start()
	at, err := url.Parse("http://" + s.Address())
	must.Do(t, err)
	api := pagetest.NewAPI(t, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }})
	ask := func(commit string) {
		t.Helper()
		for _, path := range []string{
			"status", "zones", "zones/" + mem.FleetZone(1).Text(), "zones/" + mem.FleetZone(2).Text(), "zones/none", "commits", "commits/" + commit, "history",
			"history?zone=" + mem.FleetZone(1).Text(), "tokens", "radar", "radar/1", "deprecations", "pulls", "pulls/1", "outages", "credentials",
		} {
			api.Get(t, "/api/v1/"+path)
		}
	}
	ask("0000") // there is no commit yet
	gold := `account: prod: zone: "zone-00002.example": labels: tier: "gold"` + "\n"
	s.Repo.Commit("edge.cue", harness.Declare(3, 25)+gold+observedToken)
	s.Poll("a zone differs, and the others are live", func() bool {
		return p.Threshold(mem.FleetZone(3)) == 25 && s.Metric("seawall_zones", "state", "observed") == 1
	})
	ask(s.Good())
}

// TestStreamsOfDaemon: open streams of events do not delay the end of the daemon, nor a reload.
func TestStreamsOfDaemon(t *testing.T) {
	t.Parallel()
	s := harness.NewService(t, harness.StartPlatform(t, harness.Fleet(1)), harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(1, 25))
	s.Start()
	s.PollReady()
	open := func() *http.Response {
		r, err := http.Get("http://" + s.Address() + "/events")
		must.Do(t, err)
		t.Cleanup(func() { r.Body.Close() })
		if r.StatusCode != http.StatusOK {
			t.Fatal(r.Status)
		}
		return r
	}
	ended := func(r *http.Response) {
		t.Helper()
		began := time.Now()
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("a stream has ended after %v", took)
		}
	}
	first := open()
	s.Signal(syscall.SIGHUP)
	ended(first)
	s.Poll("the next daemon serves", func() bool { return len(s.Logged("serving")) == 2 })
	s.WantAddress()
	s.PollReady()
	all := []*http.Response{open(), open(), open()}
	began := time.Now()
	s.Signal(syscall.SIGTERM)
	for _, r := range all {
		ended(r)
	}
	s.WantEnd(0)
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("with open streams the daemon took %v to end", took)
	}
}

package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/soak"
)

// notification is what a test receives of notifications, each try of one.
type notification struct {
	ID, Cause, State, Severity, Title, Text string
}

// inbox is a webhook of a test. While it cuts, it takes a message about a commit, or a test, and
// gives no answer.
type inbox struct {
	*httptest.Server
	cuts atomic.Bool

	mu  sync.Mutex
	got []notification
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	i := &inbox{}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var n notification
		if err := json.Unmarshal(body, &n); err != nil || r.Header.Get("Webhook-Id") != n.ID {
			t.Errorf("not a notification with its id: %s", body)
		}
		i.mu.Lock()
		i.got = append(i.got, n)
		i.mu.Unlock()
		if i.cuts.Load() && !strings.HasPrefix(n.Cause, "outage/") {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *inbox) all() []notification {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.got)
}

func (i *inbox) has(cause, state string) bool {
	return slices.ContainsFunc(i.all(), func(n notification) bool { return strings.HasPrefix(n.Cause, cause) && n.State == state })
}

// route is a configuration of one route, to an inbox.
func (i *inbox) route(s *harness.Service) string {
	s.Write("hook", i.URL+"/hooks/in-the-path\n")
	s.Write("hook-key", "a-key-of-the-tests-alone-0001\n")
	return fmt.Sprintf("notify: routes: ops: {severity: \"info\", to: webhook: {url: file: %q, secret: file: %q}}\n",
		filepath.Join(s.Dir, "hook"), filepath.Join(s.Dir, "hook-key"))
}

// TestNotificationsSurviveKills: a daemon that is killed while a message is under way sends it
// again with the same id, and none is lost: each held commit has one beginning and one end.
func TestNotificationsSurviveKills(t *testing.T) {
	t.Parallel()
	rounds := 3
	if soak.On {
		rounds = 100
	}
	p := harness.StartPlatform(t, harness.Fleet(2))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	in := newInbox(t)
	s.Configure(s.Config.Text(s) + in.route(s))
	s.Repo.Commit("edge.cue", harness.Declare(2, 25))
	s.Start()
	for round := range rounds {
		bad := s.Repo.Commit("edge.cue", strings.ReplaceAll(harness.Declare(2, 30+round), `"block"`, `"blok"`))
		for _, state := range []string{"begins", "ends"} {
			in.cuts.Store(true)
			s.Poll("the "+state+" is under way", func() bool { return in.has("commit/"+bad, state) })
			s.Kill()
			s.Start()
			in.cuts.Store(false)
			s.Poll("it is sent again", func() bool {
				return slices.ContainsFunc(s.Logged("a notification was sent"), func(line map[string]any) bool {
					return line["cause"] == "commit/"+bad && line["state"] == state
				})
			})
			if state == "begins" {
				s.Repo.Commit("edge.cue", harness.Declare(2, 30+round))
			}
		}
	}
	wantPairs(t, in.all(), rounds)
	if out := s.Output(); strings.Contains(out, "in-the-path") || strings.Contains(out, "a-key-of-the-tests") {
		t.Errorf("the log has an address or a key:\n%s", out)
	}
}

// wantPairs: each cause has one id for its beginning, however often that came, and one for its
// end, in this order.
func wantPairs(t *testing.T, got []notification, want int) {
	t.Helper()
	ids, repeated := map[string][]string{}, 0
	for _, n := range got {
		if !strings.HasPrefix(n.Cause, "commit/") {
			continue
		}
		id := n.State + " " + n.ID
		if slices.Contains(ids[n.Cause], id) {
			repeated++
			continue
		}
		ids[n.Cause] = append(ids[n.Cause], id)
	}
	if len(ids) != want || repeated < want {
		t.Errorf("%d causes and %d repetitions, want %d of each at least: %v", len(ids), repeated, want, got)
	}
	for cause, list := range ids {
		if len(list) != 2 || !strings.HasPrefix(list[0], "begins ") || !strings.HasPrefix(list[1], "ends ") {
			t.Errorf("%s: %v, want one beginning and one end", cause, list)
		}
	}
}

// TestNotificationsOfAnOutage: an outage of the platform is one message, whatever its zones come
// to; a route that does not work holds up
// nothing, and is itself reported to the others.
func TestNotificationsOfAnOutage(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(20))
	base, err := url.Parse(p.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	var down atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: base.Scheme, Host: base.Host})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s := harness.NewService(t, p, harness.ServiceConfig{BaseURL: front.URL + base.Path, Sweep: "@every 1s"})
	in := newInbox(t)
	s.Write("nowhere", "http://127.0.0.1:1/\n")
	s.Configure(s.Config.Text(s) + in.route(s) + fmt.Sprintf("notify: routes: chat: to: slack: url: file: %q\n", filepath.Join(s.Dir, "nowhere")))
	s.Repo.Commit("edge.cue", harness.Declare(20, 25))
	s.Start()
	s.PollReady()
	// What both routes are to say at once, so that the one that does not work is found out meanwhile.
	held := s.Repo.Commit("edge.cue", strings.ReplaceAll(harness.Declare(20, 26), `"block"`, `"blok"`))
	s.Poll("a commit is held", func() bool { return in.has("commit/"+held, "begins") })
	down.Store(true)
	// Which call fails first decides whether it is the platform's outage or that of its one account.
	s.Poll("the outage begins", func() bool { return in.has("outage/platform/", "begins") || in.has("outage/account/", "begins") })
	s.Poll("the route that does not work is reported", func() bool { return in.has("outage/route/chat", "begins") })
	ids := map[string]bool{} // a message whose answer comes late is sent again
	for _, n := range in.all() {
		if n.Cause == "commit/"+held {
			continue
		}
		ids[n.ID] = true
		if !strings.HasPrefix(n.Cause, "outage/platform/") && !strings.HasPrefix(n.Cause, "outage/account/") && n.Cause != "outage/route/chat" {
			t.Errorf("an outage of everything has caused %+v", n)
		}
	}
	if len(ids) > 3 {
		t.Errorf("%d messages: %+v", len(ids), in.all())
	}
}

// TestNotifyTest: a test needs no daemon, says what the other side has answered, and prints no
// address.
func TestNotifyTest(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(1))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	in := newInbox(t)
	s.Configure(s.Config.Text(s) + in.route(s))
	harness.Run(t, nil, "notify", "test", "ops", "--config", s.ConfigFile()).Want(t, 0, "route ops has accepted a test")
	if !in.has("test", "test") {
		t.Errorf("got %v", in.all())
	}
	harness.Run(t, nil, "notify", "test", "opps", "--config", s.ConfigFile()).Want(t, 1, `did you mean "ops"?`)
	in.cuts.Store(true)
	o := harness.Run(t, nil, "notify", "test", "ops", "--config", s.ConfigFile())
	o.Want(t, 1, "route ops: EOF", "notify.routes.ops")
	o.WantNo(t, "in-the-path")
}

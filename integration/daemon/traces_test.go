package daemon

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/redact/redacttest"
	"github.com/seawall-dev/seawall/integration/harness"
)

// TestTraces: one commit gives a trace of the look at git, and one of the work on the zone,
// down to each request, which is linked to it; the lines of the log have their ids.
func TestTraces(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(1))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	collector, in := harness.StartCollector(t), newInbox(t)
	s.Write("tokens", p.TokensToken.Reveal()+"\n")
	sign(s)
	s.Configure(s.Config.Text(s) + collector.Config(s) + in.route(s) + fmt.Sprintf(
		"credentials: tokens: file: %q\nsinks: ci: file: root: %q\nsource: verify: ssh: %q\n",
		filepath.Join(s.Dir, "tokens"), filepath.Join(s.Dir, "sink"), filepath.Join(s.Dir, "signers")))
	commit := s.Repo.Commit("edge.cue", harness.Declare(1, 25)+harness.DeclareTokens("ci-dns")[len("package edge\n"):])
	harness.Run(t, nil, "token", "init", "--config", s.ConfigFile()).Want(t, 0)
	s.Start()
	s.Poll("the commit is live", func() bool { return p.Threshold(mem.FleetZone(1)) == 25 })
	s.Poll("the token is there", func() bool { return len(s.Logged("token written")) > 0 })
	bad := s.Repo.Commit("edge.cue", "package edge\n\nbroken: {")
	s.Poll("a notification was sent", func() bool { return in.has("commit/"+bad, "begins") })
	s.Poll("it is logged", func() bool { return len(s.Logged("a notification was sent")) > 0 })
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)

	look := collector.Find("decide", "seawall.outcome", "accepted")
	if look == nil || look.Attributes["seawall.commit"] != commit {
		t.Fatalf("no look has accepted the commit: %+v", look)
	}
	root := collector.Find("sync", "seawall.commit", commit)
	for _, name := range []string{"git.fetch", "evaluate"} {
		if span := collector.Find(name, "seawall.commit", commit); span == nil || span.Trace != root.Trace || !collector.Within(span, root) {
			t.Errorf("%s is not in the look at git: %+v", name, span)
		}
	}
	zone := collector.Find("zone", "seawall.zone.id", mem.FleetZone(1).ID)
	if zone == nil || zone.Trace == root.Trace || !slices.Equal(zone.Links, []string{root.ID}) {
		t.Fatalf("the work on the zone is not linked to the look %s: %+v", root.ID, zone)
	}
	for key, want := range map[string]string{
		"seawall.commit": commit, "seawall.priority": "push", "seawall.outcome": "in_sync", "seawall.zone.name": "zone-00001.example",
	} {
		if zone.Attributes[key] != want {
			t.Errorf("%s of the zone is %q, want %q", key, zone.Attributes[key], want)
		}
	}
	if span := collector.Find("git.verify", "", ""); span == nil || !collector.Within(span, collector.Find("git.fetch", "seawall.commit", commit)) {
		t.Errorf("the check of signatures is not in the fetch: %+v", span)
	}
	for _, name := range []string{"zone.read", "zone.plan", "zone.guard", "zone.write", "zone.prove"} {
		if span := collector.Find(name, "", ""); span == nil || span.Parent != zone.ID {
			t.Errorf("%s is not in the work on the zone: %+v", name, span)
		}
	}
	call := collector.Find("platform.call", "seawall.call", "UpdateRule")
	if call == nil || !collector.Within(call, collector.Find("zone.write", "", "")) || call.Attributes["http.response.status_code"] != "200" {
		t.Errorf("the write is not in the work on the zone: %+v", call)
	}
	if line := s.Logged("change applied and proved")[0]; line["trace_id"] != zone.Trace || line["span_id"] == nil {
		t.Errorf("the line of the write has not the trace %s: %v", zone.Trace, line)
	}
	if line := s.Logged("a commit is held; the last good one stays in force")[0]; line["trace_id"] != collector.Find("sync", "seawall.commit", bad).Trace {
		t.Errorf("the line of the held commit has not its trace: %v", line)
	}
	if span := collector.Find("notification", "seawall.route", "ops"); span == nil || !collector.Within(collector.Find("notification.call", "", ""), span) {
		t.Errorf("no span of the notification: %+v", span)
	}
	tokens := collector.Find("tokens", "seawall.commit", commit)
	if line := s.Logged("token written")[0]; tokens == nil || line["trace_id"] != tokens.Trace || !collector.Within(collector.Find("sink.deliver", "seawall.sink", "ci"), tokens) {
		t.Errorf("the work on the token is not in a trace of its own: %+v, %v", tokens, line)
	}
	all := []string{p.RulesetsToken.Reveal(), p.TokensToken.Reveal()}
	for _, token := range p.Platform.Tokens() {
		all = append(all, token.Value)
	}
	secrets := redacttest.For(append(all, harness.CollectorKey, "/hooks/in-the-path", "a-key-of-the-tests-alone-0001")...)
	if found := secrets.In(collector.Received()); found != "" {
		t.Errorf("the traces have %s", found)
	}
	wantDocumented(t, collector)
}

// sign has all commits of a service's repository signed by a key, which the file signers
// names.
func sign(s *harness.Service) {
	key := gittest.NewKey(s.T)
	public := string(ssh.MarshalAuthorizedKey(key.Public))
	s.Write("ana", key.PEM)
	s.Write("ana.pub", public)
	s.Write("signers", `ana@example.com namespaces="git" `+public)
	s.Repo.Git("config", "gpg.format", "ssh")
	s.Repo.Git("config", "user.signingkey", filepath.Join(s.Dir, "ana"))
	s.Repo.Git("config", "commit.gpgsign", "true")
}

// wantDocumented holds the table of spans to those that were received.
func wantDocumented(t *testing.T, c *harness.Collector) {
	t.Helper()
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z.]+)` \\|.*$").FindAllStringSubmatch(harness.ReadText(t, "../../docs/traces.md"), -1) {
		rows[row[1]] = row[0]
	}
	for _, span := range c.Spans() {
		row, ok := rows[span.Name]
		if !ok {
			t.Errorf("docs/traces.md has no span %s", span.Name)
		}
		for key := range span.Attributes {
			if !strings.Contains(row, "`"+key+"`") {
				t.Errorf("docs/traces.md does not say that the span %s has %s", span.Name, key)
			}
		}
	}
}

// TestTracesWithoutACollector: whatever the collector does, the daemon works on and ends at
// once, and the log says so once.
func TestTracesWithoutACollector(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not noticed
			<-r.Context().Done()
		},
		"refuses": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no: "+r.Header.Get("X-Api-Key"), http.StatusForbidden)
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/v1/elsewhere", http.StatusTemporaryRedirect)
		},
		"floods": func(w http.ResponseWriter, _ *http.Request) {
			for part := make([]byte, 1<<20); ; {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := harness.StartPlatform(t, harness.Fleet(1))
			s := harness.NewService(t, p, harness.ServiceConfig{})
			collector := harness.StartCollector(t)
			collector.Answer.Store(&answer)
			s.Configure(s.Config.Text(s) + collector.Config(s))
			s.Repo.Commit("edge.cue", harness.Declare(1, 25))
			s.Start()
			s.Poll("traces were sent", func() bool { return collector.Asked.Load() > 0 })
			s.Repo.Commit("edge.cue", harness.Declare(1, 26))
			s.Poll("it works on", func() bool { return p.Threshold(mem.FleetZone(1)) == 26 })
			if name == "refuses" || name == "redirects" {
				s.Poll("it is logged", func() bool { return len(s.Logged("outage began")) == 1 })
			}
			s.PollReady()
			began := time.Now()
			s.Signal(syscall.SIGTERM)
			s.WantEnd(0)
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("it took %s to end", took)
			}
			if n := len(s.Logged("outage began")); n > 1 {
				t.Errorf("%d lines about the collector", n)
			}
			if strings.Contains(s.Output(), harness.CollectorKey) {
				t.Error("the log has the key")
			}
		})
	}
}

// TestNoTraces: without them in the configuration nothing is sent, whatever the environment
// says, and no line of the log has an id.
func TestNoTraces(t *testing.T) {
	t.Parallel()
	collector := harness.StartCollector(t)
	p := harness.StartPlatform(t, harness.Fleet(1))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	s.Env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "OTEL_TRACES_EXPORTER=otlp"}
	s.Repo.Commit("edge.cue", harness.Declare(1, 25))
	s.Start()
	s.Poll("the commit is live", func() bool { return p.Threshold(mem.FleetZone(1)) == 25 })
	time.Sleep(6 * time.Second) // longer than a batch waits
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
	if n := collector.Asked.Load(); n > 0 || strings.Contains(s.Output(), "trace_id") {
		t.Errorf("%d requests with traces, and the log:\n%s", n, s.Output())
	}
}

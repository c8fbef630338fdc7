package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/redact/redacttest"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// No secret is ever told: not on either stream, not in a log at its most
// talkative, not in the state directory, not by the daemon's pages, whatever
// goes wrong on the way. The servers here even repeat what they were sent. Where
// all is in order every command runs in every format; of what goes wrong go test
// sees some, with a plan as text, and a daemon and an apply as JSON, and a soak all.
func TestNoSecretIsTold(t *testing.T) {
	t.Parallel()
	w := newLeakWorld(t)
	all := map[string]func(*leakRun){
		"in order":             func(*leakRun) {},
		"from a folder":        func(r *leakRun) { r.folder = true },
		"throttled":            func(r *leakRun) { r.quirks = []string{"throttle=9"} },
		"failing after writes": func(r *leakRun) { r.quirks = []string{"error-after=1", "messages-null"} },
		"cut off":              func(r *leakRun) { r.quirks = []string{"cut-after=1"} },
		"truncated":            func(r *leakRun) { r.quirks = []string{"truncate=9"} },
		"HTML":                 func(r *leakRun) { r.quirks = []string{"html=9"} },
		"platform refuses":     func(r *leakRun) { r.rulesets = "wrong-" + w.rulesets },
		"platform repeats 403": func(r *leakRun) { r.baseURL = w.parrot(http.StatusForbidden) },
		"platform repeats 401": func(r *leakRun) { r.baseURL = w.parrot(http.StatusUnauthorized) },
		"platform repeats 200": func(r *leakRun) { r.baseURL = w.parrot(http.StatusOK) },
		"no header can hold":   func(r *leakRun) { r.rulesets = w.rulesets + "\nmore" },
		"git refuses":          func(r *leakRun) { r.password = "wrong-" + w.password },
		"git is down":          func(r *leakRun) { r.source = "http://127.0.0.1:1/edge.git" },
		"git is no git":        func(r *leakRun) { r.source = w.parrot(http.StatusOK) + "/edge.git" },
		"address has it all": func(r *leakRun) {
			r.source = strings.Replace(r.source, "//", "//ada:"+url.QueryEscape(w.password)+"@", 1)
		},
		"base URL has it": func(r *leakRun) { r.baseURL = "https://x:" + w.rulesets + "@127.0.0.1:1/" },
		"same for both":   func(r *leakRun) { r.tokens = r.rulesets },
	}
	if !soak.On {
		for _, name := range []string{
			"from a folder", "throttled", "cut off", "platform repeats 200", "failing after writes", "HTML", "platform refuses", "platform repeats 403", "git is down", "git is no git", "same for both",
		} {
			delete(all, name)
		}
	}
	for name, change := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := w.run(t)
			r.all = soak.On || name == "in order"
			change(r)
			r.commands()
			w.grep(t, r.dir)
			if name == "in order" && r.pages != 2*len(pages) {
				t.Errorf("%d pages of daemons were searched, want %d", r.pages, 2*len(pages))
			}
		})
	}
}

// leakWorld holds the secrets and the servers that take them.
type leakWorld struct {
	t                          *testing.T
	rulesets, tokens, password string
	repository                 string // its address over HTTP
	parrots                    map[int]string
}

func newLeakWorld(t *testing.T) *leakWorld {
	seeded := mem.DefaultTokens()
	w := &leakWorld{t: t, rulesets: seeded[0].Value, tokens: seeded[1].Value, password: "git-pass/word+&%41-000001", parrots: map[int]string{}}
	repo := gittest.New(t)
	repo.Commit("edge.cue", leakState)
	w.repository = repo.HTTP("ada", w.password)
	for _, status := range []int{http.StatusOK, http.StatusUnauthorized, http.StatusForbidden} {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.Header().Set("X-Seen", req.Header.Get("Authorization"))
			rw.WriteHeader(status)
			said := "you sent " + redacttest.Echo(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "))
			_ = json.NewEncoder(rw).Encode(map[string]any{
				"success": false, "result": nil, "messages": []any{},
				"errors": []any{map[string]any{"code": 9109, "message": said}},
			})
		}))
		t.Cleanup(server.Close)
		w.parrots[status] = server.URL
	}
	return w
}

// parrot is the address of a server that repeats the credential it was sent.
func (w *leakWorld) parrot(status int) string { return w.parrots[status] }

const leakState = `package edge

account: prod: {
	id: "0123456789abcdef0123456789abcdef"
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": {id: "00000000000000000000000000000a01", waf: core: paranoia: 2}
	zone: "new.example": {id: "00000000000000000000000000000a03", waf: core: paranoia: 2}
}
`

// leakRun is one set of circumstances, and the folder into which everything
// that is told goes.
type leakRun struct {
	t                          *testing.T
	dir                        string
	rulesets, tokens, password string
	source, baseURL            string
	quirks                     []string
	folder                     bool
	all                        bool // every command in every format
	sim                        *sim.Running
	host                       *commandHost
	pages                      int // of daemons, read in full
}

func (w *leakWorld) run(t *testing.T) *leakRun {
	return &leakRun{t: t, dir: t.TempDir(), rulesets: w.rulesets, tokens: w.tokens, password: w.password, source: w.repository}
}

// commands runs every command that has a secret at hand.
func (r *leakRun) commands() {
	r.startSim()
	var err error
	if r.host, err = takeHost(); err != nil {
		r.t.Fatal(err)
	}
	defer r.host.release()
	secrets := r.t.TempDir() // apart from what is searched
	for name, value := range map[string]string{"rulesets": r.rulesets, "tokens": r.tokens, "password": r.password} {
		r.write(filepath.Join(secrets, name), value)
	}
	config := filepath.Join(r.dir, "config.cue")
	r.write(config, fmt.Sprintf(`
source: {url: %q, auth: basic: {username: "ada", password: file: %q}}
platform: base_url: %q
credentials: {rulesets: env: "SEAWALL_RULESETS_TOKEN", tokens: file: %q}
state: dir: %q
schedule: {sync: "@every 1h", sweep: "@every 2h"}
listen: "127.0.0.1:0"
`, r.source, filepath.Join(secrets, "password"), r.baseURL, filepath.Join(secrets, "tokens"), filepath.Join(r.dir, "state")))
	r.write(filepath.Join(r.dir, "desired", "edge.cue"), leakState)
	args := []string{"--config", config}
	if r.folder {
		args = []string{"--dir", filepath.Join(r.dir, "desired"), "--base-url", r.baseURL}
	}
	for _, format := range []string{"text", "json"} {
		loud := append([]string{"--log-level", "debug", "--log-format", format}, args...)
		if r.all || format == "text" {
			r.command("plan-"+format, append([]string{"plan", "-o", format}, loud...)...)
		}
		if r.all || format == "json" {
			r.daemon("run-"+format, append([]string{"run"}, loud...)...)
			r.command("apply-"+format, append([]string{"apply", "-o", format}, loud...)...)
		}
	}
	if r.all {
		r.command("apply-markdown", append([]string{"apply", "-o", "markdown"}, args...)...)
	}
	transcript, err := json.Marshal(r.sim.Transcript())
	must.Do(r.t, err)
	r.write(filepath.Join(r.dir, "transcript"), string(transcript))
}

func (r *leakRun) startSim() {
	var err error
	log := r.create("sim.log")
	r.sim, err = sim.Start(sim.Config{Quirks: r.quirks, Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	must.Do(r.t, err)
	r.t.Cleanup(func() { _ = r.sim.Close() })
	if r.baseURL == "" {
		r.baseURL = r.sim.BaseURL
	}
}

func (r *leakRun) write(path, text string) {
	r.t.Helper()
	must.Do(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(r.t, os.WriteFile(path, []byte(text), 0o600))
}

func (r *leakRun) create(name string) *os.File {
	r.t.Helper()
	file, err := os.Create(filepath.Join(r.dir, name))
	must.Do(r.t, err)
	r.t.Cleanup(func() { _ = file.Close() })
	return file
}

func (r *leakRun) env() map[string]string {
	return map[string]string{
		"PATH": os.Getenv("PATH"), "GORACE": quickExit,
		"SEAWALL_RULESETS_TOKEN": r.rulesets, "SEAWALL_TOKENS_TOKEN": r.tokens,
	}
}

// command runs to its end, in one process with the others of the run; how it ends is for
// other tests.
func (r *leakRun) command(name string, args ...string) {
	reply, err := r.host.run(call{Args: args, Env: r.env(), Dir: r.dir})
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	r.write(filepath.Join(r.dir, name+".out"), reply.Out)
	r.write(filepath.Join(r.dir, name+".err"), reply.Err)
	if code := reply.Code; code != 0 && code != 1 && code != 4 {
		r.t.Errorf("%s: exit code %d", name, code)
	}
}

// daemon runs until its first run is over, and keeps what its pages say.
func (r *leakRun) daemon(name string, args ...string) {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(r.t.Context(), "seawall", args...)
	cmd.Env, cmd.Stdout = pairs(r.env()), r.create(name+".out")
	log := r.create(name + ".err")
	lines, err := cmd.StderrPipe()
	must.Do(r.t, err)
	must.Do(r.t, cmd.Start())
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	scanner := bufio.NewScanner(io.TeeReader(lines, log))
	address := ""
	for scanner.Scan() {
		if _, after, ok := strings.Cut(scanner.Text(), "127.0.0.1:"); ok && strings.Contains(scanner.Text(), "serving") {
			address = "127.0.0.1:" + strings.FieldsFunc(after, func(c rune) bool { return c < '0' || c > '9' })[0]
		}
		if address != "" && strings.Contains(scanner.Text(), "trigger") {
			r.visit(name, address)
			_ = cmd.Process.Signal(syscall.SIGTERM)
			address = ""
		}
	}
	_ = cmd.Wait() // one whose configuration is refused ends by itself, with 1
	if ctx.Err() != nil {
		r.t.Errorf("%s: it told of no run", name)
	}
}

// pages are those of a daemon.
var pages = []string{"healthz", "readyz", "metrics", ""}

func (r *leakRun) visit(name, address string) {
	for _, page := range pages {
		resp, err := http.Get("http://" + address + "/" + page)
		if err != nil {
			r.t.Error(err)
			continue
		}
		if _, err := io.Copy(r.create(name+"-page-"+page), resp.Body); err != nil {
			r.t.Error(err)
		}
		resp.Body.Close()
		r.pages++
	}
}

// grep searches everything below dir for every piece of a secret.
func (w *leakWorld) grep(t *testing.T, dir string) {
	t.Helper()
	search := redacttest.For(w.rulesets, w.tokens, w.password)
	searched := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Type()&fs.ModeSocket != 0 {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		searched++
		if found := search.In(data); found != "" && filepath.Base(path) != "config.cue" {
			t.Errorf("%s has %s", filepath.Base(path), found)
		}
		return nil
	})
	must.Do(t, err)
	if searched < 8 {
		t.Errorf("only %d files were searched", searched)
	}
}

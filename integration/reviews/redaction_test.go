package reviews

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/redact/redacttest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"

	forges "github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// echoingPlatform stands before a platform and repeats, in every encoding, the credential
// that it was sent: in the live rule of one zone, in refusals, in failures of writes; and in
// failures of creations the secret that it has just made.
func echoingPlatform(t *testing.T, p *harness.Platform) string {
	to, err := url.Parse(p.BaseURL)
	must.Do(t, err)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
	proxy.ModifyResponse = func(answer *http.Response) error {
		said := redacttest.Echo(strings.TrimPrefix(answer.Request.Header.Get("Authorization"), "Bearer "))
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		path, zone := answer.Request.URL.Path, func(i int) bool { return strings.Contains(answer.Request.URL.Path, mem.FleetZone(i).String()) }
		switch write := answer.Request.Method != http.MethodGet; {
		case write && strings.HasSuffix(path, "/user/tokens"):
			answer.StatusCode, body = failed(500, redacttest.Echo(createdValue(body)))
		case write && zone(3):
			answer.StatusCode, body = failed(400, said)
		case zone(2):
			answer.StatusCode, body = failed(403, said)
		case zone(1) && answer.StatusCode == http.StatusOK:
			body = inLiveRule(body, said)
		}
		answer.Body = io.NopCloser(bytes.NewReader(body))
		answer.ContentLength = int64(len(body))
		answer.Header.Set("Content-Length", fmt.Sprint(len(body)))
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL + to.Path
}

func failed(status int, said string) (int, []byte) {
	body, _ := json.Marshal(map[string]any{
		"success": false, "messages": []any{}, "result": nil,
		"errors": []any{map[string]any{
			"code": 10013, "message": said, "documentation_url": "https://docs.example/?" + url.QueryEscape(said), "source": map[string]any{"pointer": "/" + said},
			"error_chain": []any{map[string]any{"code": 1, "message": said}},
		}},
	})
	return status, body
}

// createdValue is the secret in an answer to a creation.
func createdValue(body []byte) string {
	var answer struct{ Result struct{ Value string } }
	_ = json.Unmarshal(body, &answer)
	return answer.Result.Value
}

// inLiveRule puts text into the expression of a zone's rule, and into its description.
func inLiveRule(body []byte, said string) []byte {
	var answer map[string]any
	if json.Unmarshal(body, &answer) != nil {
		return body
	}
	result, _ := answer["result"].(map[string]any)
	rules, _ := result["rules"].([]any)
	for _, rule := range rules {
		rule, _ := rule.(map[string]any)
		rule["expression"], rule["description"] = "http.host eq \""+said+"\"", said
	}
	body, _ = json.Marshal(answer)
	return body
}

// TestRedactionEverywhere drives every path that can print, with a platform, a forge and
// a sink that repeat secrets in all encodings, and searches everything that the processes
// wrote: both streams, the pages, the state folder, comments and statuses.
func TestRedactionEverywhere(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.GitHub, 3, "@every 1s")
	const password = "git-pass/word+&%41-Zx81kQ"
	r.Config.Source = fmt.Sprintf("url: %q, auth: basic: {username: \"ada\", password: file: %q}", r.Repo.HTTP("ada", password), filepath.Join(r.Dir, "password"))
	r.Config.BaseURL = echoingPlatform(t, r.Platform)
	r.Write("password", password)
	r.Write("tokens", r.Platform.TokensToken.Reveal())
	rest := r.text()[strings.Index(r.text(), "forge: "):]
	collector := harness.StartCollector(t)
	r.Configure(r.Config.Text(r.Service) + rest + collector.Config(r.Service) + fmt.Sprintf("credentials: tokens: file: %q\nsinks: ci: %s\n", filepath.Join(r.Dir, "tokens"), echoingSink))
	secrets := []string{r.Platform.RulesetsToken.Reveal(), r.Platform.TokensToken.Reveal(), r.forge.Token, hookSecret, password, harness.CollectorKey}

	changed := strings.Replace(harness.Declare(3, 25), "waf: core: threshold", `waf: core: expression: "true", waf: core: threshold`, 1)
	r.Repo.Commit("edge.cue", changed+harness.DeclareTokens("ci-dns", "deploy", "metrics")[len("package edge\n"):])
	harness.Run(t, nil, "token", "init", "--config", r.ConfigFile()).Want(t, 0)
	r.forge.Break(func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method == http.MethodGet || strings.Contains(req.URL.Path, "comments") {
			return false
		}
		status, body := failed(422, redacttest.Echo(r.forge.Token))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(bytes.Replace(body, []byte(`"errors"`), []byte(`"message":"no","errors"`), 1))
		return true
	})
	r.Start()
	r.Poll("a run has ended", func() bool { return r.Runs() > 0 })
	r.head("edge.cue", strings.Replace(changed, "score: 25", "score: 26", 1))
	r.forge.Open(forgetest.Pull{Number: 1, Author: "dev", Title: "Zone 1 is stricter"})
	r.Poll("the plan is told", func() bool { return strings.HasPrefix(r.comment(), "<!--") })
	r.Poll("the forge refuses a status", func() bool { return strings.Contains(r.Output(), "422") })
	r.hook(hookSecret)

	search := redacttest.For(append(secrets, r.created()...)...)
	clean := func(what string, text []byte) {
		if found := search.In(text); found != "" {
			t.Errorf("%s has %s", what, found)
		}
	}
	seen := clean
	clean = func(what string, text []byte) {
		if seen(what, text); !bytes.Contains(text, []byte("[secret]")) && slices.Contains(mustEcho, what) {
			t.Errorf("%s repeats nothing that was echoed: the test shows nothing:\n%s", what, text)
		}
	}
	for _, page := range []string{"/healthz", "/readyz", "/metrics", "/status", "/status/zone?name=zone-00001.example"} {
		_, text := r.Get(page)
		clean(page, []byte(text))
	}
	clean("comment", []byte(r.comment()))
	say := func(commands ...string) {
		for _, command := range commands {
			clean(command, said(harness.Run(t, nil, append(strings.Fields(command), "--config", r.ConfigFile())...)))
		}
	}
	say("status", "status -o json", "why zone-00001.example", "why zone-00002.example", "why zone-00003.example")
	r.Signal(syscall.SIGTERM)
	r.WantEnd(0)
	clean("traces", collector.Received())
	for _, name := range []string{"review", "review.plan", "forge.call", "tokens", "tokens.write", "platform.call", "zone.write"} {
		if collector.Find(name, "", "") == nil {
			t.Errorf("there is no span %s", name)
		}
	}
	say("history", "history -o json", "token list", "doctor", "plan -o json", "plan -o markdown", "apply", "apply --log-level debug --log-format text")
	if soak.On { // as in a plan
		say("plan", "apply -o json", "apply -o markdown")
	}
	saved := filepath.Join(r.Dir, "saved.plan")
	clean("plan --out", said(harness.Run(t, nil, "plan", "--out", saved, "--config", r.ConfigFile())))
	clean("the saved plan", []byte(harness.ReadText(t, saved)))
	clean("the daemon", []byte(r.Output()))
	search = redacttest.For(append(secrets, r.created()...)...)
	if searched := r.eachFile(clean); searched < 8 {
		t.Errorf("only %d files were searched", searched)
	}
}

// mustEcho are what certainly quotes a server.
var mustEcho = []string{"comment", "traces", "the saved plan", "plan", "plan --out", "plan -o json", "plan -o markdown", "why zone-00002.example", "history", "the daemon", "apply"}

func said(o harness.Outcome) []byte { return []byte(o.Stdout + o.Stderr) }

// echoingSink refuses each secret, and repeats it in its own ways.
const echoingSink = `exec: argv: ["/bin/sh", "-c", "v=$(cat); echo $v; echo $v | base64; echo $v | od -An -tx1; echo $v | tr a-z A-Z >&2; exit 1"]`

// created are the secrets of all tokens.
func (r *reviewed) created() (values []string) {
	for _, token := range r.Platform.Platform.Tokens() {
		values = append(values, token.Value)
	}
	return values
}

// eachFile hands over each file that the program has written.
func (r *reviewed) eachFile(visit func(name string, text []byte)) (searched int) {
	r.T.Helper()
	err := filepath.WalkDir(filepath.Join(r.Dir, "state"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		searched++
		visit(path, data)
		return err
	})
	if err != nil {
		r.T.Error(err)
	}
	return searched
}

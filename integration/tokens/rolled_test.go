package tokens

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// echo stands before a platform. While it is on, every write takes effect, and is
// answered as a failure that repeats the request with its credential, and has the
// platform's own answer as its result.
type echo struct {
	address string // in place of the platform's
	on      atomic.Bool
	nth     atomic.Int32
}

func newEcho(t *testing.T, platform string) *echo {
	t.Helper()
	target, err := url.Parse(platform)
	must.Do(t, err)
	path := target.Path
	target.Path = ""
	e := &echo{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = e.answer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Set("X-Sent", fmt.Sprintf("%s with %s", body, r.Header.Get("Authorization")))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	e.address = server.URL + path
	return e
}

func (e *echo) answer(response *http.Response) error {
	request := response.Request
	if !e.on.Load() || request.Method == http.MethodGet {
		return nil
	}
	told, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"success": false, "result": json.RawMessage(told), "messages": []any{string(told)},
		"errors": []any{map[string]any{"code": 1001, "message": "cannot take " + request.Header.Get("X-Sent")}},
	})
	if err != nil {
		return err
	}
	switch n := e.nth.Add(1); {
	case n%2 == 0:
		response.StatusCode = http.StatusInternalServerError
	case n%3 == 0 && request.Method == http.MethodPut: // of a creation it would say that there is none
		response.StatusCode = http.StatusBadRequest
	default:
		response.StatusCode, body = http.StatusOK, body[:len(body)-1] // no JSON
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Set("Content-Length", fmt.Sprint(len(body)))
	return nil
}

// TestNoRolledSecretIsTold: the same where the platform lists its tokens: secrets
// that were lost with their answers are replaced, tokens are updated and deleted,
// and every such write fails at first, in answers that repeat what they can.
func TestNoRolledSecretIsTold(t *testing.T) {
	t.Parallel()
	quirks := []string{"echo"}
	if soak.On {
		quirks = append(quirks, "cut-after=1")
	}
	for _, quirk := range quirks {
		t.Run(quirk, func(t *testing.T) {
			t.Parallel()
			config := harness.Fleet(1)
			config.Profile = mem.Extended
			p, dir, repo := harness.StartPlatform(t, config), t.TempDir(), gittest.New(t)
			w, e := tokenWorldOn(p, dir, "file://"+repo.Dir), newEcho(t, p.BaseURL)
			w.Extended = true
			if quirk == "echo" {
				w.tokenPlace.BaseURL = e.address
			}
			folder := filepath.Join(t.TempDir(), "taken")
			f := newTokenForgeIn(w, dir, repo, parrot(folder))
			f.Sink = folder
			bad := func(on bool) {
				if e.on.Store(on && quirk == "echo"); on && quirk != "echo" {
					f.quirks([]string{quirk})
				} else {
					f.quirks(nil)
				}
			}

			formats := []string{"json", "text"}
			if soak.On {
				formats = append(formats, "markdown")
			}
			for _, format := range formats { // creations, then rolls
				bad(true)
				f.tell("apply", format).Want(t, 4)
			}
			if n := rolled(f.tokenWorld.Platform); n == 0 {
				t.Error("no token was to get another secret")
			}
			bad(false)
			f.tell("apply", "json").Want(t, 4) // the sink refuses
			f.tell("plan", "json").Want(t, 4, "undelivered")
			f.serve()
			must.Do(t, os.Mkdir(folder, 0o700))
			f.tell("apply", "json").Want(t, 0)
			f.ends()

			f.repo.Commit("edge.cue", strings.ReplaceAll(harness.DeclareTokens(tokenKeys...), mem.RulesGroup+`"}]`, mem.RulesGroup+`"}, {id: "`+mem.ZoneLogsGroup+`"}]`))
			bad(true)
			for _, format := range formats[1:] {
				f.tell("plan", format)
				f.tell("apply", format)
			}
			bad(false)
			f.tell("apply", "json").Want(t, 0)
			f.ends()
			f.tellAll()
		})
	}
}

// rolled counts the requests for another secret.
func rolled(p *harness.Platform) (n int) {
	for _, entry := range p.Transcript() {
		if entry.Method == http.MethodPut && strings.HasSuffix(entry.Path, "/value") {
			n++
		}
	}
	return n
}

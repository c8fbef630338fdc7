package forge_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/forge"
)

const (
	hookSecret = "It's a Secret to Everybody"
	hookBody   = "Hello, World!"
	// GitHub's own example for these two.
	hookHex = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
)

func hook(kind forge.Kind, secret string) forge.Hook {
	return forge.Hook{Kind: kind, Secret: func() (edge.Secret, error) { return edge.NewSecret(secret), nil }}
}

// post sends to a handler and returns the status and what else it did.
func post(t testing.TB, handler http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/hook/git", strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, r)
	return answer
}

func TestHooks(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	signing := "whsec_" + base64.StdEncoding.EncodeToString(key)
	m := hmac.New(sha256.New, key)
	m.Write([]byte("id-1.1700000000." + hookBody))
	standard := "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))
	m = hmac.New(sha256.New, nil)
	m.Write([]byte("id-1.1700000000." + hookBody))
	keyless := "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))
	for _, test := range []struct {
		name   string
		hook   forge.Hook
		header []string
		want   int
	}{
		{"github push", hook(forge.GitHub, hookSecret), []string{"X-Hub-Signature-256", "sha256=" + hookHex, "X-GitHub-Event", "push"}, 202},
		{"github review", hook(forge.GitHub, hookSecret), []string{"X-Hub-Signature-256", "sha256=" + strings.ToUpper(hookHex), "X-GitHub-Event", "pull_request_review"}, 202},
		{"github ping", hook(forge.GitHub, hookSecret), []string{"X-Hub-Signature-256", "sha256=" + hookHex, "X-GitHub-Event", "ping"}, 204},
		{"github star", hook(forge.GitHub, hookSecret), []string{"X-Hub-Signature-256", "sha256=" + hookHex, "X-GitHub-Event", "star"}, 204},
		{"github unsigned", hook(forge.GitHub, hookSecret), []string{"X-GitHub-Event", "push"}, 401},
		{"github unsigned ping", hook(forge.GitHub, hookSecret), []string{"X-GitHub-Event", "ping"}, 401},
		{"github with SHA-1", hook(forge.GitHub, hookSecret), []string{"X-Hub-Signature", "sha1=" + hookHex, "X-GitHub-Event", "push"}, 401},
		{"github without prefix", hook(forge.GitHub, hookSecret), []string{"X-Hub-Signature-256", hookHex, "X-GitHub-Event", "push"}, 401},
		{"github half", hook(forge.GitHub, hookSecret), []string{"X-Hub-Signature-256", "sha256=" + hookHex[:32], "X-GitHub-Event", "push"}, 401},
		{"github empty", hook(forge.GitHub, hookSecret), []string{"X-Hub-Signature-256", "sha256=", "X-GitHub-Event", "push"}, 401},
		{"github wrong secret", hook(forge.GitHub, hookSecret+"!"), []string{"X-Hub-Signature-256", "sha256=" + hookHex, "X-GitHub-Event", "push"}, 401},
		{"the secret itself", hook(forge.GitHub, hookSecret), []string{"X-Gitlab-Token", hookSecret, "Authorization", "Bearer " + hookSecret, "X-GitHub-Event", "push"}, 401},
		{"gitlab push", hook(forge.GitLab, hookSecret), []string{"X-Gitlab-Token", hookSecret, "X-Gitlab-Event", "Push Hook"}, 202},
		{"gitlab merge request", hook(forge.GitLab, hookSecret), []string{"X-Gitlab-Token", hookSecret, "X-Gitlab-Event", "Merge Request Hook"}, 202},
		{"gitlab job", hook(forge.GitLab, hookSecret), []string{"X-Gitlab-Token", hookSecret, "X-Gitlab-Event", "Job Hook"}, 204},
		{"gitlab wrong", hook(forge.GitLab, hookSecret), []string{"X-Gitlab-Token", hookSecret[:10], "X-Gitlab-Event", "Push Hook"}, 401},
		{"gitlab none", hook(forge.GitLab, hookSecret), []string{"X-Gitlab-Event", "Push Hook"}, 401},
		{"gitlab signed", hook(forge.GitLab, signing), []string{"webhook-id", "id-1", "webhook-timestamp", "1700000000", "webhook-signature", "v1,AAAA " + standard, "X-Gitlab-Event", "Push Hook"}, 202},
		{"gitlab signed another", hook(forge.GitLab, signing), []string{"webhook-id", "id-2", "webhook-timestamp", "1700000000", "webhook-signature", standard, "X-Gitlab-Event", "Push Hook"}, 401},
		{"gitlab other version", hook(forge.GitLab, signing), []string{"webhook-id", "id-1", "webhook-timestamp", "1700000000", "webhook-signature", standard[3:], "X-Gitlab-Event", "Push Hook"}, 401},
		{"gitlab signing token shown", hook(forge.GitLab, signing), []string{"X-Gitlab-Token", signing, "X-Gitlab-Event", "Push Hook"}, 401},
		{"gitlab signing token malformed", hook(forge.GitLab, "whsec_!"), []string{"X-Gitlab-Token", "whsec_!", "X-Gitlab-Event", "Push Hook"}, 401},
		{"gitlab signing token empty", hook(forge.GitLab, "whsec_"), []string{"webhook-id", "id-1", "webhook-timestamp", "1700000000", "webhook-signature", keyless, "X-Gitlab-Event", "Push Hook"}, 401},
		{"gitea", hook(forge.Gitea, hookSecret), []string{"X-Gitea-Signature", hookHex, "X-Gitea-Event", "push"}, 202},
		{"forgejo", hook(forge.Gitea, hookSecret), []string{"X-Forgejo-Signature", hookHex, "X-Gitea-Event", "pull_request_approved"}, 202},
		{"gitea issue", hook(forge.Gitea, hookSecret), []string{"X-Gitea-Signature", hookHex, "X-Gitea-Event", "issues"}, 204},
		{"gitea wrong", hook(forge.Gitea, hookSecret), []string{"X-Gitea-Signature", strings.Repeat("0", 64), "X-Gitea-Event", "push"}, 401},
		{"generic signed", hook(forge.Generic, hookSecret), []string{"X-Signature-256", "sha256=" + hookHex}, 202},
		{"generic bearer", hook(forge.Generic, hookSecret), []string{"Authorization", "Bearer " + hookSecret}, 202},
		{"generic basic", hook(forge.Generic, hookSecret), []string{"Authorization", hookSecret}, 401},
		{"generic nothing", hook(forge.Generic, hookSecret), nil, 401},
		{"no kind", hook("svn", hookSecret), []string{"Authorization", "Bearer " + hookSecret}, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			pokes, outcomes := 0, []forge.Outcome(nil)
			other := hook(forge.Generic, "the secret of another hook")
			handler := forge.Handler([]forge.Hook{other, test.hook, other}, func(o forge.Outcome) { outcomes = append(outcomes, o) }, forge.Spaced(poker(func() { pokes++ })))
			answer := post(t, handler, hookBody, test.header...)
			want := map[int]forge.Outcome{202: forge.Poked, 204: forge.Ignored, 401: forge.Unverified}[test.want]
			if answer.Code != test.want || (pokes == 1) != (test.want == 202) || !slices.Equal(outcomes, []forge.Outcome{want}) {
				t.Errorf("status %d, want %d; pokes %d times, told %q", answer.Code, test.want, pokes, outcomes)
			}
			if answer.Body.Len() > 0 {
				t.Errorf("it says %q", answer.Body)
			}
			if test.want != 401 {
				if again := post(t, handler, hookBody+" ", test.header...); strings.Contains(strings.Join(test.header, " "), hookHex) && again.Code != 401 {
					t.Errorf("another body: status %d", again.Code)
				}
			}
		})
	}
}

func TestHookMethods(t *testing.T) {
	handler := forge.Handler([]forge.Hook{hook(forge.Generic, hookSecret)}, ignore, forge.Spaced(poker(func() { t.Error("pokes") })))
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "post"} {
		r := httptest.NewRequest(method, "/hook/git", nil)
		r.Header.Set("Authorization", "Bearer "+hookSecret)
		answer := httptest.NewRecorder()
		if handler.ServeHTTP(answer, r); answer.Code != 405 || answer.Header().Get("Allow") != "POST" {
			t.Errorf("%s: status %d", method, answer.Code)
		}
	}
}

func TestHookBodies(t *testing.T) {
	pokes := 0
	handler := forge.Handler([]forge.Hook{hook(forge.Generic, hookSecret)}, ignore, forge.Spaced(poker(func() { pokes++ })))
	bearer := []string{"Authorization", "Bearer " + hookSecret}
	if got := post(t, handler, strings.Repeat("x", 1<<20+1), bearer...); got.Code != 413 || pokes != 0 {
		t.Errorf("one byte too many: status %d, pokes %d times", got.Code, pokes)
	}
	r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("x"), iotest.ErrReader(errors.New("broken off"))))
	r.Header.Set(bearer[0], bearer[1])
	answer := httptest.NewRecorder()
	if handler.ServeHTTP(answer, r); answer.Code != 408 || pokes != 0 {
		t.Errorf("broken off: status %d, pokes %d times", answer.Code, pokes)
	}
	if got := post(t, handler, strings.Repeat("x", 1<<20), bearer...); got.Code != 202 || pokes != 1 {
		t.Errorf("just right: status %d, pokes %d times", got.Code, pokes)
	}
}

// A secret that cannot be read lets nobody in, and an empty one no more.
func TestHookWithoutSecret(t *testing.T) {
	empty := hmac.New(sha256.New, nil)
	empty.Write([]byte(hookBody))
	signed := []string{"X-Hub-Signature-256", "sha256=" + hex.EncodeToString(empty.Sum(nil)), "X-GitHub-Event", "push"}
	unreadable := forge.Hook{Kind: forge.GitHub, Secret: func() (edge.Secret, error) { return edge.Secret{}, errors.New("no file") }}
	for name, test := range map[string]struct {
		hooks []forge.Hook
		want  int
	}{
		"empty":       {[]forge.Hook{hook(forge.GitHub, "")}, 503},
		"unreadable":  {[]forge.Hook{unreadable}, 503},
		"one of two":  {[]forge.Hook{unreadable, hook(forge.GitLab, hookSecret)}, 401},
		"no hooks":    {nil, 401},
		"bare bearer": {[]forge.Hook{hook(forge.Generic, "")}, 503},
	} {
		handler := forge.Handler(test.hooks, ignore, forge.Spaced(poker(func() { t.Error("pokes") })))
		if got := post(t, handler, hookBody, append(signed, "Authorization", "Bearer ")...); got.Code != test.want {
			t.Errorf("%s: status %d, want %d", name, got.Code, test.want)
		}
	}
}

func TestCheckHooks(t *testing.T) {
	if err := forge.CheckHooks([]forge.Hook{hook(forge.Generic, hookSecret), hook(forge.Gitea, hookSecret)}); err != nil {
		t.Error(err)
	}
	unreadable := forge.Hook{Kind: forge.GitHub, Secret: func() (edge.Secret, error) { return edge.Secret{}, errors.New("no file") }}
	for want, bad := range map[string]forge.Hook{
		`is called "svn"`: hook("svn", hookSecret), "fewer than 16": hook(forge.GitLab, "short"), "no file": unreadable,
	} {
		err := forge.CheckHooks([]forge.Hook{hook(forge.Generic, hookSecret), bad})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "short") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A storm of genuine requests is one look a second, and the last is never lost.
func TestHookStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pokes []time.Duration
		start := time.Now()
		handler := forge.Handler([]forge.Hook{hook(forge.Generic, hookSecret)}, ignore, forge.Spaced(poker(func() { pokes = append(pokes, time.Since(start)) })))
		for range 20 {
			post(t, handler, hookBody, "Authorization", "Bearer "+hookSecret)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if want := []time.Duration{0, time.Second, 2 * time.Second}; !slices.Equal(pokes, want) {
			t.Errorf("pokes at %v, want %v", pokes, want)
		}
	})
}

func TestHookLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := forge.Handler([]forge.Hook{hook(forge.Generic, hookSecret)}, ignore, forge.Spaced(poker(func() {})))
		count := map[int]int{}
		for range 100 {
			count[post(t, handler, hookBody).Code]++
		}
		if fmt.Sprint(count) != "map[401:10 429:90]" {
			t.Errorf("statuses %v", count)
		}
		time.Sleep(time.Second)
		if got := post(t, handler, hookBody, "Authorization", "Bearer "+hookSecret); got.Code != 202 {
			t.Errorf("a second later: status %d", got.Code)
		}
	})
}

// A forge hears of a success once the poke is on record, and not where it cannot be.
func TestHookThatCannotBeRecorded(t *testing.T) {
	var told []forge.Outcome
	away := func(context.Context) error { return errors.New("the database is away") }
	handler := forge.Handler([]forge.Hook{hook(forge.Generic, hookSecret)}, func(o forge.Outcome) { told = append(told, o) }, away)
	if got := post(t, handler, hookBody, "Authorization", "Bearer "+hookSecret); got.Code != 503 || !slices.Equal(told, []forge.Outcome{forge.Unready}) {
		t.Errorf("status %d, told %v", got.Code, told)
	}
}

// A sender that is slow on purpose is cut off.
func TestSlowSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := http.Server{Handler: forge.Handler([]forge.Hook{hook(forge.Generic, hookSecret)}, ignore, forge.Spaced(poker(func() { t.Error("pokes") })))}
		listener := must.Listen()
		go func() { _ = server.Serve(listener) }()
		defer server.Close()
		start, sender := time.Now(), listener.Dial()
		fmt.Fprintf(sender, "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", hookSecret)
		answer, err := http.ReadResponse(bufio.NewReader(sender), nil)
		if took := time.Since(start); err != nil || answer.StatusCode != 408 || took != 10*time.Second {
			t.Errorf("after %v: %v, %v", took, answer, err)
		}
	})
}

// Nobody gets in, and nothing panics, whatever is sent without the secret.
func FuzzHandler(f *testing.F) {
	f.Add("sha256="+hookHex, "push", "token", "id", "v1,AAAA", []byte(hookBody+"?"))
	f.Add("", "", "", "", "", []byte(nil))
	f.Add("sha256=zz", "ping", "Bearer ", "\x00", "v1, v1,=", []byte("{}"))
	f.Fuzz(func(t *testing.T, signature, event, token, id, standard string, body []byte) {
		var hooks []forge.Hook
		for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea, forge.Generic} {
			hooks = append(hooks, hook(kind, hookSecret))
		}
		hooks = append(hooks, hook(forge.GitLab, "whsec_"+base64.StdEncoding.EncodeToString([]byte(hookSecret))))
		genuine := token == hookSecret || string(body) == hookBody && strings.Contains(strings.ToLower(signature), hookHex)
		pokes := 0
		answer := post(t, forge.Handler(hooks, ignore, forge.Spaced(poker(func() { pokes++ }))), string(body),
			"X-Hub-Signature-256", signature, "X-Gitea-Signature", signature, "X-Forgejo-Signature", signature, "X-Signature-256", signature,
			"X-GitHub-Event", event, "X-Gitlab-Event", event, "X-Gitea-Event", event,
			"X-Gitlab-Token", token, "Authorization", "Bearer "+token, "webhook-id", id, "webhook-signature", standard)
		if !genuine && (answer.Code != 401 || pokes > 0) {
			t.Errorf("status %d, pokes %d times", answer.Code, pokes)
		}
	})
}

// poker is a function that is poked.
type poker func()

func (p poker) Poke() { p() }

func ignore(forge.Outcome) {}

package forge_test

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// answer says the same to every request.
func answer(status int, header map[string]string, body string) forgetest.Fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for key, value := range header {
			w.Header().Set(key, value)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
		return true
	}
}

func onPath(end string, f forgetest.Fault) forgetest.Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, end) && f(w, r)
	}
}

func slow(release chan struct{}) forgetest.Fault {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		return true
	}
}

// calls are all methods, at once, since what is tried again waits; each must fail alike.
func calls(t *testing.T, f *forge.Forge) map[string]error {
	failed := sync.Map{}
	var all sync.WaitGroup
	for doing, call := range map[string]func() error{
		"listing the pull requests of acme/edge": func() error { _, err := f.PullRequests(t.Context()); return err },
		"reading the approvals of pull request 1 of acme/": func() error {
			_, err := f.Approvals(t.Context(), 1, headA, time.Time{})
			return err
		},
		"commenting on pull request 1 of acme/edge": func() error { return f.Comment(t.Context(), 1, marker, "text") },
		"setting the status c of acme/edge": func() error {
			return f.Status(t.Context(), headA, reconcile.CommitStatus{Context: "c", State: reconcile.StatusSuccess})
		},
	} {
		all.Go(func() { failed.Store(doing, call()) })
	}
	all.Wait()
	errs := map[string]error{}
	failed.Range(func(doing, err any) bool { errs[doing.(string)], _ = err.(error); return true })
	return errs
}

func TestRefusals(t *testing.T) {
	t.Parallel() // what is tried again waits
	each(t, func(t *testing.T, s *forgetest.Server, _ *forge.Forge) {
		for _, test := range []struct {
			status int
			body   string
			is     error
			want   []string
		}{
			{401, `{"message":"Bad credentials %s"}`, forge.ErrDenied, []string{"answered 401 Unauthorized: Bad credentials [secret]; check that the token belongs to this forge"}},
			{403, `{"message":"Resource not accessible by personal access token"}`, forge.ErrDenied, []string{"403 Forbidden: Resource not accessible by personal access token; ", "the scope|the permissions|the scopes"}},
			{404, `{"message":"Not Found"}`, forge.ErrDenied, []string{"404 Not Found: Not Found; check that the project is called acme/edge; "}},
			{422, `{"message":"Validation Failed","errors":[{"resource":"Issue","code":"custom","field":"body","message":"body is too long"}]}`, nil, []string{"422 Unprocessable Entity: Validation Failed, body is too long"}},
			{400, `{"message":{"note":["can't be blank"]}}`, nil, []string{"400 Bad Request: note can't be blank"}},
			{400, `{"error":"note is missing"}`, nil, []string{"400 Bad Request: note is missing"}},
			{429, `{"message":"slow down"}`, forge.ErrLimited, []string{"the rate limit of the forge is reached"}},
			{500, `<html>%s</html>`, nil, []string{"answered 500 Internal Server Error"}},
			{502, `{"message":"` + strings.Repeat("x", 5000) + `"}`, nil, []string{"502 Bad Gateway: xxx", "x …"}},
		} {
			t.Run(fmt.Sprint(test.status), func(t *testing.T) {
				s.Break(answer(test.status, nil, strings.ReplaceAll(test.body, "%s", s.Token)))
				for doing, err := range calls(t, client(t, s.Config())) {
					checkRefusal(t, doing, err, s.Token, test.is, test.want)
				}
			})
		}
	})
}

func checkRefusal(t *testing.T, doing string, err error, token string, is error, want []string) {
	t.Helper()
	switch {
	case err == nil:
		t.Fatalf("%s: no error", doing)
	case !strings.HasPrefix(err.Error(), doing):
		t.Errorf("got %v, want it to begin with %q", err, doing)
	case strings.Contains(err.Error(), token):
		t.Errorf("the token is in %v", err)
	case len(err.Error()) > 1500 || strings.Contains(err.Error(), "html"):
		t.Errorf("too much is repeated: %v", err)
	}
	for _, sentinel := range []error{forge.ErrDenied, forge.ErrLimited, forge.ErrMoved} {
		if errors.Is(err, sentinel) != (sentinel == is) {
			t.Errorf("%v is %q: %v", err, sentinel, errors.Is(err, sentinel))
		}
	}
	for _, each := range want {
		found := false
		for part := range strings.SplitSeq(each, "|") {
			found = found || strings.Contains(err.Error(), part)
		}
		if !found {
			t.Errorf("got %v, want %q", err, each)
		}
	}
}

// GitHub's limit is 403 with two headers, and its client asks no more after it.
func TestRateLimitOfGitHub(t *testing.T) {
	s := forgetest.Start(t, forge.GitHub, "acme/edge", "")
	f := client(t, s.Config())
	s.Break(answer(403, map[string]string{
		"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(time.Now().Add(time.Hour).Unix()),
	}, `{"message":"API rate limit exceeded for user ID 1."}`))
	for range 3 {
		_, err := f.PullRequests(t.Context())
		if !errors.Is(err, forge.ErrLimited) || !strings.Contains(err.Error(), "request is possible in 59m") && !strings.Contains(err.Error(), "request is possible in 1h0m0s") {
			t.Errorf("got %v", err)
		}
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// A forge that says when to come back is not asked before.
func TestRetryAfter(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		for _, when := range []string{"120", time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat)} {
			f := client(t, s.Config())
			s.Break(answer(429, map[string]string{"Retry-After": when}, `{"message":"later"}`))
			for range 2 {
				if _, err := f.PullRequests(t.Context()); !errors.Is(err, forge.ErrLimited) || !strings.Contains(err.Error(), "request is possible in ") {
					t.Errorf("got %v", err)
				}
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%s: %d requests, want 1", when, n)
			}
		}
		s.Break(nil)
		if _, err := f.PullRequests(t.Context()); err != nil {
			t.Errorf("another client has no reason to wait: %v", err)
		}
	})
}

// A comment of which nobody knows whether it arrived is not sent twice at once.
func TestNoSecondComment(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		s.Break(func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodPost && answer(502, nil, `{}`)(w, r)
		})
		if err := f.Comment(t.Context(), 1, marker, "text"); err == nil {
			t.Error("no error")
		}
		posts := 0
		for _, each := range s.Requests() {
			if strings.HasPrefix(each, "POST ") {
				posts++
			}
		}
		if posts != 1 {
			t.Errorf("%d times sent", posts)
		}
	})
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 307, 308} {
		each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
			caught := ""
			thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				caught = fmt.Sprint(r.Method, r.Header)
			}))
			defer thief.Close()
			s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
			s.Break(func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, thief.URL+r.URL.Path, status)
				return true
			})
			for doing, err := range calls(t, f) {
				checkRefusal(t, doing, err, s.Token, nil, []string{"the address redirects to \"" + thief.URL})
			}
			if caught != "" {
				t.Errorf("the other host saw %s", caught)
			}
		})
	}
}

// The address of the next page is the server's to choose.
func TestNextPageElsewhere(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") }))
		defer thief.Close()
		s.Break(answer(200, map[string]string{"Link": "<" + thief.URL + `/x?page=2>; rel="next"`, "X-Next-Page": "2"}, `[]`))
		if got, _ := f.PullRequests(t.Context()); len(got) > 0 {
			t.Errorf("got %v", got)
		}
	})
}

func TestNonsense(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		for _, body := range []string{"", "<html>", `{"a":`, `"text"`, `[{"number":"x"}]`, `[{"number":1,"iid":1,"sha":"../x","head":{"sha":"../x"},"base":{"ref":"main"}}]`} {
			s.Break(answer(200, nil, body))
			if got, err := f.PullRequests(t.Context()); err == nil {
				t.Errorf("%q: got %v", body, got)
			}
		}
		for _, body := range []string{`[{}]`, `[null]`, `[{"user":null,"author":null,"head":null,"base":null}]`} {
			s.Break(answer(200, nil, body))
			if got, err := f.PullRequests(t.Context()); err == nil {
				t.Errorf("%q: got %v", body, got)
			}
			calls(t, f) // whatever comes of it, it is no panic
		}
	})
}

func TestEndlessAnswer(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, _ *forge.Forge) {
		s.Break(func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(200)
			fmt.Fprint(w, `[`)
			for spaces := []byte(strings.Repeat(" ", 1<<20)); ; {
				if _, err := w.Write(spaces); err != nil {
					return true
				}
			}
		})
		c := s.Config()
		c.Timeout = 5 * time.Minute // 32 MiB are many under the race detector
		if _, err := client(t, c).PullRequests(t.Context()); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAuthorities(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, _ *forge.Forge) {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.TLS.Version < tls.VersionTLS12 || r.Header.Get("Authorization") == "" {
				t.Errorf("got TLS %x, headers %v", r.TLS.Version, r.Header)
			}
			fmt.Fprint(w, "[]")
		}))
		defer server.Close()
		c := s.Config()
		c.URL = server.URL
		if _, err := client(t, c).PullRequests(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("an unknown authority: got %v", err)
		}
		c.CAFile = filepath.Join(t.TempDir(), "ca.pem")
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		must.Do(t, os.WriteFile(c.CAFile, block, 0o600))
		if got, err := client(t, c).PullRequests(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// A token that has no place in a header fails without being told.
func TestMalformedToken(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, _ *forge.Forge) {
		c := s.Config()
		c.Token = func() (edge.Secret, error) { return edge.NewSecret("first line\nsecond line"), nil }
		_, err := client(t, c).PullRequests(t.Context())
		if err == nil || strings.Contains(err.Error(), "second line") {
			t.Errorf("got %v", err)
		}
	})
}

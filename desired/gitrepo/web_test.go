package gitrepo_test

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// private is a git server over https whose certificate is of an authority of its own, and
// that takes bearer tokens alone.
func private(t *testing.T, u *gittest.Repository, token string) (address, ca string) {
	t.Helper()
	backend, err := url.Parse(u.HTTP("", ""))
	must.Do(t, err)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: backend.Scheme, Host: backend.Host})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Header.Del("Authorization")
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server.URL + backend.Path, string(block)
}

func TestFetchHTTPS(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	want := u.Commit("a.cue", "a: 1\n")
	address, ca := private(t, u, "s3cret-bearer")
	bearer := gitrepo.Auth{Bearer: edge.NewSecret("s3cret-bearer")}
	source := gitrepo.Source{URL: address, Ref: "refs/heads/main", CA: ca, Auth: bearer}
	if got := fetch(t, open(t), source); got != want {
		t.Errorf("commit %s, want %s", got, want)
	}

	source.CA = ""
	_, err := open(t).Fetch(context.Background(), source)
	wantError(t, err, gitrepo.ErrUnreachable, "certificate")
	wantHint(t, err, "source.ca_file")

	source.CA, source.Auth = ca, gitrepo.Auth{Token: edge.NewSecret("s3cret-bearer")}
	_, err = open(t).Fetch(context.Background(), source)
	wantError(t, err, gitrepo.ErrAuth, "edge.git")
	wantNoSecret(t, err, "s3cret")
}

func TestFetchShowsTheTitleOfAPage(t *testing.T) {
	for page, want := range map[string]string{
		"<!DOCTYPE html>\n<html lang=en>\n<head><meta charset=utf-8>\n<title>\n  Sign in &middot; Forge </title></head><body>…</body></html>": `the web page "Sign in · Forge"`,
		"<html><body>hello</body></html>": "a web page",
	} {
		for _, code := range []int{http.StatusOK, http.StatusForbidden, http.StatusUnauthorized, http.StatusNotFound} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(code)
				_, _ = io.WriteString(w, page)
			}))
			t.Cleanup(s.Close)
			_, err := open(t).Fetch(context.Background(), gitrepo.Source{URL: s.URL + "/edge.git", Ref: "refs/heads/main"})
			if err == nil || strings.Contains(err.Error(), "<") || !strings.Contains(err.Error(), want) {
				t.Errorf("%d %q: %v, want %q", code, page, err, want)
			}
		}
	}
}

// What no fetch can mend is said as it is: the hint names what to change.
func TestFetchExplainsAServerSetUpOtherwise(t *testing.T) {
	elsewhere := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.Split(r.URL.Path, "/")[1] {
		case "around":
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		case "elsewhere":
			http.Redirect(w, r, elsewhere.URL+r.URL.Path+"?token=s3cret", http.StatusFound)
		case "busy":
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(s.Close)
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: elsewhere.Certificate().Raw}))
	for _, test := range []struct{ url, ca, says, hint string }{
		{s.URL + "/around", "", "it redirects to " + s.URL + "/around/edge.git: too many redirects", "set source.url to its new address"},
		{s.URL + "/elsewhere", "", "it redirects to " + elsewhere.URL + "/elsewhere/edge.git", "set source.url to its new address"},
		{s.URL + "/wrong", "", "status 400", "check the URL"},
		{s.URL + "/busy", "", "status 429", "Seawall tries again"},
		{strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), certificate, "its certificate is not accepted", "use a name in source.url"},
	} {
		_, err := open(t).Fetch(context.Background(), gitrepo.Source{URL: test.url + "/edge.git", Ref: "refs/heads/main", CA: test.ca})
		wantError(t, err, gitrepo.ErrUnreachable, test.says)
		wantHint(t, err, test.hint)
		wantNoSecret(t, err, "s3cret")
	}
}

// Package forgetest has forges to test against: GitHub, GitLab and Gitea over
// HTTP, with comments, commit statuses, reviews, and pull requests whose heads
// are the refs of a real repository.
//
//	server := forgetest.Start(t, forge.GitHub, "acme/edge", bare)
//	server.Open(forgetest.Pull{Number: 1, Author: "mallory", Fork: true})
//	f, err := forge.New(server.Config())
//
// The JSON is that of the references (testdata), filled with the server's state.
// Each forge has the quirks that clients stumble over: pages, GitLab's commands in
// comments and its refusal to set a status twice, Gitea's list without pages.
package forgetest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/forge"
)

// Me is the account that the server's token belongs to.
const Me = "seawall-bot"

// Server is a forge with one project.
type Server struct {
	URL     string
	Kind    forge.Kind
	Project string
	Branch  string // the followed one, "main"
	Token   string

	git repository

	mu       sync.Mutex
	now      time.Time // grows with each event, so that their order shows
	perPage  int
	fault    Fault
	pulls    []*Pull
	comments []*Comment
	statuses []Status
	reviews  []*Review
	requests []string
	commands []string
	*People
}

// Pull is a pull request. Head is read from the repository where it is empty.
type Pull struct {
	Number int
	Author string
	Title  string
	Base   string // empty is the followed branch
	Head   string
	Fork   bool
	State  string // open, also when empty; closed, merged
	Labels []string

	versions []version
}

// version is a head that a pull request had.
type version struct {
	head string
	at   time.Time
}

// Comment is one on a pull request.
type Comment struct {
	ID     int64
	Pull   int
	Author string
	Body   string
	Edits  int
}

// Status is a mark at a commit, in the words of package forge.
type Status struct {
	Commit, Context, State, Description, URL, Ref string
}

// Review is one of a pull request.
type Review struct {
	ID        int64
	Pull      int
	User      string
	State     string // in GitHub's words: APPROVED, CHANGES_REQUESTED, COMMENTED
	Commit    string
	Dismissed bool

	at time.Time
}

// Fault answers a request instead of the forge, and reports whether it did.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Start starts a forge that stops with the test. Git is a bare repository with
// the pull requests' refs as the forge's own would have them (refs/pull/1/head,
// refs/merge-requests/1/head); empty where all heads are set by hand.
func Start(t testing.TB, kind forge.Kind, project, git string) *Server {
	t.Helper()
	s := &Server{
		Kind: kind, Project: project, Branch: "main", Token: "tok-" + string(kind) + "-4f9c2d7e1b",
		git: repository(git), now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), perPage: 100, People: &People{names: []string{Me}},
	}
	s.People.mu = &s.mu
	var api interface{ handler() http.Handler }
	switch kind {
	case forge.GitHub:
		api = github(s)
	case forge.GitLab:
		api = gitlab{s}
	case forge.Gitea:
		api = gitea(s)
	default:
		t.Fatalf("no forge is called %q", kind)
	}
	server := httptest.NewServer(s.guard(api.handler()))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Config is that of a client of this server.
func (s *Server) Config() forge.Config {
	return forge.Config{
		Kind: s.Kind, URL: s.URL, Project: s.Project, Branch: s.Branch, Timeout: 10 * time.Second,
		Token: func() (edge.Secret, error) { return edge.NewSecret(s.Token), nil },
	}
}

// guard keeps the transcript, asks for the token, and serves one at a time.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
		fault := s.fault
		s.mu.Unlock()
		if fault != nil && fault(w, r) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.knows(r) {
			s.refuse(w, http.StatusUnauthorized, "Bad credentials")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) knows(r *http.Request) bool {
	given := r.Header.Get("Authorization")
	return given == "Bearer "+s.Token || s.Kind == forge.Gitea && given == "token "+s.Token
}

func (s *Server) refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, s.shape("refusal").with("message", message))
}

// Now is the time of what happened last, by the server's clock.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// tick is the time of the next thing that happens: a second after the one before,
// and not in the past of whoever asks.
func (s *Server) tick() time.Time {
	s.now = s.now.Add(time.Second)
	if now := time.Now().UTC().Truncate(time.Second).Add(time.Second); now.After(s.now) {
		s.now = now
	}
	return s.now
}

func (s *Server) find(number int) *Pull {
	for _, p := range s.pulls {
		if p.Number == number {
			return p
		}
	}
	return nil
}

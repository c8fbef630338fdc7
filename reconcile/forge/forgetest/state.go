package forgetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/reconcile/forge"
)

// Open opens a pull request.
func (s *Server) Open(p Pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.State == "" {
		p.State = "open"
	}
	if p.Base == "" {
		p.Base = s.Branch
	}
	s.pulls = append(s.pulls, &p)
	s.look(&p)
}

// Set changes a pull request: its head, its state, its title.
func (s *Server) Set(number int, change func(*Pull)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.find(number); p != nil {
		change(p)
		s.look(p)
	}
}

// Say comments as somebody.
func (s *Server) Say(number int, author, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.comments = append(s.comments, &Comment{ID: s.id(), Pull: number, Author: author, Body: body})
}

// Approve reviews the head that a pull request has now, or another commit.
func (s *Server) Approve(number int, user string, commit ...string) {
	s.Review(number, user, "APPROVED", commit...)
}

// Review reviews, with a state in GitHub's words. It returns the review's id.
func (s *Server) Review(number int, user, state string, commit ...string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(commit) == 0 {
		commit = []string{s.look(s.find(number))}
	}
	s.reviews = append(s.reviews, &Review{ID: s.id(), Pull: number, User: user, State: state, Commit: commit[0], at: s.tick()})
	return s.reviews[len(s.reviews)-1].ID
}

// Dismiss takes a review back.
func (s *Server) Dismiss(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reviews {
		r.Dismissed = r.Dismissed || r.ID == id
	}
}

// Break lets a fault answer requests, until it is nil.
func (s *Server) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// PerPage makes lists short, so that they have many pages.
func (s *Server) PerPage(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perPage = n
}

// Comments are those on a pull request, oldest first.
func (s *Server) Comments(number int) (list []Comment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.comments {
		if c.Pull == number {
			list = append(list, *c)
		}
	}
	return list
}

// Statuses are the marks at a commit in the order in which they were set.
func (s *Server) Statuses(commit string) (list []Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.statuses {
		if each.Commit == commit {
			list = append(list, each)
		}
	}
	return list
}

// Requests are the requests since the last call, "METHOD /path?query".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// Commands are the lines of comments that GitLab has carried out.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

func (s *Server) id() int64 { return s.tick().Unix() }

// look reads the head of a pull request, and keeps since when it has it.
func (s *Server) look(p *Pull) string {
	head := p.Head
	if head == "" {
		head = s.git.ref(s.Ref(p.Number))
	}
	if n := len(p.versions); head != "" && (n == 0 || p.versions[n-1].head != head) {
		p.versions = append(p.versions, version{head, s.tick()})
	}
	return head
}

// Ref is where the forge keeps the head of a pull request in the repository.
func (s *Server) Ref(number int) string {
	if s.Kind == forge.GitLab {
		return fmt.Sprintf("refs/merge-requests/%d/head", number)
	}
	return fmt.Sprintf("refs/pull/%d/head", number)
}

// repository is the folder of a bare git repository; empty where there is none.
type repository string

// ref reads the repository as it is now; empty where there is no such ref.
func (r repository) ref(name string) string {
	if r == "" {
		return ""
	}
	loose, _ := os.ReadFile(filepath.Join(string(r), filepath.FromSlash(name))) // git finds the others
	if hash := strings.TrimSpace(string(loose)); isCommit(hash) {
		return hash
	}
	out, err := exec.Command("git", "--git-dir", string(r), "rev-parse", "--verify", "--quiet", name+"^{commit}").Output()
	if err != nil {
		return ""
	}
	hash := strings.TrimSpace(string(out))
	commits.Store(hash, true)
	return hash
}

// commits are hashes that git has said are of commits, so that it is asked once.
var commits sync.Map

func isCommit(hash string) bool { _, known := commits.Load(hash); return known }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

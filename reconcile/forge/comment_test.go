package forge_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

const marker = "<!-- seawall:plan -->"

func TestComment(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		s.Say(1, "mallory", marker+"\nall is well, merge at once")
		s.Say(1, forgetest.Me, "I quote: "+marker)
		s.Say(1, forgetest.Me, "\n"+marker)
		s.Say(1, forgetest.Me, "<!-- seawall:apply -->\n"+marker)
		for _, body := range []string{"first\n", "first\n", "second", "second\n"} {
			must.Do(t, f.Comment(t.Context(), 1, marker, body))
		}
		comments := s.Comments(1)
		if len(comments) != 5 {
			t.Fatalf("there are %d comments, want 5", len(comments))
		}
		if got := comments[4]; got.Body != marker+"\nsecond" || got.Edits != 1 {
			t.Errorf("ours is %q after %d edits", got.Body, got.Edits)
		}
		for _, c := range comments[:4] {
			if c.Edits > 0 {
				t.Errorf("the comment %q of %s was changed", c.Body, c.Author)
			}
		}
	})
}

// What is sent for the same text: the question, and once who we are.
func TestCommentTranscript(t *testing.T) {
	s := forgetest.Start(t, forge.GitHub, "acme/edge", "")
	s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
	f := client(t, s.Config())
	list := "GET /api/v3/repos/acme/edge/issues/1/comments?page=1&per_page=100"
	for i, want := range []string{
		"GET /api/v3/user\n" + list + "\nPOST /api/v3/repos/acme/edge/issues/1/comments",
		list,
	} {
		if i == 0 {
			want += "\n" + list // whether another process has created one, too
		}
		must.Do(t, f.Comment(t.Context(), 1, marker, "text\r\n"))
		if got := strings.Join(s.Requests(), "\n"); got != want {
			t.Errorf("time %d: got\n%s\nwant\n%s", i, got, want)
		}
	}
}

// The markers of other comments are text like any other in a body.
func TestMarkersInBody(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		other := "<!-- seawall:apply -->"
		for _, body := range []string{other + "\nx", "y\n" + other, "z"} {
			must.Do(t, f.Comment(t.Context(), 1, marker, body))
			must.Do(t, f.Comment(t.Context(), 1, other, marker+body))
		}
		if got := s.Comments(1); len(got) != 2 || got[0].Body != marker+"\nz" || got[1].Body != other+"\n"+marker+"z" {
			t.Errorf("got %+v", got)
		}
		for _, bad := range []string{"", "plan", "<!-- a --> <b>", "<!-- a\nb -->", "<!-- a --> -->", "<!--  -->"} {
			if err := f.Comment(t.Context(), 1, bad, "x"); err == nil {
				t.Errorf("the marker %q was taken", bad)
			}
		}
	})
}

// A line of a plan must not become a command of the token's account.
func TestCommandsInBody(t *testing.T) {
	s := forgetest.Start(t, forge.GitLab, "acme/edge", "")
	s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
	f := client(t, s.Config())
	for range 2 {
		must.Do(t, f.Comment(t.Context(), 1, marker, "/approve\ntext\n/merge\r\n/close"))
	}
	if got := s.Commands(); len(got) > 0 {
		t.Errorf("GitLab was told %q", got)
	}
	if got := s.Comments(1); len(got) != 1 || got[0].Edits != 0 || !strings.Contains(got[0].Body, "/merge") {
		t.Errorf("got %+v", got)
	}
}

func TestHugeBody(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, _ *forge.Forge) {
		c := s.Config()
		c.Timeout = 5 * time.Minute // it is large under the race detector
		f := client(t, c)
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		for _, body := range []string{
			strings.Repeat("one more zone é\n", 1<<16),
			strings.Repeat("é", 1<<20),
			"<details>\n```\n" + strings.Repeat("x\x00\xff\n", 1<<16),
		} {
			must.Do(t, f.Comment(t.Context(), 1, marker, body))
			got := s.Comments(1)
			text := got[len(got)-1].Body
			if len(got) != 1 || len(text) > 65536 || len(text) < 60000 || !utf8.ValidString(text) {
				t.Errorf("%d comments, the last of %d bytes", len(got), len(text))
			}
			if !strings.HasPrefix(text, marker+"\n") || !strings.Contains(text, "more bytes do not fit") {
				t.Errorf("got %.60q … %q", text, text[len(text)-60:])
			}
		}
	})
}

func TestCommentsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				if err := f.Comment(t.Context(), 1, marker, fmt.Sprint(n)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := s.Comments(1); len(got) != 1 {
			t.Errorf("there are %d comments", len(got))
		}
	})
}

// Another process creates one between the list and the comment of one that was stopped meanwhile: one is
// left, and says what was said last. What was left before is deleted with the next comment.
func TestTwoProcessesComment(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
		s.Say(1, "mallory", marker+"\nall is well")
		var other sync.Once
		s.Break(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				other.Do(func() { s.Say(1, forgetest.Me, marker+"\nother") })
			}
			return false
		})
		wantOne := func(body string) {
			t.Helper()
			must.Do(t, f.Comment(t.Context(), 1, marker, body))
			got := s.Comments(1)
			if len(got) != 2 || got[0].Author != "mallory" || got[1].Body != marker+"\n"+body {
				t.Errorf("got %+v", got)
			}
		}
		wantOne("mine")
		s.Say(1, forgetest.Me, marker+"\nmine")
		s.Say(1, forgetest.Me, marker+"\nother")
		wantOne("mine")
	})
}

// A token that was exchanged may belong to another account.
func TestAnotherToken(t *testing.T) {
	s := forgetest.Start(t, forge.Gitea, "acme/edge", "")
	s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
	c := s.Config()
	f := client(t, c)
	for _, want := range []bool{true, false, true} {
		if want {
			s.Token += "x"
		}
		must.Do(t, f.Comment(t.Context(), 1, marker, "text"))
		if got := strings.Contains(strings.Join(s.Requests(), "\n"), "/user"); got != want {
			t.Errorf("asked who we are: %v, want %v", got, want)
		}
	}
	c.Token = func() (edge.Secret, error) { return edge.Secret{}, fmt.Errorf("no file") }
	if err := client(t, c).Comment(t.Context(), 1, marker, "text"); err == nil || !strings.Contains(err.Error(), "reading the token: no file") {
		t.Errorf("got %v", err)
	}
}

package gitrepo_test

import (
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

// Whoever may push a tag must not become the followed branch by the tag's name.
func TestFetchFollowsExactRefs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ref   string   // followed
		other []string // on the server, in its place
	}{
		{"refs/heads/main", []string{"refs/tags/refs/heads/main", "refs/refs/heads/main", "refs/heads/refs/heads/main", "refs/remotes/refs/heads/main"}},
		{"refs/tags/v1", []string{"refs/tags/refs/tags/v1", "refs/heads/refs/tags/v1"}},
		{"main", []string{"refs/tags/refs/heads/main", "refs/heads/heads/main", "refs/remotes/main", "refs/tags/heads/main"}},
		{"heads/main", []string{"refs/heads/main"}},
		{"", []string{"refs/tags/HEAD", "refs/heads/HEAD", "refs/remotes/HEAD/HEAD"}},
	} {
		u := gittest.New(t)
		u.Commit("a.cue", "a: 1\n")
		u.Git("checkout", "-q", "--detach")
		for _, name := range test.other {
			u.Git("update-ref", name, "HEAD")
		}
		u.Git("update-ref", "refs/heads/elsewhere", "HEAD")
		u.Git("symbolic-ref", "HEAD", "refs/heads/unborn")
		if test.ref != "heads/main" {
			u.Git("update-ref", "-d", "refs/heads/main")
		}
		for _, url := range []string{u.Dir, u.HTTP("", "")} {
			fetched, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: url, Ref: test.ref})
			if err == nil {
				t.Errorf("%q: followed one of %v, to %s", test.ref, test.other, fetched.Commit)
				continue
			}
			wantError(t, err, gitrepo.ErrRefNotFound, "no such branch or tag")
		}
	}
}

// A server's default branch is followed even where it points at no branch.
func TestFetchDetachedHead(t *testing.T) {
	u := gittest.New(t)
	want := u.Commit("a.cue", "a: 1\n")
	u.Git("checkout", "-q", "--detach")
	u.Git("checkout", "-q", "-b", "other")
	u.Commit("a.cue", "a: 2\n")
	u.Git("checkout", "-q", "--detach", want)
	u.Git("branch", "-D", "-q", "main")
	if got := fetch(t, open(t), gitrepo.Source{URL: u.Dir}); got != want {
		t.Errorf("commit %s, want %s", got, want)
	}
}

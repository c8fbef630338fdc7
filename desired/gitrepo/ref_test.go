package gitrepo_test

import (
	"errors"
	"strings"
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
	} {
		u := gittest.New(t)
		u.Commit("a.cue", "a: 1\n")
		u.Git("checkout", "-q", "--detach")
		for _, name := range test.other {
			u.Git("update-ref", name, "HEAD")
		}
		u.Git("update-ref", "refs/heads/elsewhere", "HEAD")
		u.Git("symbolic-ref", "HEAD", "refs/heads/unborn")
		u.Git("update-ref", "-d", "refs/heads/main")
		for _, url := range []string{u.Dir, u.HTTP("", "")} {
			fetched, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: url, Ref: test.ref})
			if err == nil {
				t.Errorf("%q: followed one of %v, to %s", test.ref, test.other, fetched.Commit)
				continue
			}
			wantError(t, err, gitrepo.ErrRefNotFound, "does not exist; the repository has")
		}
	}
}

// The error for a ref that is not there says what there is, and what to write.
func TestFetchNamesTheBranches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		have         []string
		ref          string
		reason, hint string
	}{
		{[]string{"refs/heads/master"}, "refs/heads/main", "branch main does not exist; the repository has: master", `set source.ref: "refs/heads/master", or rename that branch`},
		{[]string{"refs/heads/main", "refs/heads/dev"}, "refs/heads/mian", "branch mian does not exist; the repository has: dev, main", `did you mean main? set source.ref: "refs/heads/main"`},
		{[]string{"refs/heads/a", "refs/heads/b"}, "refs/heads/main", "branch main does not exist; the repository has: a, b", "check source.ref; a branch may have been deleted or renamed"},
		{[]string{"refs/tags/v1.0.0", "refs/heads/main"}, "refs/tags/v2", "tag v2 does not exist; the repository has: v1.0.0", `set source.ref: "refs/tags/v1.0.0", or rename that tag`},
		{[]string{"refs/tags/v1"}, "refs/heads/main", "branch main does not exist; the repository has no branch", "check source.ref; a branch may have been deleted or renamed"},
		{[]string{"refs/heads/n\u0430in"}, "refs/heads/main", `the repository has: `, `set source.ref: "refs/heads/n\u0430in"`},
	} {
		u := gittest.New(t)
		commit := u.Commit("a.cue", "a: 1\n")
		u.Git("checkout", "-q", "--detach")
		u.Git("update-ref", "-d", "refs/heads/main")
		for _, name := range test.have {
			u.Git("update-ref", name, commit)
		}
		_, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: u.HTTP("", ""), Ref: test.ref})
		wantError(t, err, gitrepo.ErrRefNotFound, test.reason)
		var known *gitrepo.Error
		if !errors.As(err, &known) || !strings.Contains(known.Hint, test.hint) {
			t.Errorf("%s: %v, with the hint %q", test.ref, err, known.Hint)
		}
		if strings.Contains(known.Reason, "\u0430") && !strings.Contains(known.Reason, "[") {
			t.Errorf("%q shows a letter of another script as if it were Latin", known.Reason)
		}
	}
}
